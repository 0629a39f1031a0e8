"""The store that the processes of one run share: in memory, with a latency, faults and a skew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from benchmarks.lab._scenario import SECOND, Scenario
from benchmarks.lab._world import clock
from tests.support.stores import WatchedStore
from wbtrio import MemoryStore

if TYPE_CHECKING:
    from wbtrio._bucket import State
    from wbtrio.stores import Store


class LabStore(MemoryStore):
    """Buckets of one run; forgets them, and shifts its clock, as its scenario says.

    Attributes:
        shared: Buckets of strategies that keep theirs beside our limiter's.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._faults = scenario.faults
        self._latency = scenario.store_latency
        self.shared: dict[str, State] = {}
        super().__init__(clock=self.now)

    def now(self) -> int:
        """µs of this store's own clock."""
        now = clock()
        seconds = 0.0
        for begins, off in self._faults.clock_jumps:
            if begins * SECOND <= now:
                seconds = off
        return now + round(seconds * SECOND)

    def connect(self) -> Store:
        """One process's connection to it."""
        return WatchedStore(self, latency=self._latency) if self._latency else self

    async def travel(self) -> None:
        """What a call costs a strategy that has a store of its own here."""
        if self._latency:
            await anyio.sleep(2 * self._latency)

    async def suffer(self) -> None:
        """Forget everything from time to time, for as long as the run lasts."""
        while self._faults.evict_every:
            await anyio.sleep(self._faults.evict_every)
            self.forget_all()

    def forget_all(self) -> None:
        """As a server does that is restarted without persistence."""
        self._buckets.clear()
        self.shared.clear()
