"""Cancel a piece of work at each of its checkpoints in turn, and look at what it leaves behind.

    for attempt in cancellations():
        limiter = WbRateLimiter()
        await attempt.run(limiter.acquire(bucket))
        assert ...

The n-th attempt is cancelled at the n-th moment at which the work suspends; the last one is never
cancelled. Counted are the suspensions of the task that calls `run`: tasks that the work starts
are cancelled with it, at whatever point they have reached.
"""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import anyio
from sniffio import current_async_library

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Iterator

T = TypeVar("T")

MOST_CHECKPOINTS = 2_000
"""More suspensions than any tested piece of work has: beyond it, it does not end."""


class Means(StrEnum):
    """How an attempt is cancelled."""

    SCOPE = "scope"
    """An anyio cancel scope around the work; it cancels before the work is parked."""
    TASK = "task"
    """asyncio's own `Task.cancel()`, before what the work waits for has come."""
    TASK_ON_ARRIVAL = "task_on_arrival"
    """`Task.cancel()` in the very tick in which what the work waits for has come: the result is
    there, but asyncio throws `CancelledError` in its stead."""


def means_here() -> tuple[Means, ...]:
    """All means that the running event loop knows."""
    return (Means.SCOPE,) if current_async_library() == "trio" else tuple(Means)


class Attempt(Generic[T]):
    """One run of the work, cancelled at its `checkpoint`-th suspension.

    Attributes:
        checkpoint: Which suspension, from 1.
        means: How it is cancelled.
        requested: Whether the work got that far, so that it was indeed cancelled.
        cancelled: Whether the work ended by that cancellation, not by a result.
        result: What the work returned; None if it did not.
    """

    def __init__(self, checkpoint: int, means: Means) -> None:
        self.checkpoint = checkpoint
        self.means = means
        self.ran = False
        self.requested = False
        self.cancelled = False
        self.result: T | None = None

    def __repr__(self) -> str:
        return f"<cancelled by {self.means} at checkpoint {self.checkpoint}>"

    async def run(self, work: Awaitable[T]) -> T | None:
        """Run the work under this attempt's cancellation; its own errors come through."""
        self.ran = True
        if self.means is Means.SCOPE:
            await self._run_in_scope(work)
        else:
            await self._run_in_task(work)
        return self.result

    async def _run_in_scope(self, work: Awaitable[T]) -> None:
        def suspend(_: object) -> None:
            scope.cancel()

        with anyio.CancelScope() as scope:
            self.result = await self._stepped(work, suspend)
        self.cancelled = scope.cancelled_caught

    async def _run_in_task(self, work: Awaitable[T]) -> None:
        def suspend(awaited: object) -> None:
            if self.means is Means.TASK_ON_ARRIVAL and isinstance(awaited, asyncio.Future):
                # Runs just before the task's own callback, so the two fall into one tick.
                awaited.add_done_callback(lambda _: task.cancel())
            else:
                asyncio.get_running_loop().call_soon(task.cancel)

        async def stepped() -> T:
            return await self._stepped(work, suspend)

        task = asyncio.create_task(stepped())
        await asyncio.wait([task])
        self.cancelled = task.cancelled()
        if not self.cancelled:
            self.result = task.result()

    def _stepped(self, work: Awaitable[T], suspend: Callable[[object], None]) -> _Stepped[T]:
        def at_suspension(number: int, awaited: object) -> None:
            if number == self.checkpoint:
                self.requested = True
                suspend(awaited)

        return _Stepped(work, at_suspension)


class _Stepped(Generic[T]):
    """Awaits `work` and calls `at_suspension(number, awaited)` each time it is to suspend."""

    def __init__(self, work: Awaitable[T], at_suspension: Callable[[int, object], None]) -> None:
        self._work = work
        self._at_suspension = at_suspension

    def __await__(self) -> Generator[Any, Any, T]:
        iterator = self._work.__await__()
        number = 0
        advance: Callable[[], Any] = lambda: next(iterator)  # noqa: E731
        while True:
            try:
                awaited = advance()
            except StopIteration as stop:
                result: T = stop.value
                return result
            number += 1
            self._at_suspension(number, awaited)
            advance = yield from _forward(iterator, awaited)


def _forward(iterator: Generator[Any, Any, T], awaited: object) -> Generator[Any, Any, Any]:
    """Suspend on `awaited`; how to go on afterwards is the result."""
    try:
        sent = yield awaited
    except BaseException as thrown:
        error = thrown
        return lambda: iterator.throw(error)
    return lambda: iterator.send(sent)


def cancellations(means: Means = Means.SCOPE) -> Iterator[Attempt[Any]]:
    """Attempts 1, 2, ... until one was not cancelled since the work has no further checkpoint.

    Raises:
        AssertionError: An attempt was not run, or the work suspends without end.
    """
    for checkpoint in range(1, MOST_CHECKPOINTS):
        attempt: Attempt[Any] = Attempt(checkpoint, means)
        yield attempt
        assert attempt.ran, f"{attempt} was never run"
        if not attempt.requested:
            return
    raise AssertionError(f"the work suspended more than {MOST_CHECKPOINTS} times")


async def cancel_at_every_checkpoint(
    make: Callable[[], Awaitable[T]],
    check: Callable[[Attempt[T]], Awaitable[None]],
) -> int:
    """Run what `make` makes once for each checkpoint and means of cancelling, then `check` each.

    Returns the number of attempts that were cancelled. `make` brings up fresh state, and `check`
    asserts what must hold after any attempt, the uncancelled last one included.
    """
    cancelled = 0
    for means in means_here():
        for attempt in cancellations(means):
            await attempt.run(make())
            await check(attempt)
            cancelled += attempt.requested
    return cancelled
