"""The whole path under virtual time, against every way in which a WB is known to count.

Two refill models x four header styles x a registry that is exact, too wide or too narrow. WB's own
side of the count comes from the simulator, which shares no code with the limiter.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

import anyio
import httpx
import pytest

from tests.conftest import report_key
from wbtrio import (
    MemoryStore,
    OperationId,
    Registry,
    TokenKind,
    WbApiClient,
    WbRateLimiter,
    default_registry,
    shipped_folder,
)
from wbtrio.simulator import Foreign, Latency, Rule, Scenario, Stock, WbSimulator, make_token

if TYPE_CHECKING:
    from wbtrio.simulator import HeaderStyle, Refill, Tally

pytestmark = pytest.mark.anyio

STYLES: tuple[HeaderStyle, ...] = ("gateway", "legacy", "full", "none")
REFILLS: tuple[Refill, ...] = ("smooth", "window")
BUDGET = "fbs-orders"
SECOND = 1_000_000
LATENCY = Latency(before=0.05, after=0.05)
IMPORTED: dict[OperationId, dict[str, str | int]] = {
    "content.cards.list": {},
    "prices.goods.list": {},
    "fbs.orders.list": {},
    "statistics.orders.list": {"dateFrom": "2026-11-01"},
}

Report = Callable[[str], None]
TokenKindName = Literal["personal", "service", "basic"]


class Outcome(NamedTuple):
    """What a run left behind, as WB counted it and as we did."""

    tally: Tally
    crowded: int
    """The most 429s within the length of one window."""
    calls_per_grant: float

    @property
    def share_refused(self) -> float:
        """429s per request."""
        return self.tally.refused / self.tally.requests


class Run(NamedTuple):
    """One cell of the matrix: WB allows `wb` times what the registry says."""

    refill: Refill
    headers: HeaderStyle
    wb: float
    workers: int

    def __str__(self) -> str:
        registry = {1: "exact", 0.5: "too wide", 2: "too narrow"}[self.wb]
        return f"{self.refill} {self.headers}, registry {registry}, {self.workers} workers"


def wb_rule(times: float) -> Rule:
    """WB's row for the budget under test: `times` what the registry says, same burst."""
    limit = default_registry().budgets[BUDGET].limit_for(TokenKind.PERSONAL)
    return Rule(period=round(limit.period / times), limit=limit.limit, burst=limit.burst)


async def saturate(
    scenario: Scenario, workers: int, *, registry: Registry | None = None
) -> Outcome:
    """Ask for as much as the budget gives, from several tasks, for five minutes."""
    simulator = WbSimulator(scenario)
    limiter = WbRateLimiter(MemoryStore())
    transport = httpx.ASGITransport(simulator)
    client = WbApiClient(
        registry=registry, limiter=limiter, transport=transport, max_wait=3600, attempts=1_000
    )
    async with client as wb, wb.account(make_token("seller", "personal")) as seller:

        async def worker() -> None:
            while True:
                await seller.call("fbs.orders.list", params={"limit": 1, "next": 0})

        with anyio.move_on_after(300):
            async with anyio.create_task_group() as tasks:
                for _ in range(workers):
                    tasks.start_soon(worker)
    (tally,) = [tally for key, tally in simulator.tallies.items() if key.budget == BUDGET]
    total = limiter.statistics().total
    return Outcome(tally, crowded(simulator), total.store_calls / total.granted)


def crowded(simulator: WbSimulator) -> int:
    """The most 429s that fall within the length of one window."""
    window = wb_rule(1).window / SECOND
    moments = [entry.time for entry in simulator.log if entry.status == 429]
    counts = [sum(1 for other in moments if 0 <= other - one < window) for one in moments]
    return max(counts, default=0)


Play = Callable[[Run], Awaitable[Outcome]]


@pytest.fixture
def report(request: pytest.FixtureRequest) -> Report:
    """Lines for the end of the run: utilisation is to be seen, not only asserted."""
    return request.config.stash[report_key].append


@pytest.fixture
def play(report: Report) -> Play:
    """Run one cell, and report it."""

    async def play(run: Run) -> Outcome:
        scenario = Scenario(
            refill=run.refill,
            headers=run.headers,
            latency=LATENCY,
            rules={BUDGET: {"personal": wb_rule(run.wb)}},
        )
        outcome = await saturate(scenario, run.workers)
        tally = outcome.tally
        report(
            f"{run}: {tally.requests} requests, {tally.refused} 429s, utilisation"
            f" {tally.utilisation:.2%}, {outcome.calls_per_grant:.3f} store calls a permit"
        )
        return outcome

    return play


@pytest.mark.parametrize("workers", [1, 8])
@pytest.mark.parametrize("headers", STYLES)
async def test_an_exact_registry_earns_no_429_of_a_smooth_counter_and_uses_it_up(
    headers: HeaderStyle, workers: int, play: Play
) -> None:
    outcome = await play(Run("smooth", headers, 1, workers))
    assert outcome.tally.refused == 0
    assert outcome.tally.utilisation >= 0.99
    assert outcome.calls_per_grant <= 1.05


@pytest.mark.parametrize("workers", [1, 8])
async def test_an_exact_registry_earns_no_429_of_a_window_that_tells_its_end(
    workers: int, play: Play
) -> None:
    outcome = await play(Run("window", "full", 1, workers))
    assert outcome.tally.refused == 0


async def test_replies_later_than_our_refill_cost_one_429_of_a_window_and_not_one_each() -> None:
    budget = Rule(period=60 * SECOND, limit=100, burst=5)
    registry = Registry.load(
        shipped_folder(), overrides={"budgets": {BUDGET: {"personal": "100 / 1 min, burst 5"}}}
    )
    scenario = Scenario(
        refill="window",
        headers="full",
        latency=Latency(before=0.35, after=0.35),
        rules={BUDGET: {"personal": budget}},
    )
    outcome = await saturate(scenario, 8, registry=registry)
    assert outcome.tally.refused <= 1


@pytest.mark.parametrize("headers", ["gateway", "legacy"])
@pytest.mark.parametrize("workers", [1, 8])
async def test_a_window_that_tells_its_end_only_in_a_429_earns_at_most_one_a_window(
    headers: HeaderStyle, workers: int, play: Play
) -> None:
    outcome = await play(Run("window", headers, 1, workers))
    assert outcome.crowded <= 1


async def test_a_window_that_never_tells_its_end_is_learned_from_two_429s(play: Play) -> None:
    outcome = await play(Run("window", "none", 1, 1))
    assert outcome.crowded <= 2
    assert outcome.share_refused < 0.01


@pytest.mark.parametrize("headers", STYLES)
@pytest.mark.parametrize("refill", REFILLS)
async def test_a_registry_that_is_too_narrow_earns_next_to_no_429(
    refill: Refill, headers: HeaderStyle, play: Play
) -> None:
    outcome = await play(Run(refill, headers, 2, 8))
    # A window that hides its end refuses the request after the burst, once: the smooth refill
    # of the first seconds is what it does not know.
    assert outcome.tally.refused <= (0 if refill == "smooth" else 5)


@pytest.mark.parametrize("headers", STYLES)
@pytest.mark.parametrize("refill", REFILLS)
async def test_a_registry_that_is_too_wide_is_held_out_after_each_429(
    refill: Refill, headers: HeaderStyle, play: Play
) -> None:
    outcome = await play(Run(refill, headers, 0.5, 8))
    if refill == "smooth" and headers != "none":
        # The first 429 proves the slower interval.
        assert outcome.share_refused < 0.01
    elif headers != "none":
        # That a window is shorter than ours shows in nothing but the 429 at its end.
        assert outcome.crowded <= 1
    assert outcome.tally.utilisation >= (0.95 if refill == "smooth" else 0.8)


@pytest.mark.parametrize("workers", [1, 8])
@pytest.mark.parametrize("jitter", [0.0, 1.0])
async def test_a_stranger_on_the_budget_costs_one_429_and_nothing_of_what_he_leaves(
    workers: int, jitter: float, report: Report
) -> None:
    strangers = (Foreign(every=0.5, jitter=jitter),)
    outcome = await saturate(Scenario(latency=LATENCY, foreign=strangers), workers)
    tally = outcome.tally
    left = tally.admitted / (tally.allowed - tally.foreign)
    report(
        f"a stranger at 2 a second, jitter {jitter}, {workers} workers: {tally.requests} requests,"
        f" {tally.refused} 429s, {left:.1%} of what he leaves, {tally.foreign_refused} 429s of his"
    )
    assert outcome.share_refused < 0.01
    assert left >= 0.97


async def test_strangers_who_take_whole_bursts_cost_little_more_than_a_429_each(
    report: Report,
) -> None:
    outcome = await saturate(
        Scenario(latency=LATENCY, foreign=(Foreign(every=5, size=20),)), workers=8
    )
    report(f"a stranger's bursts of 20 every 5 s: {outcome.tally.refused} 429s in 60 bursts")
    assert outcome.tally.refused <= 1.2 * 60


async def test_a_whole_day_of_four_sellers_imports_passes_without_one_429(report: Report) -> None:
    stock = Stock(rows={"cards": 500, "prices": 1_500, "orders": 1_500, "statistics_orders": 500})
    simulator = WbSimulator(Scenario(latency=LATENCY, stock=stock))
    kinds: dict[str, TokenKindName] = {
        "first": "personal",
        "second": "personal",
        "third": "service",
        "fourth": "basic",
    }
    rows: Counter[str] = Counter()
    transport = httpx.ASGITransport(simulator)
    limiter = WbRateLimiter(MemoryStore())
    async with WbApiClient(limiter=limiter, transport=transport, max_wait=math.inf) as wb:

        async def import_daily(name: str, kind: TokenKindName) -> None:
            async with wb.account(make_token(name, kind)) as seller:
                for _ in range(24):
                    for operation in IMPORTED:
                        async for page in seller.pages(operation, params=IMPORTED[operation]):
                            rows[operation] += len(page.items)

        async with anyio.create_task_group() as tasks:
            for name, kind in kinds.items():
                tasks.start_soon(import_daily, name, kind)
    total = limiter.statistics().total
    report(
        f"a day of imports: {total.granted} requests, {sum(rows.values())} rows,"
        f" {total.penalized} 429s, {total.skipped / total.settled:.1%} of settlements skipped"
    )
    assert total.penalized == 0
    assert sum(tally.refused for tally in simulator.tallies.values()) == 0
    assert anyio.current_time() > 24 * 3600
