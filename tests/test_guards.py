"""What one process knows beyond a bucket makes it wait longer, never shorter."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wbtrio._guards import RESERVE_FOR, Reserve, Window

moments = st.integers(0, 10**12)


def test_nothing_is_reserved_before_a_stranger_caused_a_429() -> None:
    reserve = Reserve()
    reserve.see(5, now=0, refused=False)
    assert reserve.on_top_of(1, burst=20, now=1) == 0


def test_a_429_that_strangers_caused_reserves_what_they_took_and_one_more() -> None:
    reserve = Reserve()
    reserve.see(3, now=0, refused=False)
    reserve.see(2, now=0, refused=True)
    assert reserve.on_top_of(1, burst=20, now=1) == 4


def test_half_a_bucket_is_the_most_that_is_reserved() -> None:
    reserve = Reserve()
    reserve.see(20, now=0, refused=True)
    assert reserve.on_top_of(1, burst=20, now=1) == 10


def test_a_bucket_of_one_token_has_nothing_to_reserve() -> None:
    reserve = Reserve()
    reserve.see(1, now=0, refused=True)
    assert reserve.on_top_of(1, burst=1, now=1) == 0


def test_strangers_are_forgotten_ten_minutes_after_they_were_last_seen() -> None:
    reserve = Reserve()
    reserve.see(3, now=0, refused=True)
    reserve.see(1, now=100, refused=False)
    assert reserve.on_top_of(1, burst=20, now=99 + RESERVE_FOR) == 4
    assert reserve.on_top_of(1, burst=20, now=100 + RESERVE_FOR) == 0
    reserve.see(3, now=100 + RESERVE_FOR, refused=False)
    assert reserve.on_top_of(1, burst=20, now=101 + RESERVE_FOR) == 0


@given(st.integers(1, 500), st.integers(1, 500), st.integers(0, 1000), moments)
def test_a_reserve_never_asks_for_more_than_a_full_bucket(
    cost: int, burst: int, foreign: int, now: int
) -> None:
    reserve = Reserve()
    reserve.see(foreign, now, refused=True)
    assert 0 <= reserve.on_top_of(cost, burst, now) <= max(0, burst - cost)


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
