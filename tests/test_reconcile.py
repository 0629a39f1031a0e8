"""From one reply to one narrowing, or to the proof that there is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wbtrio._bucket import FULL, Fence, Limit, Narrowing, State, acquire, narrow, tokens, wait
from wbtrio._headers import Observation
from wbtrio._reconcile import (
    LONGEST_BLIND_HOLD,
    Grant,
    Reason,
    is_at_capacity,
    plan_penalty,
    plan_reconciliation,
)

SECOND = 1_000_000
ORDERS = Limit(60 * SECOND, 300, 20)
"""FBS orders: 300 a minute, burst 20."""

limits = st.builds(
    Limit,
    period=st.integers(1_000, 86_400 * SECOND),
    limit=st.integers(1, 500),
    burst=st.integers(1, 100),
)
moments = st.integers(0, 10**12)
waits = st.none() | st.integers(0, 31 * 86_400).map(lambda seconds: seconds * SECOND)
observations = st.builds(
    Observation,
    limit=st.none() | st.integers(1, 500),
    remaining=st.none() | st.integers(0, 120),
    reset=waits,
    retry=waits,
)


@st.composite
def grants(draw: st.DrawFn) -> tuple[Limit, Grant]:
    """A limit, and a grant of its bucket after some use."""
    limit = draw(limits)
    now = draw(moments)
    used = draw(st.integers(0, limit.burst - 1))
    part = draw(st.integers(0, limit.interval - 1)) if used else 0
    state = State(now + used * limit.interval - part, 0, used)
    decision = acquire(state, limit, now)
    assert not decision.wait
    return limit, Grant(decision.state, now, 1)


@given(
    grants(), observations.filter(lambda seen: seen.remaining is not None), st.integers(0, 10**9)
)
def test_remaining_at_or_above_the_burst_is_skipped_exactly_where_nothing_would_change(
    granted: tuple[Limit, Grant], seen: Observation, later: int
) -> None:
    limit, grant = granted
    remaining = seen.remaining or 0
    if is_at_capacity(remaining, limit):
        plan = plan_reconciliation(seen, limit, grant=grant)
        assert plan == (None, Reason.AT_CAPACITY)
        literal = Narrowing(remaining=remaining)
        assert narrow(grant.state, limit, grant.granted_at + later, literal) == grant.state


@given(grants(), observations)
def test_what_is_skipped_as_expected_says_no_less_than_the_grant_left_to_wbs_precision(
    granted: tuple[Limit, Grant], seen: Observation
) -> None:
    limit, grant = granted
    plan = plan_reconciliation(seen, limit, grant=grant)
    if plan.reason is not Reason.AS_EXPECTED:
        return
    assert seen.remaining is not None
    at, state = grant.granted_at, grant.state
    literal = narrow(state, limit, at, Narrowing(remaining=seen.remaining))
    assert tokens(literal, limit, at) == tokens(state, limit, at)
    if seen.remaining == 0 and seen.retry is not None:
        held = narrow(state, limit, at, Narrowing(hold=seen.retry))
        assert wait(held, limit, at) - wait(state, limit, at) < SECOND


@given(grants(), st.integers(0, 10**9))
def test_a_smooth_counter_of_the_registrys_own_limit_is_never_news(
    granted: tuple[Limit, Grant], since: int
) -> None:
    limit, grant = granted
    at, state = grant.granted_at, grant.state
    seen = Observation(
        limit=limit.burst,
        remaining=max(0, tokens(state, limit, at)),
        reset=-(-(state.full_at - at) // SECOND) * SECOND,
        retry=-(-wait(state, limit, at) // SECOND) * SECOND,
    )
    windowed = limit.burst > 1 and seen.remaining == 0 and (seen.reset or 0) <= (seen.retry or 0)
    if not windowed:
        assert plan_reconciliation(seen, limit, grant=grant).narrowing is None


def test_fewer_tokens_than_the_grant_left_are_narrowed_to_with_the_ticket_fence() -> None:
    grant = Grant(acquire(FULL, ORDERS, 0).state, 0, 1)
    plan = plan_reconciliation(Observation(remaining=4), ORDERS, grant=grant)
    assert plan == (Narrowing(remaining=4, fence=Fence(1, 0)), Reason.NARROWED)


def test_requests_that_overtook_each_other_are_no_strangers() -> None:
    grant = Grant(acquire(FULL, ORDERS, 0).state, 0, 1)
    seen = Observation(remaining=12)
    assert plan_reconciliation(seen, ORDERS, grant=grant, later=7).narrowing is None
    assert plan_reconciliation(seen, ORDERS, grant=grant, later=6).reason is Reason.NARROWED


def test_without_a_grant_the_literal_rule_holds() -> None:
    plan = plan_reconciliation(Observation(remaining=4), ORDERS)
    assert plan.narrowing == Narrowing(remaining=4)


def test_an_exhausted_budget_is_held_by_retry_or_else_until_the_reset() -> None:
    by_retry = plan_reconciliation(
        Observation(remaining=0, retry=2 * SECOND, reset=9 * SECOND), ORDERS
    )
    assert by_retry.reason is Reason.EXHAUSTED
    assert by_retry.narrowing is not None
    assert by_retry.narrowing.hold == 2 * SECOND
    by_reset = plan_reconciliation(Observation(remaining=0, reset=9 * SECOND), ORDERS)
    assert by_reset.narrowing is not None
    assert by_reset.narrowing.hold == 9 * SECOND


def test_the_strict_reading_holds_by_the_longer_of_retry_and_reset() -> None:
    seen = Observation(remaining=0, retry=2 * SECOND, reset=9 * SECOND)
    plan = plan_reconciliation(seen, ORDERS, exhausted_hold="reset")
    assert plan.narrowing is not None
    assert plan.narrowing.hold == 9 * SECOND


def test_a_window_that_ends_sooner_than_it_refills_is_held_out_after_its_last_token() -> None:
    state = FULL
    for _ in range(20):
        state = acquire(state, ORDERS, 0).state
    seen = Observation(limit=20, remaining=0, reset=4 * SECOND, retry=4 * SECOND)
    plan = plan_reconciliation(seen, ORDERS, grant=Grant(state, 0, 1))
    assert plan.narrowing is not None
    after = narrow(state, ORDERS, 50_000, plan.narrowing)
    assert wait(after, ORDERS, 50_000) == 4 * SECOND
    assert tokens(after, ORDERS, 50_000 + 4 * SECOND) == 20


def test_wb_003_a_429_admits_again_when_wb_says_and_not_when_the_registry_would() -> None:
    finance = Limit(86_400 * SECOND, 2, 1)
    state = acquire(FULL, finance, 0).state
    retry = 18_236 * SECOND
    plan = plan_penalty(Observation(remaining=0, reset=retry, retry=retry), finance)
    assert plan.narrowing is not None
    fresh = narrow(FULL, finance, 0, plan.narrowing)
    assert wait(fresh, finance, 0) == retry
    assert wait(narrow(state, finance, 0, plan.narrowing), finance, 0) == finance.interval


def test_wbs_own_example_of_a_429_sends_one_request_at_its_retry() -> None:
    limit = Limit(30 * SECOND, 10, 10)
    seen = Observation(limit=10, reset=29 * SECOND, retry=2 * SECOND)
    plan = plan_penalty(seen, limit)
    assert plan.narrowing is not None
    after = narrow(FULL, limit, 0, plan.narrowing)
    assert wait(after, limit, 0) == 2 * SECOND
    assert tokens(after, limit, 2 * SECOND) == 1


@given(limits, st.integers(0, 100))
def test_blind_429s_wait_an_interval_then_a_refill_then_ever_longer_up_to_a_day(
    limit: Limit, before: int
) -> None:
    holds = []
    for count in (before, before + 1):
        narrowing = plan_penalty(Observation(), limit, blind_refusals=count).narrowing
        assert narrowing is not None
        holds.append(narrowing.hold)
    assert limit.interval <= holds[0] <= holds[1]
    assert holds[1] <= max(LONGEST_BLIND_HOLD, limit.interval)
    if before == 0:
        assert holds[0] == limit.interval


@given(limits, observations, st.integers(0, 3))
def test_after_a_429_one_request_at_the_most_goes_at_the_end_of_the_hold(
    limit: Limit, seen: Observation, blind: int
) -> None:
    plan = plan_penalty(seen, limit, blind_refusals=blind)
    assert plan.reason is Reason.PENALIZED
    assert plan.narrowing is not None
    after = narrow(FULL, limit, 0, plan.narrowing)
    waiting = wait(after, limit, 0)
    assert waiting >= plan.narrowing.hold
    is_window = seen.reset is not None and seen.retry is not None and seen.reset <= seen.retry
    if not is_window and seen.retry is not None:
        assert tokens(after, limit, waiting) <= 1


@given(limits, observations, st.integers(1, 9))
def test_an_error_cost_is_charged_whatever_the_reply_says(
    limit: Limit, seen: Observation, charge: int
) -> None:
    plan = plan_reconciliation(seen, limit, charge=charge)
    assert plan.narrowing is not None
    assert plan.narrowing.charge == charge


@pytest.mark.parametrize("seen", [Observation(), Observation(limit=20, retry=5, reset=5)])
def test_a_reply_that_does_not_state_what_remains_narrows_nothing(seen: Observation) -> None:
    assert plan_reconciliation(seen, ORDERS) == (None, Reason.NOT_OBSERVED)
