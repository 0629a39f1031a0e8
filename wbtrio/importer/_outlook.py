"""What is to come in a running import: the plan again, from the buckets as they are now."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import anyio

from .._errors import StoreError
from ._events import Forecast, Listener
from ._plan import Demand, PlanEntry, Requests, legs_of, plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._limiter import WbRateLimiter
    from .._registry import Operation, Registry
    from .._tokens import SellerToken
    from ._checkpoint import SourceKey

SOONEST, LATEST = 1.0, 60.0
"""Seconds between forecasts, each of which costs a store call: rare ones while nothing can move."""


class Outlook:
    """Forecasts of all sources of a run, which share budgets.

    Args:
        limiter: Knows the buckets.
        registry: Knows which bucket pays for what.
        now: The time of day.
    """

    def __init__(
        self, limiter: WbRateLimiter, registry: Registry, now: Callable[[], datetime]
    ) -> None:
        self._limiter = limiter
        self._registry = registry
        self._now = now
        self._demands: dict[SourceKey, Demand] = {}

    def demand(
        self, key: SourceKey, operation: Operation, seller: SellerToken, requests: Requests
    ) -> None:
        """Take note of what a source still asks for."""
        count = requests.least if requests.most is None else requests.most
        legs = legs_of(operation, self._registry, seller, count, sandbox=seller.is_test)
        self._demands[key] = Demand(key, legs, requests)

    def drop(self, key: SourceKey) -> None:
        """A source asks for nothing any more."""
        self._demands.pop(key, None)

    async def watch(self, listener: Listener) -> None:
        """Tell what is to come, again and again, until cancelled."""
        pause = SOONEST
        while True:
            await anyio.sleep(pause)
            forecasts = await self.forecasts()
            for forecast in forecasts:
                listener(forecast)
            moment = self._now()
            waits = [(one.next_at - moment).total_seconds() for one in forecasts]
            pause = min(max(SOONEST, min(waits, default=SOONEST) / 2), LATEST)

    async def forecasts(self) -> list[Forecast]:
        """One for each source; none if the store fails."""
        if not self._demands:
            return []
        demands = list(self._demands.values())
        buckets = {leg.bucket.key: leg.bucket for one in demands for leg in one.legs}
        try:
            found = await self._limiter.peek(*buckets.values())
        except StoreError:
            return []
        made = plan(demands, dict(zip(buckets, found.states, strict=True)), found.now)
        moment = self._now()
        return [_forecast(entry, found.now, moment) for entry in made.entries]


def _forecast(entry: PlanEntry, now: int, moment: datetime) -> Forecast:
    def at(us: int) -> datetime:
        return moment + timedelta(microseconds=us - now)

    return Forecast(
        key=entry.key,
        pages_left=entry.requests.most,
        next_at=at(entry.moments[0] if entry.moments else now),
        ready_at=None if entry.requests.most is None else at(entry.ready_at),
        budget="" if entry.bucket is None else entry.bucket.budget,
    )
