"""Which counters explain some replies: refill model, error costs and interval together. Pure."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from ._fixed_moments import ANY_LENGTH
from ._smooth import Full, smooth_rates
from ._windows import window_lengths

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ._lines import Slopes
    from ._replies import Reply

Refill = Literal["smooth", "window"]
"""`smooth`: token by token; `window`: all tokens at once.

For a burst of one, a window that opens with a request is called smooth: they are the same.
"""

ERROR_COSTS = (1, 10)
"""WB publishes no others."""

_MOST_APART = 4
"""Operations whose error costs are tried apart; more of them are taken to cost the same."""


class Bounds(Struct, frozen=True):
    """The interval, in µs a token, lies between these.

    Attributes:
        shortest: At least this; 0: as short as may be.
        longest: At most this; None: as long as may be.
    """

    shortest: int = 0
    longest: int | None = None

    @property
    def middle(self) -> int | None:
        """The best guess; None: there is no upper bound to it."""
        return None if self.longest is None else (self.shortest + self.longest) // 2

    @property
    def precision(self) -> float | None:
        """Most that the middle is off, as a part of it; None: without bound."""
        if self.longest is None:
            return None
        return (self.longest - self.shortest) / (self.longest + self.shortest)

    def hull(self, other: Bounds) -> Bounds:
        """The least bounds that hold both."""
        open_end = self.longest is None or other.longest is None
        longest = None if open_end else max(self.longest or 0, other.longest or 0)
        return Bounds(min(self.shortest, other.shortest), longest)

    def common(self, other: Bounds) -> Bounds | None:
        """What is in both; None: nothing is."""
        ends = [end for end in (self.longest, other.longest) if end is not None]
        longest = min(ends, default=None)
        shortest = max(self.shortest, other.shortest)
        return None if longest is not None and longest < shortest else Bounds(shortest, longest)

    def holds(self, interval: int) -> bool:
        """Whether an interval is within them."""
        return self.shortest <= interval and (self.longest is None or interval <= self.longest)


class Fit(Struct, frozen=True):
    """One counter that explains every reply."""

    refill: Refill
    error_costs: Mapping[str, int]
    interval: Bounds


def full_of(replies: Sequence[Reply]) -> Full | None:
    """The burst that replies state, else the most that was seen; None: they do not agree."""
    stated = {reply.limit for reply in replies if reply.limit is not None}
    if len(stated) > 1:
        return None
    if stated:
        return Full(stated.pop(), is_stated=True)
    most = max((r.remaining + 1 for r in replies if r.remaining is not None), default=1)
    return Full(most, is_stated=False)


def fits_of(replies: Sequence[Reply], known_costs: Mapping[str, int] | None = None) -> list[Fit]:
    """All counters that explain the replies without anyone else's help; empty: none does.

    Args:
        replies: In the order of their `sent`.
        known_costs: The registry's error costs by operation, tried beside WB's usual ones.
    """
    full = full_of(replies)
    if full is None:
        return []
    found = []
    for costs in _costs_to_try(replies, known_costs or {}):
        rates = smooth_rates(replies, full, costs)
        if rates is not None:
            found.append(Fit("smooth", costs, _intervals_of_rates(rates)))
        opened, fixed = window_lengths(replies, full.burst, costs)
        for lengths in (None if full.burst == 1 else opened, fixed):
            if lengths is not None:
                bounds = _intervals_of_lengths(lengths, full.burst)
                found.append(Fit("window", costs, bounds))
    return found


def _costs_to_try(replies: Sequence[Reply], known: Mapping[str, int]) -> Iterator[dict[str, int]]:
    erring = sorted({reply.operation for reply in replies if reply.is_error})
    choices = {name: sorted({*ERROR_COSTS, known.get(name, 1)}) for name in erring}
    if len(erring) > _MOST_APART:
        for cost in ERROR_COSTS:
            yield dict.fromkeys(erring, cost)
        return
    for costs in product(*choices.values()):
        yield dict(zip(erring, costs, strict=True))


def _intervals_of_rates(rates: Slopes) -> Bounds:
    shortest = rates.greatest.denominator // rates.greatest.numerator
    longest = -(-rates.least.denominator // rates.least.numerator) if rates.least else None
    return Bounds(0 if rates.greatest == 1 else shortest, longest)


def _intervals_of_lengths(lengths: Slopes, burst: int) -> Bounds:
    longest = None if lengths.greatest == ANY_LENGTH.greatest else -(-lengths.greatest // burst)
    return Bounds(0 if lengths.least == 1 else lengths.least // burst, longest)
