"""Exponential backoff, as general HTTP clients come with."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.lab.strategies._base import Plain

BASE = 1.0
LONGEST = 60.0
"""Seconds."""


class Backoff(Plain):
    """Send at once; after a 429 wait a random share of a second, of two, of four, ..."""

    def pause(self, headers: Mapping[str, str], refusals: int) -> float:
        """Full jitter: anything up to a bound that doubles."""
        return self._random.uniform(0, min(LONGEST, BASE * 2 ** min(refusals - 1, 16)))
