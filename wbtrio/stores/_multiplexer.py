"""One socket for the commands of all tasks: writes coalesced, replies matched in FIFO order.

There is no background task, hence nothing that could outlive a scope: of the tasks that wait for
replies, one reads for all. Whoever gets its reply first hands the reading on to the oldest that
still waits. Commands queued in one tick of the loop leave in one write.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import anyio
import anyio.lowlevel
import hiredis
import redis.exceptions

from .._errors import StoreError, StoreProtocolError, StoreTimeout, StoreUnavailable

if TYPE_CHECKING:
    from ._wire import Wire

_INCOMPLETE = object()


class Call:
    """One command under way.

    Attributes:
        reply: What the server answered; an error reply is a `redis.exceptions.ResponseError`.
        interruption: asyncio's own cancellation, if one hit the task while it waited. The call
            was completed all the same; its caller tidies up and raises this.
    """

    __slots__ = ("_wake", "done", "error", "interruption", "reply", "sent")

    def __init__(self) -> None:
        self.reply: object = None
        self.error: StoreError | None = None
        self.interruption: BaseException | None = None
        self.done = False
        self.sent = False
        self._wake: anyio.Event | None = None

    async def woken(self) -> None:
        """Wait until there is something to do: a reply, or the reading to take over."""
        self._wake = anyio.Event()
        await self._wake.wait()

    def wake(self) -> None:
        """Make the task that waits in `woken` look again."""
        if self._wake is not None:
            self._wake.set()


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
        call = Call()
        self._pending.append(call)
        self._queue.append((call, command))
        self._used_at = anyio.current_time()
        with anyio.CancelScope(shield=True, deadline=self._used_at + timeout) as scope:
            while not call.done:
                try:
                    await self._advance(call)
                except anyio.get_cancelled_exc_class() as cancellation:
                    if scope.cancel_called:
                        raise
                    call.interruption = cancellation
        if not call.done:
            self.fail(
                StoreTimeout(
                    f"The store at {self._peer} did not answer within {timeout * 1000:.0f} ms.",
                    advice="Look at its load and at the network, or allow a longer timeout.",
                )
            )
        self._hand_on()
        if call.error is not None:
            raise call.interruption or call.error
        return call

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
            call.wake()
        self._pending.clear()

    async def _advance(self, call: Call) -> None:
        try:
            if self._has_to_write and not self._writing:
                await self._write()
            elif not self._reading:
                await self._read()
            else:
                await call.woken()
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
                await anyio.lowlevel.checkpoint()
            while self._has_to_write and not self.is_broken:
                for call, command in self._queue:
                    call.sent = True
                    self._wire.queue(command)
                self._queue.clear()
                await self._wire.flush()
        finally:
            self._writing = False

    async def _read(self) -> None:
        self._reading = True
        try:
            data = await self._wire.receive()
        finally:
            self._reading = False
        if not data:
            raise ConnectionResetError("the server closed it")
        self._reader.feed(data)
        try:
            while self._pending and (reply := self._reader.gets()) is not _INCOMPLETE:
                call = self._pending.popleft()
                call.reply = reply
                call.done = True
                call.wake()
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
            self._pending[0].wake()

    @property
    def _has_to_write(self) -> bool:
        return bool(self._queue) or self._wire.has_unsent
