"""WB's cursors, as the simulator has them: exact row sets, and the traps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.shopper import MONTH, SIZES, Json, Shopper
from wbtrio.simulator import Motion

if TYPE_CHECKING:
    from collections.abc import Iterator


def cards(
    shopper: Shopper, path: str, field: str, *, ascending: bool, limit: int = 100
) -> Iterator[Json]:
    cursor: Json = {}
    while True:
        settings = {
            "cursor": {**cursor, "limit": limit},
            "sort": {"ascending": ascending},
            "filter": {"withPhoto": -1},
        }
        page = shopper.page("POST", path, None, {"settings": settings})
        yield page
        if page["cursor"]["total"] < limit:
            return
        cursor = {field: page["cursor"][field], "nmID": page["cursor"]["nmID"]}


@SIZES
@pytest.mark.parametrize("ascending", [True, False])
@pytest.mark.parametrize(
    ("path", "field", "name"),
    [
        ("/content/v2/get/cards/list", "updatedAt", "cards"),
        ("/content/v2/get/cards/trash", "trashedAt", "trash"),
    ],
)
def test_cards_are_walked_to_the_exact_set(
    path: str, field: str, name: str, ascending: bool, size: int
) -> None:
    shopper = Shopper(rows={name: size})
    pages = list(cards(shopper, path, field, ascending=ascending))
    found = [row for page in pages for row in page["cards"]]
    expected = shopper.expected(name)
    assert found == (expected if ascending else expected[::-1])
    assert len(pages) == size // 100 + 1


def test_the_total_of_a_cursor_counts_the_rows_of_its_page() -> None:
    shopper = Shopper(rows={"cards": 150})
    pages = list(cards(shopper, "/content/v2/get/cards/list", "updatedAt", ascending=True))
    assert [page["cursor"]["total"] for page in pages] == [100, 50]


def test_a_row_may_lack_the_moment_that_its_cursor_has() -> None:
    shopper = Shopper(rows={"cards": 10})
    rows = shopper.expected("cards")
    assert any(row["updatedAt"] is None for row in rows)
    (page,) = cards(shopper, "/content/v2/get/cards/list", "updatedAt", ascending=True)
    assert page["cursor"]["updatedAt"] is not None


def test_without_the_photo_filter_only_cards_without_a_photo_come() -> None:
    shopper = Shopper(rows={"cards": 50})
    page = shopper.page(
        "POST", "/content/v2/get/cards/list", None, {"settings": {"cursor": {"limit": 100}}}
    )
    assert 0 < len(page["cards"]) < 50
    assert all(row["photos"] == [] for row in page["cards"])


def test_a_card_edited_during_a_walk_comes_again_and_none_is_lost() -> None:
    shopper = Shopper(rows={"cards": 300}, motions=(Motion("cards", every=1),))
    seen: list[int] = []
    for page in cards(shopper, "/content/v2/get/cards/list", "updatedAt", ascending=True):
        seen += [row["nmID"] for row in page["cards"]]
        shopper.now += 20_000_000
    assert len(seen) > 300
    assert len(set(seen)) == 300


def test_a_stuck_cursor_repeats_itself_on_a_full_page() -> None:
    shopper = Shopper(rows={"cards": 300}, stuck=frozenset({"cards"}))
    walk = cards(shopper, "/content/v2/get/cards/list", "updatedAt", ascending=True)
    first, second, third = (next(walk) for _ in range(3))
    assert first["cursor"] == second["cursor"] == third["cursor"]
    assert second["cursor"]["total"] == 100


@SIZES
def test_the_error_list_says_itself_whether_there_is_more(size: int) -> None:
    shopper = Shopper(rows={"card_errors": size})
    found: list[Json] = []
    cursor: Json = {"limit": 100}
    pages = 0
    while pages == 0 or cursor["next"]:
        body = {"cursor": {**cursor, "limit": 100}, "order": {"ascending": True}}
        data = shopper.page("POST", "/content/v2/cards/error/list", None, body)["data"]
        found += data["items"]
        cursor = data["cursor"]
        pages += 1
    assert found == shopper.expected("card_errors")
    assert pages == max(1, -(-size // 100))


NEXT_LISTS = pytest.mark.parametrize(
    ("path", "items", "name", "query"),
    [
        ("/api/v3/orders", "orders", "orders", {}),
        ("/api/v3/orders", "orders", "orders", MONTH),
        ("/api/v3/supplies", "supplies", "supplies", {}),
        ("/api/v3/dbs/orders", "orders", "dbs_orders", MONTH),
        ("/api/v3/dbw/orders", "orders", "dbw_orders", MONTH),
        ("/api/v3/click-collect/orders", "orders", "pickup_orders", MONTH),
        ("/api/feedbacks/v1/pins", "data", "pins", {}),
    ],
)


@SIZES
@NEXT_LISTS
def test_next_walks_to_the_exact_set(
    path: str, items: str, name: str, query: dict[str, str], size: int
) -> None:
    shopper = Shopper(rows={name: size})
    found: list[Json] = []
    following, pages = 0, 0
    while pages == 0 or following:
        asked = {**query, "limit": "100", "next": following}
        page = shopper.page("GET", path, asked)
        found += page[items]
        following = page["next"]
        pages += 1
    assert found == shopper.expected(name)
    assert pages == size // 100 + 1


def test_the_archive_is_walked_month_by_month() -> None:
    shopper = Shopper(rows={"archive": 250})
    found: list[Json] = []
    for month in (10, 11, 12):
        following = 0
        while True:
            query = {"year": 2026, "month": month, "limit": 100, "next": following}
            page = shopper.page("GET", "/api/marketplace/v3/fbs/orders/archive", query)
            assert all(row["createdAt"] < f"2026-{month + 1:02}" for row in page["orders"])
            found += page["orders"]
            following = page["next"]
            if not following:
                break
    assert found == shopper.expected("archive")


def test_a_stuck_next_repeats_itself() -> None:
    shopper = Shopper(rows={"orders": 30}, stuck=frozenset({"orders"}))
    path, following = "/api/v3/orders", 0
    seen = []
    for _ in range(3):
        page = shopper.page("GET", path, {"limit": 10, "next": following})
        following = page["next"]
        seen.append(following)
    assert seen[0] == seen[1] == seen[2] != 0


@SIZES
@pytest.mark.parametrize(
    ("path", "name", "key"),
    [
        ("/api/v1/supplier/orders", "statistics_orders", "srid"),
        ("/api/v1/supplier/sales", "statistics_sales", "saleID"),
    ],
)
def test_changed_rows_come_with_the_last_one_again(
    path: str, name: str, key: str, size: int
) -> None:
    shopper = Shopper(rows={name: size}, caps={name: 40})
    seen: dict[str, Json] = {}
    since = "2026-10-01"
    while True:
        page = shopper.page("GET", path, {"dateFrom": since})
        assert len(page) <= 40
        assert [row["lastChangeDate"] for row in page] == sorted(
            row["lastChangeDate"] for row in page
        )
        fresh = {row[key]: row for row in page if row[key] not in seen}
        if not fresh:
            break
        seen |= fresh
        since = page[-1]["lastChangeDate"]
    assert list(seen.values()) == shopper.expected(name)


def test_several_rows_share_a_last_change_and_some_were_ordered_long_before() -> None:
    rows = Shopper(rows={"statistics_orders": 90}).expected("statistics_orders")
    assert len({row["lastChangeDate"] for row in rows}) == 30
    assert any(row["date"][:10] < row["lastChangeDate"][:10] for row in rows)


def test_a_sale_and_its_return_share_a_srid() -> None:
    rows = Shopper(rows={"statistics_sales": 90}).expected("statistics_sales")
    assert len({row["saleID"] for row in rows}) == 90
    assert len({row["srid"] for row in rows}) < 90


def test_flag_1_gives_one_day_without_a_cap() -> None:
    shopper = Shopper(rows={"statistics_orders": 2_000}, caps={"statistics_orders": 10})
    query = {"dateFrom": "2026-11-20", "flag": 1}
    page = shopper.page("GET", "/api/v1/supplier/orders", query)
    assert len(page) > 10
    assert {row["lastChangeDate"][:10] for row in page} == {"2026-11-20"}


def test_a_date_with_a_zone_means_that_zone() -> None:
    shopper = Shopper()
    path = "/api/v1/supplier/orders"
    moscow = shopper.page("GET", path, {"dateFrom": "2026-11-20T03:00:00"})
    utc = shopper.page("GET", path, {"dateFrom": "2026-11-20T00:00:00Z"})
    assert moscow == utc != []


def test_the_order_feed_pages_within_its_snapshot() -> None:
    shopper = Shopper(rows={"order_feed": 120}, motions=(Motion("order_feed", 1, "add"),))
    path = "/api/analytics/v1/order-feed"
    period = {"start": "2026-11-05", "end": "2026-12-01"}
    expected = shopper.expected("order_feed")[::-1]
    shopper.now = 500_000
    first = shopper.page("POST", path, None, {"selectedPeriod": period})["data"]
    assert len(first["orders"]) == 50
    shopper.now = 9_000_000
    pages = {}
    for snapshot in (first["snapshotTime"], None):
        place = {"limit": 100, "offset": 50, "snapshotTime": snapshot}
        body = {"selectedPeriod": period, "pagination": place}
        pages[snapshot] = shopper.page("POST", path, None, body)["data"]["orders"]
    assert first["orders"] + pages[first["snapshotTime"]] == expected
    assert first["orders"][-1] in pages[None]
