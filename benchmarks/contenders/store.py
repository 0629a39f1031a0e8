"""`RedisStore` by itself: our connection with its deadlines and cancellation, without a limiter."""

from __future__ import annotations

from benchmarks._measure import Figures, Job, calls_per_second, contender, time_calls
from benchmarks._workload import WIDE, wide_bucket
from wbtrio import RedisStore
from wbtrio._bucket import FULL, Narrowing
from wbtrio.stores import AcquireRequest


async def measure(job: Job) -> Figures:
    """Latency of acquire and narrow, and throughput on many keys and on one."""
    requests = [
        [AcquireRequest(wide_bucket(f"b{number}").key, WIDE, 1, FULL)]
        for number in range(job.tasks)
    ]
    by = Narrowing(remaining=WIDE.burst // 2)
    key = wide_bucket("b0").key
    async with RedisStore(job.url) as store:
        return Figures(
            spreads={
                "acquire": await time_calls(lambda: store.acquire(requests[0]), job.calls),
                "narrow": await time_calls(lambda: store.narrow(key, WIDE, by, FULL), job.calls),
            },
            values={
                "many_keys": await calls_per_second(
                    lambda number: store.acquire(requests[number]), job.tasks, job.calls_per_task
                ),
                "one_key": await calls_per_second(
                    lambda _: store.acquire(requests[0]), job.tasks, job.calls_per_task
                ),
            },
        )


if __name__ == "__main__":
    contender(measure)
