"""One call of one operation: refused locally, or sent until WB gave its answer.

Every attempt goes through the transport, so every attempt has a permit of its own. A 429 waits
under the limiter and is no network retry; what may be repeated after a network failure is a
read, or a request that surely never left.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from weakref import WeakSet

import anyio
import httpx
import stamina

from ._errors import (
    CallerError,
    NetworkError,
    RateLimited,
    ServerError,
    TokenExpired,
    Undecodable,
)
from ._headers import observed_headers
from ._refusals import refusal
from ._replies import Meaning, error_from, read_reply
from ._requests import Answer, Call, fill_path
from ._sending import EXTENSION, PermitReport, Sending
from ._spool import read_body

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ._errors import WbError
    from ._registry import Operation, Registry
    from ._replies import Reply
    from ._requests import CallPolicy, Credentials, Query
    from ._spool import Body
    from ._transport import RateLimitTransport

logger = logging.getLogger("wbtrio")

FIRST_BACKOFF = 0.5
"""Seconds before the first network retry, and most jitter on top; doubles with each."""
LONGEST_BACKOFF = 30.0


class Caller:
    """Sends the calls of one account."""

    def __init__(
        self,
        transport: RateLimitTransport,
        registry: Registry,
        credentials: Credentials,
        policy: CallPolicy,
        *,
        sandbox: bool,
        timeout: httpx.Timeout,
        peers: WeakSet[Caller] | None = None,
    ) -> None:
        self.transport = transport
        self.registry = registry
        self.credentials = credentials
        self.policy = policy
        self.timeout = timeout
        self.sandbox = sandbox
        self._warned: set[str] = set()
        self._courses: set[_Course] = set()
        self._is_expired = False
        self._peers: WeakSet[Caller] = WeakSet() if peers is None else peers
        self._peers.add(self)

    def prepare(
        self,
        operation_id: str,
        *,
        params: Query | None = None,
        json: object = None,
        path: Mapping[str, str | int] | None = None,
        headers: Mapping[str, str] | None = None,
        host: str | None = None,
    ) -> Call:
        """Check all that can be checked without asking WB.

        Raises:
            UnknownOperation: The registry has no such operation.
            TokenError: The token's claims forbid the call.
            CallerError: Path parameters or the host do not fit the operation.
        """
        operation = self.registry.operation(operation_id)
        host = self._host(operation, host)
        refused = refusal(
            self.credentials.seller, operation, now=datetime.now(UTC), sandbox=self.sandbox
        )
        if refused is not None:
            raise refused
        if operation.deprecated and operation.id not in self._warned:
            self._warned.add(operation.id)
            logger.warning("%s is deprecated: WB will remove it", operation.id)
        where = fill_path(operation.id, operation.path, path or {})
        return Call(operation, f"https://{host}{where}", params or {}, json, headers or {})

    async def send(
        self, call: Call, *, max_wait: float | None = None, may_spool: bool = False
    ) -> Answer:
        """Send a call until WB gave its answer, within the policy's patience.

        Once WB says that the token has expired, no further request is sent with it: calls that
        still wait for their permit end at once (field case WB-020).

        Args:
            call: What to send.
            max_wait: Seconds that it may wait for permits in all; None: the policy's.
            may_spool: Whether a body too large for memory may come as a file (`Answer.spool`).

        Raises:
            TokenExpired: WB said so to another call of the account; this one was not sent.
            RateLimited: The budget needs more patience than `max_wait`, or WB said 429 too often.
            WbError: WB's answer is no.
            NetworkError: No reply came, and repeating is not safe or did not help.
        """
        patience = self.policy.max_wait if max_wait is None else max_wait
        course = _Course(self, call, patience, may_spool=may_spool)
        self._courses.add(course)
        try:
            return await course.run()
        finally:
            self._courses.discard(course)

    def check_token(self) -> None:
        """Raise TokenExpired if WB said so before."""
        if self._is_expired:
            raise TokenExpired(f"WB says that the token of {self.account} has expired.")

    def stop_all(self) -> None:
        """WB said that the token has expired: nothing more is sent with it, in any scope."""
        for peer in self._peers:
            if peer.credentials.has_token_of(self.credentials):
                peer.stop()

    def stop(self) -> None:
        """End all calls of this scope whose request is not yet on its way."""
        self._is_expired = True
        for course in self._courses:
            course.stop_waiting()

    @property
    def account(self) -> str:
        """Key of the seller's account."""
        return self.credentials.seller.account

    def _host(self, operation: Operation, host: str | None) -> str:
        if self.sandbox:
            if operation.sandbox_host is None:
                raise CallerError(f"WB has no sandbox for {operation.id}.")
            return operation.sandbox_host
        if host is None:
            return operation.hosts[0]
        if host not in operation.hosts:
            raise CallerError(
                f"{operation.id} is not served at {host!r}.",
                advice=f"Use one of {', '.join(operation.hosts)}.",
            )
        return host


class _Course:
    """The course of one call: its attempts, and what they used up."""

    def __init__(self, caller: Caller, call: Call, patience: float, *, may_spool: bool) -> None:
        self._caller = caller
        self._may_spool = may_spool
        self._call = call
        self._patience = patience
        self._refused = 0
        self._undecodable = 0
        self._last_429: RateLimited | None = None
        self._sending = Sending()
        self._scope = anyio.CancelScope()

    async def run(self) -> Answer:
        with self._scope:
            async for attempt in stamina.retry_context(
                on=self._may_repeat,
                attempts=1 + self._caller.policy.network_retries,
                timeout=None,
                wait_initial=FIRST_BACKOFF,
                wait_max=LONGEST_BACKOFF,
                wait_jitter=FIRST_BACKOFF,
            ):
                with attempt:
                    return await self._until_admitted()
        self._caller.check_token()
        raise AssertionError("only stop_waiting() cancels this scope")

    def stop_waiting(self) -> None:
        """End this call unless its request is already on its way."""
        if not self._sending.sent:
            self._scope.cancel()

    async def _until_admitted(self) -> Answer:
        """Send under permit after permit until WB does not say 429."""
        while True:
            self._caller.check_token()
            answer = await self._attempt()
            if answer is not None:
                return answer

    async def _attempt(self) -> Answer | None:
        """One request; None: WB said 429, try again."""
        sending = Sending(max_wait=self._patience, fail_fast=self._caller.policy.fail_fast)
        self._sending = sending
        try:
            response, body = await self._exchange(sending)
        except RateLimited as refusal:
            if self._last_429 is None:
                raise
            raise _after_429(refusal, self._last_429) from self._last_429
        except (httpx.TransportError, httpx.StreamError) as failure:
            raise self._network_error(failure, sent=sending.sent) from failure
        report: PermitReport = response.extensions[EXTENSION]
        self._patience = max(0.0, self._patience - report.waited)
        return await self._judge(response, body, report)

    async def _exchange(self, sending: Sending) -> tuple[httpx.Response, Body]:
        request = self._call.request(self._caller.credentials, self._caller.timeout)
        request.extensions[EXTENSION] = sending
        response = await self._caller.transport.handle_async_request(request)
        try:
            body = await read_body(response, may_spool=self._may_spool)
        finally:
            with anyio.CancelScope(shield=True):
                await response.aclose()
        return response, body

    async def _judge(
        self, response: httpx.Response, body: Body, report: PermitReport
    ) -> Answer | None:
        operation = self._call.operation
        reply = read_reply(
            response.status_code, response.headers, body.head, json_due=not operation.write
        )
        if reply.meaning in {Meaning.OK, Meaning.EMPTY}:
            return Answer(
                operation=operation.id,
                account=self._caller.account,
                status=response.status_code,
                headers=response.headers,
                body=body.beginning,
                permit=report,
                spool=body.file,
            )
        if body.file is not None:
            body.file.close()
        error = self._error(response, reply, report)
        if isinstance(error, Undecodable):
            error.raw = body.beginning
        if isinstance(error, RateLimited):
            self._remember_429(error)
            return None
        if reply.meaning is Meaning.TOKEN_EXPIRED:
            self._caller.stop_all()
        raise error

    def _may_repeat(self, failure: Exception) -> bool:
        """Whether it is safe to send the request again, and may help."""
        repeatable = self._call.operation.repeatable
        if isinstance(failure, NetworkError):
            return repeatable or not failure.sent
        if isinstance(failure, Undecodable):
            # A page of HTML in place of JSON is often gone a moment later, but no more than once.
            self._undecodable += 1
            return repeatable and self._undecodable == 1
        return repeatable and isinstance(failure, ServerError)

    def _remember_429(self, error: RateLimited) -> None:
        self._refused += 1
        if self._refused >= self._caller.policy.attempts:
            raise error
        self._last_429 = error

    def _error(self, response: httpx.Response, reply: Reply, report: PermitReport) -> WbError:
        error = error_from(
            reply,
            operation=self._call.operation.id,
            account=self._caller.account,
            headers=observed_headers(response.headers),
            retry_after=report.retry_after,
            alternative=self._call.operation.alternative,
        )
        if isinstance(error, RateLimited):
            error.bucket = report.bucket
        return error

    def _network_error(self, failure: Exception, *, sent: bool) -> NetworkError:
        what = f"{type(failure).__name__}: {failure}".rstrip(": ")
        return NetworkError(
            f"{self._call.operation.id} got no reply ({what}).",
            operation=self._call.operation.id,
            account=self._caller.account,
            sent=sent,
        )


def _after_429(refusal: RateLimited, reply: RateLimited) -> RateLimited:
    """The bucket's own wait, with what WB said in its 429."""
    error = RateLimited(
        reply.message,
        retry_after=refusal.retry_after,
        resume_at=refusal.resume_at,
        bucket=refusal.bucket,
        cause=refusal.cause,
        operation=reply.operation,
        account=reply.account,
        status=reply.status,
        request_id=reply.request_id,
        origin=reply.origin,
        headers=reply.headers,
        detail=reply.detail,
        link=reply.link,
        excerpt=reply.excerpt,
    )
    error.meaning = reply.meaning
    return error
