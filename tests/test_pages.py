"""Lists of a simulated WB, walked to their end: exactly its rows, whatever their number."""

from __future__ import annotations

import gc
from contextlib import aclosing
from typing import Any

import anyio
import httpx
import msgspec
import pytest

from tests.support.canned import TOKEN, Wb, ok
from wbtrio import (
    AccountScope,
    BadRequest,
    CallerError,
    CursorStuck,
    MethodGone,
    OperationId,
    RateLimited,
    ServerError,
    Undecodable,
    WbApiClient,
)
from wbtrio.simulator import Fault, FaultKind, Motion, Scenario, Stock, WbSimulator, make_token

pytestmark = pytest.mark.anyio

PERIOD = {"dateFrom": "2026-11-08", "dateTo": "2026-12-01"}
SELECTED = {"selectedPeriod": {"start": "2026-11-20", "end": "2026-12-01"}}
LAST_WEEK = {"dateFrom": "2026-11-25", "dateTo": "2026-11-30"}

LISTS: dict[str, tuple[str, dict[str, Any]]] = {
    "content.cards.list": ("cards", {}),
    "content.trash.list": ("trash", {}),
    "content.card_errors.list": ("card_errors", {}),
    "content.recommendations.list": ("recommendations", {}),
    "prices.goods.list": ("prices", {}),
    "prices.quarantine.list": ("quarantine", {}),
    "fbs.orders.list": ("orders", {}),
    "fbs.supplies.list": ("supplies", {}),
    "fbw.supplies.list": ("fbw_supplies", {}),
    "fbw.supply_goods.list": ("fbw_supply_goods", {"path": {"ID": 1}}),
    "analytics.order_feed.list": ("order_feed", {"json": SELECTED}),
    "analytics.funnel.list": ("funnel", {"json": SELECTED}),
    "analytics.wb_stocks.list": ("wb_stocks", {}),
    "finance.sales_reports.details": ("finance_details", {"json": PERIOD}),
    "finance.sales_reports.list": ("finance_reports", {"json": PERIOD}),
    "documents.documents.list": ("documents", {}),
    "reports.deductions.list": ("deductions", {"params": PERIOD}),
    "feedbacks.feedbacks.list": ("feedbacks", {}),
    "feedbacks.pins.list": ("pins", {}),
    "questions.questions.list": ("questions", {}),
    "returns.claims.list": ("claims", {}),
    "statistics.orders.list": ("statistics_orders", {"params": {"dateFrom": "2026-01-01"}}),
    "statistics.sales.list": ("statistics_sales", {"params": {"dateFrom": "2026-01-01"}}),
}
SIZE = 12
"""Rows a page in these tests; more than the rows that share a moment."""

CAPPED = {"statistics.orders.list", "statistics.sales.list"}


def simulator(**stock: Any) -> WbSimulator:
    return WbSimulator(Scenario(stock=Stock(**stock)))


def client_of(server: WbSimulator, **settings: Any) -> WbApiClient:
    return WbApiClient(transport=httpx.ASGITransport(server), **{"max_wait": 1e9, **settings})


def as_set(rows: list[Any]) -> list[bytes]:
    return sorted(msgspec.json.encode(row, order="sorted") for row in rows)


async def rows_of(seller: AccountScope, operation: OperationId, **how: Any) -> list[Any]:
    return [row async for row in seller.items(operation, **how)]


@pytest.mark.parametrize("total", [0, 1, SIZE, SIZE + 1, 5 * SIZE + 3])
@pytest.mark.parametrize("operation", sorted(LISTS))
async def test_a_walk_brings_exactly_the_rows_that_wb_has(
    operation: OperationId, total: int
) -> None:
    resource, how = LISTS[operation]
    caps = {resource: SIZE} if operation in CAPPED else {}
    server = simulator(rows={resource: total}, caps=caps)
    async with client_of(server) as wb, wb.account(TOKEN) as seller:
        pages = [page async for page in seller.pages(operation, limit=SIZE, **how)]
    rows = [row for page in pages for row in page.items]
    assert as_set(rows) == as_set(server.catalogue.rows("seller-1", resource))
    assert server.refused == 0
    assert [page.number for page in pages] == list(range(1, len(pages) + 1))
    assert [page.is_last for page in pages] == [False] * (len(pages) - 1) + [True]


@pytest.mark.parametrize("operation", sorted(LISTS))
async def test_the_default_page_is_the_largest_that_wb_gives(operation: OperationId) -> None:
    resource, how = LISTS[operation]
    server = simulator(rows={resource: 60})
    async with client_of(server) as wb, wb.account(TOKEN) as seller:
        rows = await rows_of(seller, operation, **how)
    assert as_set(rows) == as_set(server.catalogue.rows("seller-1", resource))


async def test_chat_events_are_walked_by_their_nested_cursor() -> None:
    server = simulator(rows={"chat_events": 30}, caps={"chat_events": 10})
    async with client_of(server) as wb, wb.account(TOKEN) as seller:
        rows = await rows_of(seller, "chat.events.list")
    assert as_set(rows) == as_set(server.catalogue.rows("seller-1", "chat_events"))


async def test_campaigns_are_asked_by_their_ids_in_chunks() -> None:
    server = simulator(rows={"campaigns": 120})
    owed = server.catalogue.rows("seller-1", "campaigns")
    async with client_of(server) as wb, wb.account(TOKEN) as seller:
        mentions = await rows_of(seller, "promotion.campaigns.count")
        ids = [mention["advertId"] for mention in mentions]
        pages = [page async for page in seller.pages("promotion.campaigns.list", ids=ids)]
    assert [len(page.items) for page in pages] == [50, 50, 20]
    assert len(owed) == 120


@pytest.mark.parametrize(
    ("operation", "resource", "params"),
    [
        ("reports.warehouse_remains.create", "remains", {}),
        ("reports.paid_storage.create", "paid_storage", LAST_WEEK),
    ],
)
@pytest.mark.parametrize("total", [0, 40])
async def test_a_report_is_made_waited_for_and_downloaded(
    operation: OperationId, resource: str, params: dict[str, Any], total: int
) -> None:
    server = simulator(rows={resource: total})
    async with client_of(server) as wb, wb.account(TOKEN) as seller:
        rows = await rows_of(seller, operation, params=params)
    assert as_set(rows) == as_set(server.catalogue.rows("seller-1", resource))
    asked = [entry.operation.rpartition(".")[2] for entry in server.log]
    assert asked == ["create", "status", "status", "download"]


async def test_a_report_under_an_id_of_ones_own_comes_as_a_file() -> None:
    server = simulator(rows={"csv": 3})
    order = {"id": "0b3c", "reportType": "DETAIL_HISTORY_REPORT", "params": {}}
    async with client_of(server) as wb, wb.account(TOKEN) as seller:
        files = await rows_of(seller, "analytics.csv_reports.create", json=order, type=bytes)
    assert [file[:4] for file in files] == [b"PK\x03\x04"]


async def test_a_report_that_wb_gave_up_is_an_error() -> None:
    server = Wb(ok({"data": {"taskId": "t", "status": "canceled"}}))
    async with server.client() as wb, wb.account(TOKEN) as seller:
        pages = seller.pages("reports.warehouse_remains.create")
        with pytest.raises(ServerError, match="canceled"):
            await pages.__anext__()


async def test_a_cursor_that_sticks_is_an_error_after_two_requests() -> None:
    """Field case WB-053."""
    server = simulator(rows={"cards": 300}, stuck=frozenset({"cards"}))
    brought: list[Any] = []
    async with client_of(server) as wb, wb.account(TOKEN) as seller:
        pages = seller.pages("content.cards.list")
        brought += (await pages.__anext__()).items
        brought += (await pages.__anext__()).items
        with pytest.raises(CursorStuck) as stuck:
            await pages.__anext__()
    assert (len(server.log), len(brought)) == (2, 200)
    assert (stuck.value.operation, stuck.value.account) == ("content.cards.list", "seller-1")


async def test_cards_that_change_while_they_are_read_come_once_and_none_is_lost() -> None:
    server = simulator(rows={"cards": 250}, motions=(Motion("cards", every=0.3),))
    async with client_of(server) as wb, wb.account(TOKEN) as seller:
        rows = await rows_of(seller, "content.cards.list", limit=10)
        now = anyio.current_time()
    ids = [row["nmID"] for row in rows]
    owed = {row["nmID"] for row in server.catalogue.rows("seller-1", "cards", now)}
    assert len(ids) == len(set(ids))
    assert owed <= set(ids)


async def test_a_kept_cursor_brings_only_what_changed_since() -> None:
    server = simulator(rows={"cards": 120}, motions=(Motion("cards", every=3_600, how="add"),))
    async with client_of(server) as wb, wb.account(TOKEN) as seller:
        cursor = None
        async for page in seller.pages("content.cards.list"):
            cursor = page.cursor
        await anyio.sleep(3 * 3_600 + 1)
        again = await rows_of(seller, "content.cards.list", cursor=cursor)
    assert len(again) == 3


class Order(msgspec.Struct):
    id: int
    created_at: str = msgspec.field(name="createdAt")
    nothing_such: int | None = None


async def test_rows_come_typed() -> None:
    server = simulator(rows={"orders": 5})
    async with client_of(server) as wb, wb.account(TOKEN) as seller:
        orders = [order async for order in seller.items("fbs.orders.list", type=Order)]
    assert [type(order) for order in orders] == [Order] * 5


class Wrong(msgspec.Struct):
    id: str


async def test_rows_of_another_shape_are_an_error_that_names_the_place() -> None:
    server = simulator(rows={"orders": 5})
    async with client_of(server) as wb, wb.account(TOKEN) as seller:
        with pytest.raises(Undecodable) as misfit:
            await rows_of(seller, "fbs.orders.list", type=Wrong)
    assert "fbs.orders.list" in str(misfit.value)
    assert "$[0].id" in str(misfit.value)
    assert "`orders`" in str(misfit.value)


async def test_a_reply_without_its_list_is_an_error_and_no_empty_page() -> None:
    async with Wb(ok({"unexpected": []})).client() as wb, wb.account(TOKEN) as seller:
        with pytest.raises(Undecodable, match="no list at `orders`"):
            await rows_of(seller, "fbs.orders.list")


@pytest.mark.parametrize("kind", [FaultKind.DEPRECATED])
async def test_a_removed_method_fails_loudly_and_never_ends_as_zero_rows(kind: FaultKind) -> None:
    """Field cases WB-008 and WB-009."""
    server = WbSimulator(Scenario(faults=(Fault(kind),)))
    async with client_of(server) as wb, wb.account(TOKEN) as seller:
        with pytest.raises(MethodGone) as gone:
            await rows_of(seller, "content.cards.list")
    assert gone.value.link
    assert len(server.log) == 1


async def test_a_walk_that_met_a_limit_goes_on_at_the_same_page() -> None:
    server = simulator(rows={"statistics_orders": 30}, caps={"statistics_orders": 12})
    basic = make_token("seller-1", "basic")
    got: list[Any] = []
    resumes: list[float] = []
    async with client_of(server, max_wait=60) as wb, wb.account(basic) as seller:
        pages = seller.pages("statistics.orders.list", params={"dateFrom": "2026-01-01"}, limit=12)
        while True:
            try:
                got += (await pages.__anext__()).items
            except RateLimited as parked:
                resumes.append(parked.retry_after)
                await anyio.sleep(parked.retry_after)
            except StopAsyncIteration:
                break
    assert as_set(got) == as_set(server.catalogue.rows("seller-1", "statistics_orders"))
    assert resumes == pytest.approx([3 * 3_600] * 3)
    assert server.refused == 0


async def test_an_offset_that_fell_behind_the_lists_end_begins_again_once() -> None:
    """Field case WB-034: rows that leave the list make WB refuse the next offset."""
    rows = [{"id": str(number)} for number in range(4)]

    def page(*numbers: int) -> httpx.Response:
        return ok({"data": {"feedbacks": [rows[number] for number in numbers]}})

    refused = httpx.Response(422, json={"errorText": "skip"})
    helped = (page(0, 1), refused, page(1, 2), page(3))
    in_vain = (page(0, 1), refused, page(1, 2), refused, page(0, 1))
    server = Wb(*helped, *in_vain)
    how: dict[str, Any] = {"params": {"isAnswered": False}, "limit": 2}
    async with server.client() as wb, wb.account(TOKEN) as seller:
        got = await rows_of(seller, "feedbacks.feedbacks.list", **how)
        with pytest.raises(BadRequest):
            await rows_of(seller, "feedbacks.feedbacks.list", **how)
    assert got == rows
    skips = [request.url.params["skip"] for request in server.requests]
    assert skips == ["0", "2", "0", "2"] * 2


async def test_pages_left_half_way_leave_nothing_behind() -> None:
    server = simulator(rows={"cards": 300})
    async with client_of(server) as wb, wb.account(TOKEN) as seller:
        async for page in seller.pages("content.cards.list", limit=10):
            assert page.items
            break
        async for _ in seller.items("content.cards.list", limit=10):
            break
        async with aclosing(seller.items("content.cards.list")) as items:
            assert await items.__anext__()
        with pytest.raises(StopAsyncIteration):
            await items.__anext__()
        # trio warns of async generators that are left to the collector; warnings are errors here.
        gc.collect()
        await anyio.lowlevel.checkpoint()
    assert len(server.log) == 3


async def test_pages_are_not_for_two_tasks_at_once() -> None:
    async with client_of(simulator()) as wb, wb.account(TOKEN) as seller:
        pages = seller.pages("content.cards.list")
        outcomes: list[str] = []

        async def read() -> None:
            try:
                await pages.__anext__()
            except CallerError:
                outcomes.append("refused")
            else:
                outcomes.append("page")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            tasks.start_soon(read)
    assert sorted(outcomes) == ["page", "refused"]


@pytest.mark.parametrize(
    ("operation", "how", "message"),
    [
        ("general.ping", {}, "no list"),
        ("statistics.orders.list", {}, "dateFrom"),
        ("content.cards.list", {"limit": 101}, "1 to 100"),
        ("reports.paid_storage.create", {}, "dateFrom"),
    ],
)
async def test_a_walk_that_cannot_be_is_refused_at_once(
    operation: OperationId, how: dict[str, Any], message: str
) -> None:
    async with client_of(simulator()) as wb, wb.account(TOKEN) as seller:
        with pytest.raises(CallerError, match=message):
            seller.pages(operation, **how)
