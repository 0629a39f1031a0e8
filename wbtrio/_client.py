"""The client: one transport and one limiter for all accounts of a program."""

from __future__ import annotations

from contextlib import ExitStack, asynccontextmanager, nullcontext
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Self
from weakref import WeakSet

import anyio
import httpx
import msgspec

from ._calls import Caller
from ._errors import CallerError
from ._registry import default_registry
from ._requests import CallPolicy, Credentials
from ._scope import AccountScope
from ._tokens import bare_token, decode_token
from ._transport import RateLimitTransport

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from types import TracebackType

    from ._limiter import WbRateLimiter
    from ._registry import Registry
    from ._tokens import SellerToken

DEFAULT_MAX_WAIT = 900.0
"""Seconds. Budgets of minutes are waited for; those of hours end in `RateLimited.resume_at`."""

DEFAULT_TIMEOUT = httpx.Timeout(120.0, connect=15.0, pool=None)
"""Full pages of the finance reports take WB 25 s and more (field case WB-023)."""


class WbApiClient:
    """Calls WB for any number of sellers, each inside its budgets.

    Use it as an async context manager; it holds connections, and its accounts share them.

    Args:
        limiter: Keeps the buckets; default: one of its own, in memory.
        registry: Knows operations and budgets; default: the one that is shipped.
        transport: Sends the requests (for a proxy, say, or a test); it is put under a
            `RateLimitTransport` unless it is one. It is closed with the client.
        max_wait: Seconds that one call may wait for permits in all; math.inf: as long as it
            takes.
        attempts: How often one call may be sent in all when WB answers 429.
        network_retries: How often a call may be repeated after a network failure, a 5xx or a
            broken reply; only where that is safe.
        client_secret: Secret of the service that calls for all accounts; it makes basic tokens
            count as `basic_secret`.
        base_url: For tests and simulators only: scheme, host and port that all requests are
            sent to instead of WB's hosts.
        timeout: Seconds for each phase of a request, or an `httpx.Timeout`.
        max_connections: Requests in flight at once, over all accounts.
    """

    def __init__(
        self,
        *,
        limiter: WbRateLimiter | None = None,
        registry: Registry | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        max_wait: float = DEFAULT_MAX_WAIT,
        attempts: int = 5,
        network_retries: int = 2,
        client_secret: str | None = None,
        base_url: str | None = None,
        timeout: float | httpx.Timeout = DEFAULT_TIMEOUT,
        max_connections: int = 100,
    ) -> None:
        self._registry = default_registry() if registry is None else registry
        if not isinstance(transport, RateLimitTransport):
            transport = RateLimitTransport(
                transport,
                limiter=limiter,
                registry=self._registry,
                max_connections=max_connections,
                base_url=base_url,
            )
        elif limiter is not None or base_url is not None:
            raise CallerError("A RateLimitTransport brings its own limiter and base_url.")
        self._transport = transport
        self._policy = CallPolicy(
            max_wait=max_wait, attempts=attempts, network_retries=network_retries
        )
        self._client_secret = client_secret
        self._timeout = httpx.Timeout(timeout)
        self._closed = False
        self._callers: WeakSet[Caller] = WeakSet()

    @property
    def limiter(self) -> WbRateLimiter:
        """The limiter that all accounts share; its `statistics()` tell what they spent."""
        return self._transport.limiter

    @property
    def registry(self) -> Registry:
        """What this client knows of WB's operations and budgets."""
        return self._registry

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections. Accounts that are still open cannot call any more."""
        self._closed = True
        with anyio.CancelScope(shield=True):
            await self._transport.aclose()

    @asynccontextmanager
    async def account(
        self,
        token: str,
        *,
        client_secret: str | None = None,
        sandbox: bool = False,
        max_wait: float | None = None,
        fail_fast: bool = False,
        timeout: float | None = None,
    ) -> AsyncIterator[AccountScope]:
        """Open a scope for one seller's calls: `async with wb.account(token) as seller`.

        The scope owns a nursery: it ends when all its tasks have ended, and what they raise
        comes as an `ExceptionGroup`.

        Args:
            token: The seller's WB token, with or without `Bearer`.
            client_secret: Secret of the service that calls; None: the client's.
            sandbox: Call WB's sandbox hosts; test tokens go there by themselves.
            max_wait: Seconds that one call may wait for permits in all; None: the client's.
            fail_fast: Raise `RateLimited` at once where a wait would outlast the deadline of
                the code that calls, instead of waiting until that deadline.
            timeout: Seconds after which the scope and all in it is cancelled.

        Raises:
            TokenMalformed: The text is no WB token. Nothing was sent.
            TokenExpired: It has expired. Nothing was sent.
            TimeoutError: The scope took longer than `timeout`.
        """
        caller = self._caller(
            token, client_secret, sandbox=sandbox, max_wait=max_wait, fail_fast=fail_fast
        )
        deadline = nullcontext() if timeout is None else anyio.fail_after(timeout)
        with deadline, ExitStack() as at_the_very_end:
            async with anyio.create_task_group() as task_group:
                scope = AccountScope(caller, task_group)
                # Tasks that outlast the body still call: the scope closes after them.
                at_the_very_end.callback(scope.close)
                yield scope

    async def check(self, token: str, *, client_secret: str | None = None) -> SellerToken:
        """Whether a token is usable, without spending any budget that a day's work needs.

        Decodes it, then asks WB's `/ping`, which has a budget of its own.

        Raises:
            TokenError: It is malformed or expired; told without asking WB.
            Unauthorized: WB refuses it.
        """
        caller = self._caller(token, client_secret)
        await caller.send(caller.prepare("general.ping"))
        return caller.credentials.seller

    def _caller(
        self,
        token: str,
        client_secret: str | None,
        *,
        sandbox: bool = False,
        max_wait: float | None = None,
        fail_fast: bool = False,
    ) -> Caller:
        if self._closed:
            raise CallerError("The client is closed.")
        secret = self._client_secret if client_secret is None else client_secret
        seller = decode_token(token, has_secret=secret is not None)
        seller.check_usable(datetime.now(UTC))
        policy = msgspec.structs.replace(
            self._policy,
            max_wait=self._policy.max_wait if max_wait is None else max_wait,
            fail_fast=fail_fast,
        )
        return Caller(
            self._transport,
            self._registry,
            Credentials(bare_token(token), seller, secret),
            policy,
            sandbox=sandbox or seller.is_test,
            timeout=self._timeout,
            peers=self._callers,
        )
