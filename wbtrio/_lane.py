"""One bucket as this process sees it: its hint, its queue of waiters, its counters."""

from __future__ import annotations

import math
from collections import deque
from enum import StrEnum
from itertools import accumulate
from typing import TYPE_CHECKING

import anyio

from . import _bucket
from ._bucket import FULL, MICROSECONDS, Bucket, State
from ._guards import Reserve, Share, Spread, Window
from ._reconcile import Reason
from ._statistics import BucketStatistics

if TYPE_CHECKING:
    from ._headers import Observation
    from ._reconcile import Grant, Plan
    from .stores import NarrowReply

LONGEST_TURN_PAUSE = 5 * MICROSECONDS
TURNS_REMEMBERED = 32
"""Of fewer, a process that always asks first forgets that there are others, and gets all."""


class Cause(StrEnum):
    """Why a bucket made a caller wait, or refused."""

    OWN_USE = "own_use"
    """Our own requests used the budget."""
    FOREIGN_USE = "foreign_use"
    """Another program used the budget since it was last full."""
    EXHAUSTED = "exhausted"
    """WB said that its counter is at zero, and until when."""
    PENALTY = "penalty"
    """WB answered 429."""
    HELD = "held"
    """Another process of ours saw the budget exhausted, or a 429."""
    STORE_DOWN = "store_down"
    """The store is unreachable: this process counts alone."""


class Waiter:
    """One acquire in a lane's queue.

    Attributes:
        cost: Tokens that it wants.
        give_up_at: µs of the event loop's clock beyond which it does not wait; None: never.
    """

    __slots__ = ("_wake", "cost", "give_up_at")

    def __init__(self, cost: int, give_up_at: int | None) -> None:
        self.cost = cost
        self.give_up_at = give_up_at
        self._wake: anyio.Event | None = None

    def wake(self) -> None:
        """Make it look again at its lane."""
        if self._wake is not None:
            self._wake.set()

    async def sleep(self, until: int | None) -> None:
        """Wait to be woken, at most until this moment of the event loop's clock, in µs."""
        self._wake = anyio.Event()
        deadline = math.inf if until is None else until / MICROSECONDS
        try:
            with anyio.CancelScope(deadline=deadline):
                await self._wake.wait()
        finally:
            self._wake = None


class Lane:
    """One bucket's queue and memory in this process.

    Attributes:
        key: The bucket's key.
        limit: What the registry allows there.
        hint: The largest state that this process has seen of it.
        queue: Who waits for it, first come first served; only the head asks the store.
        dependents: Lanes in whose queues requests wait that are charged to this bucket too.
        statistics: The bucket's counters.
    """

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        self.key = bucket.key
        self.limit = bucket.limit
        self.hint = FULL
        self.queue: deque[Waiter] = deque()
        self._queued_cost = 0
        self._costs_up_to: dict[Waiter, int] | None = None
        self._window = Window()
        self._reserve = Reserve()
        self._spread = Spread()
        self._share = Share()
        self._outage = 0
        self.dependents: set[Lane] = set()
        self.statistics = BucketStatistics()
        self._own_ticket = -1
        self._own_grant_at = 0
        self._others: deque[int] = deque(maxlen=TURNS_REMEMBERED)
        self._hold_until = 0
        self._hold_cause = Cause.HELD
        self._foreign_until = 0
        self._charged_until = 0
        self._blind_refusals = 0
        self._blind_since = -1
        self._drift_logged_at = -math.inf

    @property
    def bucket(self) -> Bucket:
        """The bucket, as it was named last."""
        return self._bucket

    @bucket.setter
    def bucket(self, bucket: Bucket) -> None:
        self._bucket = bucket
        self.limit = bucket.limit

    def enter(self, waiter: Waiter) -> None:
        """Join the queue's end."""
        self.queue.append(waiter)
        self._queued_cost += waiter.cost
        self._costs_up_to = None

    def leave(self, waiter: Waiter) -> None:
        """Leave the queue from wherever in it; its new head looks again."""
        was_head = self.queue[0] is waiter
        self.queue.remove(waiter)
        self._queued_cost -= waiter.cost
        self._costs_up_to = None
        if was_head and self.queue:
            self.queue[0].wake()

    def cost_up_to_last(self, waiter: Waiter) -> int | None:
        """Tokens that the whole queue takes, if this waiter is its last; else None."""
        return self._queued_cost if self.queue[-1] is waiter else None

    def cost_up_to(self, waiter: Waiter) -> int:
        """Tokens that the queue takes until this waiter has its own."""
        if self.queue[-1] is waiter:
            return self._queued_cost
        if self._costs_up_to is None:
            # Kept, since a reply with news makes the whole queue ask.
            totals = accumulate(one.cost for one in self.queue)
            self._costs_up_to = dict(zip(self.queue, totals, strict=True))
        return self._costs_up_to[waiter]

    def learn(self, state: State) -> None:
        """Keep what the store or a narrowing says; nothing known is forgotten."""
        known = self.hint
        self.hint = _bucket.merge(state, known)
        if self.hint == known:
            return
        # Whose patience is bounded may have to give up now, wherever it stands in the queue.
        is_held_longer = self.hint.not_before > known.not_before
        for lane in (self, *self.dependents):
            for waiter in lane.queue:
                if is_held_longer or waiter.give_up_at is not None:
                    waiter.wake()

    def learn_grant(self, state: State, cost: int, now: int) -> None:
        """Keep the state that a grant of ours left, and how many others were granted meanwhile."""
        limit, ticket = self.limit, state.granted
        if self._own_ticket >= 0:
            others = ticket - cost - self._own_ticket
            self._share.note(cost, others)
            if now - self._own_grant_at < limit.refill_time:
                self._others.append(others)
        self._own_ticket, self._own_grant_at = ticket, now
        self._window.spend(cost)
        self._reserve.note_grant()
        self.hint = _bucket.merge(state, self.hint)
        if self._spread.longest >= limit.interval:
            left = _bucket.tokens(self.hint, limit, now)
            self._window.suppose(left, now + limit.refill_time, now)

    def count_alone(self, outage: int, now: int) -> None:
        """The store is away, for the nth time: from here on spend our share only."""
        if outage != self._outage:
            self._outage = outage
            left = _bucket.tokens(self.hint, self.limit, now)
            pace = _bucket.pace(self.hint, self.limit)
            if self._own_ticket >= 0:
                self._share.note(0, self.hint.granted - self._own_ticket)
            self._share.begin(left, pace, now=now)

    def spend_share(self, cost: int, now: int) -> None:
        """Tokens were granted without the store."""
        self._share.spend(cost, now)

    def count_together(self) -> None:
        """The store answers again."""
        self._share.end()

    def unlearn_grant(self, after: State, state: State) -> None:
        """A grant was taken back: lower the hint, if it still is what that grant left."""
        if self.hint == after:
            self._window.spend(state.granted - after.granted)
            self.hint = state
        for lane in (self, *self.dependents):
            if lane.queue:
                lane.queue[0].wake()

    def learn_narrowing(
        self, reply: NarrowReply, plan: Plan, remaining: int, grant: Grant | None
    ) -> None:
        """Keep what a reply took away, and account for what no grant of ours explains.

        Args:
            reply: What the store did.
            plan: What it was asked, and why.
            remaining: Whole tokens that WB said it had left; 0 for a 429.
            grant: The grant that the reply answered, if any.
        """
        before, state = reply.before, reply.state
        if state.not_before > max(before.not_before, self._hold_until):
            self._hold_until = state.not_before
            self._hold_cause = Cause.PENALTY if plan.reason is Reason.PENALIZED else Cause.EXHAUSTED
        if plan.narrowing is not None and plan.narrowing.charge:
            self._charged_until = state.full_at
        foreign = self._foreign(reply, plan, remaining, grant)
        if foreign > 0:
            self.statistics.foreign += foreign
            self._foreign_until = state.full_at
            if plan.reason is Reason.PENALIZED:
                self._reserve.note_refusal(reply.now)
            else:
                self._reserve.see(foreign, reply.now)
        if state.full_at < before.full_at == self.hint.full_at:
            # A refused grant was taken back.
            self.hint = self.hint._replace(full_at=state.full_at)
        self.learn(state)

    def _foreign(self, reply: NarrowReply, plan: Plan, remaining: int, grant: Grant | None) -> int:
        if grant is None or plan.narrowing is None:
            return 0
        limit, charge = _bucket.pace(reply.before, self.limit), plan.narrowing.charge
        left = _bucket.tokens(grant.state, limit, grant.granted_at)
        if plan.reason is Reason.PENALIZED:
            # Of several requests that were refused together, the first one tells it all.
            is_news = reply.state.not_before > reply.before.not_before
            return max(1, left + grant.cost) if is_news else 0
        taken = (reply.state.full_at - max(reply.before.full_at, reply.now)) // limit.interval
        return min(taken - charge, left - charge - remaining)

    def count_blind_refusal(self, granted_at: int, now: int) -> int:
        """How many 429s without a stated end came in a row before this one.

        Requests that were under way together are refused together: they count once.
        """
        if granted_at > self._blind_since:
            self._blind_since = now
            self._blind_refusals += 1
        return max(0, self._blind_refusals - 1)

    def may_be_in_debt(self, now: int) -> bool:
        """Whether an error cost was charged since the bucket was last full."""
        return now < self._charged_until

    def forget_blind_refusals(self) -> None:
        """WB admitted a request: the next blind 429 starts over.

        Unless several came in a row before: a smooth counter of ours alone does not do that, so
        the next one is taken for the end of a window right away.
        """
        self._blind_refusals = min(self._blind_refusals, 1) if self._blind_refusals > 1 else 0

    def learn_late_refill(self, observation: Observation, now: int, later: int) -> None:
        """WB refills later than our bucket: until its `Reset`, spend only what is left now.

        Args:
            observation: What the reply says of WB's counter.
            now: µs of the store's clock.
            later: Tokens granted since the request that was answered, which WB may not yet have
                counted.
        """
        if observation.remaining is None or observation.reset is None:
            return
        left = _bucket.tokens(self.hint, self.limit, now)
        stated = observation.remaining
        if stated < left:
            stated -= later
        self._window.narrow(max(0, min(left, stated)), now + observation.reset, now)

    @property
    def spread(self) -> int:
        """µs by which requests travel unevenly; so much longer than told may a wait be."""
        return self._spread.us

    def learn_round_trip(self, round_trip: int) -> None:
        """Keep how many µs a request took from leaving until its reply."""
        self._spread.note(round_trip)

    def wait(self, now: int, cost: int, *, of_several: bool = False) -> int:
        """µs that this process knows to be too early for `cost` tokens, or several such costs."""
        limit, hint = self.limit, self.hint
        wait = _bucket.wait(hint, limit, now, cost, of_several=of_several)
        if spread := self._spread.us:
            unheld, behind = hint._replace(not_before=0), now - spread
            wait = max(wait, _bucket.wait(unheld, limit, behind, cost, of_several=of_several))
        if reserve := self._reserve.on_top_of(cost, limit.burst, now):
            by_reserve = _bucket.wait(hint, limit, now, cost + reserve)
            wait = max(wait, min(by_reserve, self._reserve.forgotten_in(now)))
        return max(wait, self._window.wait(now, cost), self._share.wait(now, cost))

    def turn_pause(self) -> int:
        """µs to leave to other processes that ask for the same tokens, after a grant of ours.

        Where processes share a saturated bucket, all would ask for each token and one would get
        it: the one that is nearest to the store. So whoever was just granted one leaves about as
        many turns as others took between its own lately: each token is then asked for about once.
        An eighth fewer, so that who got less than its share asks sooner. No token is lost, since
        the bucket has room for what is left over; and no pause exceeds five seconds, since others
        may have gone.
        """
        if self.hint.granted != self._own_ticket or not self._others:
            return 0
        turns = min(-(-max(self._others) * 7 // 8), self.limit.burst - 1)
        return max(0, min(turns * self.limit.interval, LONGEST_TURN_PAUSE))

    def cause(self, now: int) -> Cause:
        """Why the bucket would refuse now."""
        if now < self.hint.not_before:
            return self._hold_cause if self._hold_until == self.hint.not_before else Cause.HELD
        if self._window.wait(now, 1):
            return Cause.EXHAUSTED
        return Cause.FOREIGN_USE if now < self._foreign_until else Cause.OWN_USE

    def may_log_drift(self) -> bool:
        """Whether an hour has passed since the last time that this said yes."""
        now = anyio.current_time()
        if now - self._drift_logged_at < 3600:
            return False
        self._drift_logged_at = now
        return True
