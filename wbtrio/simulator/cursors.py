"""WB's cursors that are more than a number, each with traps of its own. Pure."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from .replies import NO_CONTENT, Answer, json_answer, wrapped
from .shelf import SECOND, RowKey, Shelf
from .visit import DAY, Json, Visit

if TYPE_CHECKING:
    from .pagers import Reply


def cursor_page(field: str, *, photo_filter: bool) -> Reply:
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


def error_page(visit: Visit) -> Answer:
    """The cursor of Content's error list: at the top of the body, under `data` in the reply.

    The reply says itself whether there is more: `cursor.next`.
    """
    cursor = visit.section("cursor")
    limit = visit.integer(cursor, "limit", default=100, low=1, high=100)
    after = None
    if cursor.get("updatedAt"):
        number = int(str(cursor.get("batchUUID", "0"))[-12:], 16)
        after = RowKey(visit.time(cursor["updatedAt"], "updatedAt"), number)
    ascending = bool(visit.section("order").get("ascending", False))
    found = (visit.shelf.after if ascending else visit.shelf.before)(after, limit + 1)
    keys = found[:limit]
    place: dict[str, Json] = {"next": len(found) > limit}
    last = after if visit.is_stuck and after else keys[-1] if keys else None
    if last is not None:
        place["updatedAt"] = visit.shop.zulu(last.moment)
        place["batchUUID"] = batch_id(last)
    return wrapped({"items": visit.rows(keys), "cursor": place})


def batch_id(key: RowKey) -> str:
    """A UUID whose last part tells the row."""
    return f"b15fecaf-57fd-4b63-ab6f-{key.id:012x}"


def changed_since(visit: Visit) -> Answer:
    """Statistics: rows whose `lastChangeDate` is at or after `dateFrom`, oldest change first.

    `dateFrom` is included, so the last row of a page comes again with the next. `flag=1` gives
    the rows of that one day, however many.
    """
    visit.require(visit.call.query, "dateFrom")
    start = visit.time(visit.call.query["dateFrom"], "dateFrom")
    if visit.integer(visit.call.query, "flag", default=0, high=1):
        everything = visit.shelf.since(start, len(visit.shelf))
        return json_answer(visit.rows([key for key in everything if key.moment < start + DAY]))
    keys = visit.shelf.since(start, visit.cap(80_000))
    if visit.is_stuck:
        keys = visit.shelf.since(-(1 << 62), visit.cap(80_000))
    return json_answer(visit.rows(keys))


def snapshot_page(visit: Visit) -> Answer:
    """The order feed: offsets into the rows as they were at `snapshotTime`, newest change first.

    Without it, which is right for the first page only, it is now.
    """
    visit.period(visit.section("selectedPeriod"), "start", "end", most_days=31)
    place = visit.section("pagination")
    limit = visit.integer(place, "limit", default=50, low=1, high=10_000)
    offset = visit.integer(place, "offset", default=0)
    snapshot = visit.now
    if place.get("snapshotTime"):
        snapshot = visit.time(place["snapshotTime"], "snapshotTime")
    keys = [key for key in visit.shelf.newest(0, len(visit.shelf)) if key.moment <= snapshot]
    data = {
        "orders": visit.rows(keys[offset : offset + limit]),
        "snapshotTime": visit.shop.zulu(snapshot),
        "currency": "RUB",
    }
    return json_answer({"data": data})


def rrd_page(visit: Visit) -> Answer:
    """Finance: rows after `rrdId`, of a period; 204 without a body when there are none."""
    body = visit.section()
    low, high = visit.period(body, "dateFrom", "dateTo", most_days=None)
    limit = visit.integer(body, "limit", default=100_000, low=1, high=100_000)
    after = visit.integer(body, "rrdId", default=0)
    if visit.is_stuck:
        after = 0
    chosen = (key for key in visit.shelf.by_id if key.id > after and low <= key.moment <= high)
    rows = visit.rows(list(islice(chosen, min(limit, visit.cap(100_000)))))
    if not rows:
        return NO_CONTENT
    fields = body.get("fields")
    if isinstance(fields, list) and fields:
        rows = [{name: row[name] for name in fields if name in row} for row in rows]
    return json_answer(rows)


def event_page(visit: Visit) -> Answer:
    """Chat events: the cursor is nested, `result.next`, and counts milliseconds."""
    start = visit.shop.stock.today.timestamp()
    following = visit.integer(visit.call.query, "next", default=0)
    after = (round((following / 1_000 - start) * SECOND), 1 << 62) if following else None
    keys = visit.shelf.after(after, visit.cap(100))
    if keys and not (visit.is_stuck and following):
        following = visit.shop.milliseconds(keys[-1].moment)
    moments = [key.moment for key in keys] or [visit.now]
    result = {
        "next": following,
        "newestEventTime": visit.shop.zulu_seconds(max(moments)),
        "oldestEventTime": visit.shop.zulu_seconds(min(moments)),
        "totalEvents": len(keys),
        "events": visit.rows(keys),
    }
    return json_answer({"result": result, "errors": None})
