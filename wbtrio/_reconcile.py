"""From one reply to one narrowing, or to the proof that there is nothing to narrow. Pure.

WB states its counter in whole tokens and whole seconds, rounded against us, while a bucket of ours
has a finer level. So a reply that says just what the grant itself foresaw, to WB's own precision,
is no news: it narrows nothing and costs no store call. Everything else narrows.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, NamedTuple

from . import _bucket
from ._bucket import MICROSECONDS, Fence, Limit, Narrowing, State, Undo
from ._guards import LONGEST_SPREAD
from ._headers import Observation

ExhaustedHold = Literal["retry", "reset"]
LONGEST_BLIND_HOLD = 24 * 3600 * MICROSECONDS
LATE_DEPARTURE = 2_000
"""µs from grant to departure that are taken for none: an open connection needs less."""
SLOW_FOR = 24 * 3600 * MICROSECONDS
"""How long a proof of a slower limit is believed, unless its interval is longer than half of this,
or the refill that it tells of ends later."""


class Reason(StrEnum):
    """Why a settlement narrowed, or why it need not."""

    NOT_OBSERVED = "not_observed"
    """The reply does not state WB's counter."""
    AT_CAPACITY = "at_capacity"
    """`Remaining` is not below the burst: nothing to narrow by construction."""
    AS_EXPECTED = "as_expected"
    """The reply says no less than what our own grant left."""
    CHARGED = "charged"
    """Only WB's error cost had to be taken."""
    NARROWED = "narrowed"
    """WB has fewer tokens left than we thought: someone else uses the budget."""
    EXHAUSTED = "exhausted"
    """WB's counter is at zero, and WB says until when."""
    DEPARTED_LATE = "departed_late"
    """The request left long after its grant: WB began to refill later than our bucket did."""
    PENALIZED = "penalized"
    """A 429."""


class Grant(NamedTuple):
    """What a permit remembers of the step that granted it.

    Attributes:
        state: The bucket right after the grant.
        granted_at: µs of the store's clock at the grant.
        cost: Tokens granted.
    """

    state: State
    granted_at: int
    cost: int


class Plan(NamedTuple):
    """What to do after a reply: `narrowing` is None where no store call is needed."""

    narrowing: Narrowing | None
    reason: Reason


def plan_reconciliation(
    observation: Observation,
    limit: Limit,
    *,
    grant: Grant | None = None,
    charge: int = 0,
    later: int = 0,
    exhausted_hold: ExhaustedHold = "retry",
) -> Plan:
    """What a reply that is no 429 takes away.

    Args:
        observation: What the reply says of WB's counter.
        limit: The limit that the bucket goes by, see `_bucket.pace`.
        grant: The grant that the reply answers; None where it is not known.
        charge: Tokens that WB's error cost takes beyond the request itself.
        later: Tokens known to have been granted since: WB may have counted them before this one.
        exhausted_hold: Hold an exhausted budget by `Retry` where WB states it, or by the longer
            of `Retry` and `Reset`.
    """
    remaining = observation.remaining
    if remaining is None:
        return _charge_only(charge, Reason.NOT_OBSERVED)
    if is_at_capacity(remaining, limit):
        return _charge_only(charge, Reason.AT_CAPACITY)
    if grant is not None and is_as_expected(observation, limit, grant, charge, later):
        return _charge_only(charge, Reason.AS_EXPECTED)
    if remaining == 0 and observation.retry_or_reset is not None:
        hold, full_in = _by_the_clock(observation, limit, exhausted_hold)
        return Plan(Narrowing(charge=charge, hold=hold, full_in=full_in), Reason.EXHAUSTED)
    fence = None if grant is None else Fence(grant.state.granted, grant.granted_at)
    narrowing = Narrowing(charge=charge, remaining=remaining, fence=fence)
    return Plan(narrowing, Reason.NARROWED)


def plan_penalty(
    observation: Observation,
    limit: Limit,
    *,
    grant: Grant | None = None,
    blind_refusals: int = 0,
    error_cost: int = 1,
    exhausted_hold: ExhaustedHold = "retry",
) -> Plan:
    """What a 429 takes away.

    Args:
        observation: What the 429 says of WB's counter.
        limit: The registry's limit for the bucket.
        grant: The grant that was refused. WB did not count its request, so its tokens are given
            back where WB says when it admits the next one. None: these are not WB's own words
            on a request of ours, and prove no slower limit.
        blind_refusals: How many 429s without `Retry` and `Reset` came just before this one.
        error_cost: Requests that WB counts for a 4XX, where its counter may be in debt for some.
        exhausted_hold: As for `plan_reconciliation`.
    """
    if observation.retry_or_reset is None:
        hold = _blind_hold(limit, blind_refusals)
        # Whatever refills meanwhile, one request is to try before others follow.
        full_in = hold + (limit.burst - 1) * limit.interval
        return Plan(Narrowing(hold=hold, full_in=full_in), Reason.PENALIZED)
    if grant is None:
        hold, full_in = _by_the_clock(observation, limit, exhausted_hold)
        return Plan(Narrowing(hold=hold, full_in=full_in), Reason.PENALIZED)
    undo = Undo(grant.cost, grant.state.full_at, grant.state.granted)
    slower = slower_limit(observation, limit, error_cost)
    if slower is None:
        hold, full_in = _by_the_clock(observation, limit, exhausted_hold)
        # Without a hold, the token given back would be sent at once, to the same refusal.
        narrowing = Narrowing(hold=hold, full_in=full_in, undo=undo if hold else None)
        return Plan(narrowing, Reason.PENALIZED)
    hold, full_in = _by_the_clock(observation, slower, exhausted_hold)
    narrowing = Narrowing(
        hold=hold,
        full_in=full_in,
        slow_interval=slower.interval,
        burst_cut=limit.burst - slower.burst,
        slow_for=max(SLOW_FOR, 2 * slower.interval, full_in),
        undo=undo if hold else None,
    )
    return Plan(narrowing, Reason.PENALIZED)


def plan_late_departure(
    limit: Limit, grant: Grant, delay: int, uncertainty: int, round_trip: int
) -> Plan | None:
    """What a request takes away that left long after its grant; None: nothing.

    Our bucket begins to refill with the first grant after it was full, WB's when that request
    arrives. If it had to connect first, all later ones would come too early by as much, from
    whichever process.

    Args:
        limit: The limit that the bucket goes by.
        grant: The grant.
        delay: µs from the grant until the request left, at least.
        uncertainty: µs by which it may have been more, as far as the store's clock is known.
        round_trip: µs from then until the reply, or until it was given up; on the way there it
            spent a quarter second at most, the rest went into the reply (field case WB-023).
    """
    was_full = grant.state.full_at == grant.granted_at + grant.cost * limit.interval
    if delay < LATE_DEPARTURE or not was_full:
        return None
    way_there = min(round_trip, LONGEST_SPREAD)
    if limit.burst == 1:
        full_in = max(0, limit.interval - (round_trip - way_there))
        return Plan(Narrowing(full_in=full_in), Reason.DEPARTED_LATE)
    fence = Fence(grant.state.granted, grant.granted_at + delay + uncertainty + way_there)
    narrowing = Narrowing(remaining=limit.burst - grant.cost, fence=fence)
    return Plan(narrowing, Reason.DEPARTED_LATE)


def slower_limit(observation: Observation, limit: Limit, error_cost: int = 1) -> Limit | None:
    """The limit that a 429 proves WB to go by, if it is slower than the one assumed; else None.

    So an account that WB cut to its base limits shows itself, a registry out of date, a stage of
    a roll-out (field cases WB-002, WB-014). `Reset` is the time in which an empty counter refills
    `Limit` tokens; where only `Retry` is stated, or both are one, it is a single token's time, as
    in WB's base rows. WB's rounding of up to a second and a debt from its error cost are given
    in favour of the limit assumed, and so is a window as long as its whole refill.
    """
    debt = 2 * error_cost if error_cost > 1 else 0
    retry, reset = observation.retry, observation.reset
    burst = observation.limit
    if reset is None or (burst is None and retry is not None and reset <= retry):
        if observation.retry_or_reset is None:
            return None
        span, burst, assumed = observation.retry_or_reset, burst or 1, limit.burst + debt
        proven = span - MICROSECONDS > assumed * limit.interval
        interval = span
    else:
        burst = limit.burst if burst is None else burst
        proven = reset - MICROSECONDS > (burst + debt) * limit.interval
        interval = -(-reset // burst)
        if retry is not None and burst > 1:
            # The first token comes at `Retry`, the others until `Reset`.
            interval = max(interval, -(-(reset - retry) // (burst - 1)))
    if not proven or interval <= limit.interval:
        return None
    return Limit(period=interval, limit=1, burst=min(burst, limit.burst))


def is_at_capacity(remaining: int, limit: Limit) -> bool:
    """The first skip rule: no bucket holds more than its burst, so nothing can be taken."""
    return remaining >= limit.burst


def is_as_expected(
    observation: Observation, limit: Limit, grant: Grant, charge: int = 0, later: int = 0
) -> bool:
    """The second skip rule: WB says no less than what our own grant left behind.

    The grant's own moment is the one to compare at: what refilled since refilled for WB too.
    Requests that were under way together may have overtaken each other, so WB may have counted
    those granted `later` before this one; whichever it counted last tells all. Exact up to WB's
    rounding: less than one token, and less than one second where the budget is exhausted.
    """
    remaining = observation.remaining
    if remaining is None:
        return True
    full_at = grant.state.full_at + charge * limit.interval
    # `limit` is the pace already, whatever the state says of it.
    left = State(full_at, grant.state.not_before, grant.state.granted)
    if remaining < _bucket.tokens(left, limit, grant.granted_at) - later:
        return False
    if remaining > 0:
        return True
    retry, reset = observation.retry, observation.reset
    if retry is None and limit.burst == 1:
        retry = reset
    if retry is None:
        return reset is None
    if reset is not None and limit.burst > 1 and reset <= retry:
        # Full as soon as a request is admitted: a window that restores all at once.
        return False
    next_in = _bucket.wait(left, limit, grant.granted_at)
    full_in = full_at - grant.granted_at
    return next_in > retry - MICROSECONDS and (reset is None or full_in > reset - MICROSECONDS)


def refills_late(observation: Observation, limit: Limit) -> bool:
    """Whether WB's bucket fills later than ours would from `Remaining` on.

    So a window that restores all at once shows itself, and an interval of ours that is too short,
    both with the first reply that states `Reset`. Exact but for WB's rounding of up to a second,
    which is given in favour of our model.
    """
    if observation.remaining is None or observation.reset is None:
        return False
    missing = limit.burst - observation.remaining
    return observation.reset - MICROSECONDS >= missing * limit.interval > 0


def _charge_only(charge: int, reason: Reason) -> Plan:
    if charge:
        return Plan(Narrowing(charge=charge), Reason.CHARGED)
    return Plan(None, reason)


def _blind_hold(limit: Limit, blind_refusals: int) -> int:
    """One interval, as a smooth counter needs; then a whole refill, as a window needs at most;
    then ever twice that, up to a day.
    """
    if blind_refusals == 0:
        return limit.interval
    hold = max(2 * limit.interval, limit.refill_time) << min(blind_refusals - 1, 32)
    return min(hold, max(LONGEST_BLIND_HOLD, limit.interval))


def _by_the_clock(
    observation: Observation, limit: Limit, exhausted_hold: ExhaustedHold
) -> tuple[int, int]:
    """(hold, full_in) of an exhausted budget whose end WB states."""
    reset = observation.reset or 0
    hold = observation.retry_or_reset or 0
    if exhausted_hold == "reset":
        hold = max(hold, reset)
    if observation.reset is not None and reset <= hold:
        return hold, reset
    # At the end of the hold WB admits one request, so that is the level then, and no more: an
    # interval of ours that is too long must not let a whole burst follow it.
    return hold, max(reset, hold + (limit.burst - 1) * limit.interval)
