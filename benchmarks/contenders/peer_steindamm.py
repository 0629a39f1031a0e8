"""steindamm: its token bucket on Redis, which reserves a slot and sleeps until it comes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from redis.asyncio import Redis
from steindamm import AsyncTokenBucket

from benchmarks._peers import Acquire, Quota, peer

NO_LONGEST_SLEEP = 0
SHORTEST_EXPIRY = 60


@asynccontextmanager
async def open_limiter(url: str, quota: Quota, names: Sequence[str]) -> AsyncIterator[Acquire]:
    """A bucket for each name, over one client."""
    client = Redis.from_url(url)
    buckets = {
        name: AsyncTokenBucket.create(
            name=name,
            connection=client,
            capacity=quota.burst,
            refill_frequency=quota.interval,
            refill_amount=1,
            max_sleep=NO_LONGEST_SLEEP,
            expiry=max(SHORTEST_EXPIRY, 2 * quota.period),
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
