"""WB's ways of handing out rows page by page, with the traps of each. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NoReturn

from msgspec import Struct

from .replies import NO_CONTENT, Answer, bare_error, json_answer, wrapped, wrapped_error
from .shelf import SECOND, RowKey, Shelf

if TYPE_CHECKING:
    from .shop import Shop

Json = Any
"""A JSON value."""

Render = Callable[["Shop", RowKey], Json]
Refuse = Callable[[str, int], Answer]


class Call(Struct, frozen=True):
    """What a request asks for.

    Attributes:
        path: Path parameters.
        query: Query parameters; of a repeated one, the last.
        body: The JSON body; None without one.
    """

    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Json


class Refused(Exception):
    """WB refuses the parameters; carries its reply."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(f"status {answer.status}")
        self.answer = answer


class Resource(Struct, frozen=True, kw_only=True):
    """One kind of rows.

    Attributes:
        name: How scenarios and tests call it.
        render: What a row says.
        reply: The page that a request asks for.
        refuse: The form of this service's own refusals.
        first_id: Ids of its rows start about here.
        group: Rows that share one moment.
        resolution: µs to which moments are rounded.
    """

    name: str
    render: Render
    reply: Callable[[Visit], Answer]
    refuse: Refuse = bare_error
    first_id: int = 1_000_000
    group: int = 1
    resolution: int = 1


class Visit(Struct, frozen=True):
    """One request for rows, at one moment.

    Attributes:
        shop: The seller's.
        resource: What is asked for.
        shelf: Its rows.
        call: The request's parameters.
        now: µs.
    """

    shop: Shop
    resource: Resource
    shelf: Shelf
    call: Call
    now: int

    def rows(self, keys: list[RowKey]) -> list[Json]:
        """The rows of a page."""
        return [self.resource.render(self.shop, key) for key in keys]

    def refuse(self, text: str, status: int = 400) -> NoReturn:
        """Answer that the parameters are wrong."""
        raise Refused(self.resource.refuse(text, status))

    def integer(
        self, place: Json, name: str, *, default: int | None, low: int = 0, high: int | None = None
    ) -> int:
        """A whole number of the query or of a body; `default` None: it is required."""
        value = place.get(name) if isinstance(place, Mapping) else None
        if value is None or value == "":
            if default is None:
                self.refuse(f"{name} is required")
            return default
        try:
            number = int(value)
        except (TypeError, ValueError):
            self.refuse(f"{name} must be a number")
        if number < low or (high is not None and number > high):
            self.refuse(f"{name} is out of range")
        return number

    def section(self, *names: str) -> Json:
        """An object nested in the body, {} where it is missing."""
        place = self.call.body
        for name in names:
            place = place.get(name) if isinstance(place, Mapping) else None
        return place if isinstance(place, Mapping) else {}

    def time(self, text: object, name: str) -> int:
        """A date or time as µs of the simulator's clock; naive ones are Moscow's."""
        try:
            return self.shop.microseconds(datetime.fromisoformat(str(text)))
        except (ValueError, OverflowError):
            self.refuse(f"{name} is not a date")

    def cap(self, most: int) -> int:
        """Most rows of a reply."""
        return self.shop.stock.caps.get(self.resource.name, most)

    @property
    def is_stuck(self) -> bool:
        """Whether this resource's cursor does not advance."""
        return self.resource.name in self.shop.stock.stuck


def cursor_page(field: str, *, photo_filter: bool) -> Callable[[Visit], Answer]:
    """Content's cursor: `settings.cursor` in the body, `cursor` in the reply.

    `cursor.total` counts the rows of this page. Where the filter by photo is left out, WB reads
    0 and gives the cards without one (field case WB-040).

    Args:
        field: Name of the cursor's moment: `updatedAt`, or `trashedAt` in the trash.
        photo_filter: Whether `settings.filter.withPhoto` selects rows.
    """

    def reply(visit: Visit) -> Answer:
        cursor = visit.section("settings", "cursor")
        limit = visit.integer(cursor, "limit", default=10, low=1, high=100)
        after = _cursor_key(visit, cursor, field)
        ascending = bool(visit.section("settings", "sort").get("ascending", False))
        with_photo = -1
        if photo_filter:
            chosen = visit.section("settings", "filter")
            with_photo = visit.integer(chosen, "withPhoto", default=0, low=-1, high=1)
        keys = _walk(visit.shelf, after, limit, ascending=ascending, with_photo=with_photo)
        last = keys[-1] if keys else None
        if visit.is_stuck and after is not None and last is not None:
            last = after
        place: dict[str, Json] = {"total": len(keys)}
        if last is not None:
            place = {field: visit.shop.zulu(last.moment), "nmID": last.id, **place}
        return json_answer({"cards": visit.rows(keys), "cursor": place})

    return reply


def has_photo(key: RowKey) -> bool:
    """Every fifth card has none."""
    return key.id % 5 != 0


def _walk(
    shelf: Shelf, after: RowKey | None, limit: int, *, ascending: bool, with_photo: int
) -> list[RowKey]:
    step = shelf.after if ascending else shelf.before
    found: list[RowKey] = []
    while len(found) < limit and (batch := step(after, limit)):
        found += [key for key in batch if with_photo < 0 or has_photo(key) == bool(with_photo)]
        after = batch[-1]
    return found[:limit]


def _cursor_key(visit: Visit, cursor: Json, field: str) -> RowKey | None:
    text, number = cursor.get(field), cursor.get("nmID")
    if not text and not number:
        return None
    return RowKey(visit.time(text, field), visit.integer(cursor, "nmID", default=0))


def next_page(
    items: str, *, least: int = 1, most: int = 1_000, dates: bool = False
) -> Callable[[Visit], Answer]:
    """Marketplace's `next`: both `limit` and `next` are required, 0 starts and 0 ends.

    A full last page still gives a cursor, which leads to an empty page.

    Args:
        items: Where the rows are.
        least: Smallest page.
        most: Largest page.
        dates: Whether `dateFrom` and `dateTo` (Unix seconds) select rows: at most 30 days, the
            last 30 by default.
    """

    def reply(visit: Visit) -> Answer:
        query = visit.call.query
        limit = visit.integer(query, "limit", default=None, low=least, high=most)
        after = visit.integer(query, "next", default=None)
        low, high = _period(visit) if dates else (None, None)
        keys = sorted(
            (
                key
                for key in visit.shelf.keys
                if key.id > after
                and (low is None or key.moment >= low)
                and (high is None or key.moment <= high)
            ),
            key=lambda key: key.id,
        )[:limit]
        following = keys[-1].id if len(keys) == limit else 0
        if visit.is_stuck and after and keys:
            following = after
        return json_answer({"next": following, items: visit.rows(keys)})

    return reply


def _period(visit: Visit) -> tuple[int, int]:
    month = timedelta(days=30) // timedelta(microseconds=1)
    start = visit.shop.stock.today.timestamp()
    query = visit.call.query
    high = visit.now
    if query.get("dateTo"):
        high = round((visit.integer(query, "dateTo", default=0) - start) * SECOND)
    low = high - month
    if query.get("dateFrom"):
        low = round((visit.integer(query, "dateFrom", default=0) - start) * SECOND)
    if high - low > month:
        visit.refuse("the period is longer than 30 days")
    return low, high


def offset_page(
    wrap: Callable[[list[Json], int], Answer],
    *,
    params: str = "query",
    default: int | None = None,
    most: int = 1_000,
    last_page: str = "empty",
) -> Callable[[Visit], Answer]:
    """`limit` and `offset`; rows that come or go meanwhile shift the pages.

    Args:
        wrap: Puts rows, and the number of all rows, into a reply.
        params: `query` or `body`; what is in the other place is not read.
        default: Page size if none is sent; None: it is required.
        most: Largest page.
        last_page: What follows the last row: an `empty` page, or `204`.
    """

    def reply(visit: Visit) -> Answer:
        place = visit.call.query if params == "query" else visit.section()
        limit = visit.integer(place, "limit", default=default, low=1, high=most)
        offset = visit.integer(place, "offset", default=0)
        keys = visit.shelf.newest(offset, limit)
        if not keys and last_page == "204":
            return NO_CONTENT
        return wrap(visit.rows(keys), len(visit.shelf))

    return reply


def changed_since(visit: Visit) -> Answer:
    """Statistics: rows whose `lastChangeDate` is at or after `dateFrom`, oldest change first.

    `dateFrom` is included, so the last row of a page comes again with the next. `flag=1` gives
    the rows of that one day, however many.
    """
    text = visit.call.query.get("dateFrom")
    if not text:
        visit.refuse("dateFrom is required")
    start = visit.time(text, "dateFrom")
    if visit.integer(visit.call.query, "flag", default=0, high=1):
        day = timedelta(days=1) // timedelta(microseconds=1)
        keys = [
            key for key in visit.shelf.since(start, len(visit.shelf)) if key.moment < start + day
        ]
    else:
        keys = visit.shelf.since(start, visit.cap(80_000))
    if visit.is_stuck:
        keys = visit.shelf.since(-(1 << 62), len(keys))
    return json_answer(visit.rows(keys))


def wrapped_list(name: str) -> Callable[[list[Json], int], Answer]:
    """Rows under `data.<name>` in the envelope of Prices and Feedbacks."""
    return lambda rows, _total: wrapped({name: rows})


def wrapped_refusal(text: str, status: int) -> Answer:
    """A refusal in that envelope."""
    return wrapped_error(text, status)
