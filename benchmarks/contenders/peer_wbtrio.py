"""`WbRateLimiter`, on Redis or in memory, put through what its peers are put through."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from benchmarks._peers import Acquire, Quota, peer
from wbtrio import RedisStore, WbRateLimiter
from wbtrio._bucket import MICROSECONDS, Bucket, Limit
from wbtrio._permit import Permit


@asynccontextmanager
async def open_limiter(url: str, quota: Quota, names: Sequence[str]) -> AsyncIterator[Acquire]:
    """One limiter, a bucket for each name."""
    limit = Limit(period=quota.period * MICROSECONDS, limit=quota.limit, burst=quota.burst)
    buckets = {name: Bucket("bench", "personal", name, limit) for name in names}

    def acquiring(limiter: WbRateLimiter) -> Acquire:
        async def acquire(name: str) -> Permit:
            return await limiter.acquire(buckets[name])

        return acquire

    if not url:
        yield acquiring(WbRateLimiter())
        return
    async with RedisStore(url) as store:
        yield acquiring(WbRateLimiter(store))


if __name__ == "__main__":
    peer(open_limiter)
