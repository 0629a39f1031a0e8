"""Ours: the real limiter; and the same with one part of it taken out, by injection only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import anyio

from benchmarks.lab._world import BUDGET, KIND
from benchmarks.lab.strategies._base import Setting
from wbtrio import Bucket, Limit, Permit, RateLimited, WbRateLimiter
from wbtrio._bucket import FULL, Narrowing, State
from wbtrio._guards import Reserve, Spread, Window
from wbtrio._lane import Lane
from wbtrio.stores import AcquireReply, AcquireRequest, NarrowReply, PeekReply, Store
from wbtrio.stores._protocol import RefundReply, RefundRequest


class Ours:
    """One process with a `WbRateLimiter` on the common store."""

    def __init__(self, setting: Setting, *, limiter: WbRateLimiter | None = None) -> None:
        self.limit = setting.scenario.believed
        self._limiter = WbRateLimiter(setting.store.connect()) if limiter is None else limiter
        self._error_cost = setting.scenario.faults.error_cost
        self._buckets: dict[str, Bucket] = {}

    @property
    def store_calls(self) -> int:
        """See `Strategy.store_calls`."""
        return self._limiter.statistics().total.store_calls

    def bucket(self, account: str, operation: str) -> Bucket:
        """The registry's bucket."""
        key = f"{account}/{operation}"
        if key not in self._buckets:
            self._buckets[key] = Bucket(account, KIND, f"{BUDGET}-{operation}", self.limit)
        return self._buckets[key]

    async def acquire(self, account: str, operation: str) -> Any:
        """A permit."""
        bucket = self.bucket(account, operation)
        permit = await self._limiter.acquire(bucket, error_cost=self._error_cost)
        permit.mark_sent()
        return permit

    async def settle(self, ticket: Permit, status: int, headers: Mapping[str, str]) -> None:
        """Settle it."""
        await ticket.settle(status, headers)

    async def lose(self, ticket: Permit) -> None:
        """Lose it."""
        await ticket.lose()

    def pause(self, headers: Mapping[str, str], refusals: int) -> float:
        """None: the bucket is held."""
        return 0.0


class Relay:
    """A store that passes everything on; those that build on it leave something out."""

    def __init__(self, inner: Store) -> None:
        self._inner = inner

    async def acquire(self, requests: Sequence[AcquireRequest]) -> AcquireReply:
        """See `Store.acquire`."""
        return await self._inner.acquire(requests)

    async def narrow(self, key: str, limit: Limit, by: Narrowing, hint: State) -> NarrowReply:
        """See `Store.narrow`."""
        return await self._inner.narrow(key, limit, by, hint)

    async def refund(self, requests: Sequence[RefundRequest]) -> RefundReply:
        """See `Store.refund`."""
        return await self._inner.refund(requests)

    async def peek(self, keys: Sequence[str]) -> PeekReply:
        """See `Store.peek`."""
        return await self._inner.peek(keys)

    async def aclose(self) -> None:
        """See `Store.aclose`."""
        await self._inner.aclose()


class _Unhinted(Relay):
    async def acquire(self, requests: Sequence[AcquireRequest]) -> AcquireReply:
        return await super().acquire([one._replace(hint=FULL) for one in requests])

    async def narrow(self, key: str, limit: Limit, by: Narrowing, hint: State) -> NarrowReply:
        return await super().narrow(key, limit, by, FULL)


class _Unfenced(Relay):
    async def narrow(self, key: str, limit: Limit, by: Narrowing, hint: State) -> NarrowReply:
        return await super().narrow(key, limit, by._replace(fence=None), hint)


class _FenceOnly(Relay):
    async def narrow(self, key: str, limit: Limit, by: Narrowing, hint: State) -> NarrowReply:
        if by.fence is None or by.remaining < 0:
            return await super().narrow(key, limit, by, hint)
        now, (state,) = await super().peek([key])
        later = max(0, max(state.granted, hint.granted) - by.fence.ticket)
        missing = limit.burst - by.remaining + later
        full_in = by.fence.granted_at + missing * limit.interval - now
        by = by._replace(remaining=-1, fence=None, full_in=max(by.full_in, full_in, 0))
        return await super().narrow(key, limit, by, hint)


class _Unslowed(Relay):
    async def narrow(self, key: str, limit: Limit, by: Narrowing, hint: State) -> NarrowReply:
        by = by._replace(slow_interval=0, burst_cut=0, slow_for=0)
        return await super().narrow(key, limit, by, hint)


def without_hints(setting: Setting) -> Ours:
    """The store is never told what this process knows."""
    return Ours(setting, limiter=WbRateLimiter(_Unhinted(setting.store.connect())))


def arrival_only(setting: Setting) -> Ours:
    """`Remaining` is read as of the moment at which its reply came: the literal rule."""
    return Ours(setting, limiter=WbRateLimiter(_Unfenced(setting.store.connect())))


def fence_only(setting: Setting) -> Ours:
    """`Remaining` is read as of the grant, less what was granted since: the fence."""
    return Ours(setting, limiter=WbRateLimiter(_FenceOnly(setting.store.connect())))


def without_slowing(setting: Setting) -> Ours:
    """A 429 proves nothing of WB's pace."""
    return Ours(setting, limiter=WbRateLimiter(_Unslowed(setting.store.connect())))


def hold_by_reset(setting: Setting) -> Ours:
    """An exhausted budget is held until it is full."""
    store = setting.store.connect()
    return Ours(setting, limiter=WbRateLimiter(store, exhausted_hold="reset"))


class WithoutErrorCost(Ours):
    """Errors cost one request, whatever WB counts."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._error_cost = 1


class WithoutLanes(Ours):
    """No queue: everybody asks, and asks again when told."""

    async def acquire(self, account: str, operation: str) -> Any:
        """Ask until granted."""
        bucket = self.bucket(account, operation)
        while True:
            try:
                permit = await self._limiter.acquire_nowait(bucket, error_cost=self._error_cost)
            except RateLimited as refusal:
                await anyio.sleep(refusal.retry_after)
            else:
                permit.mark_sent()
                return permit


class _Bare(WbRateLimiter):
    """Lanes get their guards taken away as they are made."""

    def __init__(self, store: Store, guards: Mapping[str, type]) -> None:
        super().__init__(store)
        self._guards = guards
        make = self._ledger.lane

        def lane(bucket: Bucket) -> Lane:
            is_new = bucket.key not in self._ledger.lanes
            made = make(bucket)
            if is_new:
                for name, guard in guards.items():
                    setattr(made, name, guard())
            return made

        self._ledger.lane = lane  # type: ignore[method-assign]


class _NoReserve(Reserve):
    def on_top_of(self, cost: int, burst: int, now: int) -> int:
        return 0


class _NoSpread(Spread):
    def note(self, round_trip: int) -> None:
        pass


class _NoWindow(Window):
    def wait(self, now: int, cost: int) -> int:
        return 0


def without_reserve(setting: Setting) -> Ours:
    """Nothing is left to strangers."""
    return Ours(setting, limiter=_Bare(setting.store.connect(), {"_reserve": _NoReserve}))


def without_spread(setting: Setting) -> Ours:
    """Nothing is left for uneven travelling times."""
    return Ours(setting, limiter=_Bare(setting.store.connect(), {"_spread": _NoSpread}))


def without_window(setting: Setting) -> Ours:
    """A window that shows its end is not believed."""
    return Ours(setting, limiter=_Bare(setting.store.connect(), {"_window": _NoWindow}))
