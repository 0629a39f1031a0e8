"""From a reply to its bucket: decided by pure rules, carried out in at most one store call."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import anyio.lowlevel

from . import _bucket
from ._bucket import MICROSECONDS, Bucket, Narrowing
from ._permit import Settlement
from ._reconcile import (
    ExhaustedHold,
    Grant,
    Plan,
    plan_late_departure,
    plan_penalty,
    plan_reconciliation,
    refills_late,
)

if TYPE_CHECKING:
    from ._headers import Observation
    from ._lane import Lane
    from ._ledger import Granted, Ledger

logger = logging.getLogger("wbtrio")


class Settling:
    """What a limiter does with permits that were used, lost or not needed.

    Args:
        ledger: Where the buckets are.
        exhausted_hold: See `WbRateLimiter`.
    """

    def __init__(self, ledger: Ledger, exhausted_hold: ExhaustedHold) -> None:
        self._ledger = ledger
        self._exhausted_hold = exhausted_hold

    async def settle_reply(
        self,
        bucket: Bucket,
        observation: Observation,
        *,
        refused: bool,
        grant: Grant | None = None,
        charge: int = 0,
        error_cost: int = 1,
        sent_at: int = 0,
        round_trip: int = 0,
    ) -> Settlement:
        """Narrow a bucket to one reply.

        Args:
            bucket: The bucket.
            observation: What the reply says of WB's counter.
            refused: Whether it is a refusal by WB's limiter, a 429.
            grant: The grant that it answers, where known.
            charge: Tokens to take beyond the request itself.
            error_cost: Requests that WB counts for a 4XX of the operation.
            sent_at: µs of the event loop's clock when the request left.
            round_trip: µs from then until the reply.
        """
        lane = self._ledger.lane(bucket)
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
                plan = self._plan_late_departure(lane, grant, sent_at, round_trip) or plan
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

    async def settle_lost(
        self, bucket: Bucket, grant: Grant, *, sent_at: int, round_trip: int
    ) -> None:
        """Narrow a bucket by a request that left and whose reply nobody will see.

        Args:
            bucket: The bucket.
            grant: The request's grant.
            sent_at: µs of the event loop's clock when the request left.
            round_trip: µs from then until it was given up.
        """
        lane = self._ledger.lane(bucket)
        plan = self._plan_late_departure(lane, grant, sent_at, round_trip)
        if plan is None or plan.narrowing is None:
            await anyio.lowlevel.checkpoint()
            return
        reply = await self._ledger.narrow(lane, plan.narrowing)
        lane.learn_narrowing(reply, plan, 0, grant)

    async def refund_grants(self, buckets: tuple[Bucket, ...], granted: Granted) -> bool:
        """Give unsent tokens back; `Permit.refund` comes down to this."""
        lanes = [self._ledger.lane(bucket) for bucket in buckets]
        refunded = await self._ledger.refund(lanes, granted)
        for lane in lanes:
            lane.statistics.refunded += refunded
        return refunded

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

    def _plan_late_departure(
        self, lane: Lane, grant: Grant, sent_at: int, round_trip: int
    ) -> Plan | None:
        pace = _bucket.pace(grant.state, lane.limit)
        delay, at_most = self._ledger.clock.elapsed(grant.granted_at, sent_at)
        return plan_late_departure(pace, grant, delay, at_most - delay, round_trip)

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
            cause=self._ledger.cause(lane) if wait else None,
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
