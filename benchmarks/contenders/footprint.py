"""Memory: bytes of a bucket in Redis, and of a limiter that knows very many accounts."""

from __future__ import annotations

import gc
import tracemalloc
from typing import cast

import redis

from benchmarks._measure import Figures, Job, contender
from wbtrio import MemoryStore, RedisStore, WbRateLimiter
from wbtrio._bucket import FULL, MICROSECONDS, Bucket, Limit, Narrowing
from wbtrio.stores import AcquireRequest

BUCKETS_PER_ACCOUNT = 10
ACCOUNTS_PER_CALL = 2.5
"""Accounts for each call that the job asks for: 4,000 calls give 10,000 accounts."""
DAY = 24 * 3600 * MICROSECONDS
DAILY = Limit(period=DAY, limit=10, burst=10)
"""Such a bucket stays in its store while all the others are made."""
IN_REDIS = 1_000


async def measure(job: Job) -> Figures:
    """Bytes in Redis, and bytes in this process, by bucket and by account."""
    figures = Figures()
    async with RedisStore(job.url) as store:
        figures.values |= await bytes_in_redis(store, job.url)
    accounts = max(1, round(job.calls * ACCOUNTS_PER_CALL))
    figures.values |= await bytes_in_python(accounts)
    return figures


async def bytes_in_redis(store: RedisStore, url: str) -> dict[str, float]:
    """By the server's own count: of one key, and of all its memory for one key more."""
    server = redis.Redis.from_url(url)
    plain, slowed = _bucket_of(0, 0), _bucket_of(0, 1)
    for bucket in (plain, slowed):
        await store.acquire([AcquireRequest(bucket.key, DAILY, 1, FULL)])
    slower = Narrowing(hold=DAY, slow_interval=DAY, burst_cut=5, slow_for=DAY)
    await store.narrow(slowed.key, DAILY, slower, FULL)
    before = _used_memory(server)
    for number in range(IN_REDIS):
        bucket = _bucket_of(1 + number // BUCKETS_PER_ACCOUNT, number % BUCKETS_PER_ACCOUNT)
        await store.acquire([AcquireRequest(bucket.key, DAILY, 1, FULL)])
    values = {
        "redis_key": float(cast("int", server.memory_usage(plain.key))),
        "redis_key_slowed": float(cast("int", server.memory_usage(slowed.key))),
        "redis_bucket": (_used_memory(server) - before) / IN_REDIS,
    }
    server.close()
    return values


async def bytes_in_python(accounts: int) -> dict[str, float]:
    """What a limiter and its memory store hold after each bucket was acquired from once."""
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    limiter = WbRateLimiter(MemoryStore())
    for account in range(accounts):
        for number in range(BUCKETS_PER_ACCOUNT):
            await limiter.acquire(_bucket_of(account, number))
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    known = len(limiter.statistics().buckets)
    return {
        "accounts": accounts,
        "buckets": known,
        "python_account": (after - before) / accounts,
        "python_bucket": (after - before) / known,
    }


def _bucket_of(account: int, number: int) -> Bucket:
    return Bucket(f"seller-{account:08}", "personal", f"budget-{number}", DAILY)


def _used_memory(server: redis.Redis) -> int:
    return int(cast("dict[str, int]", server.info("memory"))["used_memory"])


if __name__ == "__main__":
    contender(measure)
