"""WB's side of the count: who may send what, and what the headers say of it. No clock, no I/O.

Written from WB's published words, not from our limiter, so that the two can contradict each
other: a counter here is a *level* that rises by `limit` parts a microsecond and falls by
`period` parts a request (exact integers), where the limiter thinks in moments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from msgspec import Struct

from .foreign import Foreign, Visits

if TYPE_CHECKING:
    from collections.abc import Sequence

SECOND = 1_000_000

Refill = Literal["smooth", "window", "aligned"]
"""How tokens come back: `smooth`, one by one, as WB documents; `window`, all at once, a window
opening with the first request after the last one ended; `aligned`, all at once at fixed moments."""

HeaderStyle = Literal["gateway", "legacy", "full", "none"]
"""Which rate-limit headers replies carry, see `render_headers`."""


class Key(NamedTuple):
    """What WB counts apart: one budget of one account, for one kind of token."""

    account: str
    kind: str
    budget: str


class Rule(Struct, frozen=True):
    """What WB allows under one key.

    Attributes:
        period: µs.
        limit: Requests a period.
        burst: Requests that may come at once.
    """

    period: int
    limit: int
    burst: int

    def __post_init__(self) -> None:
        if min(self.period, self.limit, self.burst) <= 0:
            raise ValueError(f"every number of a rule must be positive, got {self}")

    @property
    def window(self) -> int:
        """µs after which a windowed counter restores the whole burst."""
        return -(-self.burst * self.period // self.limit)


class Reading(NamedTuple):
    """A counter as of now.

    Attributes:
        limit: Tokens of a full counter.
        remaining: Whole tokens that may be spent now.
        reset: µs until it is full; 0: it is.
        retry: µs until one request is admitted; 0: now.
    """

    limit: int
    remaining: int
    reset: int
    retry: int


class Counter(Protocol):
    """One counter of WB's; every method takes the moment in µs."""

    rule: Rule

    def take(self, now: int) -> bool:
        """Count one request if there is room for it."""
        ...

    def charge(self, tokens: int, now: int) -> None:
        """Take tokens whether they are there or not."""
        ...

    def read(self, now: int) -> Reading:
        """What the headers are made of."""
        ...

    def supplied(self, since: int, now: int) -> int:
        """Tokens that came back between the two moments to someone who took each at once."""
        ...


class SmoothCounter:
    """A token bucket. One token is `rule.period` parts; `rule.limit` parts come back a µs."""

    def __init__(self, rule: Rule, *, debt: bool = True) -> None:
        self.rule = rule
        self._debt = debt
        self._parts = rule.burst * rule.period
        self._at = 0

    def take(self, now: int) -> bool:
        """Count one request if a whole token is there."""
        self._refill(now)
        if self._parts < self.rule.period:
            return False
        self._parts -= self.rule.period
        return True

    def charge(self, tokens: int, now: int) -> None:
        """Take tokens; below zero if the counter keeps debts, else down to zero."""
        self._refill(now)
        self._parts -= tokens * self.rule.period
        if not self._debt:
            self._parts = max(self._parts, 0)

    def read(self, now: int) -> Reading:
        """Level, time to the next token, time to the last."""
        self._refill(now)
        rule = self.rule
        return Reading(
            limit=rule.burst,
            remaining=max(0, self._parts // rule.period),
            reset=-(-(rule.burst * rule.period - self._parts) // rule.limit),
            retry=max(0, -(-(rule.period - self._parts) // rule.limit)),
        )

    def supplied(self, since: int, now: int) -> int:
        """One token an interval."""
        return max(0, now - since) * self.rule.limit // self.rule.period

    def _refill(self, now: int) -> None:
        if now > self._at:
            full = self.rule.burst * self.rule.period
            self._parts = min(full, self._parts + (now - self._at) * self.rule.limit)
            self._at = now


class WindowCounter:
    """So many requests a window; the next window starts afresh, whatever was owed."""

    def __init__(self, rule: Rule, *, aligned: bool = False, debt: bool = True) -> None:
        self.rule = rule
        self._aligned = aligned
        self._debt = debt
        self._ends = 0
        self._left = rule.burst

    def take(self, now: int) -> bool:
        """Count one request if the window has room; opens a window if none is open."""
        self._open(now)
        if self._left < 1:
            return False
        self._left -= 1
        return True

    def charge(self, tokens: int, now: int) -> None:
        """Take tokens from this window."""
        self._open(now)
        self._left -= tokens
        if not self._debt:
            self._left = max(self._left, 0)

    def read(self, now: int) -> Reading:
        """What is left of this window, and how long it lasts."""
        burst = self.rule.burst
        if now >= self._ends:
            return Reading(burst, burst, 0, 0)
        return Reading(
            limit=burst,
            remaining=max(0, self._left),
            reset=self._ends - now if self._left < burst else 0,
            retry=self._ends - now if self._left < 1 else 0,
        )

    def supplied(self, since: int, now: int) -> int:
        """A burst for each whole window that fits, or for each boundary if they are fixed."""
        length = self.rule.window
        windows = now // length - since // length if self._aligned else (now - since) // length
        return max(0, windows) * self.rule.burst

    def _open(self, now: int) -> None:
        if now >= self._ends:
            length = self.rule.window
            self._ends = (now - now % length if self._aligned else now) + length
            self._left = self.rule.burst


def new_counter(refill: Refill, rule: Rule, *, debt: bool = True) -> Counter:
    """A full counter of the given kind."""
    if refill == "smooth":
        return SmoothCounter(rule, debt=debt)
    return WindowCounter(rule, aligned=refill == "aligned", debt=debt)


def render_headers(style: HeaderStyle, status: int, reading: Reading) -> dict[str, str]:
    """The rate-limit headers of one reply; whole seconds, rounded up, as WB sends them.

    * `gateway`: Limit and Remaining on every reply; Reset and Retry on a 429, Remaining 0 there.
    * `legacy`: Remaining on success; Limit, Reset and Retry on a 429.
    * `full`: all four on every reply.
    * `none`: nothing.
    """
    if style == "none":
        return {}
    refused = status == 429
    if style == "gateway":
        headers = {
            "X-RateLimit-Limit": str(reading.limit),
            "X-RateLimit-Remaining": "0" if refused else str(reading.remaining),
        }
        if refused:
            headers["X-RateLimit-Reset"] = _seconds(reading.reset)
            headers["X-RateLimit-Retry"] = _seconds(reading.retry)
        return headers
    headers = {}
    if style == "full" or 200 <= status < 300:
        headers["X-Ratelimit-Remaining"] = str(reading.remaining)
    if style == "full" or refused:
        headers["X-Ratelimit-Limit"] = str(reading.limit)
        headers["X-Ratelimit-Reset"] = _seconds(reading.reset)
        headers["X-Ratelimit-Retry"] = _seconds(reading.retry)
    return headers


def _seconds(us: int) -> str:
    return str(-(-us // SECOND))


class Tally(Struct):
    """What one key has seen. Moments are µs of the simulator's clock.

    Attributes:
        requests: Our requests that reached the counter.
        admitted: Of these, the ones that WB let through; the others earned a 429.
        refused: 429s earned.
        succeeded: Answered with a 2XX.
        charged: Tokens taken beyond one a request: the cost of errors.
        foreign: Tokens taken by other programs on the same account.
        foreign_refused: 429s that they earned.
        allowed: Tokens that someone who never hesitated could have spent from our first request
            until our last.
        first: Our first request; -1 before it.
        last: Our last one.
    """

    requests: int = 0
    admitted: int = 0
    refused: int = 0
    succeeded: int = 0
    charged: int = 0
    foreign: int = 0
    foreign_refused: int = 0
    allowed: int = 0
    first: int = -1
    last: int = -1

    @property
    def utilisation(self) -> float:
        """Share of what WB allowed that was spent, by us or by strangers; 0 before a request."""
        spent = self.admitted + self.charged + self.foreign
        return spent / self.allowed if self.allowed else 0.0


class _Line:
    """One key's counter, its strangers and its tally."""

    def __init__(self, counter: Counter, strangers: Visits) -> None:
        self.counter = counter
        self.strangers = strangers
        self.tally = Tally()
        self._base = 0
        self._since = 0

    def replace(self, counter: Counter, now: int) -> None:
        """Count on with another counter; what was allowed before stays allowed."""
        self.counter = counter
        self._base = self.tally.allowed + counter.read(now).remaining
        self._since = now

    def advance(self, now: int) -> None:
        tally = self.tally
        for moment in self.strangers.until(now):
            if self.counter.take(moment):
                tally.foreign += 1
            else:
                tally.foreign_refused += 1

    def arrive(self, now: int) -> None:
        tally = self.tally
        tally.requests += 1
        if tally.first < 0:
            tally.first = now
            self._base = self.counter.read(now).remaining + tally.foreign
            self._since = now
        tally.last = now
        tally.allowed = self._base + self.counter.supplied(self._since, now)


class Engine:
    """All of WB's counters. Deterministic: the same calls with the same seed give the same answers.

    Args:
        refill: How tokens come back.
        foreign: Other programs that spend the same budgets.
        seed: Seeds the strangers.
        debt: Whether the cost of an error may take a counter below zero; WB does not say, and
            this is the stricter reading.
        charge_429: Whether a 429 of an operation with an error cost is charged too. WB does not
            say; no by default (field case WB-059).
    """

    def __init__(
        self,
        *,
        refill: Refill = "smooth",
        foreign: Sequence[Foreign] = (),
        seed: int = 0,
        debt: bool = True,
        charge_429: bool = False,
    ) -> None:
        self._refill = refill
        self._foreign = tuple(foreign)
        self._seed = seed
        self._debt = debt
        self._charge_429 = charge_429
        self._lines: dict[Key, _Line] = {}

    def request(self, key: Key, rule: Rule, now: int) -> bool:
        """A request arrives and is counted: whether WB lets it through, else it earns a 429.

        A rule that differs from the key's last one takes its place with a full counter.
        """
        line = self._line(key, rule, now)
        line.arrive(now)
        admitted = line.counter.take(now)
        if admitted:
            line.tally.admitted += 1
        else:
            line.tally.refused += 1
        return admitted

    def reply(self, key: Key, rule: Rule, status: int, now: int, *, error_cost: int = 1) -> Reading:
        """The reply to it: charges what an error costs, and reads the counter for the headers.

        Args:
            key: Whose counter.
            rule: As for the request.
            status: The reply's.
            now: The moment, µs.
            error_cost: Requests that a 4XX counts as; 10 for most of Marketplace (field case
                WB-059).
        """
        line = self._line(key, rule, now)
        cost = self._extra_cost(error_cost, status)
        if cost:
            line.counter.charge(cost, now)
            line.tally.charged += cost
        if 200 <= status < 300:
            line.tally.succeeded += 1
        return line.counter.read(now)

    def read(self, key: Key, rule: Rule, now: int) -> Reading:
        """The counter as of now, without counting anything."""
        return self._line(key, rule, now).counter.read(now)

    @property
    def tallies(self) -> dict[Key, Tally]:
        """What each key has seen so far."""
        return {key: line.tally for key, line in self._lines.items()}

    def _extra_cost(self, error_cost: int, status: int) -> int:
        if not 400 <= status < 500 or error_cost == 1:
            return 0
        if status == 429:
            return error_cost if self._charge_429 else 0
        return error_cost - 1

    def _line(self, key: Key, rule: Rule, now: int) -> _Line:
        line = self._lines.get(key)
        if line is None:
            visits = Visits(self._foreign, key, self._seed)
            line = _Line(new_counter(self._refill, rule, debt=self._debt), visits)
            self._lines[key] = line
        elif line.counter.rule != rule:
            line.advance(now)
            line.replace(new_counter(self._refill, rule, debt=self._debt), now)
        line.advance(now)
        return line
