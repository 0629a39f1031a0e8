"""A store that counts its calls, takes its time and fails as told; and buckets to ask it for."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import anyio
import anyio.lowlevel

from wbtrio import Bucket, Limit, MemoryStore, Permit
from wbtrio.stores import RefundRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wbtrio import StoreError, WbRateLimiter
    from wbtrio._bucket import Narrowing, State
    from wbtrio.stores import (
        AcquireReply,
        AcquireRequest,
        NarrowReply,
        PeekReply,
        RefundReply,
        Store,
    )

SECOND = 1_000_000


def a_bucket(
    budget: str = "orders", *, interval: float = 1.0, burst: int = 5, account: str = "seller-1"
) -> Bucket:
    """A bucket that refills one token each `interval` seconds."""
    return Bucket(account, "personal", budget, Limit(round(interval * SECOND), 1, burst))


class WatchedStore:
    """A store around another.

    Attributes:
        inner: The store that does the work.
        calls: How often each step was asked for.
        fault: Raised in place of each step, or after it if its reply is to be lost.
        latency: Seconds that a step's request and its reply each take; no cancellation ends them.
    """

    def __init__(self, inner: Store | None = None, *, latency: float = 0.0) -> None:
        self.inner: Store = MemoryStore() if inner is None else inner
        self.calls: Counter[str] = Counter()
        self.fault: StoreError | None = None
        self.latency = latency

    async def acquire(self, requests: Sequence[AcquireRequest]) -> AcquireReply:
        self._begin("acquire")
        if interruption := await self._travel():
            raise interruption
        reply = await self.inner.acquire(requests)
        if interruption := await self._travel():
            if reply.granted:
                await self.inner.refund(
                    [
                        RefundRequest(one.key, one.limit, one.cost, state)
                        for one, state in zip(requests, reply.states, strict=True)
                    ]
                )
            raise interruption
        self._end()
        return reply

    async def narrow(self, key: str, limit: Limit, by: Narrowing, hint: State) -> NarrowReply:
        self._begin("narrow")
        interruption = await self._travel()
        reply = await self.inner.narrow(key, limit, by, hint)
        if interruption := await self._travel() or interruption:
            raise interruption
        self._end()
        return reply

    async def refund(self, requests: Sequence[RefundRequest]) -> RefundReply:
        self._begin("refund")
        interruption = await self._travel()
        reply = await self.inner.refund(requests)
        if interruption := await self._travel() or interruption:
            raise interruption
        self._end()
        return reply

    async def peek(self, keys: Sequence[str]) -> PeekReply:
        self._begin("peek")
        return await self.inner.peek(keys)

    async def aclose(self) -> None:
        await self.inner.aclose()

    def _begin(self, step: str) -> None:
        self.calls[step] += 1
        if self.fault is not None and not self.fault.may_have_run:
            raise self.fault

    def _end(self) -> None:
        if self.fault is not None:
            raise self.fault

    async def _travel(self) -> BaseException | None:
        """One way of a step; the cancellation that asyncio threw meanwhile, if it did."""
        interruption: BaseException | None = None
        arrival = anyio.current_time() + self.latency
        with anyio.CancelScope(shield=True):
            while anyio.current_time() < arrival:
                try:
                    await anyio.sleep_until(arrival)
                except anyio.get_cancelled_exc_class() as cancellation:
                    interruption = cancellation
        return interruption


async def let_all_run() -> None:
    """Give every task the turns that it needs to come to its next wait in time."""
    for _ in range(20):
        await anyio.lowlevel.checkpoint()


async def drain(limiter: WbRateLimiter, bucket: Bucket) -> list[Permit]:
    """Take all tokens that there are, without waiting; returns the permits."""
    return [await limiter.acquire_nowait(bucket) for _ in range(bucket.limit.burst)]


async def tokens_left(store: Store, bucket: Bucket) -> int:
    """Whole tokens that the store would grant right now, hold aside."""
    now, (state,) = await store.peek([bucket.key])
    missing = max(0, state.full_at - now)
    return bucket.limit.burst - -(-missing // bucket.limit.interval)
