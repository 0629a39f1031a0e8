"""The limiter: acquire -> permit -> settle. Decisions are pure; this only waits and calls."""

from __future__ import annotations

import copy
import logging
import math
from typing import TYPE_CHECKING, Literal

import anyio
import anyio.lowlevel

from . import _bucket
from ._bucket import MICROSECONDS, Bucket
from ._errors import CallerError, CostExceedsBurst, RateLimited
from ._headers import Observation, parse_observed_rate_limit
from ._lane import Cause, Lane, Waiter
from ._ledger import Granted, Ledger
from ._loop import checkpoint_if_cancelled, loop_clock
from ._permit import Permit, Settlement
from ._reconcile import (
    ExhaustedHold,
)
from ._settling import Settling
from ._statistics import LimiterStatistics
from .stores import MemoryStore, PeekReply, Store

if TYPE_CHECKING:
    from collections.abc import Mapping

logger = logging.getLogger("wbtrio")


class WbRateLimiter:
    """Keeps every account inside WB's budgets.

    Waiters of one bucket queue first come first served, and a cancelled one leaves at once without
    having spent anything. A granted permit always reaches its caller.

    Args:
        store: Where the buckets live. Default: this process's memory.
        max_wait: Seconds that `acquire` may wait; longer waits raise `RateLimited` at once.
        on_store_error: What `acquire` does when the store fails: "local" counts in this process,
            from all that it knows, until the store is back; "raise" raises the `StoreError`.
        exhausted_hold: Hold an exhausted budget by WB's `Retry` where stated, or by the longer of
            `Retry` and `Reset`.
    """

    def __init__(
        self,
        store: Store | None = None,
        *,
        max_wait: float = math.inf,
        on_store_error: Literal["local", "raise"] = "local",
        exhausted_hold: ExhaustedHold = "retry",
    ) -> None:
        self._ledger = Ledger(
            MemoryStore() if store is None else store, may_count_alone=on_store_error == "local"
        )
        self._max_wait = max_wait
        self._settling = Settling(self._ledger, exhausted_hold)

    def __repr__(self) -> str:
        return f"<WbRateLimiter on {self._ledger.store!r}: {len(self._ledger.lanes)} buckets>"

    async def acquire(
        self,
        bucket: Bucket,
        *more: Bucket,
        cost: int = 1,
        error_cost: int = 1,
        max_wait: float | None = None,
        fail_fast: bool = False,
    ) -> Permit:
        """Wait for leave to send one request.

        Args:
            bucket: The budget's bucket, which WB's headers will speak of.
            more: Further buckets of the same account that the request is charged to: all or none.
            cost: Tokens to take from each, 1 <= cost <= burst.
            error_cost: Requests that WB counts for a 4XX answer of this operation.
            max_wait: Seconds; default: the limiter's own. 0: do not wait at all.
            fail_fast: Raise at once when the wait would outlast the enclosing cancel scope.

        Raises:
            CallerError: The buckets are of several accounts, or one is named twice.
            CostExceedsBurst: No full bucket could grant this cost.
            RateLimited: The wait would be longer than allowed; nothing was spent.
            StoreError: The store failed, and `on_store_error` is "raise".
        """
        buckets = (bucket, *more)
        if more:
            _check_together(buckets)
        for one in buckets:
            if not 1 <= cost <= one.limit.burst:
                raise CostExceedsBurst(bucket=one.key, cost=cost, burst=one.limit.burst)
        await checkpoint_if_cancelled()
        lanes = [self._ledger.lane(one) for one in buckets]
        for lane in lanes[1:]:
            lane.dependents.add(lanes[0])
        started = loop_clock()
        waiter = Waiter(cost, self._patience(started, max_wait, fail_fast=fail_fast))
        lanes[0].enter(waiter)
        try:
            granted, cause = await self._wait_in_queue(lanes, waiter)
        except RateLimited:
            lanes[0].statistics.refused += 1
            raise
        finally:
            lanes[0].leave(waiter)
        granted_at = loop_clock()
        waited = granted_at - started if cause else 0
        lanes[0].statistics.waited_us += waited
        for lane in lanes:
            lane.statistics.granted += 1
        return Permit(
            self._settling,
            buckets,
            granted,
            granted_at,
            error_cost=error_cost,
            waited=waited / MICROSECONDS,
            cause=cause,
        )

    async def acquire_nowait(
        self, bucket: Bucket, *more: Bucket, cost: int = 1, error_cost: int = 1
    ) -> Permit:
        """As `acquire`, but raise `RateLimited` rather than wait; at most one store call."""
        return await self.acquire(bucket, *more, cost=cost, error_cost=error_cost, max_wait=0)

    async def peek(self, *buckets: Bucket) -> PeekReply:
        """What is known of buckets, without changing them: one store call.

        Their states are the store's and this process's together, by the pointwise maximum.

        Raises:
            StoreError: The store failed.
        """
        reply = await self._ledger.store.peek([bucket.key for bucket in buckets])
        known = [self._ledger.lane(bucket).hint for bucket in buckets]
        merged = map(_bucket.merge, reply.states, known)
        return PeekReply(reply.now, tuple(merged))

    async def reconcile(
        self, bucket: Bucket, headers: Mapping[str, str] | Observation
    ) -> Settlement:
        """Narrow a bucket to what a reply says of it, where no permit is at hand to settle.

        Never raises for a fault of the store.
        """
        observation = (
            headers if isinstance(headers, Observation) else parse_observed_rate_limit(headers)
        )
        return await self._settling.settle_reply(bucket, observation, refused=False)

    async def penalize(self, bucket: Bucket, retry_after: float) -> Settlement:
        """Hold a bucket for at least this many seconds after a 429; never shortens a hold.

        Unlike a settled 429 it proves nothing of WB's limit: after it the bucket keeps its pace.
        Never raises for a fault of the store.
        """
        observation = Observation(retry=max(0, math.ceil(retry_after * MICROSECONDS)))
        return await self._settling.settle_reply(bucket, observation, refused=True)

    def statistics(self) -> LimiterStatistics:
        """A snapshot of what was counted so far, per bucket."""
        return LimiterStatistics(
            {key: copy.copy(lane.statistics) for key, lane in self._ledger.lanes.items()}
        )

    def _patience(self, now: int, max_wait: float | None, *, fail_fast: bool) -> int | None:
        patience = self._max_wait if max_wait is None else max_wait
        if patience == math.inf and not fail_fast:
            return None
        if fail_fast:
            patience = min(patience, anyio.current_effective_deadline() - anyio.current_time())
        return None if patience == math.inf else now + math.ceil(max(0.0, patience) * MICROSECONDS)

    async def _wait_in_queue(
        self, lanes: list[Lane], waiter: Waiter
    ) -> tuple[Granted, Cause | None]:
        queue = lanes[0].queue
        cause: Cause | None = None
        while True:
            if queue[0] is not waiter and not self._is_enough_for_all(lanes, waiter):
                cause = self._ledger.cause(lanes[0])
                await waiter.sleep(self._patience_in_queue(lanes, waiter))
                continue
            wait, lane = self._longest_wait(lanes, waiter.cost)
            if wait:
                cause = self._ledger.cause(lane)
                self._give_up_if_too_long(lane, wait, cause, waiter)
                until = loop_clock() + wait + lane.turn_pause()
                if waiter.give_up_at is not None:
                    until = min(until, waiter.give_up_at + lane.spread)
                await waiter.sleep(until)
                continue
            granted = await self._ledger.acquire(lanes, waiter.cost)
            if granted is not None:
                return granted, cause

    def _is_enough_for_all(self, lanes: list[Lane], waiter: Waiter) -> bool:
        """Whether whoever came last may ask beside those before it, since none has to wait."""
        now = self._ledger.clock.now()
        cost = lanes[0].cost_up_to_last(waiter)
        return cost is not None and not any(
            lane.wait(now, cost, of_several=cost > waiter.cost) for lane in lanes
        )

    def _longest_wait(
        self, lanes: list[Lane], cost: int, *, of_several: bool = False
    ) -> tuple[int, Lane]:
        """µs known to be too early for this cost, and the lane that decides it."""
        now = self._ledger.clock.now()
        wait, lane = 0, lanes[0]
        for one in lanes:
            if (wait_for_one := one.wait(now, cost, of_several=of_several)) > wait:
                wait, lane = wait_for_one, one
        return wait, lane

    def _patience_in_queue(self, lanes: list[Lane], waiter: Waiter) -> int | None:
        """Until when to wait for one's turn; None: however long it takes."""
        if waiter.give_up_at is None:
            return None
        cost = lanes[0].cost_up_to(waiter)
        wait, lane = self._longest_wait(lanes, cost, of_several=True)
        self._give_up_if_too_long(lane, wait, self._ledger.cause(lane), waiter)
        # With tokens enough for all before it, only their store calls are to be waited for.
        return waiter.give_up_at + lane.spread if wait else None

    def _give_up_if_too_long(self, lane: Lane, wait: int, cause: Cause, waiter: Waiter) -> None:
        if waiter.give_up_at is None:
            return
        # What only evens out the requests' travelling times is no reason to refuse one.
        if loop_clock() + wait - lane.spread <= waiter.give_up_at:
            return
        seconds = wait / MICROSECONDS
        key = lane.key
        raise RateLimited(
            f"The budget of {key} admits no request for another {seconds:.3f} s ({cause}).",
            retry_after=seconds,
            bucket=key,
            cause=cause,
            account=lane.bucket.account,
        )


def _check_together(buckets: tuple[Bucket, ...]) -> None:
    """One store call covers the buckets of one account, each of them once."""
    if len({bucket.account for bucket in buckets}) > 1:
        raise CallerError("Buckets of several accounts cannot be acquired together.")
    if len({bucket.key for bucket in buckets}) < len(buckets):
        raise CallerError("A bucket is named twice.", advice="Ask for a higher cost instead.")
