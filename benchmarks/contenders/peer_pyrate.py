"""pyrate-limiter: its token bucket of constant size (GCRA), on Redis or in memory.

A `Limiter` for each name, as each holds a lock while it waits; and without the 50 ms that it adds
to each wait for clocks that differ, since all run on one clock here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from pyrate_limiter import (
    InMemoryStateStore,
    Limiter,
    Rate,
    RedisStateStore,
    SingleBucketFactory,
    StateBucket,
    StateStore,
    TokenBucket,
)
from redis.asyncio import Redis

from benchmarks._peers import Acquire, Quota, peer


@asynccontextmanager
async def open_limiter(url: str, quota: Quota, names: Sequence[str]) -> AsyncIterator[Acquire]:
    """A limiter for each name, over one client."""
    client = Redis.from_url(url) if url else None

    def limiter_of(name: str) -> Limiter:
        store: StateStore = (
            InMemoryStateStore() if client is None else RedisStateStore(client, f"pyrate:{name}")
        )
        rate = Rate(quota.limit, quota.period * 1_000, burst=quota.burst)
        bucket = StateBucket([rate], algorithm=TokenBucket(), store=store)
        # There is nothing to leak in a bucket of constant size.
        return Limiter(SingleBucketFactory(bucket, schedule_leak=False), buffer_ms=0)

    limiters = {name: limiter_of(name) for name in names}

    async def acquire(name: str) -> None:
        if not await limiters[name].try_acquire_async(name):
            raise TimeoutError("pyrate-limiter refused instead of waiting")

    yield acquire
    if client is not None:
        await client.aclose()


if __name__ == "__main__":
    peer(open_limiter)
