"""Buckets in this process's memory: the default, for programs that are alone on their tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio.lowlevel

from .. import _bucket
from .._bucket import FULL, State
from .._loop import loop_clock
from ._protocol import (
    AcquireReply,
    AcquireRequest,
    NarrowReply,
    PeekReply,
    RefundReply,
    RefundRequest,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .._bucket import Limit, Narrowing

SWEEP_EVERY = 4096


class MemoryStore:
    """A store for one process and one event loop.

    Args:
        clock: µs now, as an integer. Default: the event loop's own clock, so that trio's
            MockClock moves the buckets too.
    """

    def __init__(self, *, clock: Callable[[], int] = loop_clock) -> None:
        self._clock = clock
        self._buckets: dict[str, tuple[Limit, State]] = {}
        self._writes = 0

    def __repr__(self) -> str:
        return f"<MemoryStore: {len(self._buckets)} buckets>"

    async def acquire(self, requests: Sequence[AcquireRequest]) -> AcquireReply:
        """See `Store.acquire`."""
        await anyio.lowlevel.checkpoint()
        now = self._clock()
        merged = [
            _bucket.forget(_bucket.merge(self._read(key), hint), limit, now)
            for key, limit, _, hint in requests
        ]
        decisions = [
            _bucket.acquire(state, request.limit, now, request.cost)
            for state, request in zip(merged, requests, strict=True)
        ]
        granted = not any(decision.wait for decision in decisions)
        states = tuple(decision.state for decision in decisions) if granted else tuple(merged)
        for request, state in zip(requests, states, strict=True):
            self._write(request.key, request.limit, state, now)
        return AcquireReply(granted, now, states)

    async def narrow(self, key: str, limit: Limit, by: Narrowing, hint: State) -> NarrowReply:
        """See `Store.narrow`."""
        now = self._clock()
        before = _bucket.merge(self._read(key), hint)
        state = _bucket.narrow(before, limit, now, by)
        self._write(key, limit, state, now)
        await anyio.lowlevel.cancel_shielded_checkpoint()
        return NarrowReply(now, before, state)

    async def refund(self, requests: Sequence[RefundRequest]) -> RefundReply:
        """See `Store.refund`."""
        now = self._clock()
        refunded = True
        states = []
        for request in requests:
            before = self._read(request.key)
            state = _bucket.refund(before, request.limit, request.cost, request.after)
            refunded = refunded and state != before
            self._write(request.key, request.limit, state, now)
            states.append(state)
        await anyio.lowlevel.cancel_shielded_checkpoint()
        return RefundReply(now, refunded, tuple(states))

    async def peek(self, keys: Sequence[str]) -> PeekReply:
        """See `Store.peek`."""
        await anyio.lowlevel.checkpoint()
        return PeekReply(self._clock(), tuple(self._read(key) for key in keys))

    async def aclose(self) -> None:
        """See `Store.aclose`; the buckets stay."""
        await anyio.lowlevel.checkpoint()

    def _write(self, key: str, limit: Limit, state: State, now: int) -> None:
        self._buckets[key] = (limit, state)
        self._writes += 1
        if self._writes >= SWEEP_EVERY:
            self._writes = 0
            self._buckets = {
                key: (limit, state)
                for key, (limit, state) in self._buckets.items()
                if _bucket.time_to_live(state, limit, now) > 0
            }

    def _read(self, key: str) -> State:
        found = self._buckets.get(key)
        return FULL if found is None else found[1]
