"""What the store and this process know together; every store call goes through here."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

import anyio
import anyio.lowlevel

from . import _bucket
from ._errors import StoreError
from ._lane import Cause, Lane
from ._loop import loop_clock
from ._reconcile import Grant
from ._store_clock import StoreClock
from .stores import AcquireRequest, NarrowReply, RefundRequest, Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._bucket import Bucket, Narrowing

logger = logging.getLogger("wbtrio")


class Granted(NamedTuple):
    """A grant of all buckets asked.

    Attributes:
        grants: One for each bucket, in the order asked.
        local: Whether this process alone granted it, because the store failed.
    """

    grants: Sequence[Grant]
    local: bool


class Ledger:
    """The store, with this process's memory beside it.

    While the store fails, the lanes' hints are the buckets: they hold all that this process knows.
    Once it is back, the same hints, sent along with each acquire, merge into it.

    Args:
        store: Where the buckets live.
        may_count_alone: Whether an acquire may be decided here while the store fails.
    """

    def __init__(self, store: Store, *, may_count_alone: bool) -> None:
        self.store = store
        self.clock = StoreClock()
        self.lanes: dict[str, Lane] = {}
        self.is_down = False
        self._outages = 0
        self._may_count_alone = may_count_alone

    def lane(self, bucket: Bucket) -> Lane:
        """The bucket's lane, made when it is first asked for."""
        key = bucket.key
        lane = self.lanes.get(key)
        if lane is None:
            lane = self.lanes[key] = Lane(bucket)
        elif lane.bucket is not bucket:
            lane.bucket = bucket
        return lane

    def cause(self, lane: Lane) -> Cause:
        """Why the lane's bucket would refuse now."""
        return Cause.STORE_DOWN if self.is_down else lane.cause(self.clock.now())

    async def acquire(self, lanes: Sequence[Lane], cost: int) -> Granted | None:
        """Take `cost` from every lane's bucket, or nothing; None: refused, and hints say why.

        Raises:
            StoreError: The store failed, and this process may not count alone.
        """
        requests = [AcquireRequest(lane.key, lane.limit, cost, lane.hint) for lane in lanes]
        statistics = lanes[0].statistics
        statistics.store_calls += 1
        asked_at = loop_clock()
        try:
            granted, now, states = await self.store.acquire(requests)
        except StoreError as error:
            statistics.lost_replies += error.may_have_run
            self._note_outage(error)
            if not self._may_count_alone:
                raise
            return self._acquire_alone(lanes, cost)
        self._note_reply(now, asked_at)
        if not granted:
            for lane, state in zip(lanes, states, strict=True):
                lane.learn(state)
            return None
        for lane, state in zip(lanes, states, strict=True):
            lane.learn_grant(state, cost, now)
            lane.count_together()
        return Granted([Grant(state, now, cost) for state in states], local=False)

    async def narrow(self, lane: Lane, by: Narrowing) -> NarrowReply:
        """Narrow a lane's bucket; with the store failing, in this process's memory."""
        limit = lane.limit
        lane.statistics.store_calls += 1
        asked_at = loop_clock()
        try:
            reply = await self.store.narrow(lane.key, limit, by, lane.hint)
        except StoreError as error:
            self._note_outage(error)
            now = self.clock.now()
            return NarrowReply(now, lane.hint, _bucket.narrow(lane.hint, limit, now, by))
        except anyio.get_cancelled_exc_class():
            # Only asyncio's own cancellation gets here. The news outlives who brought it.
            lane.learn(_bucket.narrow(lane.hint, limit, self.clock.now(), by))
            raise
        self._note_reply(reply.now, asked_at)
        return reply

    async def refund(self, lanes: Sequence[Lane], granted: Granted) -> bool:
        """Undo a grant wherever nothing happened since; whether that was so everywhere."""
        requests = [
            RefundRequest(lane.key, lane.limit, grant.cost, grant.state)
            for lane, grant in zip(lanes, granted.grants, strict=True)
        ]
        if granted.local:
            refunded = all(
                lane.hint == one.after for lane, one in zip(lanes, requests, strict=True)
            )
            _unlearn(lanes, requests)
            await anyio.lowlevel.cancel_shielded_checkpoint()
            return refunded
        lanes[0].statistics.store_calls += 1
        asked_at = loop_clock()
        try:
            now, refunded, states = await self.store.refund(requests)
        except StoreError as error:
            self._note_outage(error)
            return False
        except anyio.get_cancelled_exc_class():
            # Only asyncio's own cancellation gets here. The store goes on with it all the same;
            # hints that still held the grant would spend it anew.
            _unlearn(lanes, requests)
            raise
        self._note_reply(now, asked_at)
        for lane, one, state in zip(lanes, requests, states, strict=True):
            lane.unlearn_grant(one.after, state)
        return refunded

    def _acquire_alone(self, lanes: Sequence[Lane], cost: int) -> Granted | None:
        now = self.clock.now()
        for lane in lanes:
            lane.count_alone(self._outages, now)
        if any(lane.wait(now, cost) for lane in lanes):
            return None
        decisions = [_bucket.acquire(lane.hint, lane.limit, now, cost) for lane in lanes]
        for lane, decision in zip(lanes, decisions, strict=True):
            lane.learn_grant(decision.state, cost, now)
            lane.spend_share(cost, now)
        return Granted([Grant(decision.state, now, cost) for decision in decisions], local=True)

    def _note_outage(self, error: StoreError) -> None:
        if not self.is_down:
            self.is_down = True
            self._outages += 1
            logger.warning(
                "the store failed; this process counts alone until it is back: %s", error
            )

    def _note_reply(self, store_now: int, asked_at: int) -> None:
        self.clock.observe(store_now, asked_at)
        if self.is_down:
            self.is_down = False
            logger.warning("the store is back; what was counted meanwhile merges into it")


def _unlearn(lanes: Sequence[Lane], requests: Sequence[RefundRequest]) -> None:
    for lane, (_, limit, cost, after) in zip(lanes, requests, strict=True):
        lane.unlearn_grant(after, _bucket.refund(after, limit, cost, after))
