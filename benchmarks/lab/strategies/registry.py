"""Only the registry's bucket, and a hold after each 429: the state before ADR 0066."""

from __future__ import annotations

from benchmarks.lab.strategies._base import Counting


class RegistryBucket(Counting):
    """As `Counting`: headers other than a 429's are not read."""
