"""A count that each reply overwrites, as clients of chat platforms keep one for each route."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio

from benchmarks.lab._scenario import SECOND
from benchmarks.lab.strategies._base import Plain, Setting, now
from wbtrio._headers import Observation, parse_observed_rate_limit


class Route:
    """What is known of one route: one request at a time until a reply tells more."""

    def __init__(self) -> None:
        self.turn = anyio.Lock()
        self._limit = self._left = 1
        self._under_way = 0
        self._expires: int | None = None
        self._held_until = 0

    def wait(self) -> int:
        """µs until a request may go, as far as is known."""
        moment = now()
        if moment < self._held_until:
            return self._held_until - moment
        if self._expires is not None and moment >= self._expires:
            self._left, self._expires = self._limit - self._under_way, None
        if self._left > 0 or (self._under_way == 0 and self._expires is None):
            return 0
        # Without a stated end there is only the next reply to wait for.
        return SECOND // 20 if self._expires is None else self._expires - moment

    def send(self) -> None:
        """One request goes."""
        self._left -= 1
        self._under_way += 1

    def overwrite(self, observation: Observation, *, refused: bool) -> None:
        """A reply came: what it says replaces what was known."""
        self._under_way -= 1
        self._limit = observation.limit or self._limit
        if observation.remaining is not None:
            self._left = min(observation.remaining, self._limit - self._under_way)
        if observation.reset is not None:
            self._expires = now() + observation.reset
        if refused:
            stated = observation.retry_or_reset
            self._held_until = now() + (SECOND if stated is None else stated)

    def lose(self) -> None:
        """No reply came."""
        self._under_way -= 1


class Overwrite(Plain):
    """One count a route, in this process."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._routes: dict[str, Route] = {}

    async def acquire(self, account: str, operation: str) -> Any:
        """Wait for the route."""
        key = await super().acquire(account, operation)
        route = self._routes.setdefault(key, Route())
        async with route.turn:
            while wait := route.wait():
                await anyio.sleep(wait / SECOND)
            route.send()
        return route

    async def settle(self, ticket: Any, status: int, headers: Mapping[str, str]) -> None:
        """Overwrite."""
        ticket.overwrite(parse_observed_rate_limit(headers), refused=status == 429)

    async def lose(self, ticket: Any) -> None:
        """One less is under way."""
        ticket.lose()

    def pause(self, headers: Mapping[str, str], refusals: int) -> float:
        """None: the route is held."""
        return 0.0
