"""The simulated WB as an ASGI 3 application, for `httpx.ASGITransport` or any ASGI server."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING

import anyio
import httpx
import msgspec
from msgspec import Struct

from wbtrio._registry import default_registry

from .asgi import live, read_request, write_answer
from .catalogue import Catalogue
from .engine import SECOND, Engine, Key, render_headers
from .faults import UNCOUNTED, FaultKind, FaultPlan
from .gate import Gate, TurnedAway, admit
from .replies import (
    HTML_PAGE,
    MAINTENANCE_429,
    MAINTENANCE_503,
    Answer,
    bare_error,
    json_answer,
)
from .routes import Match, Routes
from .scenario import Scenario
from .visit import Call

if TYPE_CHECKING:
    from wbtrio._registry import Registry

    from .asgi import Receive, Request, Scope, Send
    from .engine import HeaderStyle, Rule, Tally
    from .tokens import Claims
    from .visit import Json

_UNROUTED = "unknown"


class Entry(Struct, frozen=True):
    """One request that reached the simulator.

    Attributes:
        time: Seconds of the simulator's clock at which it was counted, or turned away uncounted.
        account: The seller's account; "" without a readable token.
        kind: Token kind; "" likewise.
        operation: Id of the operation; `unknown` for a path that WB does not have.
        budget: The counter that it was charged to; "": none.
        status: Of the reply; 0: the reply, or the request, was lost.
        headers: Rate-limit headers of the reply.
    """

    time: float
    account: str
    kind: str
    operation: str
    budget: str
    status: int
    headers: Mapping[str, str]


class _Outcome(Struct, frozen=True):
    """What becomes of a request."""

    answer: Answer | None
    headers: Mapping[str, str] = {}


class WbSimulator:
    """A WB that counts.

    In process, `httpx.AsyncClient(transport=httpx.ASGITransport(simulator))` asks it under WB's own
    host names; on a port, the host is taken from `X-Wb-Host`, else the path alone decides. Each
    reply is counted at one moment; a request cancelled before it was never counted.

    Args:
        scenario: What kind of WB.
        registry: Where its methods and limits come from; None: the one that is shipped.
        clock: Seconds; None: the running event loop's, real or virtual.

    Attributes:
        scenario: As given.
        log: The last requests, oldest first.
        catalogue: What the sellers have.
    """

    def __init__(
        self,
        scenario: Scenario | None = None,
        *,
        registry: Registry | None = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self.scenario = scenario = Scenario() if scenario is None else scenario
        self.catalogue = Catalogue(scenario.stock)
        self.log: deque[Entry] = deque(maxlen=scenario.longest_log)
        self._routes = Routes(default_registry() if registry is None else registry, scenario.rules)
        self._engine = Engine(
            refill=scenario.refill,
            foreign=scenario.foreign,
            seed=scenario.seed,
            debt=scenario.debt,
            charge_429=scenario.charge_429,
        )
        self._changed: dict[tuple[str, str], Rule] = {}
        self._plan = FaultPlan(scenario.faults, scenario.seed)
        self._jitter = Random(f"latency/{scenario.seed}")
        self._clock = anyio.current_time if clock is None else clock
        self._epoch: float | None = None
        self._arrived = 0

    @property
    def tallies(self) -> dict[Key, Tally]:
        """What each counter has seen."""
        return self._engine.tallies

    @property
    def refused(self) -> int:
        """429s earned so far, by all accounts."""
        return sum(tally.refused for tally in self.tallies.values())

    def set_rule(self, budget: str, kind: str, rule: Rule) -> None:
        """Change what WB allows from the next request on, as when it cuts a token kind's limits.

        Args:
            budget: As in the tallies' keys.
            kind: The token kind.
            rule: The new one; each account's counter starts full.
        """
        self._changed[budget, kind] = rule

    def now(self) -> float:
        """Seconds of the simulator's clock, which starts with its first request."""
        if self._epoch is None:
            self._epoch = self._clock()
        return self._clock() - self._epoch

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection.

        Raises:
            httpx.ConnectError: The scenario says that the connection is refused.
            httpx.ReadError: The scenario says that the request or its reply is lost.
        """
        if scope["type"] == "lifespan":
            await live(receive, send)
        elif scope["type"] == "http":
            self.now()
            await self._serve(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = await read_request(scope, receive)
        before, after = self.scenario.latency.draw(self._jitter)
        if before:
            await anyio.sleep(before)
        outcome = self._handle(request)
        if after:
            await anyio.sleep(after)
        if outcome.answer is None:
            raise httpx.ReadError("the simulator lost the request or its reply")
        await write_answer(send, outcome.answer, outcome.headers)

    def _handle(self, request: Request) -> _Outcome:
        now = round(self.now() * SECOND)
        self._arrived += 1
        match = self._routes.find(request.method, request.host, request.path)
        gate = self._gate(request.host if match is None else match.host, now)
        if match is None:
            return self._turn_away(now, None, _UNROUTED, gate.path_not_found())
        try:
            claims = admit(
                request.headers, match, gate, deprecated_gone=self.scenario.deprecated_gone
            )
        except TurnedAway as turned:
            return self._turn_away(now, turned.claims, match.route.id, turned.answer)
        fault = self._plan.strike(match.route.id, claims.account)
        if fault is FaultKind.REFUSED:
            raise httpx.ConnectError("the simulator refuses the connection")
        if fault in UNCOUNTED:
            return self._turn_away(now, claims, match.route.id, _uncounted(fault, gate, claims))
        return self._count(request, match, gate, claims, now, fault)

    def _count(
        self,
        request: Request,
        match: Match,
        gate: Gate,
        claims: Claims,
        now: int,
        fault: FaultKind | None,
    ) -> _Outcome:
        budget, rule = match.counter(claims.kind)
        rule = self._changed.get((budget, claims.kind), rule)
        key = Key(claims.account, claims.kind, budget)
        if self._engine.request(key, rule, now):
            answer = self._page(request, match, claims, now)
            answer = _spoil(answer, fault)
        else:
            answer, fault = gate.too_many_requests(claims.account), None
        reading = self._engine.reply(
            key, rule, answer.status, now, error_cost=match.route.error_cost
        )
        headers = render_headers(self._style(match.host), answer.status, reading)
        lost = fault is FaultKind.LOST_AFTER
        status = 0 if lost else answer.status
        self._note(now, claims, match.route.id, budget, status, headers)
        return _Outcome(None if lost else answer, headers)

    def _page(self, request: Request, match: Match, claims: Claims, now: int) -> Answer:
        body: Json = None
        if request.body:
            try:
                body = msgspec.json.decode(request.body)
            except msgspec.DecodeError:
                return bare_error("the body is no JSON")
        place = match.route.method, match.route.path
        if place == ("GET", "/ping"):
            moment = self.catalogue.shop(claims.sid).moment(now)
            return json_answer({"TS": moment.isoformat(timespec="seconds"), "Status": "OK"})
        call = Call(match.params, request.query, body)
        answer = self.catalogue.answer(place, claims.sid, call, now)
        return json_answer({}) if answer is None else answer

    def _turn_away(
        self, now: int, claims: Claims | None, operation: str, answer: Answer | None
    ) -> _Outcome:
        self._note(now, claims, operation, "", answer.status if answer else 0)
        return _Outcome(answer)

    def _gate(self, host: str, now: int) -> Gate:
        return Gate(
            host=host,
            old=self._style(host) == "legacy",
            moment=self.scenario.stock.today + timedelta(microseconds=now),
            request_id=f"{self._arrived:032x}",
        )

    def _style(self, host: str) -> HeaderStyle:
        return self.scenario.headers_by_host.get(host, self.scenario.headers)

    def _note(
        self,
        now: int,
        claims: Claims | None,
        operation: str,
        budget: str,
        status: int,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.log.append(
            Entry(
                time=now / SECOND,
                account=claims.account if claims else "",
                kind=claims.kind if claims else "",
                operation=operation,
                budget=budget,
                status=status,
                headers=headers or {},
            )
        )


def _uncounted(fault: FaultKind | None, gate: Gate, claims: Claims) -> Answer | None:
    """The reply to a request that meets its fault before WB counts it; None: no reply."""
    answers: dict[FaultKind, Callable[[], Answer]] = {
        FaultKind.WRONG_PATH: gate.path_not_found,
        FaultKind.DEPRECATED: gate.deprecated,
        FaultKind.DISABLED: gate.disabled,
        FaultKind.KIND_REFUSED: lambda: gate.kind_not_allowed(claims.kind),
        FaultKind.TOKEN_EXPIRED: gate.expired_token,
        FaultKind.SCOPE_REFUSED: gate.scope_not_allowed,
        FaultKind.BARE_429: lambda: gate.too_many_requests(claims.account),
        FaultKind.MAINTENANCE_429: lambda: MAINTENANCE_429,
        FaultKind.MAINTENANCE_503: lambda: MAINTENANCE_503,
    }
    make = answers.get(fault) if fault is not None else None
    return make() if make is not None else None


def _spoil(answer: Answer, fault: FaultKind | None) -> Answer:
    """The reply after what goes wrong behind the counter."""
    if fault is FaultKind.SERVER_ERROR:
        return json_answer({"title": "internal error", "detail": "", "status": 500}, 500)
    if fault is FaultKind.BAD_GATEWAY:
        return Answer(502, b"<html><body>502 Bad Gateway</body></html>", "text/html")
    if fault is FaultKind.TIMEOUT:
        return Answer(504, b"upstream request timeout", "text/plain")
    if fault is FaultKind.HTML:
        return HTML_PAGE
    if fault is FaultKind.TRUNCATED:
        return Answer(answer.status, answer.body[: len(answer.body) // 2], answer.content_type)
    if fault is FaultKind.EMPTY:
        return Answer(200, b"")
    return answer
