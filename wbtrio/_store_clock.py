"""The store's clock, as far as its replies tell of it."""

from __future__ import annotations

import time

from ._loop import loop_clock

FRESH_FOR = 100_000
"""µs that an observation of the store's clock is taken for fresh."""


class StoreClock:
    """The store's clock between two of its replies, by bounds that each reply can only tighten.

    The estimate never runs ahead of the store: whoever waits until it reaches a moment finds
    that the store has reached it too. Where bounds contradict each other, the clock has jumped,
    and the last reply is right.
    """

    def __init__(self) -> None:
        self._is_measured = False
        self._least = self._most = 0
        self._measured = -FRESH_FOR
        self._latest = 0

    def observe(self, store_now: int, asked_at: int) -> None:
        """Take note of a reply that has just arrived; one in a hundred milliseconds is measured.

        Args:
            store_now: µs of the store's clock when it answered.
            asked_at: µs of the event loop's clock when it was asked.
        """
        self._latest = store_now
        if self._is_measured and 0 <= store_now - self._measured < FRESH_FOR:
            return
        self._measured = store_now
        least, most = store_now - loop_clock(), store_now - asked_at
        if self._is_measured and least <= self._most and self._least <= most:
            least, most = max(least, self._least), min(most, self._most)
        self._least, self._most = least, most
        self._is_measured = True

    def now(self) -> int:
        """µs of the store's clock; before its first reply, of the wall clock."""
        now = loop_clock()
        if not self._is_measured and not self._most:
            self._least = self._most = time.time_ns() // 1000 - now
        # What the store said last has passed, whatever the bounds say.
        return max(now + self._least, self._latest)

    def elapsed(self, since: int, until: int) -> tuple[int, int]:
        """µs from a moment of the store's clock to one of the event loop's: least and most."""
        return until + self._least - since, until + self._most - since
