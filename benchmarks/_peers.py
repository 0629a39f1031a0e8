"""What every limiter is put through in the same way: speed, a crowd, and cancellation.

A limiter brings one function that opens it; the work is done here. Nothing is taken from its own
documentation: what is counted is what its callers get, and what the server was sent.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager

import anyio
from msgspec import Struct

from benchmarks._measure import Figures, Job, calls_per_second, contender, time_calls
from benchmarks._workload import Monitor, mark


class Quota(Struct, frozen=True):
    """What a limiter is to allow.

    Attributes:
        limit: Tokens a period.
        period: Seconds.
        burst: Tokens at once.
    """

    limit: int
    period: int
    burst: int

    @property
    def interval(self) -> float:
        """Seconds in which one token refills."""
        return self.period / self.limit


WIDE = Quota(limit=1_000_000, period=30 * 24 * 3600, burst=1_000_000)
"""Never runs dry, and next to nothing refills meanwhile: what is timed is the call alone."""
CROWD = Quota(limit=50, period=1, burst=5)
ONE_A_SECOND = Quota(limit=1, period=1, burst=1)
NO_REFILL = Quota(limit=200, period=24 * 3600, burst=200)

LEFT_WHILE_WAITING = 3
"""Waiters that are cancelled one after the other."""
LEFT_WHILE_ASKING = 150
"""Acquires that are cancelled at some point of their way to the server and back."""
MOST_TICKS = 60
"""Ticks of the loop after which they are; a whole way takes about half as many."""
COUNTED_ACQUIRES = 50

Acquire = Callable[[str], Awaitable[object]]
"""Wait for one token of the bucket of this name."""
Open = Callable[[str, Quota, Sequence[str]], AbstractAsyncContextManager[Acquire]]
"""Open a limiter: URL of the server ("": in memory), what to allow, names of the buckets."""


def peer(open_limiter: Open) -> None:
    """Body of a limiter's process."""

    async def measure(job: Job) -> Figures:
        if job.part == "crowd":
            return await stand_in_crowd(open_limiter, job)
        if job.part == "cancelled":
            return await lose_tokens(open_limiter, job)
        return await take_times(open_limiter, job)

    contender(measure)


async def take_times(open_limiter: Open, job: Job) -> Figures:
    """Latency of one acquire, throughput of many, commands that one takes."""
    names = [f"b{number}" for number in range(job.tasks)]
    async with open_limiter(job.url, WIDE, names) as acquire:
        spread = await time_calls(lambda: acquire("b0"), job.calls)
        values = {
            "many_keys": await calls_per_second(
                lambda number: acquire(names[number]), job.tasks, job.calls_per_task
            )
        }
        if job.url:
            values["commands"] = await commands_per_acquire(job.url, lambda: acquire("b0"))
    return Figures(spreads={"acquire": spread}, values=values)


async def commands_per_acquire(url: str, acquire: Callable[[], Awaitable[object]]) -> float:
    """Commands that the server gets for one acquire of a bucket that is not empty."""
    monitor = Monitor(url)
    for _ in range(COUNTED_ACQUIRES):
        await acquire()
    mark(url, "end")
    seen = sum(1 for _ in monitor.commands("end"))
    monitor.close()
    return seen / COUNTED_ACQUIRES


async def stand_in_crowd(open_limiter: Open, job: Job) -> Figures:
    """When each of several waiters for one bucket gets its tokens."""
    grants: list[list[float]] = [[] for _ in range(job.waiters)]
    async with open_limiter(job.url, CROWD, ["crowd"]) as acquire:

        async def wait_again(granted: list[float]) -> None:
            while True:
                await acquire("crowd")
                granted.append(time.monotonic())

        await anyio.sleep(max(0.0, job.start_at - time.monotonic()))
        with anyio.move_on_after(job.seconds):
            async with anyio.create_task_group() as waiters:
                for granted in grants:
                    waiters.start_soon(wait_again, granted)
    return Figures(grants=grants)


async def lose_tokens(open_limiter: Open, job: Job) -> Figures:
    """Tokens that nobody has after their acquires were cancelled, as asyncio cancels a task."""
    async with open_limiter(job.url, ONE_A_SECOND, ["waiting"]) as acquire:
        values = {"lost_waiting": await lost_while_waiting(lambda: acquire("waiting"))}
    if job.url:
        async with open_limiter(job.url, NO_REFILL, ["asking"]) as acquire:
            values["lost_asking"] = await lost_while_asking(lambda: acquire("asking"))
    return Figures(values=values)


async def lost_while_waiting(acquire: Callable[[], Awaitable[object]]) -> float:
    """How many intervals longer than one the next caller waits, after some went away."""
    await acquire()
    started = time.monotonic()
    for _ in range(LEFT_WHILE_WAITING):
        task = asyncio.ensure_future(acquire())
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.wait([task])
    await acquire()
    return max(0, round((time.monotonic() - started) / ONE_A_SECOND.interval) - 1)


async def lost_while_asking(acquire: Callable[[], Awaitable[object]]) -> float:
    """Tokens of a bucket that nobody was granted, and that are gone all the same."""
    ticks = random.Random("ticks")
    granted = 0
    for _ in range(LEFT_WHILE_ASKING):
        task = asyncio.ensure_future(acquire())
        for _ in range(ticks.randrange(MOST_TICKS)):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        granted += not task.cancelled()
    try:
        while granted <= NO_REFILL.burst:
            await asyncio.wait_for(acquire(), 0.5)
            granted += 1
    except TimeoutError:
        pass
    return NO_REFILL.burst - granted
