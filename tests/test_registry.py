"""The shipped registry: all of WB's operations, their limits, marks and walks."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

from wbtrio._bucket import MICROSECONDS, Limit
from wbtrio._errors import UnknownOperation
from wbtrio._registry import Registry, default_registry, format_limit
from wbtrio._tokens import Scope, TokenKind

HOUR = 3_600 * MICROSECONDS


@pytest.fixture
def registry() -> Registry:
    return default_registry()


def limit_of(registry: Registry, operation_id: str, kind: TokenKind) -> str:
    budget = registry.budgets[registry.operation(operation_id).budget]
    return format_limit(budget.limit_for(kind))


def test_every_category_holds_its_operations(registry: Registry) -> None:
    assert Counter(operation.category for operation in registry.operations.values()) == {
        "items": 55,
        "orders_fbs": 48,
        "promotion": 42,
        "communications": 25,
        "reports": 24,
        "dbs": 21,
        "analytics": 20,
        "in_store_pickup": 18,
        "orders_dbw": 16,
        "orders_fbw": 14,
        "finances": 11,
        "general": 10,
        "rates": 5,
    }


def test_shared_budgets_hold_as_many_operations_as_wb_groups(registry: Registry) -> None:
    members = Counter(operation.budget for operation in registry.operations.values())
    assert {budget: count for budget, count in members.items() if count > 1} == {
        "fbs-orders": 38,
        "feedbacks": 19,
        "dbw-orders": 15,
        "prices": 12,
        "content": 11,
        "dbs-orders": 8,
        "fbs-labels-set": 6,
        "content-tags": 5,
        "dbs-labels-set": 5,
        "pickup-labels-set": 5,
        "seller-warehouses": 5,
        "content-characteristics": 4,
        "promo-calendar": 4,
        "dbs-labels": 3,
        "dbw-labels-set": 3,
        "pickup-labels": 3,
        "pickup-orders": 3,
        "content-card-limits-and-errors": 2,
        "content-media": 2,
        "fbs-labels": 2,
        "seller-stocks": 2,
    }


@pytest.mark.parametrize(
    ("operation_id", "place", "personal", "basic"),
    [
        (
            "content.cards.list",
            "POST content-api.wildberries.ru/content/v2/get/cards/list",
            "100 / 1 min, burst 5",
            "100 / 1 min, burst 5",
        ),
        (
            "prices.goods.list",
            "GET discounts-prices-api.wildberries.ru/api/v2/list/goods/filter",
            "10 / 6 s, burst 5",
            "4 / 1 h, burst 1",
        ),
        (
            "prices.goods.find",
            "POST discounts-prices-api.wildberries.ru/api/v2/list/goods/filter",
            "10 / 6 s, burst 5",
            "4 / 1 h, burst 1",
        ),
        (
            "fbs.orders.list",
            "GET marketplace-api.wildberries.ru/api/v3/orders",
            "300 / 1 min, burst 20",
            "300 / 1 min, burst 20",
        ),
        (
            "fbs.supply_orders.transfer",
            "PATCH marketplace-api.wildberries.ru"
            "/api/marketplace/v3/fbs/supplies/{supplyId}/orders/transfer",
            "300 / 1 min, burst 20",
            "300 / 1 min, burst 20",
        ),
        (
            "statistics.orders.list",
            "GET statistics-api.wildberries.ru/api/v1/supplier/orders",
            "1 / 1 min, burst 10",
            "1 / 3 h, burst 1",
        ),
        (
            "general.seller_info.get",
            "GET common-api.wildberries.ru/api/v1/seller-info",
            "1 / 1 min, burst 10",
            "1 / 24 h, burst 1",
        ),
        (
            "reports.paid_storage.status",
            "GET seller-analytics-api.wildberries.ru/api/v1/paid_storage/tasks/{task_id}/status",
            "1 / 5 s, burst 5",
            "2 / 1 h, burst 2",
        ),
        (
            "reports.goods_return.list",
            "GET seller-analytics-api.wildberries.ru/api/v1/analytics/goods-return",
            "10 / 5 h, burst 10",
            "2 / 24 h, burst 1",
        ),
        (
            "pickup.meta.get",
            "POST marketplace-api.wildberries.ru"
            "/api/marketplace/v3/click-collect/orders/meta/details",
            "150 / 1 min, burst 20",
            "150 / 1 min, burst 20",
        ),
    ],
)
def test_operations_carry_wbs_place_and_limits(
    registry: Registry, operation_id: str, place: str, personal: str, basic: str
) -> None:
    operation = registry.operation(operation_id)
    assert f"{operation.method} {operation.hosts[0]}{operation.path}" == place
    assert limit_of(registry, operation_id, TokenKind.PERSONAL) == personal
    assert limit_of(registry, operation_id, TokenKind.BASIC) == basic


@pytest.mark.parametrize(
    ("operation_id", "personal", "basic"),
    [
        ("dbs.meta.get", "150 / 1 min, burst 20", "150 / 1 min, burst 20"),
        ("dbs.gtin.set", "500 / 1 min, burst 20", "10 / 1 h, burst 1"),
        ("content.cards.limits", "10 / 1 min, burst 5", "2 / 1 h, burst 1"),
        ("dbw.orders.list", "300 / 1 min, burst 20", "10 / 1 h, burst 1"),
        ("calendar.goods.list", "10 / 6 s, burst 5", "1 / 1 h, burst 1"),
    ],
)
def test_a_group_with_differing_rows_takes_the_strictest_of_each_kind(
    registry: Registry, operation_id: str, personal: str, basic: str
) -> None:
    assert limit_of(registry, operation_id, TokenKind.PERSONAL) == personal
    assert limit_of(registry, operation_id, TokenKind.BASIC) == basic


def test_a_4xx_costs_ten_on_every_marketplace_operation_and_nowhere_else(
    registry: Registry,
) -> None:
    for operation in registry.operations.values():
        marketplace = operation.hosts == ("marketplace-api.wildberries.ru",)
        assert operation.error_cost == (10 if marketplace else 1), operation.id


def test_every_budget_gives_a_limit_to_every_kind(registry: Registry) -> None:
    for budget, kind in itertools.product(registry.budgets.values(), TokenKind):
        assert budget.limit_for(kind).interval > 0


def test_a_kind_that_wb_refuses_gets_the_strictest_row(registry: Registry) -> None:
    assert limit_of(registry, "analytics.item_rating.get", TokenKind.BASIC) == (
        "3 / 1 min, burst 3"
    )
    budget = registry.budgets["promotion.daily_limits.get"]
    assert budget.limit_for(TokenKind.TEST) == Limit(HOUR, 1, 1)


def test_test_tokens_get_the_basic_row_outside_the_sandbox(registry: Registry) -> None:
    for budget in registry.budgets.values():
        assert budget.limit_for(TokenKind.TEST) == budget.limit_for(TokenKind.BASIC), budget.id


@pytest.mark.parametrize(
    ("operation_id", "kinds"),
    [
        ("general.users.list", {TokenKind.PERSONAL}),
        ("general.subscriptions.get", {TokenKind.SERVICE}),
        ("finance.acquiring.list", {TokenKind.PERSONAL, TokenKind.SERVICE}),
        (
            "analytics.wb_stocks.list",
            {TokenKind.PERSONAL, TokenKind.SERVICE, TokenKind.BASIC_SECRET},
        ),
        ("content.cards.list", set(TokenKind)),
    ],
)
def test_operations_name_the_kinds_that_wb_admits(
    registry: Registry, operation_id: str, kinds: set[TokenKind]
) -> None:
    assert registry.operation(operation_id).kinds == kinds


def test_twenty_operations_refuse_some_kind(registry: Registry) -> None:
    refusing = [op for op in registry.operations.values() if op.kinds != set(TokenKind)]
    assert len(refusing) == 20


@pytest.mark.parametrize(
    ("operation_id", "write", "repeatable"),
    [
        ("content.cards.list", False, True),
        ("content.cards.update", True, False),
        ("fbs.statuses.get", False, True),
        ("marketplace.stocks.list", False, True),
        ("marketplace.stocks.update", True, False),
        ("promotion.campaigns.pause", True, False),
        ("promotion.campaigns.delete", True, False),
        ("promotion.budget.get", False, True),
        ("promotion.budget.deposit", True, False),
        ("analytics.csv_reports.create", False, False),
        ("content.barcodes.create", True, False),
        ("feedbacks.answers.create", True, False),
    ],
)
def test_reads_are_told_from_writes_by_what_they_do_and_not_by_their_method(
    registry: Registry, operation_id: str, write: bool, repeatable: bool
) -> None:
    operation = registry.operation(operation_id)
    assert (operation.write, operation.repeatable) == (write, repeatable)


def test_no_write_is_marked_repeatable(registry: Registry) -> None:
    assert [o.id for o in registry.operations.values() if o.write and o.repeatable] == []


@pytest.mark.parametrize(
    ("operation_id", "scope"),
    [
        ("content.cards.list", Scope.CONTENT),
        ("analytics.funnel.list", Scope.ANALYTICS),
        ("reports.warehouse_remains.create", Scope.ANALYTICS),
        ("prices.goods.list", Scope.PRICES),
        ("calendar.promotions.list", Scope.PRICES),
        ("fbs.orders.list", Scope.MARKETPLACE),
        ("statistics.sales.list", Scope.STATISTICS),
        ("promotion.stats.list", Scope.PROMOTION),
        ("media.campaigns.list", Scope.PROMOTION),
        ("questions.questions.list", Scope.FEEDBACKS),
        ("chat.events.list", Scope.CHAT),
        ("fbw.supplies.list", Scope.SUPPLIES),
        ("returns.claims.list", Scope.RETURNS),
        ("documents.documents.list", Scope.DOCUMENTS),
        ("finance.balance.get", Scope.FINANCE),
        ("general.users.list", Scope.USERS),
        ("general.ping", None),
        ("general.news.list", None),
        ("tariffs.box.list", None),
    ],
)
def test_operations_ask_for_the_token_category_of_their_host(
    registry: Registry, operation_id: str, scope: Scope | None
) -> None:
    assert registry.operation(operation_id).scope == scope


def test_deprecated_and_disabled_operations_are_marked(registry: Registry) -> None:
    operations = registry.operations.values()
    assert [o.id for o in operations if o.deprecated] == [
        "fbs.shipping_points.list",
        "promotion.budget.get_v1",
        "reports.goods_return.list",
        "reports.region_sales.list",
    ]
    assert [o.id for o in operations if o.disabled] == [
        "fbw.acceptance_options.get",
        "fbw.transit_tariffs.list",
        "fbw.warehouses.list",
        "tariffs.acceptance.list",
    ]


def test_an_operation_that_refuses_kinds_may_name_another_one(registry: Registry) -> None:
    alternative = registry.operation("analytics.wb_stocks.list").alternative
    assert alternative == "reports.warehouse_remains.create"
    assert registry.operation(alternative).kinds == set(TokenKind)


def test_forty_three_operations_say_how_to_walk_them(registry: Registry) -> None:
    schemes = Counter(o.pagination.scheme for o in registry.operations.values() if o.pagination)
    assert schemes == {
        "offset": 13,
        "next": 9,
        "none": 5,
        "task": 4,
        "chunk": 3,
        "cursor": 3,
        "skip_take": 2,
        "last_change_date": 2,
        "offset_snapshot": 1,
        "rrd_id": 1,
    }


def test_a_walk_of_cards_sends_its_cursor_where_wb_wants_it(registry: Registry) -> None:
    pages = registry.operation("content.cards.list").pagination
    assert pages is not None
    assert pages.params == "body"
    assert pages.cursor == {
        "settings.cursor.updatedAt": "cursor.updatedAt",
        "settings.cursor.nmID": "cursor.nmID",
    }
    assert pages.fixed["settings.filter.withPhoto"] == -1
    assert pages.end == ("total_below_limit",)


def test_fbw_supplies_are_paged_in_the_query_of_a_post(registry: Registry) -> None:
    operation = registry.operation("fbw.supplies.list")
    assert operation.method == "POST"
    assert operation.pagination is not None
    assert operation.pagination.params == "query"


def test_every_walk_has_an_end_and_a_way_on(registry: Registry) -> None:
    for operation in registry.operations.values():
        pages = operation.pagination
        if pages is None or pages.scheme in {"none", "chunk", "task"}:
            continue
        assert pages.end, operation.id
        assert pages.offset or pages.cursor, operation.id


def test_an_unknown_operation_names_the_nearest(registry: Registry) -> None:
    with pytest.raises(UnknownOperation, match=r"content\.cards\.list") as caught:
        registry.operation("content.card.list")
    assert caught.value.nearest[0] == "content.cards.list"
