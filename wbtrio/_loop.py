"""What the hot path asks of the event loop, without anyio's look-up of the backend at each call.

Measured on the multiplexed connection with 64 tasks: the look-ups alone cost a third of an acquire.
Whatever is not on the hot path uses anyio.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol, TypeVar

import anyio.lowlevel
import trio
from sniffio import thread_local as running

from ._bucket import MICROSECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

Result = TypeVar("Result")


class Berth(Protocol):
    """Where one task waits to be woken by another."""

    async def wait(self) -> None:
        """Wait for `wake`. On trio no cancellation ends it; on asyncio one may."""
        ...

    def wake(self) -> None:
        """Wake the task that waits here, if one does."""
        ...


class TrioBerth:
    """See `Berth`."""

    __slots__ = ("_task",)

    def __init__(self) -> None:
        self._task: trio.lowlevel.Task | None = None

    async def wait(self) -> None:
        """See `Berth.wait`."""
        self._task = trio.lowlevel.current_task()
        await trio.lowlevel.wait_task_rescheduled(_refuse_to_abort)

    def wake(self) -> None:
        """See `Berth.wake`."""
        task, self._task = self._task, None
        if task is not None:
            trio.lowlevel.reschedule(task)


class AsyncioBerth:
    """See `Berth`."""

    __slots__ = ("_future",)

    def __init__(self) -> None:
        self._future: asyncio.Future[None] | None = None

    async def wait(self) -> None:
        """See `Berth.wait`."""
        self._future = asyncio.get_running_loop().create_future()
        try:
            await self._future
        finally:
            self._future = None

    def wake(self) -> None:
        """See `Berth.wake`."""
        if self._future is not None and not self._future.done():
            self._future.set_result(None)


def _refuse_to_abort(_: object) -> trio.lowlevel.Abort:
    return trio.lowlevel.Abort.FAILED


def berth_class() -> type[TrioBerth] | type[AsyncioBerth]:
    """The running loop's own kind."""
    return TrioBerth if running.name == "trio" else AsyncioBerth


def loop_time() -> float:
    """Seconds of the running event loop's clock: virtual where the loop's time is."""
    return trio.current_time() if running.name == "trio" else asyncio.get_running_loop().time()


def loop_clock() -> int:
    """The same in whole µs, the unit of every bucket."""
    seconds = trio.current_time() if running.name == "trio" else asyncio.get_running_loop().time()
    return round(seconds * MICROSECONDS)


async def checkpoint_if_cancelled() -> None:
    """Raise if the caller's scope is cancelled; else go on without giving way to other tasks."""
    if running.name == "trio":
        await trio.lowlevel.checkpoint_if_cancelled()
    else:
        await anyio.lowlevel.checkpoint_if_cancelled()


async def give_way() -> None:
    """Let every task that can run do so once. On trio no cancellation ends it."""
    if running.name == "trio":
        await trio.lowlevel.cancel_shielded_checkpoint()
    else:
        await asyncio.sleep(0)


async def uninterrupted(
    call: Callable[[], Coroutine[None, None, Result]],
) -> tuple[Result, BaseException | None]:
    """Complete a call whatever happens to the caller's scope.

    The call has to end by itself: bound it in time.

    Returns:
        Its result; and asyncio's own cancellation if one hit the caller meanwhile, which a task
        hears only once, so that whoever asked has to raise it.
    """
    if running.name == "trio":
        with trio.CancelScope(shield=True):
            return await call(), None
    # A task of its own, since `task.cancel()` reaches through every shield of the caller's.
    task = asyncio.ensure_future(call())
    interruption: BaseException | None = None
    with anyio.CancelScope(shield=True):
        while not task.done():
            try:
                await asyncio.wait([task])
            except asyncio.CancelledError as cancellation:
                interruption = cancellation
    if interruption is not None and (error := task.exception()) is not None:
        raise interruption from error
    return task.result(), interruption
