"""A counter that restores all its tokens at once: for which windows it explains every reply. Pure.

Within one window `Remaining` falls by just what our own requests cost. A rise that does not end at
a full counter, or a fall that is not ours, lets no window be.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from fractions import Fraction
from itertools import accumulate, islice
from typing import TYPE_CHECKING

from ._fixed_moments import ANY_LENGTH, lengths_between_fixed_moments
from ._lines import Slopes
from ._replies import Order, Seen, Span
from ._smooth import SECOND

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ._replies import Reply

_NO_WINDOW = (None, None)


def window_lengths(
    replies: Sequence[Reply], burst: int, error_costs: Mapping[str, int]
) -> tuple[Slopes | None, Slopes | None]:
    """The lengths, in µs, at which a windowed counter explains all replies; None: at none.

    First of windows that open with a request after the last one ended, then of windows between
    fixed moments.

    Args:
        replies: All replies that the counter gave, in the order of their `sent`.
        burst: Tokens of a window.
        error_costs: What a 4XX costs, by operation; 1 where it is not told.
    """
    costs = [reply.cost(error_costs.get(reply.operation, 1)) for reply in replies]
    order = Order(replies, _may_precede_within(replies, costs, burst))
    if not order.is_possible:
        return _NO_WINDOW
    seen = [
        Seen(reply, reply.left, cost, Span(before.low + cost.low, before.high + cost.high))
        for reply, cost, before in zip(replies, costs, order.before(costs), strict=True)
        if reply.left is not None
    ]
    if any(not one.reply.refused and one.left + one.cost.low > burst for one in seen):
        return _NO_WINDOW
    pairs = _pairs(seen)
    if any(not two.same_window(one) and not two.new_window(one, burst) for one, two in pairs):
        return _NO_WINDOW
    return _opened_by_requests(seen, burst), lengths_between_fixed_moments(pairs, burst)


def _may_precede_within(
    replies: Sequence[Reply], costs: Sequence[Span], burst: int
) -> Callable[[Reply, Reply], bool]:
    """The rule that what is left only falls, but for a new window."""
    starts = [reply.sent for reply in replies]
    by_end = sorted(zip(replies, costs, strict=True), key=lambda pair: pair[0].received)
    ends = [reply.received for reply, _ in by_end]
    spent_by_start = [0, *accumulate(cost.high for cost in costs)]
    spent_by_end = [0, *accumulate(cost.high for _, cost in by_end)]

    def may_precede(one: Reply, other: Reply) -> bool:
        if one.left is None or other.left is None or other.left < one.left:
            return True
        if other.left == one.left and other.refused:
            return True
        begun = spent_by_start[bisect_right(starts, other.received)]
        meanwhile = begun - spent_by_end[bisect_left(ends, one.sent)]
        return other.left >= burst - meanwhile

    return may_precede


def _pairs(seen: Sequence[Seen]) -> list[tuple[Seen, Seen]]:
    """Each reply with the last one that had come before its request was sent."""
    by_end = sorted(seen, key=lambda one: one.reply.received)
    ends = [one.reply.received for one in by_end]
    pairs = []
    for one in seen:
        number = bisect_right(ends, one.reply.sent) - 1
        if number >= 0 and by_end[number].reply is not one.reply:
            pairs.append((by_end[number], one))
    return pairs


def _opened_by_requests(seen: Sequence[Seen], burst: int) -> Slopes | None:
    """Lengths of windows that open with a request."""
    lengths: Slopes | None = ANY_LENGTH
    for number, first in enumerate(seen):
        if first.reply.refused or first.left + first.cost.low < burst or not first.cost.is_exact:
            continue
        for later in _after(seen, number):
            same = later is first or later.same_window(first)
            new = later is not first and later.new_window(first, burst)
            if lengths is None or not (same or new):
                return None
            if new and not same:
                lengths = _at_most(lengths, later.reply.received - first.reply.sent)
                break
            if same and not new:
                lengths = _told_by(lengths, first.reply, later.reply)
    return lengths


def _after(seen: Sequence[Seen], number: int) -> Iterator[Seen]:
    """A reply itself, and those whose requests were sent when it had come."""
    first = seen[number]
    yield first
    for one in islice(seen, number + 1, None):
        if one.reply.sent >= first.reply.received:
            yield one


def _told_by(lengths: Slopes, first: Reply, later: Reply) -> Slopes | None:
    """The window that `first` opened lasts beyond `later`, which may say how long."""
    found = lengths
    if later is not first:
        since = max(1, later.sent - first.received)
        if since > found.greatest:
            return None
        found = Slopes(max(found.least, Fraction(since)), found.greatest)
    if not later.reset:
        return found
    least = max(1, later.sent - first.received + later.reset - SECOND)
    greatest = later.received - first.sent + later.reset + SECOND
    if later is first:
        least, greatest = max(1, later.reset - SECOND), later.reset + SECOND
    return found.common(Slopes(Fraction(least), Fraction(greatest)))


def _at_most(lengths: Slopes, longest: int) -> Slopes | None:
    if longest < lengths.least:
        return None
    return Slopes(lengths.least, min(lengths.greatest, Fraction(longest)))
