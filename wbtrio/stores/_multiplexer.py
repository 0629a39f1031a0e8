"""One socket for the commands of all tasks: writes coalesced, replies matched in FIFO order.

There is no background task, hence nothing that could outlive a scope: of the tasks that wait for
replies, one reads for all. Whoever gets its reply first hands the reading on to the oldest that
still waits. Commands queued in one tick of the loop leave in one write.
"""

from __future__ import annotations

import math
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING

import anyio
import hiredis
import redis.exceptions

from .._errors import StoreError, StoreProtocolError, StoreTimeout, StoreUnavailable
from .._loop import Berth, berth_class, give_way, loop_time

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._wire import Wire

_INCOMPLETE = object()


class Call:
    """One command under way.

    Attributes:
        deadline: Seconds of the event loop's clock at which it is given up.
        reply: What the server answered; an error reply is a `redis.exceptions.ResponseError`.
        error: Why there is no reply, once it is done without one.
        interruption: asyncio's own cancellation, if one hit the task while it waited. The call
            was completed all the same; its caller tidies up and raises this.
        done: Whether there is a reply or an error.
        sent: Whether a byte of it may have left.
    """

    __slots__ = ("berth", "deadline", "done", "error", "interruption", "reply", "sent")

    def __init__(self, deadline: float, berth: Berth) -> None:
        self.deadline = deadline
        self.berth = berth
        self.reply: object = None
        self.error: StoreError | None = None
        self.interruption: BaseException | None = None
        self.done = False
        self.sent = False


class Multiplexer:
    """The life of one connection.

    Args:
        wire: A connected wire; owned from here on.
        peer: The server's address as errors name it.
    """

    def __init__(self, wire: Wire, peer: str) -> None:
        self._wire = wire
        self._peer = peer
        self._reader = hiredis.Reader(
            protocolError=redis.exceptions.InvalidResponse,
            replyError=redis.exceptions.ResponseError,
            notEnoughData=_INCOMPLETE,
        )
        self._pending: deque[Call] = deque()
        self._queue: list[tuple[Call, bytes]] = []
        self._writing = False
        self._reading = False
        self._used_at = 0.0
        self._berth = berth_class()
        self.is_broken = False

    def is_stale(self, now: float, after: float) -> bool:
        """Whether the server hung up since the last use; looks only after `after` idle seconds."""
        idle = not self._pending and now - self._used_at > after
        return self.is_broken or (idle and self._wire.was_closed_by_peer())

    async def call(self, command: bytes, timeout: float) -> Call:
        """Send one packed command and wait for its reply, whatever happens to the caller's scope.

        Args:
            command: Packed by hiredis.
            timeout: Seconds until the call is given up and the connection with it.

        Raises:
            StoreTimeout: No reply in time; `may_have_run` says whether it was sent.
            StoreUnavailable: The connection broke; likewise.
            StoreProtocolError: The other side does not speak Redis.
        """
        self._used_at = loop_time()
        call = Call(self._used_at + timeout, self._berth())
        self._pending.append(call)
        self._queue.append((call, command))
        try:
            while not call.done:
                await self._advance(call)
        except anyio.get_cancelled_exc_class() as cancellation:
            await self._complete(call, cancellation)
        self._hand_on()
        if call.error is not None:
            raise call.interruption or call.error
        return call

    async def _complete(self, call: Call, cancellation: BaseException) -> None:
        """Go on with a call whose task was cancelled meanwhile.

        A cancelled scope is told again at the task's next checkpoint, so it may wait. asyncio's
        own `task.cancel()` comes only once: it is kept.
        """
        if anyio.current_effective_deadline() != -math.inf:
            call.interruption = cancellation
        with anyio.CancelScope(shield=True):
            while not call.done:
                try:
                    await self._advance(call)
                except anyio.get_cancelled_exc_class() as again:
                    call.interruption = again

    def fail(self, error: StoreError) -> None:
        """Give the connection up: every call under way ends with this kind of error."""
        self.is_broken = True
        self._wire.close()
        self._queue.clear()
        for call in self._pending:
            # One error object for each call: a traceback must not mix those of several tasks.
            call.error = type(error)(error.message, advice=error.advice, may_have_run=call.sent)
            call.error.__cause__ = error.__cause__
            call.done = True
            call.berth.wake()
        self._pending.clear()

    async def _advance(self, call: Call) -> None:
        try:
            if self._has_to_write and not self._writing:
                await self._write()
            elif not self._reading:
                await self._read()
            else:
                await call.berth.wait()
        except (OSError, anyio.ClosedResourceError) as error:
            if not self.is_broken:
                failure = StoreUnavailable(
                    f"The connection to the store at {self._peer} broke: {error}.",
                    advice="Is the server still running?",
                )
                failure.__cause__ = error
                self.fail(failure)

    async def _write(self) -> None:
        self._writing = True
        try:
            if len(self._pending) > 1:
                # Others may be about to queue in this very tick: leave in one write with them.
                await give_way()
            while self._has_to_write and not self.is_broken:
                for call, command in self._queue:
                    call.sent = True
                    self._wire.queue(command)
                self._queue.clear()
                if not self._wire.try_flush():
                    with self._bounded():
                        await self._wire.flush()
        finally:
            self._writing = False

    @contextmanager
    def _bounded(self) -> Iterator[None]:
        """Until the oldest call's deadline, whatever happens to the caller's scope."""
        deadline = self._pending[0].deadline
        with anyio.CancelScope(shield=True, deadline=deadline) as scope:
            yield
        if scope.cancelled_caught:
            self.fail(
                StoreTimeout(
                    f"The store at {self._peer} did not answer in time.",
                    advice="Look at its load and at the network, or allow a longer timeout.",
                )
            )

    async def _read(self) -> None:
        self._reading = True
        try:
            with self._bounded():
                data = await self._wire.receive()
        finally:
            self._reading = False
        if self.is_broken:
            return
        if not data:
            raise ConnectionResetError("the server closed it")
        self._reader.feed(data)
        try:
            while self._pending and (reply := self._reader.gets()) is not _INCOMPLETE:
                call = self._pending.popleft()
                call.reply = reply
                call.done = True
                call.berth.wake()
        except redis.exceptions.InvalidResponse as error:
            failure = StoreProtocolError(
                f"Whatever answers at {self._peer} does not speak Redis.",
                advice="Check the host and the port of the URL.",
            )
            failure.__cause__ = error
            self.fail(failure)

    def _hand_on(self) -> None:
        somebody_writes = self._writing or not self._has_to_write
        if self._pending and not (self._reading and somebody_writes):
            self._pending[0].berth.wake()

    @property
    def _has_to_write(self) -> bool:
        return bool(self._queue) or self._wire.has_unsent
