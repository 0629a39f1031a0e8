"""No limiter at all."""

from __future__ import annotations

from benchmarks.lab.strategies._base import Plain


class NoLimiter(Plain):
    """Send at once; after a 429 wait as long as WB says, and send again."""
