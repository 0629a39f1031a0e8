"""An httpx transport that spends a permit on each request to WB and settles it with the reply.

It is the seam between any httpx client and WB's budgets: acquire, send, settle, return. It works
under `httpx.AsyncClient` and, by the same duck type, under `httpx2.AsyncClient`.
"""

from __future__ import annotations

import functools
import logging
import re
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, cast

import anyio
import httpx
from anyio.lowlevel import RunVar

from ._errors import CallerError, RateLimited, TokenMalformed
from ._headers import observed_headers
from ._limiter import WbRateLimiter
from ._permit import Settlement
from ._reconcile import Reason
from ._registry import default_registry
from ._replies import Meaning, read_reply
from ._sending import (
    EXTENSION,
    PermitReport,
    Sending,
    SendWatch,
    Slot,
    body_to_send,
    held,
    is_traced,
)
from ._tokens import decode_token

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ._bucket import Bucket
    from ._permit import Permit
    from ._registry import Operation, Registry
    from ._tokens import SellerToken

logger = logging.getLogger("wbtrio")

WB_HOST_HEADER = "X-Wb-Host"
"""Carries the true host of a request that `base_url` sends elsewhere."""

MOST_REMEMBERED = 1_024
LONGEST_READ = 2.0
"""Seconds that settling a 429 or 503 waits for its body, where no header says what is meant."""
UNCOUNTED: Final = Settlement(Reason.NOT_OBSERVED, store_called=True, retry_after=0.0, cause=None)


class RateLimitTransport(httpx.AsyncBaseTransport):
    """Keeps every request that passes through it inside WB's budgets.

    A request to a host of WB waits for a permit of its operation's bucket, is sent, and settles
    the permit with the reply's headers before the caller sees the reply, whatever its status.
    Requests to other hosts pass untouched. Account and token kind are read from the request's
    own `Authorization` header, so one transport serves any number of sellers.

    Args:
        inner: Sends the requests; default: an `AsyncHTTPTransport` of the httpx that made the
            first request, without a bound on its pool (see `max_connections`). It is closed
            with this transport.
        limiter: Keeps the buckets; default: one of its own, in memory.
        registry: Knows operations and budgets; default: the one that is shipped.
        max_connections: Requests in flight at once. Bounded here and not in the pool, because
            httpcore 1.0.9 leaks the slot of a waiter that is cancelled.
        max_wait: Seconds that a request may wait for its permit; None: the limiter's.
        base_url: For tests and simulators only: scheme, host and port that every request to a
            host of WB is sent to; its true host then travels in the header `X-Wb-Host`.
    """

    def __init__(
        self,
        inner: httpx.AsyncBaseTransport | None = None,
        *,
        limiter: WbRateLimiter | None = None,
        registry: Registry | None = None,
        max_connections: int = 100,
        max_wait: float | None = None,
        base_url: str | None = None,
    ) -> None:
        if max_connections < 1:
            raise CallerError(f"max_connections must be positive, got {max_connections}.")
        self._inner = inner
        self._owned: dict[str, httpx.AsyncBaseTransport] = {}
        self._limiter = WbRateLimiter() if limiter is None else limiter
        self._registry = default_registry() if registry is None else registry
        self._max_connections = max_connections
        self._max_wait = max_wait
        self._base = None if base_url is None else _checked_base(base_url)
        self._capacity: RunVar[anyio.CapacityLimiter] = RunVar("wbtrio-connections")
        self._warned: set[str] = set()

    @property
    def limiter(self) -> WbRateLimiter:
        """The limiter whose permits this transport spends."""
        return self._limiter

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request under a permit, and settle the permit with the reply.

        Raises:
            TokenMalformed: The request to WB carries no WB token. Nothing was sent.
            TokenExpired: Its token has expired. Nothing was sent.
            CallerError: The request would carry the token unencrypted. Nothing was sent.
            RateLimited: The permit would take longer than `max_wait`. Nothing was sent.
            httpx.TransportError: No reply came. The permit was refunded if surely nothing was
                sent, and is spent otherwise.
        """
        if not self._registry.knows_host(request.url.host):
            return await self._inner_for(request).handle_async_request(request)
        if request.url.scheme != "https" and self._base is None:
            raise CallerError("A WB token is sent over TLS only.", advice="Use an https URL.")
        sending = request.extensions.get(EXTENSION)
        if not isinstance(sending, Sending):
            sending = Sending()
        seller = _seller_of(request.headers)
        seller.check_usable(utc_now())
        operation = self._registry.match(request.method, request.url.host, _path(request))
        permit = await self._acquire(request, seller, operation, sending)
        # No checkpoint may come between the grant and the code that answers for it.
        return await self._send(request, permit, seller, sending, _label(operation, request))

    async def aclose(self) -> None:
        """Close the inner transport."""
        if self._inner is not None:
            await self._inner.aclose()
        while self._owned:
            _, inner = self._owned.popitem()
            await inner.aclose()

    async def _acquire(
        self,
        request: httpx.Request,
        seller: SellerToken,
        operation: Operation | None,
        sending: Sending,
    ) -> Permit:
        max_wait = self._max_wait if sending.max_wait is None else sending.max_wait
        try:
            return await self._limiter.acquire(
                self._bucket(request, seller, operation),
                error_cost=1 if operation is None else operation.error_cost,
                max_wait=max_wait,
                fail_fast=sending.fail_fast,
            )
        except RateLimited as refusal:
            refusal.operation = _label(operation, request)
            refusal.account = seller.account
            raise

    def _bucket(
        self, request: httpx.Request, seller: SellerToken, operation: Operation | None
    ) -> Bucket:
        host = request.url.host
        if operation is None:
            self._warn_of_unknown_path(request)
            return self._registry.default_bucket(host, account=seller.account, kind=seller.kind)
        return self._registry.bucket_for(
            operation,
            account=seller.account,
            kind=seller.kind,
            host=host,
            sandbox=self._registry.is_sandbox_host(host),
        )

    def _warn_of_unknown_path(self, request: httpx.Request) -> None:
        shape = f"{request.method} {request.url.host}{path_shape(_path(request))}"
        if shape not in self._warned and len(self._warned) < MOST_REMEMBERED:
            self._warned.add(shape)
            logger.warning("%s is not in the registry: it gets its host's strictest budget", shape)

    async def _send(
        self,
        request: httpx.Request,
        permit: Permit,
        seller: SellerToken,
        sending: Sending,
        label: str,
    ) -> httpx.Response:
        response = await self._exchange(request, permit, seller, sending)
        try:
            # The reply narrows the bucket even when its caller no longer waits for it.
            with anyio.CancelScope(shield=True):
                if await _is_uncounted(response):
                    await permit.refund()
                    settlement = UNCOUNTED
                else:
                    settlement = await permit.settle(response.status_code, response.headers)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await response.aclose()
            raise
        response.extensions[EXTENSION] = PermitReport(
            operation=label,
            account=seller.account,
            bucket=permit.buckets[0].key,
            waited=permit.waited,
            cause=permit.cause,
            settlement=settlement.reason,
            retry_after=settlement.retry_after,
        )
        return response

    async def _exchange(
        self, request: httpx.Request, permit: Permit, seller: SellerToken, sending: Sending
    ) -> httpx.Response:
        """Request to reply headers; a permit whose request was surely not sent is refunded."""
        watch: SendWatch | None = None
        try:
            # The wait may have been a long one.
            seller.check_usable(utc_now())
            slot = Slot(self._limiter_of_connections())
            await slot.take()
            try:
                inner = self._inner_for(request)
                watch = SendWatch(
                    request.extensions.get("trace"),
                    on_send=permit.mark_sent,
                    traced=is_traced(inner),
                )
                sending.sent = True
                permit.mark_sent()
                response = await inner.handle_async_request(self._forwarded(request, watch))
            except BaseException:
                slot.release()
                raise
        except BaseException as failure:
            sending.sent = watch is not None and watch.may_have_sent(failure)
            with anyio.CancelScope(shield=True):
                await (permit.lose() if sending.sent else permit.refund())
            raise
        if response.is_closed:
            slot.release()
        else:
            response.stream = held(response.stream, slot.release)
        return response

    def _forwarded(self, request: httpx.Request, watch: SendWatch) -> httpx.Request:
        """A copy to pass on: the caller's own request may be sent again and stays as it is."""
        url, headers = request.url, request.headers
        if self._base is not None:
            headers = headers.copy()
            headers[WB_HOST_HEADER] = url.host
            url = url.copy_with(
                scheme=self._base.scheme, host=self._base.host, port=self._base.port
            )
            headers["Host"] = url.netloc.decode("ascii")
        extensions = {**request.extensions, "trace": watch}
        return type(request)(
            request.method,
            url,
            headers=headers,
            stream=body_to_send(request.stream),
            extensions=extensions,
        )

    def _inner_for(self, request: httpx.Request) -> httpx.AsyncBaseTransport:
        if self._inner is not None:
            return self._inner
        # The request's own library sends it: httpx's transport refuses the streams of httpx2.
        library = type(request).__module__.partition(".")[0]
        if library not in self._owned:
            httpx_like = cast("Any", sys.modules[library])
            limits = httpx_like.Limits(max_connections=None, max_keepalive_connections=20)
            self._owned[library] = httpx_like.AsyncHTTPTransport(limits=limits)
        return self._owned[library]

    def _limiter_of_connections(self) -> anyio.CapacityLimiter:
        try:
            return self._capacity.get()
        except LookupError:
            limiter = anyio.CapacityLimiter(self._max_connections)
            self._capacity.set(limiter)
            return limiter


async def _is_uncounted(response: httpx.Response) -> bool:
    """Whether a 429 or 503 only says that WB is down (WB-038): no counter of WB has seen it then.

    One with rate-limit headers has been counted, whatever it says.
    """
    if response.status_code not in {429, 503} or observed_headers(response.headers):
        return False
    body = b""
    with anyio.move_on_after(LONGEST_READ):
        try:
            body = await response.aread()
        except Exception:
            logger.debug(
                "the body of a reply without rate-limit headers could not be read", exc_info=True
            )
    reply = read_reply(response.status_code, response.headers, body)
    return reply.meaning is Meaning.MAINTENANCE


def _seller_of(headers: Mapping[str, str]) -> SellerToken:
    raw = headers.get("authorization", "")
    if not raw:
        raise TokenMalformed(
            "The request to WB has no Authorization header.",
            advice="Send the seller's WB token in it.",
        )
    return _decoded(raw, "x-client-secret" in headers)


@functools.lru_cache(maxsize=MOST_REMEMBERED)
def _decoded(raw: str, has_secret: bool) -> SellerToken:
    return decode_token(raw, has_secret=has_secret)


def utc_now() -> datetime:
    """The moment by which tokens expire."""
    return datetime.now(UTC)


def _path(request: httpx.Request) -> str:
    return request.url.raw_path.partition(b"?")[0].decode("ascii")


def _label(operation: Operation | None, request: httpx.Request) -> str:
    return f"{request.method} {_path(request)}" if operation is None else operation.id


def path_shape(path: str) -> str:
    """The path with each segment that holds a digit replaced, but for versions such as `v3`."""
    return re.sub(r"(?<=/)(?!v\d+(?:/|$))[^/]*\d[^/]*", "{}", path)


def _checked_base(base_url: str) -> httpx.URL:
    base = httpx.URL(base_url)
    if base.scheme not in {"http", "https"} or not base.host or base.path not in {"", "/"}:
        raise CallerError(f"base_url must be scheme, host and port only, got {base_url!r}.")
    return base
