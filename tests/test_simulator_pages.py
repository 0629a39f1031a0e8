"""WB's offsets, chunks and reports, as the simulator has them: exact row sets, and the traps."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest

from tests.support.shopper import NOVEMBER, SIZES, Json, Shopper, dig, same_rows
from wbtrio.simulator import Motion
from wbtrio.simulator.tasks import KEPT, WORKING
from wbtrio.simulator.visit import Call

OFFSET_LISTS = pytest.mark.parametrize(
    ("method", "path", "items", "name", "query", "body"),
    [
        ("GET", "/api/v2/list/goods/filter", "data.listGoods", "prices", {}, None),
        ("GET", "/api/v2/quarantine/goods", "data.quarantineGoods", "quarantine", {}, None),
        ("POST", "/api/v1/supplies", "", "fbw_supplies", {}, {"offset": 7, "limit": 1}),
        ("GET", "/api/analytics/v1/deductions", "data.reports", "deductions", NOVEMBER, None),
        ("GET", "/api/analytics/v1/item-returns", "report", "item_returns", NOVEMBER, None),
        (
            "GET",
            "/api/v1/calendar/promotions",
            "data.promotions",
            "promotions",
            {"startDateTime": "2026-11-01", "endDateTime": "2026-12-01", "allPromo": "true"},
            None,
        ),
        (
            "POST",
            "/api/analytics/v3/sales-funnel/products",
            "data.products",
            "funnel",
            None,
            {"selectedPeriod": {"start": "2026-11-01", "end": "2026-11-30"}},
        ),
        (
            "POST",
            "/api/analytics/v1/stocks-report/wb-warehouses",
            "data.items",
            "wb_stocks",
            None,
            {},
        ),
        (
            "POST",
            "/api/analytics/v1/stocks-report/seller-warehouses",
            "data.items",
            "seller_stocks",
            None,
            {},
        ),
    ],
)


@SIZES
@OFFSET_LISTS
def test_offsets_walk_to_the_exact_set(
    method: str,
    path: str,
    items: str,
    name: str,
    query: dict[str, str] | None,
    body: Json,
    size: int,
) -> None:
    shopper = Shopper(rows={name: size})
    found: list[Json] = []
    while True:
        place = {"limit": 100, "offset": len(found)}
        if query is None:
            page = dig(shopper.page(method, path, None, {**body, **place}), items)
        else:
            page = dig(shopper.page(method, path, {**query, **place}, body), items)
        found += page
        if len(page) < 100:
            break
    assert found == shopper.expected(name)[::-1]


def test_goods_of_a_supply_and_documents_have_small_default_pages() -> None:
    shopper = Shopper(rows={"fbw_supply_goods": 150, "documents": 80})
    goods = shopper.page("GET", "/api/v1/supplies/{ID}/goods", {}, ID="1")
    documents = shopper.page("GET", "/api/v1/documents/list", {})
    assert len(goods) == 100
    assert len(documents["data"]["documents"]) == 50


def test_rows_that_come_meanwhile_shift_the_pages_of_an_offset_walk() -> None:
    shopper = Shopper(rows={"prices": 200}, motions=(Motion("prices", every=1, how="add"),))
    path = "/api/v2/list/goods/filter"
    first = shopper.page("GET", path, {"limit": 100})["data"]["listGoods"]
    shopper.now = 5_000_000
    second = shopper.page("GET", path, {"limit": 100, "offset": 100})["data"]["listGoods"]
    repeated = {row["nmID"] for row in first} & {row["nmID"] for row in second}
    assert len(repeated) == 5


def test_claims_are_split_by_archive_and_counted() -> None:
    shopper = Shopper(rows={"claims": 9})
    pages = [
        shopper.page("GET", "/api/v1/claims", {"is_archive": archived, "limit": 200})
        for archived in ("false", "true")
    ]
    assert [page["total"] for page in pages] == [len(page["claims"]) for page in pages]
    assert same_rows(pages[0]["claims"] + pages[1]["claims"], shopper.expected("claims"))


@SIZES
@pytest.mark.parametrize(
    ("path", "name"), [("/api/v1/feedbacks", "feedbacks"), ("/api/v1/questions", "questions")]
)
def test_both_passes_of_a_skip_walk_give_the_exact_set(path: str, name: str, size: int) -> None:
    shopper = Shopper(rows={name: size})
    found: list[Json] = []
    for answered in ("true", "false"):
        skip = 0
        while True:
            query = {"isAnswered": answered, "take": 50, "skip": skip, "order": "dateAsc"}
            page = shopper.page("GET", path, query)["data"][name]
            found += page
            skip += len(page)
            if len(page) < 50:
                break
    assert same_rows(found, shopper.expected(name))


def test_feedbacks_come_newest_first_unless_asked_otherwise() -> None:
    shopper = Shopper()
    query = {"isAnswered": "true", "take": 10, "skip": 0}
    page = shopper.page("GET", "/api/v1/feedbacks", query)["data"]["feedbacks"]
    moments = [row["createdDate"] for row in page]
    assert moments == sorted(moments, reverse=True)


def test_removed_rows_make_an_offset_walk_miss_some() -> None:
    shopper = Shopper(rows={"feedbacks": 300}, motions=(Motion("feedbacks", 1, "remove"),))
    query = {"isAnswered": "true", "take": 100, "skip": 0, "order": "dateAsc"}
    first = shopper.page("GET", "/api/v1/feedbacks", query)["data"]["feedbacks"]
    shopper.now = 60_000_000
    second = shopper.page("GET", "/api/v1/feedbacks", {**query, "skip": 100})["data"]["feedbacks"]
    left = {row["id"] for row in shopper.expected("feedbacks") if row["answer"]}
    assert not left <= {row["id"] for row in first + second}


@SIZES
def test_chat_events_end_with_a_total_of_zero(size: int) -> None:
    shopper = Shopper(rows={"chat_events": size})
    found: list[Json] = []
    query: dict[str, Any] = {}
    while True:
        result = shopper.page("GET", "/api/v1/seller/events", query)["result"]
        assert result["totalEvents"] == len(result["events"])
        if result["totalEvents"] == 0:
            break
        found += result["events"]
        query = {"next": result["next"]}
    assert found == shopper.expected("chat_events")


def test_recommendations_take_next_in_the_body() -> None:
    shopper = Shopper(rows={"recommendations": 50})
    path = "/api/content/v1/recommendations/list"
    first = shopper.page("POST", path, {"next": 10**12}, {"limit": 30, "next": 0})
    second = shopper.page("POST", path, None, {"limit": 30, "next": first["next"]})
    assert len(shopper.page("POST", path, None, {})["data"]) == 20
    assert first["data"] + second["data"] == shopper.expected("recommendations")
    assert second["next"] == 0


def test_chunks_give_the_rows_of_the_ids_that_exist() -> None:
    shopper = Shopper(rows={"campaigns": 8})
    groups = shopper.page("GET", "/adv/v1/promotion/count")
    ids = [item["advertId"] for group in groups["adverts"] for item in group["advert_list"]]
    asked = ",".join(map(str, [*ids, 1]))
    rows = shopper.page("GET", "/api/advert/v2/adverts", {"ids": asked})["adverts"]
    assert groups["all"] == 8
    assert [row["id"] for row in rows] == ids


def test_statistics_come_of_campaigns_that_have_run() -> None:
    shopper = Shopper(rows={"campaigns": 8})
    ids = [row["advertId"] for row in shopper.expected("campaigns")]
    query = {
        "ids": ",".join(map(str, ids)),
        "beginDate": "2026-11-01",
        "endDate": "2026-11-30",
    }
    rows = shopper.page("GET", "/adv/v3/fullstats", query)
    assert len(rows) == 6
    assert {row["advertId"] for row in rows} < set(ids)


def test_the_funnels_history_is_asked_for_by_product() -> None:
    shopper = Shopper(rows={"funnel_history": 30})
    ids = [row["product"]["nmId"] for row in shopper.expected("funnel_history")][:20]
    body = {"nmIds": ids, "selectedPeriod": {"start": "2026-11-25", "end": "2026-11-30"}}
    rows = shopper.page("POST", "/api/analytics/v3/sales-funnel/products/history", None, body)
    assert [row["product"]["nmId"] for row in rows] == ids


@pytest.mark.parametrize(
    ("path", "name", "query"),
    [
        ("/api/v1/warehouse_remains", "remains", {}),
        (
            "/api/v1/paid_storage",
            "paid_storage",
            {"dateFrom": "2026-11-20", "dateTo": "2026-11-27"},
        ),
        ("/api/v1/acceptance_report", "acceptance", NOVEMBER),
    ],
)
def test_a_report_is_made_kept_and_thrown_away(path: str, name: str, query: dict[str, str]) -> None:
    shopper = Shopper()
    status, download = f"{path}/tasks/{{task_id}}/status", f"{path}/tasks/{{task_id}}/download"
    task_id = shopper.page("GET", path, query)["data"]["taskId"]
    states = []
    for moment in (0, WORKING, 2 * WORKING, KEPT + 1):
        shopper.now = moment
        states.append(shopper.page("GET", status, task_id=task_id)["data"]["status"])
        found, rows = shopper.ask("GET", download, task_id=task_id)
        assert found == (200 if states[-1] == "done" else 404)
        if found == 200:
            assert rows == shopper.expected(name)
    assert states == ["new", "processing", "done", "purged"]
    assert shopper.ask("GET", status, task_id="unknown")[0] == 404


def test_a_report_without_rows_is_204() -> None:
    shopper = Shopper(rows={"remains": 0})
    path = "/api/v1/warehouse_remains"
    task_id = shopper.page("GET", path)["data"]["taskId"]
    shopper.now = 2 * WORKING
    assert shopper.ask("GET", f"{path}/tasks/{{task_id}}/download", task_id=task_id) == (204, None)


def test_a_csv_report_is_a_zip_under_an_id_of_ones_own() -> None:
    shopper = Shopper(rows={"csv": 5})
    path = "/api/v2/nm-report/downloads"
    order = {"id": "mine", "reportType": "DETAIL_HISTORY_REPORT", "params": {"x": 1}}
    shopper.page("POST", path, None, order)
    assert shopper.ask("POST", path, None, order)[0] == 400
    shopper.now = 2 * WORKING
    (state,) = shopper.page("GET", path, {"filter[downloadIds]": "mine"})["data"]
    assert (state["id"], state["status"]) == ("mine", "SUCCESS")
    call = Call({"downloadId": "mine"}, {}, None)
    answer = shopper.catalogue.answer(("GET", f"{path}/file/{{downloadId}}"), "seller", call, 10**7)
    assert answer is not None
    with zipfile.ZipFile(io.BytesIO(answer.body)) as archive:
        lines = archive.read("mine.csv").decode().splitlines()
    assert len(lines) == 6


@pytest.mark.parametrize(
    ("path", "items", "name"),
    [
        ("/api/v1/seller/chats", "result", "chats"),
        ("/api/v3/warehouses", "", "warehouses"),
    ],
)
def test_short_lists_come_whole(path: str, items: str, name: str) -> None:
    shopper = Shopper()
    assert dig(shopper.page("GET", path), items) == shopper.expected(name)


def test_returns_come_whole_for_a_month() -> None:
    shopper = Shopper()
    page = shopper.page("GET", "/api/v1/analytics/goods-return", NOVEMBER)
    assert page["report"] == shopper.expected("goods_return")


@SIZES
def test_finance_ends_with_204(size: int) -> None:
    shopper = Shopper(rows={"finance_details": size})
    found: list[Json] = []
    last = 0
    while True:
        body = {"dateFrom": "2026-11-01", "dateTo": "2026-12-01", "limit": 100, "rrdId": last}
        status, page = shopper.ask("POST", "/api/finance/v1/sales-reports/detailed", None, body)
        if status == 204:
            break
        found += page
        last = page[-1]["rrdId"]
    assert found == shopper.expected("finance_details")


def test_finance_gives_only_the_fields_and_the_days_that_are_asked_for() -> None:
    shopper = Shopper(rows={"finance_details": 200})
    body = {"dateFrom": "2026-11-20", "dateTo": "2026-11-20", "fields": ["rrdId", "rrDate"]}
    page = shopper.page("POST", "/api/finance/v1/sales-reports/detailed", None, body)
    assert 0 < len(page) < 200
    assert all(set(row) == {"rrdId", "rrDate"} for row in page)
    assert {row["rrDate"] for row in page} == {"2026-11-20"}


def test_the_list_of_finance_reports_ends_with_204() -> None:
    shopper = Shopper(rows={"finance_reports": 2})
    path = "/api/finance/v1/sales-reports/list"
    assert len(shopper.page("POST", path, None, NOVEMBER)) == 2
    assert shopper.ask("POST", path, None, {**NOVEMBER, "offset": 2}) == (204, None)
