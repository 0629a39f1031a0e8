"""`WbRateLimiter` on Redis: acquire, reconcile, and the settlement of a 429."""

from __future__ import annotations

from benchmarks._measure import Figures, Job, calls_per_second, contender, time_calls
from benchmarks._workload import HALF_LEFT, REFUSAL, wide_bucket
from wbtrio import RedisStore, WbRateLimiter


async def measure(job: Job) -> Figures:
    """Latency of each, and throughput of acquire on many keys and on one."""
    buckets = [wide_bucket(f"b{number}") for number in range(job.tasks)]
    async with RedisStore(job.url) as store:
        limiter = WbRateLimiter(store)
        acquire = await time_calls(lambda: limiter.acquire(buckets[0]), job.calls)
        many_keys = await calls_per_second(
            lambda number: limiter.acquire(buckets[number]), job.tasks, job.calls_per_task
        )
        one_key = await calls_per_second(
            lambda _: limiter.acquire(buckets[0]), job.tasks, job.calls_per_task
        )
        narrow = await time_calls(lambda: limiter.reconcile(buckets[0], HALF_LEFT), job.calls)
        refusals = await time_refusals(limiter, job.calls)
    return Figures(
        spreads={"acquire": acquire, "narrow": narrow, "settle_429": refusals},
        values={"many_keys": many_keys, "one_key": one_key},
    )


async def time_refusals(limiter: WbRateLimiter, calls: int) -> list[float]:
    """Settlement of 429s, each of a permit of its own."""
    bucket = wide_bucket("refused")
    permits = [await limiter.acquire(bucket) for _ in range(calls + max(1, calls // 10))]
    waiting = iter(permits)
    return await time_calls(lambda: next(waiting).settle(429, REFUSAL), calls)


if __name__ == "__main__":
    contender(measure)
