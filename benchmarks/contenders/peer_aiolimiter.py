"""aiolimiter: a leaky bucket in memory; capacity and time follow from burst and interval."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from aiolimiter import AsyncLimiter

from benchmarks._peers import Acquire, Quota, peer


@asynccontextmanager
async def open_limiter(_: str, quota: Quota, names: Sequence[str]) -> AsyncIterator[Acquire]:
    """A limiter for each name."""
    limiters = {name: AsyncLimiter(quota.burst, quota.burst * quota.interval) for name in names}

    async def acquire(name: str) -> None:
        await limiters[name].acquire()

    yield acquire


if __name__ == "__main__":
    peer(open_limiter)
