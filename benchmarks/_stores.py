"""A store that counts what it is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wbtrio.stores import (
    AcquireReply,
    AcquireRequest,
    MemoryStore,
    NarrowReply,
    PeekReply,
    RefundReply,
    RefundRequest,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wbtrio._bucket import Limit, Narrowing, State


class CountingStore:
    """A memory store that counts its calls, whatever for.

    Attributes:
        calls: All calls.
        narrowings: Those that narrow a bucket.
    """

    def __init__(self) -> None:
        self.calls = 0
        self.narrowings = 0
        self._store = MemoryStore()

    async def acquire(self, requests: Sequence[AcquireRequest]) -> AcquireReply:
        """See `Store.acquire`."""
        self.calls += 1
        return await self._store.acquire(requests)

    async def narrow(self, key: str, limit: Limit, by: Narrowing, hint: State) -> NarrowReply:
        """See `Store.narrow`."""
        self.calls += 1
        self.narrowings += 1
        return await self._store.narrow(key, limit, by, hint)

    async def refund(self, requests: Sequence[RefundRequest]) -> RefundReply:
        """See `Store.refund`."""
        self.calls += 1
        return await self._store.refund(requests)

    async def peek(self, keys: Sequence[str]) -> PeekReply:
        """See `Store.peek`."""
        self.calls += 1
        return await self._store.peek(keys)

    async def aclose(self) -> None:
        """See `Store.aclose`."""
        await self._store.aclose()
