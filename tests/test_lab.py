"""The strategy lab: its figures are the same wherever they are computed, and the page has them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from benchmarks.lab import _tables
from benchmarks.lab._measures import fastest, granted_by
from benchmarks.lab._play import figures, play
from benchmarks.lab._scenario import Scenario
from benchmarks.lab.scenarios import BY_NAME, SCENARIOS, SHORT
from benchmarks.lab.strategies import OURS, STRATEGIES
from wbtrio.simulator import Foreign, Rule

PAGE = Path(__file__).resolve().parents[1] / "docs" / "strategies.md"
QUICK = BY_NAME["1/h"]
CROWDED = replace(
    SHORT, foreign=(Foreign(every=0.5, jitter=1.0),), processes=2, store_latency=0.001
)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_run_gives_the_same_figures_again(strategy: str) -> None:
    first = figures(CROWDED, strategy)
    assert figures(CROWDED, strategy) == first
    assert first.requests == first.refused + first.done
    assert first.done > 0


def test_another_seed_is_another_run() -> None:
    assert figures(CROWDED, OURS, seed=2) != figures(CROWDED, OURS)


def test_ours_earns_nothing_and_wastes_nothing_where_the_registry_is_exact() -> None:
    found = figures(SHORT, OURS)
    assert found.refused == 0
    assert found.utilisation > 0.99
    assert found.store_calls <= 1.01


def test_who_sends_without_a_limiter_is_refused() -> None:
    assert figures(SHORT, "no limiter").refused > 0


def test_the_page_has_the_figures_of_today() -> None:
    found = {strategy: figures(QUICK, strategy) for strategy in STRATEGIES}
    assert _tables.details(QUICK, found) in PAGE.read_text(encoding="utf-8")


def test_the_page_has_every_scenario() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [one.name for one in SCENARIOS if f"| {one.name} |" not in text] == []


def test_requests_are_counted_when_they_arrive() -> None:
    arrivals = play(SHORT, OURS).world.arrivals
    assert {arrival.at - arrival.sent for arrival in arrivals} == {50_000}


@given(
    st.builds(Rule, st.integers(1, 10**7), st.integers(1, 500), st.integers(1, 50)),
    st.sampled_from(("smooth", "window")),
    st.integers(1, 1_000),
)
def test_the_clairvoyant_needs_just_the_time_in_which_wb_grants_as_much(
    rule: Rule, refill: str, tokens: int
) -> None:
    scenario = Scenario("any", "", wb=rule, refill="window" if refill == "window" else "smooth")
    needed = fastest(scenario, tokens)
    assert granted_by(scenario, needed) >= tokens
    assert needed == 0 or granted_by(scenario, needed - 1) < tokens
