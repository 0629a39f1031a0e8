"""A counter that refills token by token: at which rates it explains every reply. Pure.

Between two moments at which the counter was full, its level is a straight line over time, less the
tokens that our own requests took. Each header of each reply is a gate that this line must pass:
`Remaining` says between which whole tokens it is, `Retry` when it reaches one, `Reset` when it
reaches the burst. A stranger, or a request that no reply tells of, lets no line through.
"""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from ._lines import Point, Slopes, slopes_between
from ._replies import Order, Reply, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

SECOND = 1_000_000
ANY_RATE = Slopes(Fraction(0), Fraction(1))
"""Tokens a µs; none of WB's limits comes near the upper end."""

_LOOK_AHEAD = 8
"""Replies after one without `Remaining` that are asked whether the counter can have been full."""

_PASSES = 3
"""The first rates tell the order of more requests, and that order tells the rates more closely."""


class Full(NamedTuple):
    """What is taken for a full counter.

    Attributes:
        burst: Tokens of it.
        is_stated: WB says so; else it is only the most that was seen.
    """

    burst: int
    is_stated: bool


def smooth_rates(
    replies: Sequence[Reply], full: Full, error_costs: Mapping[str, int]
) -> Slopes | None:
    """The rates, in tokens a µs, at which a smooth counter explains all replies; None: at none.

    Args:
        replies: All replies that the counter gave, in the order of their `sent`.
        full: Its burst.
        error_costs: What a 4XX costs, by operation; 1 where it is not told.
    """
    costs = [reply.cost(error_costs.get(reply.operation, 1)) for reply in replies]
    if any(_exceeds(reply, cost, full) for reply, cost in zip(replies, costs, strict=True)):
        return None
    rates = rates_of_single_replies(replies, full)
    for _ in range(_PASSES):
        if rates is None:
            return None
        order = Order(replies, may_precede_at(rates.greatest, error_costs))
        if not order.is_possible:
            return None
        before = rates
        rates = rates.common(rates_that_gain(replies, costs, order))
        if rates is None:
            return None
        for segment in _Segments(replies, costs, full, order).all():
            rates = slopes_between(segment.floors, segment.ceilings, rates)
            if rates is None:
                return None
        if rates == before:
            break
    return rates


def may_precede_at(
    rate: Fraction, error_costs: Mapping[str, int]
) -> Callable[[Reply, Reply], bool]:
    """The rule that no more tokens come back on the way than that rate allows."""

    def may_precede(one: Reply, other: Reply) -> bool:
        if one.left is None or other.left is None:
            return True
        cost = other.cost(error_costs.get(other.operation, 1)).low
        gained = other.left + cost - (one.left + 1)
        room = other.received - one.sent
        return gained * rate.denominator < rate.numerator * room

    return may_precede


def _exceeds(reply: Reply, cost: Span, full: Full) -> bool:
    left = reply.left
    return left is not None and not reply.refused and left + cost.low > full.burst


def rates_of_single_replies(replies: Sequence[Reply], full: Full) -> Slopes | None:
    """What the headers of each reply say by themselves, whoever else spends the tokens.

    None: two replies contradict each other, as those of a windowed counter do.
    """
    rates: Slopes | None = ANY_RATE
    if not full.is_stated:
        return rates
    for reply in replies:
        for missing, seconds in _refills(reply, full.burst):
            least = Fraction(missing.low, seconds.high)
            greatest = ANY_RATE.greatest
            if seconds.low > 0:
                greatest = Fraction(missing.high, seconds.low)
            if rates is not None:
                rates = rates.common(Slopes(least, greatest))
    return rates


def rates_that_gain(replies: Sequence[Reply], costs: Sequence[Span], order: Order) -> Slopes:
    """Rates that bring as many tokens back as were seen to come, whoever else spends them."""
    may_owe = any(cost.high > 1 for cost in costs)
    befores = order.before(costs)
    known = [n for n, reply in enumerate(replies) if reply.left is not None]
    gained, took = 0, 1
    for place, n in enumerate(known):
        one, most_left = replies[n], (replies[n].left or 0) + 1
        for later in known[place + 1 : place + 1 + _LOOK_AHEAD]:
            other, left = replies[later], replies[later].left or 0
            if other.sent < one.received or (may_owe and not left):
                continue
            spent = befores[later].low + costs[later].low - befores[n].high - costs[n].high
            gain, time = left + spent - most_left, max(1, other.received - one.sent)
            if gain * took > gained * time:
                gained, took = gain, time
    return Slopes(Fraction(gained, took), ANY_RATE.greatest)


def _refills(reply: Reply, burst: int) -> list[tuple[Span, Span]]:
    """Tokens that one reply says come back, and the µs in which they do.

    WB does not say how it rounds to seconds: up, down or to the nearest.
    """
    found: list[tuple[Span, Span]] = []
    left = reply.left
    owes = left == 0 and reply.is_error
    if reply.reset and left is not None and not reply.refused and left < burst and not owes:
        found.append((Span(burst - left - 1, burst - left), _about(reply.reset)))
    if reply.reset and reply.retry and reply.refused and burst > 1:
        found.append((Span(burst - 1, burst - 1), _about(reply.reset - reply.retry)))
    return found


def _about(wait: int) -> Span:
    return Span(wait - SECOND, wait + SECOND)


class _Segment(NamedTuple):
    """Replies between which the counter was never full.

    Attributes:
        floors: What the line must not pass below.
        ceilings: What it must not pass above.
        doubt: Tokens that requests before all of them may have cost or not: no matter to them.
    """

    floors: list[Point]
    ceilings: list[Point]
    doubt: int


class _Segments:
    """The replies, told apart by the moments at which the counter was, or may have been, full."""

    def __init__(
        self, replies: Sequence[Reply], costs: Sequence[Span], full: Full, order: Order
    ) -> None:
        self._replies = replies
        self._full = full
        self._before = order.before(costs)
        self._spent = [
            Span(before.low + cost.low, before.high + cost.high)
            for before, cost in zip(self._before, costs, strict=True)
        ]
        self._costs = costs
        self._doubts = order.before_in_time([cost.high - cost.low for cost in costs])
        self._marks = self._full_moments()
        self._number = order.before([Span(mark, mark) for mark in self._marks])
        self._in_debt = any(cost.high > 1 for cost in costs)
        self._segments: dict[int, _Segment] = {}

    def all(self) -> list[_Segment]:
        """All segments with the gates of their replies."""
        for n, number in enumerate(self._number):
            # A reply that came about the moment of a full counter tells of neither side.
            if number.is_exact:
                if self._is_surely_full(n):
                    self._close(n, number.low)
                self._pass(n, number.low + self._marks[n])
        return list(self._segments.values())

    def _full_moments(self) -> list[int]:
        """1 for each request that found the counter full, or may have; else 0."""
        starts = [reply.sent for reply in self._replies]
        marks = []
        for n, reply in enumerate(self._replies):
            if reply.left is None:
                later = bisect_left(starts, reply.received)
                may = not any(
                    self._shows_less_than_full(n, other)
                    for other in range(later, min(later + _LOOK_AHEAD, len(starts)))
                )
            else:
                may = not reply.refused and reply.left + self._costs[n].high >= self._full.burst
            marks.append(int(may))
        return marks

    def _shows_less_than_full(self, n: int, later: int) -> bool:
        """Whether a later reply leaves too little for the counter to have been full at `n`."""
        left = self._replies[later].left
        if left is None:
            return False
        return left + 1 + self._spent[later].high - self._before[n].low <= self._full.burst

    def _is_surely_full(self, n: int) -> bool:
        exact = self._full.is_stated and self._costs[n].is_exact
        return bool(self._marks[n]) and exact and self._replies[n].left is not None

    def _close(self, n: int, number: int) -> None:
        """The line of the segment before has reached the burst."""
        value = self._full.burst + self._before[n].low
        self._of(number, n).floors.append(Point(self._replies[n].received, value))

    def _pass(self, n: int, number: int) -> None:
        reply, spent = self._replies[n], self._spent[n]
        level = self._level(n)
        segment = self._of(number, n)
        most = spent.high - segment.doubt
        if level is not None:
            low, high = level
            if low is not None:
                segment.floors.append(Point(reply.received, low + spent.low))
            segment.ceilings.append(Point(reply.sent, high + most))
        for wait, value in self._waits(reply):
            segment.floors.append(Point(reply.received + wait + SECOND, value + spent.low))
            segment.ceilings.append(Point(reply.sent + wait - SECOND, value + most))

    def _level(self, n: int) -> tuple[int | None, int] | None:
        """Tokens right after a request: at least (None: a debt is possible) and at most."""
        reply, left = self._replies[n], self._replies[n].left
        if left is None:
            return None
        may_owe = self._in_debt and left == 0 and (reply.refused or self._costs[n].high > 1)
        if self._is_surely_full(n):
            return left, left
        return None if may_owe else left, left + 1

    def _waits(self, reply: Reply) -> list[tuple[int, int]]:
        """µs after the reply, and the level that WB says the counter has then."""
        waits = []
        if reply.refused and reply.retry:
            waits.append((reply.retry, 1))
        if reply.reset and self._full.is_stated:
            waits.append((reply.reset, self._full.burst))
        return waits

    def _of(self, number: int, n: int) -> _Segment:
        if number not in self._segments:
            self._segments[number] = _Segment([], [], self._doubts[n])
        return self._segments[number]
