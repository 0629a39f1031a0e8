"""The bucket's arithmetic: pure functions of (state, limit, now), all times in integer µs.

A bucket is three integers, and three more while a 429 proved a slower pace than the registry's.
Its level needs no float: it follows from the moment at which the bucket will be full again (the
theoretical arrival time of GCRA, which is also what WB's `X-Ratelimit-Reset` states).
`stores/lua/*.lua` mirror this module; a differential test holds the two to the same integers.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import force_setattr

MICROSECONDS = 1_000_000


class Limit(Struct, frozen=True):
    """What WB allows: `limit` requests per `period`, of which `burst` may be sent at once.

    Attributes:
        period: µs, > 0.
        limit: Requests per period, > 0.
        burst: Tokens that a full bucket holds, > 0; independent of `limit`
            (20 per minute with burst 500 exists).
        interval: µs in which one token refills, rounded up so that we never refill faster than
            WB; follows from the others.
        refill_time: µs from an empty bucket to a full one; follows from the others.
    """

    period: int
    limit: int
    burst: int
    interval: int = 0
    refill_time: int = 0

    def __post_init__(self) -> None:
        if self.period <= 0 or self.limit <= 0 or self.burst <= 0:
            raise ValueError(f"period, limit and burst must be positive, got {self}")
        interval = -(-self.period // self.limit)
        force_setattr(self, "interval", interval)
        force_setattr(self, "refill_time", self.burst * interval)


class State(NamedTuple):
    """One bucket, in µs of its store's clock. An absent bucket equals `FULL`.

    Attributes:
        full_at: When the bucket will be full again; in the past: it is full.
        not_before: The hold: before this moment nothing is granted.
        granted: Total cost granted so far, a sequence number; restarts at 0 with a lost bucket.
        slow_interval: µs in which one token refills, as far as a 429 proved that WB refills more
            slowly than the registry says; 0: it did not.
        burst_cut: Tokens by which that 429 showed WB's burst to be smaller.
        slow_until: When both are forgotten; 0: there is nothing to forget.
    """

    full_at: int
    not_before: int
    granted: int
    slow_interval: int = 0
    burst_cut: int = 0
    slow_until: int = 0


FULL = State(0, 0, 0)


class Decision(NamedTuple):
    """The answer to an acquire.

    Attributes:
        state: The state after it; unchanged when refused.
        wait: 0 when granted; else the exact µs after which the same request would be granted,
            if nothing else happens.
    """

    state: State
    wait: int


class Fence(NamedTuple):
    """What a settled permit knows of its own grant, to read WB's `Remaining` by.

    Attributes:
        ticket: The bucket's `granted` right after the grant.
        granted_at: µs of the store's clock at the grant.
    """

    ticket: int
    granted_at: int


class Undo(NamedTuple):
    """A grant whose request WB refused: it was not counted.

    Attributes:
        cost: Tokens that it took.
        full_at: The bucket's `full_at` right after the grant.
        granted: The bucket's `granted` right after the grant.
    """

    cost: int
    full_at: int
    granted: int


class Narrowing(NamedTuple):
    """One step that takes away. Every part but `undo` and `charge` is idempotent and commutative.

    Attributes:
        undo: A refused grant, taken back first unless something happened to the level since.
            Only together with a hold, which says when WB admits the next request.
        charge: Tokens to take in addition (WB's error cost); may drive the level below zero.
        remaining: WB's counter: at most this many tokens may be left; -1: not known.
        fence: With `remaining`: tokens granted after this one were not yet counted in it.
        full_in: µs from now before which the bucket is not full (WB's `Reset`); 0: not known.
        hold: µs from now before which nothing is granted; 0: none.
        slow_interval: µs a token: WB refills no faster than this; 0: not known.
        burst_cut: Tokens by which WB's burst is smaller than the limit's.
        slow_for: µs from now after which these two are forgotten.
    """

    charge: int = 0
    remaining: int = -1
    fence: Fence | None = None
    full_in: int = 0
    hold: int = 0
    slow_interval: int = 0
    burst_cut: int = 0
    slow_for: int = 0
    undo: Undo | None = None


def pace(state: State, limit: Limit) -> Limit:
    """The limit that the bucket goes by: the registry's, or the slower one that a 429 proved."""
    if not state.slow_until:
        return limit
    interval = max(limit.interval, state.slow_interval)
    return Limit(period=interval, limit=1, burst=max(1, limit.burst - state.burst_cut))


def forget(state: State, limit: Limit, now: int) -> State:
    """Go back to the registry's limit when the time for what a 429 proved is over."""
    if not state.slow_until or now < state.slow_until:
        return state
    full_at = _repaced(state.full_at, state.slow_until, pace(state, limit), limit)
    return State(full_at, state.not_before, state.granted)


def wait(state: State, limit: Limit, now: int, cost: int = 1, *, of_several: bool = False) -> int:
    """Exact µs from `now` until `cost` tokens would be granted; 0: at once.

    A `cost` above the burst is answered as if the bucket could run that far into debt: that is
    how long a queue of that total cost takes to drain. `of_several` says that it is such a total
    where it is not above the burst either.
    """
    if state.slow_until:
        state = forget(state, limit, now)
        slow = pace(state, limit)
        # A cost that the registry allows is not refused for ever by a smaller burst.
        if cost <= limit.burst and not of_several:
            cost = min(cost, slow.burst)
        limit = slow
    admitted_at = max(state.full_at, now) + cost * limit.interval - limit.refill_time
    return max(admitted_at - now, state.not_before - now, 0)


def acquire(state: State, limit: Limit, now: int, cost: int = 1) -> Decision:
    """Grant `cost` tokens (1 <= cost <= burst) at `now`, or say how long to wait."""
    state = forget(state, limit, now)
    waiting = wait(state, limit, now, cost)
    if waiting:
        return Decision(state, waiting)
    full_at = max(state.full_at, now) + cost * pace(state, limit).interval
    return Decision(state._replace(full_at=full_at, granted=state.granted + cost), 0)


def narrow(state: State, limit: Limit, now: int, by: Narrowing) -> State:
    """Take away what `by` says; never raises the level, never shortens a hold."""
    state = forget(state, limit, now)
    undo = by.undo
    if undo is not None and (state.full_at, state.granted) == (undo.full_at, undo.granted):
        full_at = state.full_at - undo.cost * pace(state, limit).interval
        state = state._replace(full_at=max(0, full_at))
    if by.slow_interval:
        state = _slow_down(state, limit, now, by)
    paced = pace(state, limit)
    interval = paced.interval
    full_at = state.full_at
    if by.charge:
        full_at = max(full_at, now) + by.charge * interval
    if 0 <= by.remaining < paced.burst:
        missing = paced.burst - by.remaining
        full_at = max(full_at, now + missing * interval)
        if by.fence is not None:
            later = max(0, state.granted - by.fence.ticket)
            full_at = max(full_at, by.fence.granted_at + (missing + later) * interval)
    if by.full_in:
        full_at = max(full_at, now + by.full_in)
    not_before = state.not_before
    if by.hold:
        not_before = max(not_before, now + by.hold)
    return state._replace(full_at=full_at, not_before=not_before)


def refund(state: State, limit: Limit, cost: int, after: State) -> State:
    """Undo a grant of `cost` that left the state `after`, if nothing happened since.

    Only for a permit whose request certainly never reached WB. Any other state than `after`
    means that someone built on the grant: the token stays spent.
    """
    if state != after:
        return state
    full_at = state.full_at - cost * pace(state, limit).interval
    return state._replace(full_at=full_at, granted=state.granted - cost)


def merge(state: State, hint: State) -> State:
    """What two observers of one bucket know together: the pointwise maximum."""
    if (
        state[0] >= hint[0]
        and state[1] >= hint[1]
        and state[2] >= hint[2]
        and state[3:] == hint[3:]
    ):
        return state
    return State(*map(max, state, hint))


def time_to_live(state: State, limit: Limit, now: int) -> int:
    """µs until the bucket is full, unheld and at the registry's pace; >= 0.

    Then forgetting it changes no answer.
    """
    back = forget(state, limit, max(now, state.slow_until))
    return max(back.full_at, back.not_before, state.slow_until, now) - now


def tokens(state: State, limit: Limit, now: int) -> int:
    """Whole tokens left at `now`, holds aside; negative in debt, at most the burst."""
    state = forget(state, limit, now)
    paced = pace(state, limit)
    return (paced.refill_time - (max(state.full_at, now) - now)) // paced.interval


def level(state: State, limit: Limit, now: int) -> float:
    """Tokens left at `now`, for people to look at; decisions use integers only."""
    state = forget(state, limit, now)
    paced = pace(state, limit)
    return paced.burst - (max(state.full_at, now) - now) / paced.interval


def _slow_down(state: State, limit: Limit, now: int, by: Narrowing) -> State:
    slower = state._replace(
        slow_interval=max(state.slow_interval, by.slow_interval),
        burst_cut=max(state.burst_cut, by.burst_cut),
        slow_until=max(state.slow_until, now + by.slow_for),
    )
    old = pace(state, limit)
    # What lies beyond an empty bucket may be a hold's time, not tokens: it is kept as it is, or
    # hours would become years.
    empty = min(state.full_at, now + old.refill_time)
    full_at = _repaced(empty, now, old, pace(slower, limit)) + state.full_at - empty
    return slower._replace(full_at=full_at)


def _repaced(full_at: int, now: int, old: Limit, new: Limit) -> int:
    """When the bucket is full at a new pace, with the same whole tokens left, or fewer."""
    if (old.interval, old.burst) == (new.interval, new.burst):
        return full_at
    missing = -(-max(0, full_at - now) // old.interval)
    return now + max(0, missing + new.burst - old.burst) * new.interval


class Bucket(Struct, frozen=True):
    """Which counter of WB's a request is charged to, and what WB allows there.

    Attributes:
        account: Key of the seller's account: the token's `sid`, never the token.
        kind: Token kind, as `TokenKind` spells it: kinds have separate budgets.
        budget: Id of the budget in the registry.
        limit: The budget's limit for this kind.
    """

    account: str
    kind: str
    budget: str
    limit: Limit

    @property
    def key(self) -> str:
        """Name of the bucket in every store; the hash tag keeps an account's keys together."""
        return f"wbtrio:{{{self.account}}}:{self.kind}:{self.budget}"
