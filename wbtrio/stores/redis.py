"""Buckets in Redis or Valkey, shared by all processes: one script call for each step."""

from __future__ import annotations

import hashlib
import logging
from importlib import resources
from typing import TYPE_CHECKING, Self

import anyio
import redis.exceptions

from .._bucket import State
from .._errors import StoreError, StoreProtocolError
from ._connection import Argument, RedisConnection, error_of_reply
from ._protocol import (
    AcquireReply,
    AcquireRequest,
    NarrowReply,
    PeekReply,
    RefundReply,
    RefundRequest,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from .._bucket import Limit, Narrowing
    from ._multiplexer import Call

logger = logging.getLogger("wbtrio")


class _Script:
    """One Lua file behind the shared prelude, called by its hash."""

    def __init__(self, name: str) -> None:
        folder = resources.files(__package__) / "lua"
        prelude = (folder / "prelude.lua").read_text(encoding="utf-8")
        self.source = prelude + (folder / f"{name}.lua").read_text(encoding="utf-8")
        self.sha = hashlib.sha1(self.source.encode(), usedforsecurity=False).hexdigest()


_ACQUIRE = _Script("acquire")
_NARROW = _Script("narrow")
_REFUND = _Script("refund")
_PEEK = _Script("peek")


class RedisStore:
    """A store that any number of processes share, on the server's clock.

    The keys are `wbtrio:{<account>}:<kind>:<budget>`, each a string of three or six integers, and
    expire when their bucket is full, unheld and at the registry's pace. Redis 6.2 or newer, or
    Valkey.

    Args:
        url: `redis://`, `rediss://` (TLS) or `unix://`; user, password, database number and
            `ssl_*` settings as redis-py reads them.
        timeout: Seconds that one call may take once connected. A call that takes longer ends with
            `StoreTimeout` and is not replayed.
        connect_timeout: Seconds that connecting may take.
        clock: µs that take the place of the server's clock: for tests only. Nothing expires then.

    Raises:
        StoreUrlError: The URL is none that redis-py understands.
    """

    def __init__(
        self,
        url: str = "redis://localhost:6379/0",
        *,
        timeout: float = 0.25,
        connect_timeout: float = 1.0,
        clock: Callable[[], int] | None = None,
    ) -> None:
        self._connection = RedisConnection(url, timeout=timeout, connect_timeout=connect_timeout)
        self._clock = clock

    def __repr__(self) -> str:
        return f"<RedisStore at {self._connection.peer}>"

    async def __aenter__(self) -> Self:
        try:
            await self.open()
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self.aclose()
            raise
        return self

    async def __aexit__(
        self,
        exception_type: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def open(self) -> None:
        """Connect and make sure that the server can serve us. Optional: a call would connect too.

        Raises:
            StoreUnavailable: Nobody answers there.
            StoreProtocolError: What answers is no Redis, or refuses scripts or TIME.
        """
        await self._connection.open()
        for script in (_ACQUIRE, _NARROW, _REFUND, _PEEK):
            # A user without the right to SCRIPT is served too: the first use sends the source.
            await self._connection.call("SCRIPT", "LOAD", script.source)
        await self.peek([])

    async def acquire(self, requests: Sequence[AcquireRequest]) -> AcquireReply:
        """See `Store.acquire`."""
        arguments: list[Argument] = []
        for _, limit, cost, hint in requests:
            arguments += (limit.interval, limit.burst, cost, _value(hint))
        call = await self._run(_ACQUIRE, [request.key for request in requests], arguments)
        (granted, now), states = _reply(call, 2)
        if call.interruption is not None:
            if granted:
                await self._give_back(requests, states)
            raise call.interruption
        return AcquireReply(granted == 1, now, states)

    async def narrow(self, key: str, limit: Limit, by: Narrowing, hint: State) -> NarrowReply:
        """See `Store.narrow`."""
        ticket, granted_at = by.fence or (-1, 0)
        arguments: list[Argument] = [limit.interval, limit.burst, _value(hint)]
        arguments += (by.charge, by.remaining, ticket, granted_at, by.full_in, by.hold)
        arguments += (by.slow_interval, by.burst_cut, by.slow_for, *(by.undo or (0, 0, 0)))
        call = await self._run(_NARROW, [key], arguments)
        (now,), (before, after) = _reply(call, 1)
        if call.interruption is not None:
            raise call.interruption
        return NarrowReply(now, before, after)

    async def refund(self, requests: Sequence[RefundRequest]) -> RefundReply:
        """See `Store.refund`."""
        arguments: list[Argument] = []
        for request in requests:
            limit, after = request.limit, _value(request.after)
            arguments += (limit.interval, limit.burst, request.cost, after)
        call = await self._run(_REFUND, [request.key for request in requests], arguments)
        (now, refunded), states = _reply(call, 2)
        if call.interruption is not None:
            raise call.interruption
        return RefundReply(now, refunded == 1, states)

    async def peek(self, keys: Sequence[str]) -> PeekReply:
        """See `Store.peek`."""
        call = await self._run(_PEEK, keys, [])
        (now,), states = _reply(call, 1)
        if call.interruption is not None:
            raise call.interruption
        return PeekReply(now, states)

    async def aclose(self) -> None:
        """Close the connection; the buckets stay, and a later call opens a new one."""
        await self._connection.aclose()

    async def _run(self, script: _Script, keys: Sequence[str], arguments: list[Argument]) -> Call:
        now: Argument = "" if self._clock is None else self._clock()
        call = await self._connection.call("EVALSHA", script.sha, len(keys), *keys, now, *arguments)
        if isinstance(call.reply, redis.exceptions.ResponseError):
            if str(call.reply).startswith("NOSCRIPT"):
                # It certainly did not run, so sending it again is no replay.
                interruption = call.interruption
                call = await self._connection.call(
                    "EVAL", script.source, len(keys), *keys, now, *arguments
                )
                call.interruption = call.interruption or interruption
            if isinstance(call.reply, redis.exceptions.ResponseError):
                error = error_of_reply(call.reply, self._connection.peer)
                raise call.interruption or error from call.reply
        return call

    async def _give_back(
        self, requests: Sequence[AcquireRequest], states: tuple[State, ...]
    ) -> None:
        """Refund a grant whose task asyncio cancelled while the reply was under way.

        The cancellation comes first: where the store fails now, the tokens stay spent.
        """
        grants = [
            RefundRequest(request.key, request.limit, request.cost, after)
            for request, after in zip(requests, states, strict=True)
        ]
        with anyio.CancelScope(shield=True):
            try:
                await self.refund(grants)
            except StoreError as error:
                logger.warning("the tokens of a cancelled acquire stay spent: %s", error)


def _value(state: State) -> str:
    """A bucket's value, as the scripts read and write it."""
    if state.slow_until:
        return " ".join(map(str, state))
    return f"{state[0]} {state[1]} {state[2]}"


def _reply(call: Call, width: int) -> tuple[list[int], tuple[State, ...]]:
    """A script's reply: so many integers, then buckets' values."""
    reply = call.reply
    problem: Exception | None = None
    if type(reply) is list and {*map(type, reply[:width])} == {int}:
        try:
            values = [State(*map(int, value.split())) for value in reply[width:]]
            return reply[:width], tuple(values)
        except (AttributeError, TypeError, ValueError) as error:
            problem = error
    raise StoreProtocolError(
        "The store's reply to a script is none of wbtrio's.",
        advice="Does a proxy stand between wbtrio and Redis?",
    ) from problem
