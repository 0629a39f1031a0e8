"""Which method of WB's hands out which rows, and how. Pure data."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from . import rows_goods as goods
from . import rows_reports as reports
from . import rows_talk as talk
from .cursors import (
    changed_since,
    cursor_page,
    error_page,
    event_page,
    rrd_page,
    snapshot_page,
)
from .pagers import (
    all_at_once,
    archived_month,
    chunk_page,
    given_month,
    ids_in_body,
    ids_in_query,
    in_envelope,
    last_month,
    needs,
    needs_period,
    next_page,
    offset_page,
    skip_page,
    under,
    under_data,
    whole,
)
from .replies import Answer, json_answer, titled_error, wrapped_error
from .shelf import SECOND, RowKey
from .tasks import (
    create_csv,
    create_task,
    download_csv,
    download_task,
    list_csv,
    task_status,
)
from .visit import DAY, Json, Resource, Visit

Place = tuple[str, str]
"""HTTP method and path template."""

_Content = partial(Resource, refuse=wrapped_error, first_id=100_000_000)
_Market = partial(Resource, first_id=3_000_000_000, resolution=SECOND)
_Report = partial(Resource, refuse=titled_error, first_id=5_000_000_000, resolution=SECOND)
_Talk = partial(Resource, refuse=wrapped_error, first_id=7_000_000_000, resolution=SECOND)


def _body_period(visit: Visit) -> object:
    return visit.period(visit.section(), "dateFrom", "dateTo", most_days=None)


def _selected_period(visit: Visit) -> object:
    return visit.period(visit.section("selectedPeriod"), "start", "end", most_days=365)


def _last_week(visit: Visit) -> None:
    """Field case WB-022."""
    low, _ = visit.period(visit.section("selectedPeriod"), "start", "end", most_days=None)
    if low < visit.now - 8 * DAY:
        visit.refuse("invalid start day: excess limit on days")


def _statistics_period(visit: Visit) -> None:
    visit.require(visit.call.query, "ids")
    visit.period(visit.call.query, "beginDate", "endDate", most_days=31)


def _is_archived(visit: Visit, key: RowKey) -> bool:
    return visit.flag("is_archive") == (key.id % 2 == 1)


def _has_statistics(_visit: Visit, key: RowKey) -> int:
    """The id under which a campaign's statistics are found; -1: it has none."""
    return key.id if talk.campaign_status(key) in talk.RUNNING else -1


def _grouped(rows: list[Json], total: int) -> Answer:
    group = {"type": 9, "status": 9, "count": total, "advert_list": rows}
    return json_answer({"adverts": [group] if rows else [], "all": total})


def _report_places(
    name: str, path: str, render: str, *, most_days: int | None
) -> dict[Place, Resource]:
    """The three methods of a report that is made on request."""
    make = partial(_Report, name=name, render=getattr(reports, render))
    check = needs_period("dateFrom", "dateTo", most_days=most_days)
    create = create_task() if most_days is None else create_task(check)
    return {
        ("GET", path): make(reply=create),
        ("GET", f"{path}/tasks/{{task_id}}/status"): make(reply=task_status),
        ("GET", f"{path}/tasks/{{task_id}}/download"): make(reply=download_task),
    }


_CONTENT: dict[Place, Resource] = {
    ("POST", "/content/v2/get/cards/list"): _Content(
        name="cards", render=goods.card, reply=cursor_page("updatedAt", photo_filter=True)
    ),
    ("POST", "/content/v2/get/cards/trash"): _Content(
        name="trash", render=goods.trashed_card, reply=cursor_page("trashedAt", photo_filter=False)
    ),
    ("POST", "/content/v2/cards/error/list"): _Content(
        name="card_errors", render=goods.card_error, reply=error_page
    ),
    ("POST", "/api/content/v1/recommendations/list"): _Content(
        name="recommendations",
        render=goods.recommendation,
        reply=next_page("data", params="body", most=5_000, default=20, start=0),
    ),
    ("GET", "/api/v2/list/goods/filter"): _Content(
        name="prices", render=goods.goods_price, reply=offset_page(in_envelope("listGoods"))
    ),
    ("GET", "/api/v2/quarantine/goods"): _Content(
        name="quarantine",
        render=goods.quarantined_price,
        reply=offset_page(in_envelope("quarantineGoods")),
    ),
}

_MARKETPLACE: dict[Place, Resource] = {
    ("GET", "/api/v3/orders"): _Market(
        name="orders", render=goods.assembly_order, reply=next_page("orders", select=last_month)
    ),
    ("GET", "/api/marketplace/v3/fbs/orders/archive"): _Market(
        name="archive",
        render=goods.archived_order,
        reply=next_page("orders", least=100, select=archived_month),
    ),
    ("GET", "/api/v3/supplies"): _Market(
        name="supplies", render=goods.fbs_supply, reply=next_page("supplies")
    ),
    ("GET", "/api/v3/dbs/orders"): _Market(
        name="dbs_orders",
        render=goods.delivered_order,
        reply=next_page("orders", select=given_month),
    ),
    ("GET", "/api/v3/dbw/orders"): _Market(
        name="dbw_orders",
        render=goods.delivered_order,
        reply=next_page("orders", select=given_month),
    ),
    ("GET", "/api/v3/click-collect/orders"): _Market(
        name="pickup_orders",
        render=goods.delivered_order,
        reply=next_page("orders", select=given_month),
    ),
    ("GET", "/api/v3/warehouses"): _Market(
        name="warehouses", render=goods.seller_warehouse, reply=all_at_once(whole)
    ),
    ("POST", "/api/v1/supplies"): _Market(
        name="fbw_supplies",
        render=goods.fbw_supply,
        refuse=titled_error,
        reply=offset_page(whole, default=1_000),
    ),
    ("GET", "/api/v1/supplies/{ID}/goods"): _Market(
        name="fbw_supply_goods",
        render=goods.fbw_supply_item,
        refuse=titled_error,
        reply=offset_page(whole, default=100),
    ),
}

_STATISTICS: dict[Place, Resource] = {
    ("GET", "/api/v1/supplier/orders"): _Report(
        name="statistics_orders", render=reports.ordered_item, reply=changed_since, group=3
    ),
    ("GET", "/api/v1/supplier/sales"): _Report(
        name="statistics_sales", render=reports.sale, reply=changed_since, group=2
    ),
}

_ANALYTICS: dict[Place, Resource] = {
    ("POST", "/api/analytics/v1/order-feed"): _Report(
        name="order_feed", render=reports.fed_order, reply=snapshot_page
    ),
    ("POST", "/api/analytics/v3/sales-funnel/products"): _Report(
        name="funnel",
        render=reports.funnel_product,
        reply=offset_page(
            under_data("products"), params="body", default=50, check=_selected_period
        ),
    ),
    ("POST", "/api/analytics/v3/sales-funnel/products/history"): _Report(
        name="funnel_history",
        render=reports.funnel_history,
        reply=chunk_page(
            whole,
            ids_in_body,
            most=20,
            number=lambda visit, key: visit.shop.nm_id(key.id),
            check=_last_week,
        ),
    ),
    ("POST", "/api/analytics/v1/stocks-report/wb-warehouses"): _Report(
        name="wb_stocks",
        render=reports.stock,
        reply=offset_page(under_data("items"), params="body", default=250_000, most=250_000),
    ),
    ("POST", "/api/analytics/v1/stocks-report/seller-warehouses"): _Report(
        name="seller_stocks",
        render=reports.stock,
        reply=offset_page(under_data("items"), params="body", default=250_000, most=250_000),
    ),
    ("POST", "/api/v2/nm-report/downloads"): _Report(
        name="csv", render=reports.csv_line, reply=create_csv
    ),
    ("GET", "/api/v2/nm-report/downloads"): _Report(
        name="csv", render=reports.csv_line, reply=list_csv
    ),
    ("GET", "/api/v2/nm-report/downloads/file/{downloadId}"): _Report(
        name="csv", render=reports.csv_line, reply=download_csv
    ),
}

_FINANCE: dict[Place, Resource] = {
    ("POST", "/api/finance/v1/sales-reports/detailed"): _Report(
        name="finance_details", render=reports.financial_line, reply=rrd_page
    ),
    ("POST", "/api/finance/v1/sales-reports/list"): _Report(
        name="finance_reports",
        render=reports.financial_report,
        reply=offset_page(whole, params="body", default=1_000, check=_body_period, no_content=True),
    ),
    ("GET", "/api/v1/documents/list"): _Report(
        name="documents",
        render=talk.document,
        reply=offset_page(under_data("documents"), default=50, most=50),
    ),
}

_REPORTS: dict[Place, Resource] = {
    ("GET", "/api/analytics/v1/deductions"): _Report(
        name="deductions",
        render=reports.deduction,
        reply=offset_page(
            under_data("reports", total="total"), check=needs_period("dateFrom", "dateTo")
        ),
    ),
    ("GET", "/api/analytics/v1/item-returns"): _Report(
        name="item_returns",
        render=reports.returned_item,
        reply=offset_page(
            under("report", total="count"),
            default=1_000,
            check=needs_period("dateFrom", "dateTo"),
        ),
    ),
    ("GET", "/api/v1/analytics/goods-return"): _Report(
        name="goods_return",
        render=reports.returned_item,
        reply=all_at_once(under("report"), check=needs_period("dateFrom", "dateTo", most_days=31)),
    ),
    **_report_places("remains", "/api/v1/warehouse_remains", "remains", most_days=None),
    **_report_places("paid_storage", "/api/v1/paid_storage", "storage_charge", most_days=8),
    **_report_places("acceptance", "/api/v1/acceptance_report", "acceptance_charge", most_days=31),
}

_COMMUNICATION: dict[Place, Resource] = {
    ("GET", "/api/v1/feedbacks"): _Talk(
        name="feedbacks",
        render=talk.feedback,
        reply=skip_page("feedbacks", most=5_000, most_skip=199_990),
    ),
    ("GET", "/api/v1/questions"): _Talk(
        name="questions",
        render=talk.question,
        reply=skip_page("questions", most=10_000, most_skip=10_000, most_reach=10_000),
    ),
    ("GET", "/api/feedbacks/v1/pins"): _Talk(
        name="pins", render=talk.pin, reply=next_page("data", most=500, default=500, start=0)
    ),
    ("GET", "/api/v1/seller/chats"): _Talk(
        name="chats", render=talk.chat, reply=all_at_once(under("result"))
    ),
    ("GET", "/api/v1/seller/events"): Resource(
        name="chat_events",
        render=talk.chat_event,
        reply=event_page,
        refuse=wrapped_error,
        first_id=7_000_000_000,
        resolution=1_000,
    ),
    ("GET", "/api/v1/claims"): _Talk(
        name="claims",
        render=talk.claim,
        reply=offset_page(
            under("claims", total="total"),
            default=200,
            most=200,
            check=needs("is_archive"),
            select=_is_archived,
        ),
    ),
}

_PROMOTION: dict[Place, Resource] = {
    ("GET", "/api/v1/calendar/promotions"): _Talk(
        name="promotions",
        render=talk.promotion,
        reply=offset_page(
            under_data("promotions"),
            default=1_000,
            check=needs("startDateTime", "endDateTime", "allPromo"),
        ),
    ),
    ("GET", "/adv/v1/promotion/count"): _Talk(
        name="campaigns", render=talk.campaign_mention, reply=all_at_once(_grouped)
    ),
    ("GET", "/api/advert/v2/adverts"): _Talk(
        name="campaigns",
        render=talk.campaign,
        reply=chunk_page(
            under("adverts"), ids_in_query, most=50, number=lambda _visit, key: key.id
        ),
    ),
    ("GET", "/adv/v3/fullstats"): _Talk(
        name="campaigns",
        render=talk.campaign_statistics,
        reply=chunk_page(
            whole, ids_in_query, most=50, number=_has_statistics, check=_statistics_period
        ),
    ),
}

RESOURCES: Mapping[Place, Resource] = {
    **_CONTENT,
    **_MARKETPLACE,
    **_STATISTICS,
    **_ANALYTICS,
    **_FINANCE,
    **_REPORTS,
    **_COMMUNICATION,
    **_PROMOTION,
}
"""All of them. Methods that share a name share the rows."""
