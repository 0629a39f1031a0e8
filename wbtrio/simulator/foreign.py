"""Other programs that spend the same budget. Pure: their visits follow from a seed."""

from __future__ import annotations

import heapq
from random import Random
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .engine import Key

SECOND = 1_000_000


class Foreign(Struct, frozen=True, forbid_unknown_fields=True):
    """A stranger with the same seller's token; it sends, whatever it is answered.

    Attributes:
        every: Seconds between visits.
        size: Requests a visit, all at one moment: 1 is a steady rate, more are bursts.
        jitter: From 0 to 1: each gap is drawn from `every * (1 - jitter)` to
            `every * (1 + jitter)`.
        start: Seconds of the simulator's clock before its first visit.
        until: Seconds after which it comes no more; None: it never leaves.
        account: Only this account's counters; None: any.
        kind: Only counters of this token kind; None: any.
        budget: Only this budget; None: any.
    """

    every: float
    size: int = 1
    jitter: float = 0.0
    start: float = 0.0
    until: float | None = None
    account: str | None = None
    kind: str | None = None
    budget: str | None = None

    def __post_init__(self) -> None:
        if self.every * SECOND < 1 or self.size < 1 or not 0 <= self.jitter <= 1 or self.start < 0:
            raise ValueError(f"not a possible stranger: {self}")

    def spends(self, key: Key) -> bool:
        """Whether it takes tokens of this key."""
        return (
            self.account in (None, key.account)
            and self.kind in (None, key.kind)
            and self.budget in (None, key.budget)
        )


class Visits:
    """The moments at which strangers spend one key's tokens, evaluated as far as asked for."""

    def __init__(self, strangers: Sequence[Foreign], key: Key, seed: int) -> None:
        streams = [
            _moments(stranger, Random(f"{seed}/{number}/{'/'.join(key)}"))
            for number, stranger in enumerate(strangers)
            if stranger.spends(key)
        ]
        self._moments = heapq.merge(*streams)
        self._next = next(self._moments, None)

    def until(self, now: int) -> Iterator[int]:
        """Each moment up to and including `now` that was not given before, in order; µs."""
        while self._next is not None and self._next <= now:
            moment = self._next
            self._next = next(self._moments, None)
            yield moment


def _moments(stranger: Foreign, random: Random) -> Iterator[int]:
    moment = round(stranger.start * SECOND)
    end = None if stranger.until is None else round(stranger.until * SECOND)
    every = round(stranger.every * SECOND)
    swing = round(every * stranger.jitter)
    while end is None or moment <= end:
        for _ in range(stranger.size):
            yield moment
        moment += max(1, every + (random.randint(-swing, swing) if swing else 0))
