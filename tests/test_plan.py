"""What an import will take, against what it then takes."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.importing import BASIC, SINCE, TODAY, TOKEN, run_import
from wbtrio import Bucket, CallerError, Limit, TokenKind, decode_token, default_registry
from wbtrio._bucket import State
from wbtrio.importer import (
    RESOURCES,
    Checkpoint,
    Demand,
    Leg,
    Requests,
    SourceKey,
    demand_of,
    plan,
    requests_for,
)
from wbtrio.simulator import Latency, Scenario, Stock, WbSimulator

SECOND = 1_000_000
REGISTRY = default_registry()
EACH_SECOND = Bucket("a", "personal", "b", Limit(SECOND, 1, 1))
BURST_OF_FIVE = Bucket("a", "personal", "c", Limit(60 * SECOND, 60, 5))


def demand(name: str, *legs: Leg, not_before: int = 0) -> Demand:
    number = sum(leg.requests for leg in legs)
    return Demand(SourceKey("a", name), legs, Requests(number, number), not_before)


def offsets(*demands: Demand, states: dict[str, State] | None = None, latency: int = 0) -> Any:
    """Seconds from now at which each demand's requests can be sent."""
    now = 1_000 * SECOND
    made = plan(demands, states or {}, now, latency=latency)
    return [[(moment - now) / SECOND for moment in entry.moments] for entry in made.entries]


def test_pages_go_out_as_the_bucket_grants_them() -> None:
    assert offsets(demand("x", Leg(BURST_OF_FIVE, 7))) == [[0, 0, 0, 0, 0, 1, 2]]
    assert offsets(demand("x", Leg(EACH_SECOND, 3))) == [[0, 1, 2]]


def test_a_plan_begins_with_the_buckets_as_they_are() -> None:
    spent = State(full_at=1_000 * SECOND + 1, not_before=1_030 * SECOND, granted=9)
    assert offsets(demand("x", Leg(EACH_SECOND, 2)), states={EACH_SECOND.key: spent}) == [[30, 31]]


def test_sources_that_share_a_budget_take_turns() -> None:
    both = offsets(demand("x", Leg(EACH_SECOND, 3)), demand("y", Leg(EACH_SECOND, 2)))
    assert both == [[0, 2, 4], [1, 3]]
    made = plan([demand("x", Leg(EACH_SECOND, 3)), demand("y", Leg(EACH_SECOND, 2))], {}, 0)
    assert [entry.shared_by for entry in made.entries] == [2, 2]
    assert made.ready_at == 4 * SECOND


def test_sources_with_budgets_of_their_own_do_not_delay_each_other() -> None:
    assert offsets(demand("x", Leg(EACH_SECOND, 2)), demand("y", Leg(BURST_OF_FIVE, 2))) == [
        [0, 1],
        [0, 0],
    ]


def test_a_slow_wb_decides_where_the_budget_is_wide() -> None:
    assert offsets(demand("x", Leg(BURST_OF_FIVE, 4)), latency=3 * SECOND) == [[0, 3, 6, 9]]
    assert plan([demand("x", Leg(EACH_SECOND, 1))], {}, 0, latency=7).ready_at == 7


def test_a_report_waits_for_wb_between_its_steps() -> None:
    report = demand(
        "x", Leg(EACH_SECOND, 1), Leg(BURST_OF_FIVE, 1, pause=5 * SECOND), Leg(EACH_SECOND, 1)
    )
    assert offsets(report) == [[0, 5, 5]]


def test_a_parked_source_begins_when_it_may() -> None:
    assert offsets(demand("x", Leg(EACH_SECOND, 2), not_before=1_060 * SECOND)) == [[60, 61]]


def test_the_bucket_that_is_waited_for_longest_decides() -> None:
    made = plan([demand("x", Leg(BURST_OF_FIVE, 3), Leg(EACH_SECOND, 3))], {}, 0)
    assert made.entries[0].bucket == EACH_SECOND


def test_nothing_asked_for_is_ready_at_once() -> None:
    made = plan([demand("x")], {}, 5)
    assert (made.ready_at, made.entries[0].ready_at, made.entries[0].bucket) == (5, 5, None)
    assert plan([], {}, 5).ready_at == 5


def test_a_plan_without_end_is_refused() -> None:
    with pytest.raises(CallerError, match="more than 1,000,000"):
        plan([demand("x", Leg(EACH_SECOND, 10**7))], {}, 0)


@given(
    counts=st.lists(st.integers(0, 30), min_size=1, max_size=5),
    burst=st.integers(1, 8),
    full_in=st.integers(0, 20),
    latency=st.integers(0, 3),
)
def test_a_plan_never_exceeds_the_budget_nor_idles(
    counts: list[int], burst: int, full_in: int, latency: int
) -> None:
    bucket = Bucket("a", "personal", "b", Limit(SECOND, 1, burst))
    state = State(full_at=min(full_in, burst) * SECOND, not_before=0, granted=0)
    demands = [demand(str(number), Leg(bucket, count)) for number, count in enumerate(counts)]
    made = plan(demands, {bucket.key: state}, 0, latency=latency * SECOND)
    sent = sorted(moment for entry in made.entries for moment in entry.moments)
    assert len(sent) == sum(counts)
    left = burst - min(full_in, burst)
    for number, moment in enumerate(sent):
        assert number - moment // SECOND < left + 1
    if latency == 0 and sent:
        # Somebody always waits: the last request goes out the moment the budget allows it.
        assert sent[-1] == max(0, len(sent) - left) * SECOND


@pytest.mark.parametrize(
    ("operation", "rows", "expected"),
    [
        ("content.cards.list", 0, (1, 1)),
        ("content.cards.list", 99, (1, 1)),
        ("content.cards.list", 100, (2, 2)),
        ("content.cards.list", 6_050, (61, 61)),
        ("content.cards.list", None, (1, None)),
        ("returns.claims.list", 400, (2, 3)),
        ("feedbacks.feedbacks.list", 0, (2, 2)),
        ("marketplace.warehouses.list", 9_999, (1, 1)),
        ("chat.events.list", 100, (1, None)),
    ],
)
def test_requests_follow_from_rows(
    operation: str, rows: int | None, expected: tuple[int, int | None]
) -> None:
    pagination = REGISTRY.operation(operation).pagination
    assert pagination is not None
    assert requests_for(pagination, rows=rows) == expected


def test_each_window_is_a_walk_of_its_own() -> None:
    pagination = REGISTRY.operation("fbs.orders.list").pagination
    assert pagination is not None
    assert requests_for(pagination, rows=2_500, windows=3) == (3, 5)
    assert requests_for(pagination, rows=None, windows=3) == (3, None)


def of(name: str, **how: Any) -> Demand:
    settings: dict[str, Any] = {"since": SINCE, "until": TODAY, **how}
    return demand_of(RESOURCES[name], decode_token(TOKEN), REGISTRY, **settings)


def test_what_an_earlier_run_imported_is_not_planned_again() -> None:
    half = Checkpoint(until=TODAY, since=SINCE, cursor={"x": 1}, rows=3_000)
    assert of("cards", rows=6_050).requests == (61, 61)
    assert of("cards", rows=6_050, checkpoint=half).requests == (31, 31)
    done = Checkpoint(until=TODAY, since=SINCE, cursor={"x": 1}, rows=6_050, finished=True)
    assert of("cards", checkpoint=done).requests == (1, None), "how many are new, nobody knows"
    assert of("prices", checkpoint=done).requests == (7, 7), "as many as the last time"


def test_a_parked_source_is_planned_from_its_moment_on() -> None:
    parked = Checkpoint(until=TODAY, since=SINCE, resume_at=TODAY + timedelta(hours=2))
    assert of("orders", checkpoint=parked, now=7).not_before == 7 + 2 * 3_600 * SECOND


def test_the_steps_of_a_report_are_charged_to_budgets_of_their_own() -> None:
    legs = of("warehouse_remains").legs
    assert [leg.bucket.budget for leg in legs] == [
        "reports.warehouse_remains.create",
        "reports.warehouse_remains.status",
        "reports.warehouse_remains.download",
    ]


SHARED = {"quarantine": 9_000, "prices": 7_000}
"""Both on the budget of Prices and Discounts."""


@pytest.mark.anyio
@pytest.mark.parametrize("prefetch", [0, 1])
@pytest.mark.parametrize(
    ("token", "rows", "latency"),
    [
        (TOKEN, {"cards": 6_050}, 0.0),
        (TOKEN, {"cards": 3_000}, 0.9),
        (TOKEN, {"cards": 2_050, "trash": 1_500, "documents": 700}, 0.2),
        (TOKEN, {**SHARED, "cards": 900}, 0.0),
        (BASIC, {**SHARED, "pins": 1_200}, 0.4),
        (BASIC, {"finance_details": 10, "cards": 4_000}, 0.0),
    ],
)
async def test_a_simulated_run_ends_within_two_percent_of_its_plan(
    token: str, rows: dict[str, int], latency: float, prefetch: int, tmp_path: Path
) -> None:
    server = WbSimulator(
        Scenario(stock=Stock(rows=rows), latency=Latency(before=latency / 2, after=latency / 2))
    )
    seller = decode_token(token)
    demands = [
        demand_of(RESOURCES[name], seller, REGISTRY, since=SINCE, until=TODAY, rows=number)
        for name, number in rows.items()
    ]
    made = plan(demands, {}, 0, latency=round(latency * SECOND))
    summary = await run_import(server, tmp_path, list(rows), tokens=[token], prefetch=prefetch)
    assert summary.exit_code == 0
    assert anyio.current_time() == pytest.approx(made.ready_at / SECOND, rel=0.02, abs=0.5)
    for entry, one in zip(made.entries, summary.sources, strict=True):
        assert entry.requests.least <= one.pages <= (entry.requests.most or one.pages)
    assert server.refused == 0
    assert seller.kind in {TokenKind.PERSONAL, TokenKind.BASIC}
