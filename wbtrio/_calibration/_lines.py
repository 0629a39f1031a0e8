"""All slopes of a line that passes through a row of gates. Exact: integers and fractions only."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class Point(NamedTuple):
    """A point that the line must not pass below, or must not pass above."""

    at: int
    value: int


class Slopes(NamedTuple):
    """From the least to the greatest slope, both possible."""

    least: Fraction
    greatest: Fraction

    def common(self, other: Slopes) -> Slopes | None:
        """Slopes that are in both; None: none is."""
        least, greatest = max(self.least, other.least), min(self.greatest, other.greatest)
        return Slopes(least, greatest) if least <= greatest else None


def slopes_between(
    floors: Sequence[Point], ceilings: Sequence[Point], within: Slopes
) -> Slopes | None:
    """The slopes of all lines above every floor and below every ceiling; None: no line is.

    The room between the highest floor and the lowest ceiling, once both are moved along a slope
    to one place, is a concave function of that slope. Its two zeros are found by Newton's steps,
    which never overshoot for such a function, and so end in the exact answer.
    """
    if not floors or not ceilings:
        return within
    least = _first_slope(floors, ceilings, within.least, within.greatest, rising=True)
    if least is None:
        return None
    greatest = _first_slope(floors, ceilings, within.greatest, least, rising=False)
    return None if greatest is None else Slopes(least, greatest)


def _first_slope(
    floors: Sequence[Point],
    ceilings: Sequence[Point],
    start: Fraction,
    end: Fraction,
    *,
    rising: bool,
) -> Fraction | None:
    """The first slope from `start` towards `end` that leaves room; None: none does."""
    slope = start
    while True:
        over, under = slope.numerator, slope.denominator
        # Of points that bind alike, the one that binds more, further towards the end, is taken.
        sign = 1 if rising else -1
        floor = max(floors, key=lambda p: (p.value * under - over * p.at, -sign * p.at))
        ceiling = min(ceilings, key=lambda p: (p.value * under - over * p.at, -sign * p.at))
        missing = (floor.value - ceiling.value) * under - over * (floor.at - ceiling.at)
        if missing <= 0:
            return slope
        run = floor.at - ceiling.at
        if run * sign <= 0:
            return None
        slope = Fraction(floor.value - ceiling.value, run)
        if slope > end if rising else slope < end:
            return None
