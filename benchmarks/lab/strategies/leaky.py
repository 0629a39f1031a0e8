"""A leaky bucket for each path, as a popular asyncio library offers: so many a minute."""

from __future__ import annotations

from typing import Any

import anyio

from benchmarks.lab._scenario import SECOND
from benchmarks.lab.strategies._base import Plain, Setting, now


class LeakyPaths(Plain):
    """Holds `limit` drops and leaks `limit` in a period: the burst is not its concern.

    In this process only; a refused request waits as long as WB says and asks again.
    """

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._empty_at: dict[str, int] = {}
        self._turns: dict[str, anyio.Lock] = {}

    async def acquire(self, account: str, operation: str) -> Any:
        """Wait for room for one drop."""
        key = await super().acquire(account, operation)
        interval = self.limit.interval
        async with self._turns.setdefault(key, anyio.Lock()):
            empty_at = max(self._empty_at.get(key, 0), now())
            wait = empty_at + interval - now() - self.limit.limit * interval
            if wait > 0:
                await anyio.sleep(wait / SECOND)
            self._empty_at[key] = max(empty_at, now()) + interval
        return key
