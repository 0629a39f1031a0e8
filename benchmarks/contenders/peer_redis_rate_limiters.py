"""redis-rate-limiters: its token bucket, which reserves a slot and sleeps until it comes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from limiters import AsyncTokenBucket
from redis.asyncio import Redis

from benchmarks._peers import Acquire, Quota, peer

NO_LONGEST_SLEEP = 0


@asynccontextmanager
async def open_limiter(url: str, quota: Quota, names: Sequence[str]) -> AsyncIterator[Acquire]:
    """A bucket for each name, over one client."""
    client = Redis.from_url(url)
    buckets = {
        name: AsyncTokenBucket(
            connection=client,
            name=name,
            capacity=quota.burst,
            refill_frequency=quota.interval,
            refill_amount=1,
            max_sleep=NO_LONGEST_SLEEP,
        )
        for name in names
    }

    async def acquire(name: str) -> None:
        async with buckets[name]:
            pass

    yield acquire
    await client.aclose()


if __name__ == "__main__":
    peer(open_limiter)
