"""The steps of a bucket as scripts inside Redis, whatever carries them there."""

from __future__ import annotations

import abc
import hashlib
import logging
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple, Self

import anyio

from .._bucket import State
from .._errors import StoreError, StoreProtocolError
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

logger = logging.getLogger("wbtrio")

PROBE_KEY = "wbtrio:{probe}:test:open"
"""Read when a store is opened: tells a key that may not be read, or lies on another server."""

Argument = bytes | str | int


class Script:
    """One Lua file behind the shared prelude, called by its hash."""

    def __init__(self, name: str) -> None:
        folder = resources.files(__package__) / "lua"
        prelude = (folder / "prelude.lua").read_text(encoding="utf-8")
        self.source = prelude + (folder / f"{name}.lua").read_text(encoding="utf-8")
        self.sha = hashlib.sha1(self.source.encode(), usedforsecurity=False).hexdigest()


ACQUIRE = Script("acquire")
NARROW = Script("narrow")
REFUND = Script("refund")
PEEK = Script("peek")
SCRIPTS = (ACQUIRE, NARROW, REFUND, PEEK)


class Answer(NamedTuple):
    """What became of one script call.

    Attributes:
        reply: The server's reply; never an error.
        interruption: asyncio's own cancellation, if one hit the task while it waited.
    """

    reply: object
    interruption: BaseException | None


class ScriptedStore(abc.ABC):
    """What the stores in Redis have in common: all but the way to the server.

    Args:
        clock: µs that take the place of the server's clock: for tests only. Nothing expires then.
    """

    def __init__(self, clock: Callable[[], int] | None) -> None:
        self._clock = clock

    @abc.abstractmethod
    async def run_script(
        self, script: Script, keys: Sequence[str], arguments: Sequence[Argument]
    ) -> Answer:
        """Run one script, once, whatever happens to the caller's scope meanwhile.

        Raises:
            StoreError: It did not or may not have run.
        """

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
        """Make sure that the server can serve us. Optional: the first call would tell too.

        Raises:
            StoreUnavailable: Nobody answers there.
            StoreProtocolError: What answers is no Redis, or refuses scripts or TIME.
        """
        await self.peek([PROBE_KEY])

    @abc.abstractmethod
    async def aclose(self) -> None:
        """Release what the store holds; the buckets stay, and it may be used again."""

    async def acquire(self, requests: Sequence[AcquireRequest]) -> AcquireReply:
        """See `Store.acquire`."""
        arguments: list[Argument] = []
        for _, limit, cost, hint in requests:
            arguments += (limit.interval, limit.burst, cost, _value(hint))
        answer = await self._run(ACQUIRE, [request.key for request in requests], arguments)
        (granted, now), states = _reply(answer, 2)
        if answer.interruption is not None:
            if granted:
                await self._give_back(requests, states)
            raise answer.interruption
        return AcquireReply(granted == 1, now, states)

    async def narrow(self, key: str, limit: Limit, by: Narrowing, hint: State) -> NarrowReply:
        """See `Store.narrow`."""
        ticket, granted_at = by.fence or (-1, 0)
        arguments: list[Argument] = [limit.interval, limit.burst, _value(hint)]
        arguments += (by.charge, by.remaining, ticket, granted_at, by.full_in, by.hold)
        arguments += (by.slow_interval, by.burst_cut, by.slow_for, *(by.undo or (0, 0, 0)))
        answer = await self._run(NARROW, [key], arguments)
        (now,), (before, after) = _reply(answer, 1)
        if answer.interruption is not None:
            raise answer.interruption
        return NarrowReply(now, before, after)

    async def refund(self, requests: Sequence[RefundRequest]) -> RefundReply:
        """See `Store.refund`."""
        arguments: list[Argument] = []
        for request in requests:
            limit, after = request.limit, _value(request.after)
            arguments += (limit.interval, limit.burst, request.cost, after)
        answer = await self._run(REFUND, [request.key for request in requests], arguments)
        (now, refunded), states = _reply(answer, 2)
        if answer.interruption is not None:
            raise answer.interruption
        return RefundReply(now, refunded == 1, states)

    async def peek(self, keys: Sequence[str]) -> PeekReply:
        """See `Store.peek`."""
        answer = await self._run(PEEK, keys, [])
        (now,), states = _reply(answer, 1)
        if answer.interruption is not None:
            raise answer.interruption
        return PeekReply(now, states)

    async def _run(self, script: Script, keys: Sequence[str], arguments: list[Argument]) -> Answer:
        now: Argument = "" if self._clock is None else self._clock()
        return await self.run_script(script, keys, [now, *arguments])

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


def _reply(answer: Answer, width: int) -> tuple[list[int], tuple[State, ...]]:
    """A script's reply: so many integers, then buckets' values."""
    reply = answer.reply
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
