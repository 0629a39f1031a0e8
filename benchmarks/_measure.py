"""Taking times: what one contender's process does, and how it hands back its figures."""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from typing import TYPE_CHECKING, Any, Literal

import anyio
import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

LoopName = Literal["trio", "asyncio", "uvloop", ""]
Part = Literal["", "speed", "crowd", "cancelled"]
PERCENTILES = 100


class Job(Struct, frozen=True):
    """What one process is to do.

    Attributes:
        loop: Event loop to run on; "" for contenders that need none.
        url: URL of the Redis server; "" for contenders that need none.
        calls: How many calls to time one by one.
        tasks: How many tasks call at once where throughput is measured.
        calls_per_task: Calls of each of them.
        part: Which of its measurements a contender with several is to make.
        seconds: Length of runs that last a given time.
        waiters: Tasks of this process that ask for the same tokens in such a run.
        start_at: Moment of the monotonic clock at which such a run starts, in all its processes.
    """

    loop: LoopName = ""
    url: str = ""
    calls: int = 4_000
    tasks: int = 64
    calls_per_task: int = 300
    part: Part = ""
    seconds: float = 10.0
    waiters: int = 10
    start_at: float = 0.0


class Figures(Struct):
    """What one process measured.

    Attributes:
        values: Numbers by name.
        spreads: Distributions by name: the percentiles 0 to 100, in µs.
        grants: For each waiter of a run, the moments at which it was granted a token, in seconds
            of the monotonic clock, which all processes share.
        note: Why figures are missing, if they are.
    """

    values: dict[str, float] = {}
    spreads: dict[str, list[float]] = {}
    grants: list[list[float]] = []
    note: str = ""


def percentiles(nanoseconds: list[int]) -> list[float]:
    """The percentiles 0 to 100 of some times, in µs."""
    ordered = sorted(nanoseconds)
    last = len(ordered) - 1
    return [round(ordered[last * step // PERCENTILES] / 1000, 3) for step in range(PERCENTILES + 1)]


async def time_calls(call: Callable[[], Awaitable[object]], calls: int) -> list[float]:
    """Percentiles (µs) of one call after another."""
    for _ in range(max(1, calls // 10)):
        await call()
    clock = time.perf_counter_ns
    times = []
    gc.collect()
    for _ in range(calls):
        started = clock()
        await call()
        times.append(clock() - started)
    return percentiles(times)


async def calls_per_second(
    call: Callable[[int], Awaitable[object]], tasks: int, calls_per_task: int
) -> float:
    """Calls per second of many tasks at once; `call` gets the task's number."""

    async def work(number: int, calls: int) -> None:
        for _ in range(calls):
            await call(number)

    async def work_together(calls: int) -> float:
        started = time.perf_counter()
        async with anyio.create_task_group() as group:
            for number in range(tasks):
                group.start_soon(work, number, calls)
        return tasks * calls / (time.perf_counter() - started)

    await work_together(max(1, calls_per_task // 10))
    gc.collect()
    return round(await work_together(calls_per_task), 1)


def run_on_loop(main: Callable[[Job], Awaitable[Figures]], job: Job) -> Figures:
    """Run an async contender on the loop that the job names."""
    backend = "trio" if job.loop == "trio" else "asyncio"
    options: dict[str, Any] = {}
    if job.loop == "uvloop":
        options = {"use_uvloop": True}
    elif job.loop == "asyncio":
        options = {"loop_factory": asyncio.SelectorEventLoop}
    return anyio.run(main, job, backend=backend, backend_options=options)


def contender(
    main: Callable[[Job], Awaitable[Figures]] | None = None,
    *,
    blocking: Callable[[Job], Figures] | None = None,
) -> None:
    """Body of a contender's process: read the job from the command line, print the figures."""
    job = msgspec.json.decode(sys.argv[1] if len(sys.argv) > 1 else "{}", type=Job)
    if blocking is not None:
        figures = blocking(job)
    elif main is not None:
        figures = run_on_loop(main, job)
    else:
        raise TypeError("a contender needs something to run")
    print(msgspec.json.encode(figures).decode())
