"""Windows that begin at fixed moments, such as every full minute: how long they may be. Pure."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from ._lines import Point, Slopes, slopes_between
from ._replies import Span
from ._smooth import SECOND

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._replies import Seen

ANY_LENGTH = Slopes(Fraction(1), Fraction(31 * 24 * 3_600 * SECOND))
"""µs of a window; WB publishes none beyond a day."""

Pair = tuple["Seen", "Seen"]
"""A reply, and one whose request was sent when it had come."""

_PASSES = 10


def lengths_between_fixed_moments(pairs: Sequence[Pair], burst: int) -> Slopes | None:
    """The lengths, in µs, of windows between fixed moments that explain all pairs; None: none.

    A moment lies in each pair between which tokens came back, and none in those between which
    none did. How many windows lie between two such moments is known as soon as the lengths are
    known closely enough, which in turn makes them known more closely.
    """
    moments = _moments(pairs, burst)
    lengths: Slopes | None = _longer_than_quiet(pairs, burst)
    for _ in range(_PASSES):
        if lengths is None:
            return None
        before = lengths
        for floors, ceilings in _runs(moments, lengths):
            lengths = slopes_between(floors, ceilings, lengths)
            if lengths is None:
                return None
        if lengths == before:
            break
    return lengths


def _moments(pairs: Sequence[Pair], burst: int) -> list[Span]:
    """When the first window after each of these began; each later than the one before."""
    found: list[Span] = []
    last: Seen | None = None
    for one, two in pairs:
        if two.same_window(one) or not two.new_window(one, burst):
            continue
        if last is not None and one is not last and one.reply.sent < last.reply.received:
            continue
        low, high = one.reply.sent, two.reply.received
        if one.reply.reset:
            low = max(low, one.reply.sent + one.reply.reset - SECOND)
            high = min(high, one.reply.received + one.reply.reset + SECOND)
        found.append(Span(low, high))
        last = two
    return found


def _longer_than_quiet(pairs: Sequence[Pair], burst: int) -> Slopes:
    """At least as long as tokens were seen not to come back."""
    longest, since = 0, 0
    last: Seen | None = None
    for one, two in pairs:
        if not two.same_window(one) or two.new_window(one, burst):
            last = None
            continue
        if last is None or (one is not last and one.reply.received > last.reply.sent):
            since = one.reply.received
        longest = max(longest, two.reply.sent - since)
        last = two
    return Slopes(max(ANY_LENGTH.least, Fraction(longest)), ANY_LENGTH.greatest)


def _runs(moments: Sequence[Span], lengths: Slopes) -> list[tuple[list[Point], list[Point]]]:
    """Moments that are surely so many windows apart, as points to lay a line through."""
    runs: list[tuple[list[Point], list[Point]]] = []
    number = 0
    for n, moment in enumerate(moments):
        apart = _windows_between(moments[n - 1], moment, lengths) if n else None
        if apart is None:
            runs.append(([], []))
        number += apart or 0
        floors, ceilings = runs[-1]
        floors.append(Point(number, moment.low))
        ceilings.append(Point(number, moment.high))
    return runs


def _windows_between(one: Span, two: Span, lengths: Slopes) -> int | None:
    """How many windows lie between two moments; None: that is not sure."""
    fewest = max(1, -((one.high - two.low) // lengths.greatest))
    most = (two.high - one.low) // lengths.least
    return fewest if fewest >= most else None
