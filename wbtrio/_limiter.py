"""The limiter: acquire -> permit -> settle. Decisions are pure; this only waits and calls."""

from __future__ import annotations

import copy
import logging
import math
from typing import TYPE_CHECKING, Literal

import anyio
import anyio.lowlevel

from . import _bucket
from ._bucket import MICROSECONDS, Bucket, Narrowing
from ._errors import CallerError, CostExceedsBurst, RateLimited
from ._headers import Observation, parse_observed_rate_limit
from ._lane import Cause, Lane, Waiter
from ._ledger import Granted, Ledger
from ._loop import checkpoint_if_cancelled, loop_clock
from ._permit import Permit, Settlement
from ._reconcile import (
    ExhaustedHold,
    Grant,
    Plan,
    plan_late_departure,
    plan_penalty,
    plan_reconciliation,
    refills_late,
)
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
        self._exhausted_hold: ExhaustedHold = exhausted_hold
        self._lanes: dict[str, Lane] = {}

    def __repr__(self) -> str:
        return f"<WbRateLimiter on {self._ledger.store!r}: {len(self._lanes)} buckets>"

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
        lanes = [self._lane(one) for one in buckets]
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
            self,
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
        known = [self._lane(bucket).hint for bucket in buckets]
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
        return await self.settle_reply(bucket, observation, refused=False)

    async def penalize(self, bucket: Bucket, retry_after: float) -> Settlement:
        """Hold a bucket for at least this many seconds after a 429; never shortens a hold.

        Unlike a settled 429 it proves nothing of WB's limit: after it the bucket keeps its pace.
        Never raises for a fault of the store.
        """
        observation = Observation(retry=max(0, math.ceil(retry_after * MICROSECONDS)))
        return await self.settle_reply(bucket, observation, refused=True)

    def statistics(self) -> LimiterStatistics:
        """A snapshot of what was counted so far, per bucket."""
        return LimiterStatistics(
            {key: copy.copy(lane.statistics) for key, lane in self._lanes.items()}
        )

    async def settle_reply(
        self,
        bucket: Bucket,
        observation: Observation,
        *,
        refused: bool,
        grant: Grant | None = None,
        charge: int = 0,
        error_cost: int = 1,
        delay: int = 0,
        round_trip: int = 0,
    ) -> Settlement:
        """Narrow a bucket to one reply; `Permit.settle` and `reconcile` come down to this.

        Args:
            bucket: The bucket.
            observation: What the reply says of WB's counter.
            refused: Whether it is a refusal by WB's limiter, a 429.
            grant: The grant that it answers, where known.
            charge: Tokens to take beyond the request itself.
            error_cost: Requests that WB counts for a 4XX of the operation.
            delay: µs from the grant until the request left.
            round_trip: µs from then until the reply.
        """
        lane = self._lane(bucket)
        lane.statistics.settled += 1
        if grant is not None:
            lane.learn_round_trip(round_trip)
        self._log_drift(lane, observation)
        if refused:
            plan = self._plan_penalty(lane, observation, grant, error_cost)
            lane.statistics.penalized += 1
        else:
            plan = self._plan_reconciliation(lane, observation, grant, charge)
            if plan.narrowing is None and grant is not None:
                pace = _bucket.pace(grant.state, bucket.limit)
                plan = plan_late_departure(pace, grant, delay, round_trip) or plan
        if plan.narrowing is None:
            lane.statistics.skipped += 1
            await anyio.lowlevel.checkpoint()
            return self._settlement(lane, plan, store_called=False)
        if not refused:
            lane.statistics.narrowed += 1
        self._log_slowdown(lane, plan.narrowing)
        reply = await self._ledger.narrow(lane, plan.narrowing)
        remaining = 0 if refused else observation.remaining or 0
        lane.learn_narrowing(reply, plan, remaining, grant)
        return self._settlement(lane, plan, store_called=True)

    async def refund_grants(self, buckets: tuple[Bucket, ...], granted: Granted) -> bool:
        """Give unsent tokens back; `Permit.refund` comes down to this."""
        lanes = [self._lane(bucket) for bucket in buckets]
        refunded = await self._ledger.refund(lanes, granted)
        for lane in lanes:
            lane.statistics.refunded += refunded
        return refunded

    def _lane(self, bucket: Bucket) -> Lane:
        key = bucket.key
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = Lane(bucket)
        elif lane.bucket is not bucket:
            lane.bucket = bucket
        return lane

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
                cause = self._cause(lanes[0])
                await waiter.sleep(self._patience_in_queue(lanes, waiter))
                continue
            wait, lane = self._longest_wait(lanes, waiter.cost)
            if wait:
                cause = self._cause(lane)
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
        self._give_up_if_too_long(lane, wait, self._cause(lane), waiter)
        # With tokens enough for all before it, only their store calls are to be waited for.
        return waiter.give_up_at if wait else None

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

    def _cause(self, lane: Lane) -> Cause:
        if self._ledger.is_down:
            return Cause.STORE_DOWN
        return lane.cause(self._ledger.clock.now())

    def _plan_reconciliation(
        self, lane: Lane, observation: Observation, grant: Grant | None, charge: int
    ) -> Plan:
        lane.forget_blind_refusals()
        later = 0 if grant is None else max(0, lane.hint.granted - grant.state.granted)
        pace = _bucket.pace(lane.hint if grant is None else grant.state, lane.bucket.limit)
        if refills_late(observation, pace):
            lane.learn_late_refill(observation, self._ledger.clock.now(), later)
        return plan_reconciliation(
            observation,
            pace,
            grant=grant,
            charge=charge,
            later=later,
            exhausted_hold=self._exhausted_hold,
        )

    def _plan_penalty(
        self, lane: Lane, observation: Observation, grant: Grant | None, error_cost: int
    ) -> Plan:
        blind, now = 0, self._ledger.clock.now()
        if observation.retry_or_reset is None:
            blind = lane.count_blind_refusal(now if grant is None else grant.granted_at, now)
        return plan_penalty(
            observation,
            lane.bucket.limit,
            grant=grant,
            blind_refusals=blind,
            error_cost=error_cost if lane.may_be_in_debt(now) else 1,
            exhausted_hold=self._exhausted_hold,
        )

    def _settlement(self, lane: Lane, plan: Plan, *, store_called: bool) -> Settlement:
        wait = lane.wait(self._ledger.clock.now(), 1)
        return Settlement(
            reason=plan.reason,
            store_called=store_called,
            retry_after=wait / MICROSECONDS,
            cause=self._cause(lane) if wait else None,
        )

    def _log_slowdown(self, lane: Lane, by: Narrowing) -> None:
        if not by.slow_interval:
            return
        lane.statistics.slowed += 1
        if by.slow_interval > lane.hint.slow_interval:
            limit = lane.bucket.limit
            logger.warning(
                "calibration: WB refills %s once in %.3f s, burst %d; the registry says %.3f s,"
                " burst %d. Going by WB for %.0f h; correct the registry or the token's kind.",
                lane.key,
                by.slow_interval / MICROSECONDS,
                limit.burst - by.burst_cut,
                limit.interval / MICROSECONDS,
                limit.burst,
                by.slow_for / (3600 * MICROSECONDS),
            )

    def _log_drift(self, lane: Lane, observation: Observation) -> None:
        burst = lane.bucket.limit.burst
        if observation.limit not in {None, burst} and lane.may_log_drift():
            logger.debug(
                "calibration: WB states a burst of %d for %s, the registry says %d",
                observation.limit,
                lane.key,
                burst,
            )


def _check_together(buckets: tuple[Bucket, ...]) -> None:
    """One store call covers the buckets of one account, each of them once."""
    if len({bucket.account for bucket in buckets}) > 1:
        raise CallerError("Buckets of several accounts cannot be acquired together.")
    if len({bucket.key for bucket in buckets}) < len(buckets):
        raise CallerError("A bucket is named twice.", advice="Ask for a higher cost instead.")
