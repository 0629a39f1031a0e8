"""What the limiter counts, per bucket."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class BucketStatistics(Struct):
    """Counters of one bucket, since the limiter was made.

    Attributes:
        granted: Permits granted.
        refused: Acquires that ended with `RateLimited`; nothing was sent.
        refunded: Permits given back unsent, whose tokens the bucket took back.
        settled: Replies settled.
        skipped: Settled replies that provably narrowed nothing, so that no store call was made.
        narrowed: Settled replies that took something away, 429s aside.
        penalized: 429s earned.
        slowed: 429s that proved WB's limit to be slower than the registry's.
        foreign: Tokens that WB counted and no grant of ours explains: other programs.
        waited_us: Sum of all waits for permits, µs.
        store_calls: Calls to the store, whatever for.
        lost_replies: Acquires whose outcome is unknown: at most this many permits' tokens are lost.
    """

    granted: int = 0
    refused: int = 0
    refunded: int = 0
    settled: int = 0
    skipped: int = 0
    narrowed: int = 0
    penalized: int = 0
    slowed: int = 0
    foreign: int = 0
    waited_us: int = 0
    store_calls: int = 0
    lost_replies: int = 0


class LimiterStatistics(Struct, frozen=True):
    """A snapshot of all counters.

    Attributes:
        buckets: By bucket key.
    """

    buckets: Mapping[str, BucketStatistics]

    @property
    def total(self) -> BucketStatistics:
        """The sum over all buckets."""
        total = BucketStatistics()
        for one in self.buckets.values():
            for name in one.__struct_fields__:
                setattr(total, name, getattr(total, name) + getattr(one, name))
        return total
