"""The bucket's arithmetic: exact waits, narrowing by maxima, and nothing ever too permissive."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wbtrio import TokenKind, default_registry
from wbtrio._bucket import (
    FULL,
    Fence,
    Limit,
    Narrowing,
    State,
    acquire,
    level,
    merge,
    narrow,
    refund,
    time_to_live,
    tokens,
    wait,
)

SECOND = 1_000_000
DAY = 86_400 * SECOND
CENTURY = 100 * 366 * DAY
LARGEST_EXACT = 2**53

limits = st.builds(
    Limit,
    period=st.sampled_from([1, 333_333, SECOND, 60 * SECOND, 3_600 * SECOND, DAY]),
    limit=st.integers(1, 1_000),
    burst=st.integers(1, 500),
)
moments = st.integers(0, 40 * DAY)
states = st.tuples(moments, moments, st.integers(0, 10_000)).map(lambda parts: State(*parts))
"""At the registry's pace; slower ones have `test_slower_limits.py` to themselves."""
fences = st.builds(Fence, ticket=st.integers(0, 10_000), granted_at=moments)
narrowings = st.builds(
    Narrowing,
    charge=st.just(0),
    remaining=st.integers(-1, 600),
    fence=st.none() | fences,
    full_in=st.integers(0, 31 * DAY),
    hold=st.integers(0, 31 * DAY),
    slow_interval=st.just(0),
    burst_cut=st.just(0),
    slow_for=st.just(0),
)


@given(limits, states, moments, st.data())
def test_a_wait_is_exact_to_the_microsecond(
    limit: Limit, state: State, now: int, data: st.DataObject
) -> None:
    cost = data.draw(st.integers(1, limit.burst))
    waiting = acquire(state, limit, now, cost).wait
    assert waiting == wait(state, limit, now, cost)
    assert acquire(state, limit, now + waiting, cost).wait == 0
    if waiting:
        assert acquire(state, limit, now + waiting - 1, cost).wait == 1


@given(limits, st.lists(st.tuples(st.integers(0, 120 * SECOND), st.integers(1, 500)), max_size=60))
def test_no_window_sees_more_than_the_burst_and_its_refill(
    limit: Limit, steps: list[tuple[int, int]]
) -> None:
    state, now = FULL, 0
    granted: list[tuple[int, int]] = []
    for pause, cost in steps:
        now += pause
        cost = min(cost, limit.burst)
        state, waiting = acquire(state, limit, now, cost)
        if not waiting:
            granted.append((now, cost))
    for first, (start, _) in enumerate(granted):
        spent = 0
        for moment, cost in granted[first:]:
            spent += cost
            assert spent <= limit.burst + (moment - start) // limit.interval


@given(limits, states, moments, st.data())
def test_a_grant_takes_its_cost_and_leaves_the_hold(
    limit: Limit, state: State, now: int, data: st.DataObject
) -> None:
    cost = data.draw(st.integers(1, limit.burst))
    after, waiting = acquire(state, limit, now, cost)
    if waiting:
        assert after == state
    else:
        assert tokens(after, limit, now) == tokens(state, limit, now) - cost
        assert (after.not_before, after.granted) == (state.not_before, state.granted + cost)


@given(limits, states, moments, moments)
def test_the_level_rises_by_refill_only(limit: Limit, state: State, now: int, elapsed: int) -> None:
    before, after = tokens(state, limit, now), tokens(state, limit, now + elapsed)
    assert before <= after <= limit.burst
    assert after - before <= elapsed // limit.interval + 1


@given(limits, states, moments, narrowings)
def test_narrowing_never_raises_the_level_nor_shortens_a_hold(
    limit: Limit, state: State, now: int, by: Narrowing
) -> None:
    after = narrow(state, limit, now, by)
    assert after.full_at >= state.full_at
    assert after.not_before >= state.not_before
    assert after.granted == state.granted
    assert wait(after, limit, now) >= wait(state, limit, now)


@given(limits, states, moments, narrowings)
def test_narrowing_twice_is_narrowing_once(
    limit: Limit, state: State, now: int, by: Narrowing
) -> None:
    once = narrow(state, limit, now, by)
    assert narrow(once, limit, now, by) == once


@given(limits, states, moments, moments, narrowings, narrowings)
def test_narrowings_may_come_in_either_order(
    limit: Limit, state: State, now: int, later: int, one: Narrowing, other: Narrowing
) -> None:
    there = narrow(narrow(state, limit, now, one), limit, later, other)
    back = narrow(narrow(state, limit, later, other), limit, now, one)
    assert there == back


@given(limits, states, states, moments, narrowings)
def test_narrowing_keeps_the_order_of_what_two_observers_know(
    limit: Limit, known: State, more: State, now: int, by: Narrowing
) -> None:
    stricter = merge(known, more)
    narrowed, narrowed_more = narrow(known, limit, now, by), narrow(stricter, limit, now, by)
    assert merge(narrowed_more, narrowed) == narrowed_more


@given(limits, states, moments, st.integers(0, 499))
def test_at_most_what_remains_at_wb_is_left(
    limit: Limit, state: State, now: int, remaining: int
) -> None:
    after = narrow(state, limit, now, Narrowing(remaining=remaining))
    assert tokens(after, limit, now) <= max(remaining, 0) or remaining >= limit.burst
    if tokens(state, limit, now) < remaining:
        assert after == state


def test_ten_in_flight_are_not_followed_by_four_more_because_the_first_reply_says_four() -> None:
    limit = Limit(60 * SECOND, 300, 20)
    state, tickets = FULL, []
    for _ in range(10):
        state, _ = acquire(state, limit, 0)
        tickets.append(state.granted)
    for number, ticket in enumerate(tickets[:5]):
        by = Narrowing(remaining=4 - number, fence=Fence(ticket, 0))
        state = narrow(state, limit, 50_000, by)
    assert tokens(state, limit, 50_000) == -5
    assert narrow(state, limit, 50_000, Narrowing(remaining=4, fence=Fence(1, 0))) == state


def test_a_ticket_from_before_a_lost_key_counts_nothing_as_later() -> None:
    limit = Limit(60 * SECOND, 300, 20)
    by = Narrowing(remaining=18, fence=Fence(1_000, 0))
    assert narrow(FULL, limit, 0, by).full_at == 2 * limit.interval


@given(limits, states, moments, st.integers(1, 9))
def test_an_error_cost_is_charged_each_time_and_may_go_into_debt(
    limit: Limit, state: State, now: int, charge: int
) -> None:
    once = narrow(state, limit, now, Narrowing(charge=charge))
    twice = narrow(once, limit, now, Narrowing(charge=charge))
    assert tokens(once, limit, now) == tokens(state, limit, now) - charge
    assert tokens(twice, limit, now) == tokens(state, limit, now) - 2 * charge


@given(limits, states, moments, st.data())
def test_a_refund_restores_the_level_or_leaves_all_as_it_is(
    limit: Limit, state: State, now: int, data: st.DataObject
) -> None:
    cost = data.draw(st.integers(1, limit.burst))
    after, waiting = acquire(state, limit, now, cost)
    if waiting:
        return
    back = refund(after, limit, cost, after)
    assert tokens(back, limit, now) == tokens(state, limit, now)
    assert wait(back, limit, now, cost) == 0
    narrowed = narrow(after, limit, now, Narrowing(hold=1))
    assert narrowed == after or refund(narrowed, limit, cost, after) == narrowed


@given(states, states, states)
def test_merging_is_idempotent_commutative_and_associative(a: State, b: State, c: State) -> None:
    assert merge(a, a) == a
    assert merge(a, b) == merge(b, a)
    assert merge(merge(a, b), c) == merge(a, merge(b, c))


@given(limits, states, moments, st.integers(0, DAY), st.data())
def test_forgetting_an_expired_bucket_changes_no_answer(
    limit: Limit, state: State, now: int, later: int, data: st.DataObject
) -> None:
    at = now + time_to_live(state, limit, now) + later
    cost = data.draw(st.integers(1, limit.burst))
    assert wait(state, limit, at, cost) == wait(FULL, limit, at, cost) == 0
    kept, forgotten = acquire(state, limit, at, cost), acquire(FULL, limit, at, cost)
    assert kept.state.full_at == forgotten.state.full_at
    assert tokens(state, limit, at) == tokens(FULL, limit, at) == limit.burst


@given(limits, states, moments)
def test_a_bucket_lives_until_it_is_full_and_unheld(limit: Limit, state: State, now: int) -> None:
    left = time_to_live(state, limit, now)
    if left:
        just_before = now + left - 1
        assert state.full_at > just_before or state.not_before > just_before


def test_no_integer_of_the_registrys_budgets_leaves_what_lua_counts_exactly_in_a_century() -> None:
    start = 1_800_000_000 * SECOND
    for budget in default_registry().budgets.values():
        for kind in TokenKind:
            limit = budget.limit_for(kind)
            state = narrow(
                State(start + CENTURY, 0, 10**12),
                limit,
                start + CENTURY,
                Narrowing(charge=1_000, remaining=0, full_in=31 * DAY, hold=31 * DAY),
            )
            assert max(state) + limit.refill_time < LARGEST_EXACT


@given(limits, states, moments)
def test_the_level_for_people_agrees_with_the_tokens_for_decisions(
    limit: Limit, state: State, now: int
) -> None:
    shown = level(state, limit, now)
    assert tokens(state, limit, now) - 1e-6 <= shown < tokens(state, limit, now) + 1 + 1e-6
