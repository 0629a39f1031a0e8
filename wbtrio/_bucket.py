"""The bucket's arithmetic: pure functions of (state, limit, now), all times in integer µs.

A bucket is three integers. Its level needs no float: it follows from the moment at which the
bucket will be full again (the theoretical arrival time of GCRA, which is also what WB's
`X-Ratelimit-Reset` states). `stores/lua/*.lua` mirror `acquire`, `narrow`, `refund` and `merge`;
a differential test holds the two to the same integers.
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
    """

    full_at: int
    not_before: int
    granted: int


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


class Narrowing(NamedTuple):
    """One step that can only take away. Every part but `charge` is idempotent and commutative.

    Attributes:
        charge: Tokens to take in addition (WB's error cost); may drive the level below zero.
        remaining: WB's counter: at most this many tokens may be left; -1: not known.
        fence: With `remaining`: tokens granted after this one were not yet counted in it.
        full_in: µs from now before which the bucket is not full (WB's `Reset`); 0: not known.
        hold: µs from now before which nothing is granted; 0: none.
    """

    charge: int = 0
    remaining: int = -1
    fence: Fence | None = None
    full_in: int = 0
    hold: int = 0


def wait(state: State, limit: Limit, now: int, cost: int = 1) -> int:
    """Exact µs from `now` until `cost` tokens would be granted; 0: at once.

    A `cost` above the burst is answered as if the bucket could run that far into debt: that is
    how long a queue of that total cost takes to drain.
    """
    admitted_at = max(state.full_at, now) + cost * limit.interval - limit.refill_time
    return max(admitted_at, state.not_before, now) - now


def acquire(state: State, limit: Limit, now: int, cost: int = 1) -> Decision:
    """Grant `cost` tokens (1 <= cost <= burst) at `now`, or say how long to wait."""
    waiting = wait(state, limit, now, cost)
    if waiting:
        return Decision(state, waiting)
    full_at = max(state.full_at, now) + cost * limit.interval
    return Decision(State(full_at, state.not_before, state.granted + cost), 0)


def narrow(state: State, limit: Limit, now: int, by: Narrowing) -> State:
    """Take away what `by` says; never raises the level, never shortens a hold."""
    full_at = state.full_at
    if by.charge:
        full_at = max(full_at, now) + by.charge * limit.interval
    if 0 <= by.remaining < limit.burst:
        missing = limit.burst - by.remaining
        full_at = max(full_at, now + missing * limit.interval)
        if by.fence is not None:
            later = max(0, state.granted - by.fence.ticket)
            full_at = max(full_at, by.fence.granted_at + (missing + later) * limit.interval)
    if by.full_in:
        full_at = max(full_at, now + by.full_in)
    not_before = state.not_before
    if by.hold:
        not_before = max(not_before, now + by.hold)
    return State(full_at, not_before, state.granted)


def refund(state: State, limit: Limit, cost: int, after: State) -> State:
    """Undo a grant of `cost` that left the state `after`, if nothing happened since.

    Only for a permit whose request certainly never reached WB. Any other state than `after`
    means that someone built on the grant: the token stays spent.
    """
    if state != after:
        return state
    return State(state.full_at - cost * limit.interval, state.not_before, state.granted - cost)


def merge(state: State, hint: State) -> State:
    """What two observers of one bucket know together: the pointwise maximum."""
    full_at, not_before, granted = state
    known_full_at, known_not_before, known_granted = hint
    if full_at >= known_full_at and not_before >= known_not_before and granted >= known_granted:
        return state
    return State(
        max(full_at, known_full_at),
        max(not_before, known_not_before),
        max(granted, known_granted),
    )


def time_to_live(state: State, now: int) -> int:
    """µs until the bucket is full and unheld, when forgetting it changes no answer; >= 0."""
    return max(state.full_at, state.not_before, now) - now


def tokens(state: State, limit: Limit, now: int) -> int:
    """Whole tokens left at `now`, holds aside; negative in debt, at most the burst."""
    return (limit.refill_time - (max(state.full_at, now) - now)) // limit.interval


def level(state: State, limit: Limit, now: int) -> float:
    """Tokens left at `now`, for people to look at; decisions use integers only."""
    return limit.burst - (max(state.full_at, now) - now) / limit.interval


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
