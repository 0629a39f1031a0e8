"""What one process knows beyond a bucket makes it wait longer, never shorter."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wbtrio._bucket import FULL, Limit, acquire, narrow, wait
from wbtrio._guards import LONGEST_SPREAD, RESERVE_FOR, Reserve, Spread, Window
from wbtrio._reconcile import Grant, Reason, plan_late_departure

SECOND = 1_000_000

moments = st.integers(0, 10**12)


def seen(foreign: int, now: int = 0) -> Reserve:
    """A reserve after strangers took so many tokens, a 429, and the request after it."""
    reserve = Reserve()
    reserve.see(foreign, now)
    reserve.note_refusal(now)
    reserve.note_grant()
    return reserve


def test_nothing_is_reserved_before_a_request_is_refused() -> None:
    reserve = Reserve()
    reserve.see(5, now=0)
    reserve.note_grant()
    assert reserve.on_top_of(1, burst=20, now=1) == 0


def test_a_first_429_where_no_stranger_was_seen_reserves_nothing_a_second_one_does() -> None:
    reserve = Reserve()
    reserve.note_refusal(0)
    reserve.note_grant()
    assert reserve.on_top_of(1, burst=20, now=1) == 0
    reserve.note_refusal(2)
    reserve.note_grant()
    assert reserve.on_top_of(1, burst=20, now=3) == 2


def test_the_request_after_a_429_goes_when_wb_says_and_those_after_it_leave_the_reserve() -> None:
    reserve = Reserve()
    reserve.see(3, now=0)
    reserve.see(2, now=0)
    reserve.note_refusal(0)
    assert reserve.on_top_of(1, burst=20, now=1) == 0
    reserve.note_grant()
    assert reserve.on_top_of(1, burst=20, now=1) == 4


def test_half_a_bucket_is_the_most_that_is_reserved() -> None:
    assert seen(20).on_top_of(1, burst=20, now=1) == 10


def test_a_bucket_of_one_token_has_nothing_to_reserve() -> None:
    assert seen(1).on_top_of(1, burst=1, now=1) == 0


def test_strangers_are_forgotten_ten_minutes_after_they_were_last_seen() -> None:
    reserve = seen(3)
    reserve.see(1, now=100)
    assert reserve.on_top_of(1, burst=20, now=99 + RESERVE_FOR) == 4
    assert reserve.on_top_of(1, burst=20, now=100 + RESERVE_FOR) == 0
    reserve.see(3, now=100 + RESERVE_FOR)
    assert reserve.on_top_of(1, burst=20, now=101 + RESERVE_FOR) == 0


@given(st.integers(1, 500), st.integers(1, 500), st.integers(0, 1000), moments)
def test_a_reserve_never_asks_for_more_than_a_full_bucket(
    cost: int, burst: int, foreign: int, now: int
) -> None:
    assert 0 <= seen(foreign, now).on_top_of(cost, burst, now) <= max(0, burst - cost)


def test_a_window_grants_what_is_left_and_then_waits_for_its_end() -> None:
    window = Window()
    window.narrow(2, until=1_000, now=0)
    assert window.wait(10, 1) == 0
    window.spend(2)
    assert window.wait(10, 1) == 990
    assert window.wait(1_000, 1) == 0


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 10**6)), min_size=1))
def test_an_open_window_only_narrows(replies: list[tuple[int, int]]) -> None:
    window = Window()
    for left, until in replies:
        window.narrow(left, until, now=0)
    fewest = min(left for left, _ in replies)
    assert window.wait(0, fewest) == 0
    assert window.wait(0, fewest + 1) == min(until for _, until in replies)


def test_a_refund_gives_the_window_its_token_back() -> None:
    window = Window()
    window.narrow(1, until=1_000, now=0)
    window.spend(1)
    window.spend(-1)
    assert window.wait(0, 1) == 0


def test_an_even_round_trip_however_long_costs_nothing() -> None:
    spread = Spread()
    for _ in range(3):
        spread.note(24_400_000)
    assert spread.us == 0


@given(st.lists(st.integers(0, 10**8), min_size=1))
def test_the_spread_of_the_round_trips_is_stayed_behind_up_to_a_quarter_second(
    round_trips: list[int],
) -> None:
    spread = Spread()
    for round_trip in round_trips:
        spread.note(round_trip)
    recent = round_trips[-16:]
    assert spread.us == min(max(recent) - min(recent), LONGEST_SPREAD)


def granted(limit: Limit, cost: int = 1) -> Grant:
    return Grant(acquire(FULL, limit, 0, cost).state, 0, cost)


def test_a_request_that_left_late_moves_the_refill_to_when_it_arrived() -> None:
    limit = Limit(60 * SECOND, 100, 5)
    grant = granted(limit)
    plan = plan_late_departure(limit, grant, delay=20_000, uncertainty=0, round_trip=10_000)
    assert plan is not None
    assert plan.narrowing is not None
    assert plan.reason is Reason.DEPARTED_LATE
    after = narrow(grant.state, limit, 30_000, plan.narrowing)
    assert after.full_at == grant.state.full_at + 30_000


def test_wb_023_the_interval_of_a_slow_reply_counts_from_the_request() -> None:
    limit = Limit(60 * SECOND, 1, 1)
    grant = granted(limit)
    plan = plan_late_departure(limit, grant, delay=200_000, uncertainty=0, round_trip=24_400_000)
    assert plan is not None
    assert plan.narrowing is not None
    after = narrow(grant.state, limit, 24_600_000, plan.narrowing)
    assert 24_600_000 + wait(after, limit, 24_600_000) == 60 * SECOND + 200_000 + LONGEST_SPREAD


def test_an_open_connection_is_no_late_departure() -> None:
    limit = Limit(60 * SECOND, 100, 5)
    assert plan_late_departure(limit, granted(limit), 1_000, 0, 10_000) is None


def test_a_late_departure_from_a_bucket_in_use_changes_nothing_for_wb() -> None:
    limit = Limit(60 * SECOND, 100, 5)
    second = Grant(acquire(granted(limit).state, limit, 1_000).state, 1_000, 1)
    assert plan_late_departure(limit, second, 20_000, 0, 10_000) is None
