"""What sellers have at the simulated WB, and which requests it refuses."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.support.shopper import MONTH, NOVEMBER, Json, Shopper
from wbtrio import simulator
from wbtrio._registry import default_registry
from wbtrio.rows import ROWS, Row
from wbtrio.simulator import Motion, Stock
from wbtrio.simulator.catalogue import Catalogue
from wbtrio.simulator.resources import RESOURCES


def test_every_list_of_the_registry_has_rows_here() -> None:
    listed = {
        (operation.method, operation.path)
        for operation in default_registry().operations.values()
        if operation.pagination is not None and not operation.disabled
    }
    assert listed <= set(RESOURCES)


def test_every_resource_belongs_to_an_operation_of_the_registry() -> None:
    known = {(item.method, item.path) for item in default_registry().operations.values()}
    assert set(RESOURCES) <= known


TYPED = {
    operation_id: (operation.method, operation.path)
    for operation_id, operation in default_registry().operations.items()
    if operation_id in ROWS and (operation.method, operation.path) in RESOURCES
}


@pytest.mark.parametrize("operation_id", TYPED)
def test_rows_are_what_the_typed_rows_of_the_sdk_read(operation_id: str) -> None:
    resource = RESOURCES[TYPED[operation_id]]
    shop = Catalogue(Stock()).shop("seller")
    for key in shop.shelf(resource, 0).keys:
        row = msgspec.json.encode(resource.render(shop, key))
        assert isinstance(msgspec.json.decode(row, type=ROWS[operation_id]), Row)


def test_most_typed_rows_of_the_sdk_are_had_here() -> None:
    assert len(TYPED) >= 18


OUTSIDE = {"anyio", "trio", "asyncio", "sniffio", "httpx", "socket", "time", "hypercorn"}


def test_only_the_application_and_its_server_touch_a_clock_or_a_socket() -> None:
    touching = set()
    for path in Path(simulator.__path__[0]).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            if any(name.partition(".")[0] in OUTSIDE for name in names):
                touching.add(path.stem)
    assert touching == {"app", "serve"}


def test_sellers_have_other_rows_and_the_same_seed_the_same() -> None:
    first, second = (Catalogue(Stock()).rows("a", "cards") for _ in range(2))
    assert first == second
    other = Catalogue(Stock()).rows("b", "cards")
    reseeded = Catalogue(Stock(seed=1)).rows("a", "cards")
    assert {row["nmID"] for row in first}.isdisjoint(row["nmID"] for row in other)
    assert first != reseeded


def test_a_single_seller_may_have_more() -> None:
    catalogue = Catalogue(Stock(rows={"cards": 5}, sellers={"big": {"cards": 500}}))
    assert len(catalogue.rows("small", "cards")) == 5
    assert len(catalogue.rows("big", "cards")) == 500


@pytest.mark.parametrize(
    "stock",
    [
        {"rows": {"crads": 1}},
        {"caps": {"crads": 1}},
        {"stuck": frozenset({"crads"})},
        {"motions": (Motion("crads", 1),)},
        {"sellers": {"a": {"crads": 1}}},
    ],
)
def test_a_stock_of_an_unknown_resource_is_refused(stock: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="no such resource: crads"):
        Catalogue(Stock(**stock))


def test_rows_of_an_unknown_resource_are_an_error() -> None:
    with pytest.raises(KeyError, match="crads"):
        Catalogue(Stock()).rows("a", "crads")


def test_an_impossible_motion_is_refused() -> None:
    with pytest.raises(ValueError, match="changes need time"):
        Motion("cards", every=0)


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/api/v3/orders", {"limit": 10}),
        ("/api/v3/orders", {"next": 0}),
        ("/api/v3/orders", {"limit": 1_001, "next": 0}),
        ("/api/v3/orders", {"limit": "ten", "next": 0}),
        ("/api/v3/orders", {**MONTH, "dateFrom": "1", "limit": 10, "next": 0}),
        ("/api/v3/dbs/orders", {"limit": 10, "next": 0}),
        ("/api/marketplace/v3/fbs/orders/archive", {"limit": 99, "next": 0, "year": 2026}),
        ("/api/marketplace/v3/fbs/orders/archive", {"limit": 100, "next": 0, "year": 2026}),
        ("/api/v2/list/goods/filter", {"offset": 0}),
        ("/api/v2/list/goods/filter", {"limit": 1_001}),
        ("/api/v1/supplier/orders", {"flag": 0}),
        ("/api/v1/supplier/orders", {"dateFrom": "yesterday"}),
        ("/api/v1/feedbacks", {"take": 10, "skip": 0}),
        ("/api/v1/feedbacks", {"isAnswered": "true", "take": 5_001, "skip": 0}),
        ("/api/v1/feedbacks", {"isAnswered": "true", "take": 1, "skip": 199_991}),
        ("/api/v1/questions", {"isAnswered": "true", "take": 5_001, "skip": 5_000}),
        ("/api/v1/claims", {"limit": 10}),
        ("/api/v1/claims", {"is_archive": "true", "limit": 201}),
        ("/api/v1/documents/list", {"limit": 51}),
        ("/api/analytics/v1/deductions", {"dateTo": "2026-11-30"}),
        ("/api/v1/analytics/goods-return", {"dateFrom": "2026-01-01", "dateTo": "2026-11-30"}),
        ("/api/v1/calendar/promotions", {"limit": 10}),
        ("/api/v1/paid_storage", NOVEMBER),
        ("/api/v1/acceptance_report", {}),
        ("/adv/v3/fullstats", {"ids": "1"}),
        ("/adv/v3/fullstats", {"ids": "1", "beginDate": "2026-09-01", "endDate": "2026-11-01"}),
        ("/api/advert/v2/adverts", {"ids": ",".join(map(str, range(51)))}),
        ("/api/advert/v2/adverts", {"ids": "one"}),
    ],
)
def test_wrong_parameters_are_refused(path: str, query: dict[str, Any]) -> None:
    assert Shopper().ask("GET", path, query)[0] == 400


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/content/v2/get/cards/list", {"settings": {"cursor": {"limit": 101}}}),
        ("/api/analytics/v1/order-feed", {}),
        ("/api/analytics/v3/sales-funnel/products", {"limit": 10}),
        ("/api/analytics/v3/sales-funnel/products/history", {"nmIds": []}),
        ("/api/analytics/v3/sales-funnel/products/history", {"nmIds": list(range(21))}),
        (
            "/api/analytics/v3/sales-funnel/products/history",
            {"nmIds": [1], "selectedPeriod": {"start": "2026-05-01", "end": "2026-05-07"}},
        ),
        ("/api/finance/v1/sales-reports/detailed", {"dateFrom": "2026-11-01"}),
        ("/api/finance/v1/sales-reports/list", {}),
        ("/api/v2/nm-report/downloads", {"reportType": "X"}),
        ("/api/analytics/v1/stocks-report/wb-warehouses", {"limit": 250_001}),
    ],
)
def test_wrong_bodies_are_refused(path: str, body: Json) -> None:
    assert Shopper().ask("POST", path, None, body)[0] == 400
