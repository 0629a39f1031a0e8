"""A store that counts its calls, takes its time and fails as told; and buckets to ask it for."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import anyio
import anyio.lowlevel

from wbtrio import Bucket, Limit, MemoryStore, Permit

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
        RefundRequest,
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
        await self._on_the_way("acquire")
        reply = await self.inner.acquire(requests)
        await self._on_the_way_back()
        return reply

    async def narrow(self, key: str, limit: Limit, by: Narrowing, hint: State) -> NarrowReply:
        await self._on_the_way("narrow")
        reply = await self.inner.narrow(key, limit, by, hint)
        await self._on_the_way_back()
        return reply

    async def refund(self, requests: Sequence[RefundRequest]) -> RefundReply:
        await self._on_the_way("refund")
        reply = await self.inner.refund(requests)
        await self._on_the_way_back()
        return reply

    async def peek(self, keys: Sequence[str]) -> PeekReply:
        await self._on_the_way("peek")
        return await self.inner.peek(keys)

    async def aclose(self) -> None:
        await self.inner.aclose()

    async def _on_the_way(self, step: str) -> None:
        self.calls[step] += 1
        if self.latency:
            await anyio.lowlevel.checkpoint_if_cancelled()
            with anyio.CancelScope(shield=True):
                await anyio.sleep(self.latency)
        if self.fault is not None and not self.fault.may_have_run:
            await anyio.lowlevel.checkpoint()
            raise self.fault

    async def _on_the_way_back(self) -> None:
        if self.latency:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(self.latency)
        if self.fault is not None:
            raise self.fault


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
