"""What a strategy is to the client's loop, and the bucket that several of them build on."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import anyio
import anyio.lowlevel

from benchmarks.lab._scenario import SECOND, Scenario
from benchmarks.lab._world import clock
from wbtrio import _bucket
from wbtrio._bucket import FULL, State
from wbtrio._headers import Observation, parse_observed_rate_limit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.lab._store import LabStore


class Setting(NamedTuple):
    """What a strategy is given: the scenario, its process's way to the common store, a seed."""

    scenario: Scenario
    store: LabStore
    seed: str


class Strategy(Protocol):
    """One process's way to keep inside the budget. A ticket is whatever it likes to remember."""

    @property
    def store_calls(self) -> int:
        """Calls to the common store so far."""
        ...

    async def acquire(self, account: str, operation: str) -> Any:
        """Wait until a request may be sent."""
        ...

    async def settle(self, ticket: Any, status: int, headers: Mapping[str, str]) -> None:
        """Take note of its reply."""
        ...

    async def lose(self, ticket: Any) -> None:
        """Take note that no reply will come."""
        ...

    def pause(self, headers: Mapping[str, str], refusals: int) -> float:
        """Seconds that a refused request waits before it asks again."""
        ...


class Plain:
    """A strategy that never waits and learns nothing; others override what they do better."""

    def __init__(self, setting: Setting) -> None:
        self.limit = setting.scenario.believed
        self.store_calls = 0
        self._store = setting.store
        self._random = Random(setting.seed)

    async def acquire(self, account: str, operation: str) -> Any:
        """See `Strategy.acquire`."""
        await anyio.lowlevel.checkpoint()
        return f"{account}/{operation}"

    async def settle(self, ticket: Any, status: int, headers: Mapping[str, str]) -> None:
        """See `Strategy.settle`."""

    async def lose(self, ticket: Any) -> None:
        """See `Strategy.lose`."""

    def pause(self, headers: Mapping[str, str], refusals: int) -> float:
        """As long as WB says; a second where it does not."""
        seconds = parse_observed_rate_limit(headers).retry_or_reset
        return 1.0 if seconds is None else seconds / SECOND


class Counting(Plain):
    """A bucket in the common store, filled as the registry says, and held after a 429.

    That is the state before the decision of ADR 0066. What else a reply says is for those who
    build on it.
    """

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._turns: dict[str, anyio.Lock] = {}

    async def acquire(self, account: str, operation: str) -> Any:
        """First come first served in a process: the first one asks until it is granted."""
        key = f"{account}/{operation}"
        async with self._turns.setdefault(key, anyio.Lock()):
            while wait := await self._take(key):
                await anyio.sleep(wait / SECOND)
        return key

    async def _take(self, key: str) -> int:
        await self._call()
        state = self._store.shared.get(key, FULL)
        state, wait = _bucket.acquire(state, self.limit, self._store.now())
        self._store.shared[key] = state
        return wait

    async def settle(self, ticket: Any, status: int, headers: Mapping[str, str]) -> None:
        """Hold after a 429, and read the rest."""
        observation = parse_observed_rate_limit(headers)
        before = self._store.shared.get(ticket, FULL)
        now = self._store.now()
        after = self._follow(before, observation, now)
        if status == 429:
            stated = observation.retry_or_reset
            hold = self.limit.interval if stated is None else stated
            after = after._replace(not_before=max(after.not_before, now + hold))
        if after != before:
            self._store.shared[ticket] = after
            await self._call()

    def _follow(self, state: State, observation: Observation, now: int) -> State:
        """The bucket after what a reply says, a 429's hold aside."""
        return state

    def pause(self, headers: Mapping[str, str], refusals: int) -> float:
        """None: the bucket is held."""
        return 0.0

    async def _call(self) -> None:
        self.store_calls += 1
        await anyio.lowlevel.checkpoint()
        await self._store.travel()


def now() -> int:
    """µs of this process's clock."""
    return clock()
