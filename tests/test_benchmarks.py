"""Every measurement runs, with counts so small that it measures nothing; and figures add up."""

from __future__ import annotations

import time

import pytest

from benchmarks import _crowd, _runner
from benchmarks._catalogue import BARE, LIMITER, OURS, Run, runs
from benchmarks._measure import Figures, Job
from benchmarks._peers import CROWD, Quota
from benchmarks._results import Measured, Results
from benchmarks._tables import tables
from tests.support.redis_server import RedisServer

LITTLE = Job(calls=20, tasks=3, calls_per_task=2, seconds=0.2, waiters=4)
ONCE = {(run.module, run.part): run for run in reversed([*runs()]) if run.is_installed}
"""Each measurement on one loop; those of peers that are not installed are left out."""
QUICK = [run for run in ONCE.values() if run.part in {"", "speed"} or run.name == OURS]
"""The longer parts are the same code for all peers."""

TEN_A_SECOND = Quota(limit=10, period=1, burst=2)
SLOW = Run(LIMITER, "limiter", "trio", place="Redis")
FAST = Run(BARE, "bare_multiplexer", "trio", place="Redis")


@pytest.mark.parametrize("run", QUICK, ids=lambda run: run.label)
def test_a_measurement_gives_its_figures(
    run: Run, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_runner, "START", 0.0)
    redis_server.reset()
    figures = _runner.measure(run, redis_server, LITTLE)
    assert figures.note == ""
    assert all(spread[50] > 0 for spread in figures.spreads.values())
    assert figures.spreads or figures.values


def test_a_contender_that_fails_leaves_a_note_and_no_figures(redis_server: RedisServer) -> None:
    figures = _runner.measure(Run("none", "of_this_name"), redis_server, LITTLE)
    assert "of_this_name" in figures.note
    assert not figures.values


def test_a_peer_that_is_not_installed_leaves_a_note(redis_server: RedisServer) -> None:
    run = Run("none", "store", requires="no-such-distribution")
    assert _runner.measure(run, redis_server, LITTLE).note == (
        "no-such-distribution is not installed"
    )


def test_the_environment_is_recorded(redis_server: RedisServer) -> None:
    found = _runner.environment(redis_server, "python -m benchmarks")
    assert found["command"] == "python -m benchmarks"
    assert {"python", "machine", "date", "trio", "redis", "redis server"} <= set(found)


def test_a_crowd_that_takes_each_token_at_once_uses_all_and_overdraws_nothing() -> None:
    moments = [0.0, 0.0, *(0.1 * step for step in range(1, 11))]
    assert _crowd.utilisation(moments, TEN_A_SECOND, 1.0) == pytest.approx(1)
    assert _crowd.overshoot(moments, TEN_A_SECOND) == pytest.approx(0)


def test_a_token_before_its_time_is_overshoot() -> None:
    assert _crowd.overshoot([0.0, 0.0, 0.0], TEN_A_SECOND) == 1
    assert _crowd.overshoot([0.0, 0.0, 0.05], TEN_A_SECOND) == pytest.approx(0.5)


def test_nobody_who_got_nothing_was_treated_fairly() -> None:
    assert _crowd.fairness([5, 5, 5, 5]) == 1
    assert _crowd.fairness([20, 0, 0, 0]) == 0.25
    assert _crowd.fairness([0, 0]) == 0


def test_grants_after_the_end_do_not_count() -> None:
    now = time.monotonic()
    grants = [[now, now + 0.5, now + 1.5], [now, now + 1.2]]
    figures = _crowd.figures_of(grants, CROWD, now + 1, commands=6)
    assert figures["commands_per_grant"] == 2
    assert figures["utilisation"] == pytest.approx(3 / 55)


def results(*rounds: tuple[float, float]) -> Results:
    return Results(
        {},
        [
            [
                Measured(run, Figures(spreads={"narrow": [time] * 101}))
                for run, time in zip((SLOW, FAST), times, strict=True)
            ]
            for times in rounds
        ],
    )


def test_ratios_are_taken_within_a_round_before_their_median_is() -> None:
    found = results((10, 5), (100, 80), (40, 10))
    assert found.value(SLOW, "narrow p50") == 40
    assert found.ratio(SLOW, FAST, "narrow p50") == 2


def test_what_was_not_measured_has_no_figure_and_no_table() -> None:
    found = results((10, 5))
    assert found.value(SLOW, "many_keys") is None
    titles = [line for line in tables(found) if line.startswith("## ")]
    assert titles == ["## Goals", "## The Redis path", "## Many tasks"]


def test_a_missed_goal_is_said_to_be_missed() -> None:
    lines = list(tables(results((10, 5))))
    assert "| reconcile p50 to bare multiplexer, trio | <= 1.15 | 2.00 | no |" in lines
