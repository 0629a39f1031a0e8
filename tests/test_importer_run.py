"""Imports from a simulated WB: exactly its rows, in as many runs as it takes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from tests.support.importing import (
    BASIC,
    OTHER,
    SINCE,
    TODAY,
    TOKEN,
    as_set,
    rows_in,
    run_import,
    simulator,
    virtual_now,
)
from wbtrio import CallerError, TokenMalformed, WbError
from wbtrio.importer import (
    RESOURCES,
    Event,
    Forecast,
    ListSource,
    NdjsonSink,
    PageStored,
    SourceEnded,
    SourceKey,
    SourceStarted,
    Status,
)
from wbtrio.simulator import Fault, FaultKind, Motion, Scenario, Stock, WbSimulator, make_token

pytestmark = pytest.mark.anyio

OF_SIMULATOR = {
    "orders": "statistics_orders",
    "sales": "statistics_sales",
    "fbs_orders": "orders",
    "fbs_supplies": "supplies",
    "warehouse_remains": "remains",
}
"""Names that the simulator has for some resources."""
WHOLE = (
    *("cards", "trash", "card_errors", "recommendations", "prices", "quarantine", "orders"),
    *("sales", "order_feed", "wb_stocks", "fbs_supplies", "fbw_supplies", "finance_reports"),
    *("documents", "deductions", "feedbacks", "questions", "pins", "claims", "chats"),
    *("chat_events", "warehouse_remains", "campaigns", "warehouses", "fbs_orders"),
    "finance_details",
)
LONG_AGO = TODAY - timedelta(days=25)


def owed(server: WbSimulator, name: str, account: str = "seller-1") -> list[Any]:
    return server.catalogue.rows(account, OF_SIMULATOR.get(name, name))


async def test_every_resource_of_two_sellers_is_imported_whole_at_once(tmp_path: Path) -> None:
    server = simulator(default_rows=230)
    summary = await run_import(server, tmp_path, WHOLE, tokens=[TOKEN, OTHER], since=LONG_AGO)
    assert {one.status for one in summary.sources} == {Status.DONE}
    assert summary.exit_code == 0
    for account in ("seller-1", "seller-2"):
        for name in WHOLE:
            assert as_set(rows_in(tmp_path, name, account)) == as_set(
                owed(server, name, account)
            ), name
    assert server.refused == 0


async def test_every_named_resource_can_be_imported(tmp_path: Path) -> None:
    server = simulator(default_rows=20)
    summary = await run_import(server, tmp_path, list(RESOURCES))
    assert {one.key.source: one.error for one in summary.sources if one.error} == {}
    assert all(one.rows > 0 for one in summary.sources)


async def test_a_failing_source_does_not_stop_the_others(tmp_path: Path) -> None:
    gone = Fault(kind=FaultKind.DEPRECATED, operation="prices.goods.list")
    server = WbSimulator(Scenario(stock=Stock(default_rows=150), faults=(gone,)))
    summary = await run_import(server, tmp_path, ["cards", "prices", "pins"])
    by_name = {one.key.source: one for one in summary.sources}
    assert [by_name[name].status for name in ("cards", "prices", "pins")] == [
        Status.DONE,
        Status.FAILED,
        Status.DONE,
    ]
    assert "removed" in by_name["prices"].error
    assert len(rows_in(tmp_path, "cards")) == 150
    assert summary.exit_code == 3


async def test_an_expired_token_fails_its_seller_alone(tmp_path: Path) -> None:
    old = make_token("seller-3", expires=TODAY - timedelta(days=400))
    summary = await run_import(
        simulator(default_rows=5), tmp_path, ["cards", "pins"], tokens=[TOKEN, old]
    )
    states = {(one.key.account, one.status) for one in summary.sources}
    assert states == {("seller-1", Status.DONE), ("seller-3", Status.FAILED)}
    assert all("expired" in one.error for one in summary.sources if one.error)
    assert old not in repr(summary)


class FullDisk(NdjsonSink):
    async def write(self, key: SourceKey, rows: Sequence[Any]) -> None:
        if key.source == "pins":
            raise OSError(28, "No space left on device")
        await super().write(key, rows)


async def test_a_sink_that_fails_fails_that_source_alone(tmp_path: Path) -> None:
    async with FullDisk(tmp_path, threads=False) as sink:
        summary = await run_import(
            simulator(default_rows=5), tmp_path, ["cards", "pins"], sink=sink
        )
    assert [one.status for one in summary.sources] == [Status.DONE, Status.FAILED]
    assert "No space left" in summary.sources[1].error


ORDERS = msgspec.structs.replace(RESOURCES["orders"], limit=60)
"""Statistics states no page size but its own cap of 80,000 rows; the simulator's is lowered."""


async def test_a_hold_beyond_max_wait_parks_the_source_and_the_next_run_goes_on_from_there(
    tmp_path: Path,
) -> None:
    # One page in three hours on a basic token.
    server = simulator(rows={"statistics_orders": 130}, caps={"statistics_orders": 60})
    how: dict[str, Any] = {"tokens": [BASIC], "budgets": True, "patience": 600.0}
    first = await run_import(server, tmp_path, [ORDERS], **how)
    (parked,) = first.sources
    assert (parked.status, parked.rows, first.exit_code) == (Status.DEFERRED, 60, 75)
    assert parked.budget == "statistics.orders.list"
    assert first.resume_at == parked.resume_at is not None
    assert abs(parked.resume_at - (TODAY + timedelta(hours=3))) < timedelta(seconds=1)
    asked = len(server.log)

    await anyio.sleep(3_600)
    too_early = await run_import(server, tmp_path, [ORDERS], **how)
    assert too_early.exit_code == 75
    assert len(server.log) == asked, "a run before its time sends nothing"

    rows: set[int] = set()
    for _ in range(3):
        await anyio.sleep(3 * 3_600)
        last = await run_import(server, tmp_path, [ORDERS], **how)
        rows.add(last.sources[0].total)
    assert last.exit_code == 0
    assert max(rows) == 130
    assert as_set(rows_in(tmp_path, "orders")) == as_set(owed(server, "orders"))
    assert server.refused == 0
    times = [entry.time for entry in server.log]
    assert all(later - sooner >= 3 * 3_600 for sooner, later in itertools.pairwise(times))


async def test_a_parked_run_waits_for_its_moment_when_that_is_near(tmp_path: Path) -> None:
    server = simulator(rows={"statistics_orders": 80}, caps={"statistics_orders": 60})
    how: dict[str, Any] = {"tokens": [BASIC]}
    first = await run_import(server, tmp_path, [ORDERS], patience=600.0, **how)
    assert first.exit_code == 75
    # Without budgets in a file the checkpoint alone knows when.
    await anyio.sleep(3 * 3_600 - 300)
    last = await run_import(server, tmp_path, [ORDERS], patience=600.0, **how)
    assert last.exit_code == 0
    assert server.log[-1].time >= 3 * 3_600
    assert server.refused == 0


async def test_a_deferred_report_is_fetched_by_the_next_run_and_not_made_again(
    tmp_path: Path,
) -> None:
    # On a basic token each step of a report has a budget of a few requests an hour.
    server = simulator(rows={"remains": 40})
    how: dict[str, Any] = {"tokens": [BASIC], "budgets": True, "patience": 10.0}
    runs = 0
    exit_code = 75
    while exit_code == 75 and runs < 10:
        exit_code = (await run_import(server, tmp_path, ["warehouse_remains"], **how)).exit_code
        runs += 1
        await anyio.sleep(3_600)
    assert exit_code == 0
    assert runs > 1
    asked = [entry.operation.rpartition(".")[2] for entry in server.log]
    assert asked.count("create") == 1
    assert len(rows_in(tmp_path, "warehouse_remains")) == 40
    assert server.refused == 0


async def test_a_report_that_wb_has_thrown_away_is_made_again(tmp_path: Path) -> None:
    how: dict[str, Any] = {"tokens": [BASIC], "budgets": True, "patience": 10.0}
    first = await run_import(
        simulator(rows={"remains": 40}), tmp_path, ["warehouse_remains"], **how
    )
    assert first.exit_code == 75
    await anyio.sleep(7_200)
    forgetful = simulator(rows={"remains": 40})
    last = await run_import(
        forgetful, tmp_path, ["warehouse_remains"], **{**how, "patience": 7_200.0}
    )
    assert last.exit_code == 0, last
    assert [entry.operation.rpartition(".")[2] for entry in forgetful.log][:2] == [
        "status",
        "create",
    ]
    assert len(rows_in(tmp_path, "warehouse_remains")) == 40


@pytest.mark.parametrize("name", ["cards", "orders", "chat_events"])
async def test_a_finished_import_that_continues_brings_what_is_new_and_nothing_twice(
    tmp_path: Path, name: str
) -> None:
    resource = OF_SIMULATOR.get(name, name)
    motion = Motion(resource, every=600.0, how="add")
    server = simulator(rows={resource: 120}, motions=(motion,))
    sizes = []
    for _ in range(3):
        summary = await run_import(server, tmp_path, [name])
        sizes.append(summary.sources[0].rows)
        await anyio.sleep(2_000)
    assert sizes == [120, 3, 3]
    rows = rows_in(tmp_path, name)
    assert len(rows) == sum(sizes) == len(set(as_set(rows)))


async def test_a_finished_import_of_a_list_without_cursor_begins_anew(tmp_path: Path) -> None:
    motion = Motion("prices", every=600.0, how="remove")
    server = simulator(rows={"prices": 40}, motions=(motion,))
    await run_import(server, tmp_path, ["prices"])
    assert len(rows_in(tmp_path, "prices")) == 40
    await anyio.sleep(1_300)
    await run_import(server, tmp_path, ["prices"])
    assert as_set(rows_in(tmp_path, "prices")) == as_set(
        server.catalogue.rows("seller-1", "prices", server.now())
    )
    assert len(rows_in(tmp_path, "prices")) == 38


async def test_an_interrupted_offset_walk_begins_anew_and_leaves_no_row_twice(
    tmp_path: Path,
) -> None:
    fault = Fault(
        kind=FaultKind.SERVER_ERROR, operation="documents.documents.list", skip=3, times=1
    )
    server = WbSimulator(Scenario(stock=Stock(rows={"documents": 330}), faults=(fault,)))
    first = await run_import(server, tmp_path, ["documents"])
    assert (first.sources[0].status, first.sources[0].rows) == (Status.FAILED, 0)
    second = await run_import(server, tmp_path, ["documents"])
    assert second.sources[0].rows == 330
    assert as_set(rows_in(tmp_path, "documents")) == as_set(owed(server, "documents"))


async def test_an_interrupted_import_of_windows_goes_on_at_the_window_it_stood_in(
    tmp_path: Path,
) -> None:
    fault = Fault(kind=FaultKind.SERVER_ERROR, operation="fbs.orders.list", skip=2, times=1)
    server = WbSimulator(Scenario(stock=Stock(rows={"orders": 300}), faults=(fault,)))
    since = TODAY - timedelta(days=80)
    first = await run_import(server, tmp_path, ["fbs_orders"], since=since)
    assert first.sources[0].status is Status.FAILED
    asked = len(server.log)
    await run_import(server, tmp_path, ["fbs_orders"], since=since)
    assert len(server.log) - asked == 1, "two of three windows are not asked for again"
    assert as_set(rows_in(tmp_path, "fbs_orders")) == as_set(owed(server, "fbs_orders"))


async def test_an_interrupted_import_keeps_the_span_that_it_began_with(tmp_path: Path) -> None:
    fault = Fault(kind=FaultKind.SERVER_ERROR, operation="fbs.orders.list", skip=1, times=1)
    server = WbSimulator(Scenario(stock=Stock(rows={"orders": 90}), faults=(fault,)))
    await run_import(server, tmp_path, ["fbs_orders"], since=TODAY - timedelta(days=60))
    await run_import(server, tmp_path, ["fbs_orders"], since=TODAY, until=TODAY)
    assert as_set(rows_in(tmp_path, "fbs_orders")) == as_set(owed(server, "fbs_orders"))


async def test_each_step_is_told_and_a_wait_is_foretold(tmp_path: Path) -> None:
    server = simulator(
        rows={"statistics_orders": 70, "cards": 2_050}, caps={"statistics_orders": 60}
    )
    events: list[Event] = []
    await run_import(
        server,
        tmp_path,
        [ORDERS, "cards"],
        tokens=[BASIC],
        on_event=events.append,
        expected_rows={"cards": 2_050},
    )
    orders = SourceKey("seller-1", "orders")
    told = [event for event in events if event.key == orders]
    steps = [type(event) for event in told if not isinstance(event, Forecast)]
    assert steps == [SourceStarted, PageStored, PageStored, SourceEnded]
    pages = [event for event in told if isinstance(event, PageStored)]
    assert [page.total for page in pages] == [60, 70]
    assert pages[1].waited == pytest.approx(3 * 3_600, abs=1)
    waits = [event for event in told if isinstance(event, Forecast)]
    assert any(
        one.budget == "statistics.orders.list" and one.next_at - TODAY > timedelta(hours=2)
        for one in waits
    )
    forecasts = [event for event in events if isinstance(event, Forecast)]
    cards = [event for event in forecasts if event.key.source == "cards"]
    assert cards[0].ready_at is not None
    ended = (cards[0].ready_at - TODAY).total_seconds()
    assert ended == pytest.approx((21 - 5) * 0.6, rel=0.02), "the forecast comes from the plan"
    assert virtual_now() - TODAY >= timedelta(hours=3)


async def test_without_prefetch_a_page_is_asked_for_after_the_one_before_is_stored(
    tmp_path: Path,
) -> None:
    class Slow(NdjsonSink):
        async def commit(self, key: SourceKey, checkpoint: Any) -> None:
            await anyio.sleep(60)
            await super().commit(key, checkpoint)

    times: list[list[float]] = []
    for prefetch in (0, 1):
        server = simulator(rows={"cards": 250})
        folder = tmp_path / str(prefetch)
        async with Slow(folder, threads=False) as sink:
            await run_import(server, folder, ["cards"], sink=sink, prefetch=prefetch)
        times.append([round(entry.time / 60) for entry in server.log])
    assert times == [[0, 1, 2], [0, 0, 1]]


async def test_what_cannot_be_imported_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    server = simulator()
    for tokens, resources in [
        ([], ["cards"]),
        ([TOKEN], []),
        ([TOKEN], ["cards", "cards"]),
        ([TOKEN, BASIC], ["cards"]),
        ([TOKEN], ["no.such.thing"]),
        ([TOKEN], ["general.ping"]),
        ([TOKEN], ["fbs.archive.list"]),
    ]:
        with pytest.raises(CallerError):
            await run_import(server, tmp_path, resources, tokens=tokens)
    with pytest.raises(TokenMalformed):
        await run_import(server, tmp_path, ["cards"], tokens=["no token"])
    assert not server.log


async def test_a_source_of_ones_own_is_imported_with_its_own_parameters(tmp_path: Path) -> None:
    server = simulator(rows={"fbw_supply_goods": 30})
    goods = ListSource(name="goods", operation="fbw.supply_goods.list", path={"ID": 1})
    summary = await run_import(server, tmp_path, [goods])
    assert summary.sources[0].rows == 30
    wrong = ListSource(name="wrong", operation="prices.goods.list", continues=True)
    failed = await run_import(server, tmp_path, [wrong])
    assert "cannot be continued" in failed.sources[0].error


async def test_a_cancelled_import_leaves_what_it_committed(tmp_path: Path) -> None:
    server = simulator(rows={"statistics_orders": 130}, caps={"statistics_orders": 60})
    with anyio.move_on_after(3_700) as scope:
        await run_import(server, tmp_path, [ORDERS], tokens=[BASIC])
    assert scope.cancelled_caught
    assert len(rows_in(tmp_path, "orders")) == 60
    await anyio.sleep(3 * 3_600)
    await run_import(server, tmp_path, [ORDERS], tokens=[BASIC])
    assert as_set(rows_in(tmp_path, "orders")) == as_set(owed(server, "orders"))


async def test_rows_keep_the_value_of_every_field(tmp_path: Path) -> None:
    server = simulator(rows={"finance_details": 40})
    await run_import(server, tmp_path, ["finance_details"], since=SINCE)
    assert rows_in(tmp_path, "finance_details") == owed(server, "finance_details")
    assert issubclass(WbError, Exception)
