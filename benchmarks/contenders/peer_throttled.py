"""throttled-py: its GCRA, on Redis or in memory. It never sleeps for less than 0.2 s."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

from throttled.asyncio import MemoryStore, RateLimiterType, RedisStore, Throttled
from throttled.asyncio.rate_limiter import per_duration

from benchmarks._peers import Acquire, Quota, peer

PATIENCE = 3_600.0
"""Seconds; without it throttled-py refuses instead of waiting."""


@asynccontextmanager
async def open_limiter(url: str, quota: Quota, _: Sequence[str]) -> AsyncIterator[Acquire]:
    """One limiter; a name is a key."""
    throttled = Throttled(
        using=RateLimiterType.GCRA.value,
        quota=per_duration(timedelta(seconds=quota.period), quota.limit, quota.burst),
        store=RedisStore(server=url) if url else MemoryStore(),
        timeout=PATIENCE,
    )

    async def acquire(name: str) -> None:
        result = await throttled.limit(name)
        if result.limited:
            raise TimeoutError("throttled-py refused instead of waiting")

    yield acquire


if __name__ == "__main__":
    peer(open_limiter)
