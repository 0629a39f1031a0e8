"""What is known of one request on its way: its place among the connections, and whether it left.

httpcore tells through its `trace` extension when it begins to send; whatever fails before that
moment never reached WB, and its permit can be given back.
"""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    import anyio

    from ._lane import Cause

EXTENSION = "wbtrio"
"""Key of ours in a request's extensions (`Sending`) and in a response's (`PermitReport`)."""


class PermitReport(Struct, frozen=True):
    """What one request cost, in `response.extensions["wbtrio"]`.

    Attributes:
        operation: Id of the operation, or `METHOD /path` for a path the registry does not know.
        account: Key of the seller's account.
        bucket: Key of the bucket that was charged.
        waited: Seconds that the request waited for its permit.
        cause: Why it waited, None if it did not.
        settlement: What settling did, as `Settlement.reason` spells it.
        retry_after: Seconds after the reply until the bucket admits a request again.
    """

    operation: str
    account: str
    bucket: str
    waited: float
    cause: Cause | None
    settlement: str
    retry_after: float


class Sending:
    """What a caller asks for one request, and learns of it: `request.extensions["wbtrio"]`.

    Attributes:
        max_wait: Seconds that the request may wait for its permit; None: the transport's.
        fail_fast: Refuse at once where the wait would outlast the caller's own deadline.
        sent: Set by the transport: whether WB may have received the request, or may be about
            to. After a failure it tells whether a write may be repeated.
    """

    __slots__ = ("fail_fast", "max_wait", "sent")

    def __init__(self, *, max_wait: float | None = None, fail_fast: bool = False) -> None:
        self.max_wait = max_wait
        self.fail_fast = fail_fast
        self.sent = False


class Slot:
    """One connection's place, given back once, by whichever task closes the response."""

    def __init__(self, limiter: anyio.CapacityLimiter) -> None:
        self._limiter = limiter
        self._held = False

    async def take(self) -> None:
        """Wait for a place."""
        await self._limiter.acquire_on_behalf_of(self)
        self._held = True

    def release(self) -> None:
        """Give the place back; again: nothing."""
        if self._held:
            self._held = False
            self._limiter.release_on_behalf_of(self)


class SendWatch:
    """httpcore's `trace` extension: learns whether a byte of the request may have left."""

    UNSENT = frozenset(
        {"ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError", "UnsupportedProtocol"}
    )

    def __init__(
        self,
        callers: Callable[[str, Mapping[str, Any]], Awaitable[None]] | None,
        *,
        on_send: Callable[[], None],
        traced: bool,
    ) -> None:
        self._callers = callers
        self._on_send = on_send
        self._traced = traced
        self._sent = False

    async def __call__(self, event: str, info: Mapping[str, Any]) -> None:
        self._traced = True
        # A proxy's CONNECT goes to the proxy, and carries nothing of the request itself.
        is_connect = getattr(info.get("request"), "method", b"") == b"CONNECT"
        if event.endswith(".send_request_headers.started") and not is_connect:
            self._sent = True
            self._on_send()
        if self._callers is not None:
            await self._callers(event, info)

    def may_have_sent(self, failure: BaseException) -> bool:
        """False only if surely nothing was sent.

        Without a trace (mock and ASGI transports) the failure's own name has to tell: compared
        by name, because httpx2 has classes of its own.
        """
        if self._sent or self._traced:
            return self._sent
        return not any(cls.__name__ in self.UNSENT for cls in type(failure).__mro__)


class _AsyncStream(Protocol):
    def __aiter__(self) -> AsyncIterator[bytes]: ...

    async def aclose(self) -> None: ...


class _HeldStream:
    """A response's body that gives a connection's slot back when it is closed."""

    def __init__(self, stream: _AsyncStream, release: Callable[[], None]) -> None:
        self._stream = stream
        self._release = release

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._stream.__aiter__()

    async def aclose(self) -> None:
        try:
            await self._stream.aclose()
        finally:
            self._release()


class _WholeBody:
    """A request's body that is in memory.

    httpx iterates over one by an async generator, which a request cancelled half-way leaves to
    the garbage collector; trio warns of that.
    """

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        for chunk in self._chunks:
            return chunk
        raise StopAsyncIteration


def held(stream: Any, release: Callable[[], None]) -> Any:
    """The response's stream, which calls `release` when it is closed."""
    return _of_its_library(_HeldStream, stream)(stream, release)


def body_to_send(stream: Any) -> Any:
    """A request's stream, safe to be left half-way where it is in memory."""
    if type(stream).__name__ != "ByteStream":
        return stream
    return _of_its_library(_WholeBody, stream)(stream)


def _of_its_library(ours: type, stream: Any) -> Any:
    base = next(cls for cls in type(stream).__mro__ if cls.__name__ == "AsyncByteStream")
    return _combined(ours, base)


@functools.cache
def _combined(ours: Any, base: Any) -> Any:
    """Ours as a subclass of a library's `AsyncByteStream`, which its client asserts."""
    return type(ours.__name__, (ours, base), {})


def is_traced(inner: object) -> bool:
    """Whether this transport surely reports to the `trace` extension before it sends."""
    return any(cls.__name__ == "AsyncHTTPTransport" for cls in type(inner).__mro__)
