"""What is imported: a list of WB's, and how its parameters follow from a span of time. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, Literal, Protocol

import msgspec
from msgspec import Struct

from .._errors import CallerError
from .._positions import put_path
from ..rows import MOSCOW

if TYPE_CHECKING:
    from .._registry import Operation, Pagination, Registry

DEFAULT_DAYS = 30
"""Days that are imported where a period is required and no `since` was given."""

DateStyle = Literal["date", "unix", "moment"]
"""How WB wants a period's ends: `2026-11-01`, Unix seconds, or `2026-11-01T00:00:00Z`."""


class Window(Struct, frozen=True):
    """One walk over a list; a source has one or several, one after the other.

    Attributes:
        params: Query parameters, as of `AccountScope.pages`.
        json: The body.
        path: Values of the parameters in the operation's path.
        limit: Rows per page; None: the most that WB gives.
    """

    params: Mapping[str, Any] = {}
    json: Any = None
    path: Mapping[str, str | int] | None = None
    limit: int | None = None


class Source(Protocol):
    """What `import_all` imports; `ListSource` serves the lists of the registry.

    Attributes:
        name: Names its files and tables; unique in a run.
        operation: Id of the list operation.
    """

    @property
    def name(self) -> str: ...

    @property
    def operation(self) -> str: ...

    def windows(
        self, operation: Operation, since: datetime | None, until: datetime
    ) -> Sequence[Window]:
        """The walks that bring the rows of a span; the same ones for the same arguments.

        An import that was interrupted goes on at the window that it stood in.

        Args:
            operation: What the registry knows of the list.
            since: The beginning of the span, None: not given.
            until: Its end.
        """
        ...


class ListSource(Struct, frozen=True, kw_only=True):
    """A list of the registry.

    Attributes:
        name: See `Source`.
        operation: See `Source`.
        params: Query parameters to send with each page.
        json: Body to send with each page.
        path: Values of the parameters in the operation's path.
        limit: Rows per page; None: the most that WB gives.
        style: How WB wants the ends of its period; None: rows are not chosen by time.
        period: Request paths of the period's first and last day, or of the first alone; empty:
            as the registry says.
        continues: A finished import goes on with the rows that are new or changed since, where
            WB's cursor stays behind the last row; else the next run imports the list anew.
    """

    name: str
    operation: str
    params: Mapping[str, Any] = {}
    json: Any = None
    path: Mapping[str, str | int] | None = None
    limit: int | None = None
    style: DateStyle | None = None
    period: tuple[str, ...] = ()
    continues: bool = False

    def windows(
        self, operation: Operation, since: datetime | None, until: datetime
    ) -> Sequence[Window]:
        """See `Source.windows`.

        Raises:
            CallerError: The operation is no list, or the span is empty.
        """
        pagination = operation.pagination
        if pagination is None:
            raise CallerError(f"{operation.id} is no list.", advice="Import a list operation.")
        if self.continues and not _keeps_its_end(pagination):
            raise CallerError(f"{operation.id} cannot be continued after its end.")
        period = self.period or pagination.period
        if self.style is None or not period:
            return [Window(self.params, self.json, self.path, self.limit)]
        is_required = period[0].partition(".")[0] in pagination.required
        if since is None and not is_required:
            return [Window(self.params, self.json, self.path, self.limit)]
        spans = _spans(pagination, since, until, one=len(period) == 1)
        return [self._window(pagination, period, *span) for span in spans]

    def _window(
        self, pagination: Pagination, period: tuple[str, ...], first: date, last: date
    ) -> Window:
        params: dict[str, Any] = dict(self.params)
        json = msgspec.to_builtins(self.json)
        if pagination.params == "body" and json is None:
            json = {}
        target = params if pagination.params == "query" else json
        for path, day, is_end in zip(period, (first, last), (False, True), strict=False):
            put_path(target, path, _printed(day, self.style, is_end=is_end))
        return Window(params, json, self.path, self.limit)


def _keeps_its_end(pagination: Pagination) -> bool:
    """Whether the cursor after the last page stands behind the last row."""
    return pagination.resumable and "zero_cursor" not in pagination.end


def _spans(
    pagination: Pagination, since: datetime | None, until: datetime, *, one: bool
) -> list[tuple[date, date]]:
    """First and last day of each window, both included; no day is in two of them."""
    last = until.astimezone(MOSCOW).date()
    if since is None:
        first = last - timedelta(days=min(pagination.max_days or DEFAULT_DAYS, DEFAULT_DAYS) - 1)
    else:
        first = since.astimezone(MOSCOW).date()
    if pagination.max_age_days is not None:
        first = max(first, last - timedelta(days=pagination.max_age_days - 1))
    if first > last:
        raise CallerError(f"The span from {first} to {last} is empty.")
    if one or pagination.max_days is None:
        return [(first, last)]
    length = timedelta(days=pagination.max_days)
    spans = []
    while first <= last:
        spans.append((first, min(last, first + length - timedelta(days=1))))
        first += length
    return spans


def _printed(day: date, style: DateStyle | None, *, is_end: bool) -> str | int:
    if style == "date":
        return day.isoformat()
    midnight = datetime.combine(day, time(), MOSCOW)
    moment = midnight + timedelta(days=1, seconds=-1) if is_end else midnight
    if style == "unix":
        return int(moment.timestamp())
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


_OLDEST_FIRST = {"settings": {"sort": {"ascending": True}}}
_SELECTED = ("selectedPeriod.start", "selectedPeriod.end")


def _known(*sources: ListSource) -> dict[str, ListSource]:
    return {source.name: source for source in sources}


RESOURCES: Mapping[str, ListSource] = _known(
    ListSource(name="cards", operation="content.cards.list", json=_OLDEST_FIRST, continues=True),
    ListSource(name="trash", operation="content.trash.list", json=_OLDEST_FIRST, continues=True),
    ListSource(name="card_errors", operation="content.card_errors.list"),
    ListSource(name="recommendations", operation="content.recommendations.list"),
    ListSource(name="prices", operation="prices.goods.list"),
    ListSource(name="quarantine", operation="prices.quarantine.list"),
    ListSource(
        name="orders",
        operation="statistics.orders.list",
        style="date",
        period=("dateFrom",),
        continues=True,
    ),
    ListSource(
        name="sales",
        operation="statistics.sales.list",
        style="date",
        period=("dateFrom",),
        continues=True,
    ),
    ListSource(
        name="order_feed", operation="analytics.order_feed.list", style="date", period=_SELECTED
    ),
    ListSource(name="funnel", operation="analytics.funnel.list", style="date"),
    ListSource(name="wb_stocks", operation="analytics.wb_stocks.list"),
    ListSource(name="seller_stocks", operation="analytics.seller_stocks.list"),
    ListSource(name="fbs_orders", operation="fbs.orders.list", style="unix"),
    ListSource(name="fbs_supplies", operation="fbs.supplies.list"),
    ListSource(name="dbs_orders", operation="dbs.orders.list", style="unix"),
    ListSource(name="dbw_orders", operation="dbw.orders.list", style="unix"),
    ListSource(name="pickup_orders", operation="pickup.orders.list", style="unix"),
    ListSource(name="warehouses", operation="marketplace.warehouses.list"),
    ListSource(name="fbw_supplies", operation="fbw.supplies.list"),
    ListSource(name="finance_details", operation="finance.sales_reports.details", style="date"),
    ListSource(name="finance_reports", operation="finance.sales_reports.list", style="date"),
    ListSource(name="documents", operation="documents.documents.list", style="date"),
    ListSource(name="deductions", operation="reports.deductions.list", style="date"),
    ListSource(name="item_returns", operation="reports.item_returns.list", style="date"),
    ListSource(name="goods_return", operation="reports.goods_return.list", style="date"),
    ListSource(name="warehouse_remains", operation="reports.warehouse_remains.create"),
    ListSource(name="paid_storage", operation="reports.paid_storage.create", style="date"),
    ListSource(name="acceptance", operation="reports.acceptance.create", style="date"),
    ListSource(name="feedbacks", operation="feedbacks.feedbacks.list", style="unix"),
    ListSource(name="questions", operation="questions.questions.list", style="unix"),
    ListSource(name="pins", operation="feedbacks.pins.list"),
    ListSource(name="claims", operation="returns.claims.list"),
    ListSource(name="chats", operation="chat.chats.list"),
    ListSource(name="chat_events", operation="chat.events.list", continues=True),
    ListSource(name="campaigns", operation="promotion.campaigns.count"),
    ListSource(
        name="promotions",
        operation="calendar.promotions.list",
        params={"allPromo": "true"},
        style="moment",
    ),
)
"""The lists that can be imported by a short name."""


def source_named(name: str, registry: Registry) -> ListSource:
    """A list by its short name (`RESOURCES`) or by its operation's id.

    A list that is asked for by its id is sent no period: where WB requires one, use a
    `ListSource` of your own.

    Raises:
        UnknownOperation: It is neither.
        CallerError: The operation is no list, or needs parameters.
    """
    known = RESOURCES.get(name)
    if known is not None:
        return known
    operation = registry.operation(name)
    pagination = operation.pagination
    if pagination is None:
        raise CallerError(f"{name} is no list.", advice=f"Lists are {', '.join(RESOURCES)}.")
    if pagination.ids or operation.path_parameters or pagination.required:
        raise CallerError(
            f"{name} needs parameters.", advice="Import it in Python, as a ListSource."
        )
    return ListSource(name=name, operation=name, continues=False)
