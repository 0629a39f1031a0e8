"""The simulator's counters: WB's published words, held to by properties."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wbtrio.simulator.engine import (
    SECOND,
    Engine,
    Key,
    Reading,
    Refill,
    Rule,
    new_counter,
    render_headers,
)
from wbtrio.simulator.foreign import Foreign, Visits

if TYPE_CHECKING:
    from wbtrio.simulator.engine import Counter, HeaderStyle

KEY = Key("seller", "personal", "orders")
MARKETPLACE = Rule(60 * SECOND, 300, 20)
STATISTICS = Rule(60 * SECOND, 1, 10)

RULES = st.builds(
    Rule,
    period=st.sampled_from([1, 7, SECOND, 6 * SECOND, 60 * SECOND, 86_400 * SECOND]),
    limit=st.integers(1, 300),
    burst=st.integers(1, 30),
)
REFILLS = st.sampled_from(["smooth", "window", "aligned"])
GAPS = st.lists(st.one_of(st.integers(0, 3), st.integers(0, 200 * SECOND)), max_size=60)


def admitted_at(counter: Counter, gaps: list[int]) -> list[int]:
    now, moments = 0, []
    for gap in gaps:
        now += gap
        if counter.take(now):
            moments.append(now)
    return moments


@given(RULES, GAPS)
def test_a_smooth_counter_never_admits_more_than_its_burst_and_what_came_back(
    rule: Rule, gaps: list[int]
) -> None:
    moments = admitted_at(new_counter("smooth", rule), gaps)
    for start, first in enumerate(moments):
        for count, last in enumerate(moments[start:], start=1):
            assert (count - rule.burst) * rule.period <= (last - first) * rule.limit


@given(RULES, GAPS)
def test_a_window_never_admits_more_than_its_burst(rule: Rule, gaps: list[int]) -> None:
    ends, count = 0, 0
    for moment in admitted_at(new_counter("window", rule), gaps):
        if moment >= ends:
            ends, count = moment + rule.window, 0
        count += 1
        assert count <= rule.burst


@given(RULES, GAPS)
def test_aligned_windows_begin_at_multiples_of_their_length(rule: Rule, gaps: list[int]) -> None:
    per_window: dict[int, int] = {}
    for moment in admitted_at(new_counter("aligned", rule), gaps):
        number = moment // rule.window
        per_window[number] = per_window.get(number, 0) + 1
    assert all(count <= rule.burst for count in per_window.values())


@given(RULES, REFILLS, GAPS)
def test_retry_is_the_first_moment_at_which_a_request_is_admitted(
    rule: Rule, refill: Refill, gaps: list[int]
) -> None:
    def at(extra: int) -> bool:
        counter = new_counter(refill, rule)
        admitted_at(counter, gaps)
        return counter.take(sum(gaps) + extra)

    counter = new_counter(refill, rule)
    admitted_at(counter, gaps)
    retry = counter.read(sum(gaps)).retry
    assert at(retry)
    assert retry == 0 or not at(retry - 1)


@given(RULES, REFILLS, GAPS)
def test_reset_is_the_first_moment_at_which_the_counter_is_full(
    rule: Rule, refill: Refill, gaps: list[int]
) -> None:
    counter = new_counter(refill, rule)
    admitted_at(counter, gaps)
    reset = counter.read(sum(gaps)).reset
    if reset:
        assert counter.read(sum(gaps) + reset - 1).remaining < rule.burst
    assert counter.read(sum(gaps) + reset).remaining == rule.burst


@given(RULES, REFILLS, GAPS)
def test_exactly_the_remaining_requests_are_admitted_at_once(
    rule: Rule, refill: Refill, gaps: list[int]
) -> None:
    counter = new_counter(refill, rule)
    admitted_at(counter, gaps)
    remaining = counter.read(sum(gaps)).remaining
    answers = [counter.take(sum(gaps)) for _ in range(remaining + 1)]
    assert answers == [True] * remaining + [False]


@given(RULES, REFILLS, GAPS, st.integers(1, 5))
def test_a_429_costs_nothing(rule: Rule, refill: Refill, gaps: list[int], attempts: int) -> None:
    engine, now = Engine(refill=refill), 0
    for gap in gaps:
        now += gap
        if not engine.request(KEY, rule, now):
            before = engine.read(KEY, rule, now)
            for _ in range(attempts):
                engine.request(KEY, rule, now)
                engine.reply(KEY, rule, 429, now, error_cost=10)
            assert engine.read(KEY, rule, now) == before


@given(RULES, REFILLS, GAPS, st.integers(0, 10**9))
def test_a_clock_that_jumps_back_gives_nothing(
    rule: Rule, refill: Refill, gaps: list[int], back: int
) -> None:
    counter = new_counter(refill, rule)
    admitted_at(counter, gaps)
    before = counter.read(sum(gaps)).remaining
    assert counter.read(max(0, sum(gaps) - back)).remaining <= before


# Two tokens a µs are more than someone with a clock of whole µs can fetch.
@given(RULES.filter(lambda rule: rule.period >= rule.limit), st.integers(1, 40))
def test_whoever_comes_as_soon_as_wb_allows_uses_all_that_it_allows(
    rule: Rule, visits: int
) -> None:
    engine, now = Engine(), 0
    for _ in range(visits + rule.burst):
        now += engine.read(KEY, rule, now).retry
        assert engine.request(KEY, rule, now)
    tally = engine.tallies[KEY]
    assert tally.refused == 0
    assert tally.utilisation >= (tally.allowed - 1) / tally.allowed


def test_who_fills_every_window_uses_all_that_it_allows() -> None:
    engine, rule = Engine(refill="window"), Rule(60 * SECOND, 3, 3)
    for window in range(10):
        for _ in range(3):
            assert engine.request(KEY, rule, window * 60 * SECOND)
    assert engine.tallies[KEY].utilisation == 1.0


def test_a_4xx_with_error_cost_takes_ten_at_once() -> None:
    engine = Engine()
    left = []
    for _ in range(2):
        assert engine.request(KEY, MARKETPLACE, 0)
        left.append(engine.reply(KEY, MARKETPLACE, 404, 0, error_cost=10).remaining)
    assert left == [10, 0]
    assert not engine.request(KEY, MARKETPLACE, 0)
    assert engine.tallies[KEY].charged == 18


@pytest.mark.parametrize("status", [200, 204, 500, 503])
def test_other_replies_take_one(status: int) -> None:
    engine = Engine()
    engine.request(KEY, MARKETPLACE, 0)
    assert engine.reply(KEY, MARKETPLACE, status, 0, error_cost=10).remaining == 19


def test_an_operation_without_error_cost_pays_one_for_a_4xx() -> None:
    engine = Engine()
    engine.request(KEY, STATISTICS, 0)
    assert engine.reply(KEY, STATISTICS, 400, 0).remaining == 9


def test_the_cost_of_an_error_is_owed_or_forgiven_as_the_engine_is_set() -> None:
    rule = Rule(10 * SECOND, 10, 5)
    retries = []
    for debt in (True, False):
        engine = Engine(debt=debt)
        engine.request(KEY, rule, 0)
        retries.append(engine.reply(KEY, rule, 400, 0, error_cost=10).retry)
    assert retries == [6 * SECOND, 1 * SECOND]


def test_a_429_costs_ten_only_where_the_engine_is_set_so() -> None:
    waits = []
    for charge in (False, True):
        engine = Engine(charge_429=charge)
        while engine.request(KEY, MARKETPLACE, 0):
            pass
        waits.append(engine.reply(KEY, MARKETPLACE, 429, 0, error_cost=10).retry)
    assert waits == [SECOND // 5, 11 * SECOND // 5]


def test_accounts_kinds_and_budgets_are_counted_apart() -> None:
    engine = Engine()
    one = Rule(SECOND, 1, 1)
    keys = [
        Key("a", "personal", "x"),
        Key("b", "personal", "x"),
        Key("a", "service", "x"),
        Key("a", "personal", "y"),
    ]
    assert [engine.request(key, one, 0) for key in keys] == [True] * 4
    assert [engine.request(key, one, 0) for key in keys] == [False] * 4


def test_another_rule_replaces_the_counter() -> None:
    engine = Engine()
    for _ in range(10):
        assert engine.request(KEY, STATISTICS, 0)
    slower = Rule(10_800 * SECOND, 1, 1)
    assert engine.request(KEY, slower, 0)
    assert engine.read(KEY, slower, 0) == Reading(1, 0, 10_800 * SECOND, 10_800 * SECOND)


@pytest.mark.parametrize(
    ("style", "status", "expected"),
    [
        ("gateway", 200, {"X-RateLimit-Limit": "20", "X-RateLimit-Remaining": "7"}),
        ("gateway", 400, {"X-RateLimit-Limit": "20", "X-RateLimit-Remaining": "7"}),
        (
            "gateway",
            429,
            {
                "X-RateLimit-Limit": "20",
                "X-RateLimit-Remaining": "0",
                "X-RateLimit-Reset": "29",
                "X-RateLimit-Retry": "2",
            },
        ),
        ("legacy", 200, {"X-Ratelimit-Remaining": "7"}),
        ("legacy", 204, {"X-Ratelimit-Remaining": "7"}),
        ("legacy", 400, {}),
        (
            "legacy",
            429,
            {"X-Ratelimit-Limit": "20", "X-Ratelimit-Reset": "29", "X-Ratelimit-Retry": "2"},
        ),
        (
            "full",
            200,
            {
                "X-Ratelimit-Limit": "20",
                "X-Ratelimit-Remaining": "7",
                "X-Ratelimit-Reset": "29",
                "X-Ratelimit-Retry": "2",
            },
        ),
        ("none", 200, {}),
        ("none", 429, {}),
    ],
)
def test_each_header_style_says_what_wb_says(
    style: HeaderStyle, status: int, expected: dict[str, str]
) -> None:
    reading = Reading(limit=20, remaining=7, reset=28_000_001, retry=2_000_000)
    assert render_headers(style, status, reading) == expected


@given(st.integers(0, 10**12))
def test_seconds_are_whole_and_never_too_few(us: int) -> None:
    headers = render_headers("full", 200, Reading(1, 0, us, us))
    assert int(headers["X-Ratelimit-Retry"]) * SECOND >= us
    assert (int(headers["X-Ratelimit-Retry"]) - 1) * SECOND < us


@pytest.mark.parametrize("numbers", [(0, 1, 1), (1, 0, 1), (1, 1, 0)])
def test_a_rule_without_a_positive_number_is_refused(numbers: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="positive"):
        Rule(*numbers)


def test_a_stranger_spends_the_budget_at_its_rate() -> None:
    engine = Engine(foreign=[Foreign(every=30)])
    engine.read(KEY, STATISTICS, 0)
    reading = engine.read(KEY, STATISTICS, 600 * SECOND)
    # 21 visits in 600 s against a burst of 10 and 10 tokens that came back.
    assert engine.tallies[KEY].foreign == 20
    assert engine.tallies[KEY].foreign_refused == 1
    assert reading.remaining == 0


@given(
    st.integers(0, 1_000),
    st.floats(0.5, 50),
    st.integers(1, 5),
    st.floats(0, 1),
    st.lists(st.integers(0, 100 * SECOND), min_size=1, max_size=20),
)
def test_strangers_come_at_the_same_moments_however_often_they_are_looked_at(
    seed: int, every: float, size: int, jitter: float, gaps: list[int]
) -> None:
    stranger = Foreign(every=every, size=size, jitter=jitter)
    piecewise = Visits([stranger], KEY, seed)
    now, seen = 0, []
    for gap in gaps:
        now += gap
        seen += list(piecewise.until(now))
    assert seen == list(Visits([stranger], KEY, seed).until(now))
    assert seen == sorted(seen)


def test_a_stranger_keeps_to_its_key_and_its_time() -> None:
    stranger = Foreign(every=1, start=5, until=7, account="a", kind="basic", budget="x")
    hours = 3_600 * SECOND
    own = Key("a", "basic", "x")
    assert list(Visits([stranger], own, 0).until(hours)) == [5 * SECOND, 6 * SECOND, 7 * SECOND]
    for other in (Key("b", "basic", "x"), Key("a", "test", "x"), Key("a", "basic", "y")):
        assert list(Visits([stranger], other, 0).until(hours)) == []


@pytest.mark.parametrize(
    "wrong", [{"every": 0}, {"every": 1, "size": 0}, {"every": 1, "jitter": 2}]
)
def test_an_impossible_stranger_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="not a possible stranger"):
        Foreign(**wrong)  # type: ignore[arg-type]
