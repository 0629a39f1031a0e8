"""What a reply costs that narrows nothing: no store call, and next to no time.

The decision alone, with what comes before it (reading the headers) and with all that settles a
permit, which includes giving way to other tasks once: that checkpoint is measured by itself.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
import tracemalloc
from collections.abc import Awaitable, Callable

import anyio.lowlevel

from benchmarks._measure import Figures, Job, contender
from benchmarks._stores import CountingStore
from benchmarks._workload import WIDE, wide_bucket
from wbtrio import WbRateLimiter
from wbtrio._bucket import FULL, acquire
from wbtrio._headers import Observation, parse_observed_rate_limit
from wbtrio._permit import Permit
from wbtrio._reconcile import Grant, Plan, Reason, plan_reconciliation

BATCHES = 20
AT_CAPACITY = {"x-ratelimit-limit": str(WIDE.burst), "x-ratelimit-remaining": str(WIDE.burst)}
AS_EXPECTED = {**AT_CAPACITY, "x-ratelimit-remaining": str(WIDE.burst - 1)}
GRANT = Grant(acquire(FULL, WIDE, 1_000_000).state, 1_000_000, 1)


def decide(observation: Observation) -> Plan:
    """What a reply narrows."""
    return plan_reconciliation(observation, WIDE, grant=GRANT)


def decisions() -> dict[str, Callable[[], Plan]]:
    """A decision by each of the two rules, by name."""
    capacity, expected = map(parse_observed_rate_limit, (AT_CAPACITY, AS_EXPECTED))
    if decide(capacity) != Plan(None, Reason.AT_CAPACITY):
        raise AssertionError("the reply at capacity was not skipped by the literal rule")
    if decide(expected) != Plan(None, Reason.AS_EXPECTED):
        raise AssertionError("the expected reply was not skipped by the second rule")
    return {"at_capacity": lambda: decide(capacity), "as_expected": lambda: decide(expected)}


def nanoseconds(call: Callable[[], object], calls: int) -> float:
    """Ns per call: the median over batches, an empty loop's time taken off."""
    each = max(1, calls // BATCHES)

    def batch(do: Callable[[], object]) -> int:
        started = time.perf_counter_ns()
        for _ in range(each):
            do()
        return time.perf_counter_ns() - started

    batch(call)
    gc.collect()
    full = statistics.median(batch(call) for _ in range(BATCHES))
    empty = statistics.median(batch(_nothing) for _ in range(BATCHES))
    return max(0.0, full - empty) / each


async def nanoseconds_of(call: Callable[[], Awaitable[object]], calls: int) -> float:
    """The same for a coroutine, its creation and its await included."""
    each = max(1, calls // BATCHES)
    batches = []
    gc.collect()
    for _ in range(BATCHES):
        started = time.perf_counter_ns()
        for _ in range(each):
            await call()
        batches.append((time.perf_counter_ns() - started) / each)
    return statistics.median(batches)


def peak_bytes(call: Callable[[], object]) -> int:
    """Bytes that one call needs at most, all given back or not."""
    call()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    call()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak - before


def blocks_kept(call: Callable[[], object], calls: int) -> float:
    """Blocks of memory per call that are still there after it."""
    call()
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(calls):
        call()
    return max(0.0, (sys.getallocatedblocks() - before) / calls)


async def settlements(limiter: WbRateLimiter, calls: int) -> list[Permit]:
    """Permits of full buckets, to be settled one by one."""
    return [await limiter.acquire(wide_bucket(f"b{number}")) for number in range(calls)]


async def measure(job: Job) -> Figures:
    """Ns and memory of both rules, of the headers, of a settlement and of a checkpoint."""
    figures = Figures()
    for rule, call in decisions().items():
        figures.values[f"{rule}_ns"] = nanoseconds(call, job.calls)
        figures.values[f"{rule}_bytes"] = peak_bytes(call)
        figures.values[f"{rule}_blocks"] = blocks_kept(call, job.calls)
    figures.values["headers_ns"] = nanoseconds(
        lambda: parse_observed_rate_limit(AS_EXPECTED), job.calls
    )
    store = CountingStore()
    limiter = WbRateLimiter(store)
    permits = await settlements(limiter, max(1, job.calls // BATCHES) * BATCHES)
    spent = store.calls
    waiting = iter(permits)
    figures.values |= {
        "settle_ns": await nanoseconds_of(
            lambda: next(waiting).settle(200, AS_EXPECTED), len(permits)
        ),
        "checkpoint_ns": await nanoseconds_of(anyio.lowlevel.checkpoint, len(permits)),
        "store_calls": store.calls - spent,
        "skipped": limiter.statistics().total.skipped / len(permits),
    }
    return figures


def _nothing() -> None:
    pass


if __name__ == "__main__":
    contender(measure)
