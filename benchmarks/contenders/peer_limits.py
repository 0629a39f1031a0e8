"""limits: the moving window, the one of its strategies that never lets through more than said.

It answers yes or no; a caller that waits has to sleep by its own account of the window. Its
shortest window is a second, and the window's limit is its burst.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import anyio
from limits import RateLimitItemPerSecond
from limits.aio.storage import RedisStorage
from limits.aio.strategies import MovingWindowRateLimiter
from redis.asyncio import ConnectionPool

from benchmarks._peers import Acquire, Quota, peer


@asynccontextmanager
async def open_limiter(url: str, quota: Quota, _: Sequence[str]) -> AsyncIterator[Acquire]:
    """One storage and one strategy; a name is an identifier."""
    pool = ConnectionPool.from_url(url)
    storage = RedisStorage(f"async+{url}", implementation="redispy", connection_pool=pool)
    limiter = MovingWindowRateLimiter(storage)
    item = RateLimitItemPerSecond(quota.limit, quota.period)

    async def acquire(name: str) -> None:
        while not await limiter.hit(item, name):
            window = await limiter.get_window_stats(item, name)
            await anyio.sleep(max(0.0, window.reset_time - time.time()))

    yield acquire
    await pool.aclose()


if __name__ == "__main__":
    peer(open_limiter)
