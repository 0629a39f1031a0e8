"""The counter that WB keeps is always among those that explain its replies."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.traced import SECOND, Traffic, replies_of
from wbtrio._calibration import Fit, fits_of
from wbtrio._calibration._lines import Point, Slopes, slopes_between
from wbtrio.simulator.engine import HeaderStyle, Refill, Rule

STYLES: tuple[HeaderStyle, ...] = ("gateway", "legacy", "full")
REFILLS: tuple[Refill, ...] = ("smooth", "window", "aligned")
MINUTE = 60 * SECOND

rules = st.builds(
    Rule,
    period=st.sampled_from([SECOND, 6 * SECOND, MINUTE, 60 * MINUTE]),
    limit=st.integers(1, 300),
    burst=st.integers(1, 50),
)


def hull_of(fits: list[Fit]) -> tuple[int, int | None]:
    hull = fits[0].interval
    for fit in fits:
        hull = hull.hull(fit.interval)
    return hull.shortest, hull.longest


@settings(max_examples=300, deadline=None)
@given(
    rule=rules,
    refill=st.sampled_from(REFILLS),
    style=st.sampled_from(STYLES),
    pace=st.floats(0.1, 2.0),
    latency=st.integers(0, SECOND),
    workers=st.integers(1, 8),
    errors=st.sampled_from([0.0, 0.05]),
    error_cost=st.sampled_from([1, 10]),
    seed=st.integers(0, 1_000),
)
def test_the_true_counter_is_never_ruled_out(
    rule: Rule,
    refill: Refill,
    style: HeaderStyle,
    pace: float,
    latency: int,
    workers: int,
    errors: float,
    error_cost: int,
    seed: int,
) -> None:
    gap = int(rule.period / rule.limit * pace * workers)
    traffic = Traffic(replies=60, gap=gap, latency=latency, workers=workers, errors=errors)
    replies = replies_of(
        traffic, rule, refill=refill, style=style, error_cost=error_cost, seed=seed
    )

    fits = fits_of(replies)

    one_token = rule.burst == 1 and refill == "window"
    model = "smooth" if one_token or refill == "smooth" else "window"
    interval = Fraction(rule.period, rule.limit)
    if refill != "smooth":
        interval = Fraction(rule.window, rule.burst)
    right = [
        fit for fit in fits if fit.refill == model and set(fit.error_costs.values()) <= {error_cost}
    ]
    assert right, fits
    shortest, longest = hull_of(right)
    assert shortest <= interval
    assert longest is None or interval <= longest


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("workers", [1, 8])
@pytest.mark.parametrize("rule", [Rule(MINUTE, 300, 20), Rule(MINUTE, 20, 50), Rule(SECOND, 1, 5)])
def test_200_replies_of_a_smooth_counter_tell_its_interval_within_5_percent(
    style: HeaderStyle, workers: int, rule: Rule
) -> None:
    interval = rule.period // rule.limit
    for seed in range(3):
        traffic = Traffic(gap=interval * workers // 2, workers=workers)

        fits = fits_of(replies_of(traffic, rule, style=style, seed=seed))

        assert [fit.refill for fit in fits] == ["smooth"]
        middle = fits[0].interval.middle
        assert middle is not None
        assert abs(middle - interval) <= interval * 0.05


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("error_cost", [1, 10])
def test_200_replies_tell_what_an_error_costs(style: HeaderStyle, error_cost: int) -> None:
    rule = Rule(MINUTE, 300, 20)
    traffic = Traffic(gap=SECOND // 10, errors=0.03)

    fits = fits_of(replies_of(traffic, rule, style=style, error_cost=error_cost, seed=5))

    assert {fit.error_costs["budget.list"] for fit in fits} == {error_cost}


def test_a_line_passes_all_gates_exactly_where_slopes_say() -> None:
    floors = [Point(0, 0), Point(10, 10)]
    ceilings = [Point(0, 1), Point(10, 12)]
    anything = Slopes(Fraction(0), Fraction(100))
    assert slopes_between(floors, ceilings, anything) == Slopes(Fraction(9, 10), Fraction(12, 10))
    assert slopes_between(floors, [*ceilings, Point(20, 5)], anything) is None


points = st.builds(Point, at=st.integers(0, 20), value=st.integers(-20, 20))


@given(
    floors=st.lists(points, min_size=1, max_size=6),
    ceilings=st.lists(points, min_size=1, max_size=6),
    slope=st.fractions(-5, 5, max_denominator=20),
)
def test_a_slope_is_possible_exactly_when_it_leaves_room(
    floors: list[Point], ceilings: list[Point], slope: Fraction
) -> None:
    found = slopes_between(floors, ceilings, Slopes(Fraction(-5), Fraction(5)))
    highest_floor = max(point.value - slope * point.at for point in floors)
    lowest_ceiling = min(point.value - slope * point.at for point in ceilings)
    has_room = highest_floor <= lowest_ceiling
    assert has_room == (found is not None and found.least <= slope <= found.greatest)
