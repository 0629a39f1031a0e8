"""WB's ways of handing out rows page by page, with the traps of each. Pure."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from .replies import NO_CONTENT, Answer, json_answer, wrapped
from .shelf import SECOND, RowKey
from .visit import DAY, Json, Visit

Reply = Callable[[Visit], Answer]
Wrap = Callable[[list[Json], int], Answer]
"""Puts rows, and the number of all rows, into a reply."""


def whole(rows: list[Json], _total: int) -> Answer:
    """A reply that is nothing but the rows."""
    return json_answer(rows)


def under(name: str, *, total: str = "") -> Wrap:
    """Rows under a name, perhaps with the number of all rows beside them."""
    return lambda rows, count: json_answer({name: rows, **({total: count} if total else {})})


def under_data(name: str, *, total: str = "") -> Wrap:
    """The same one level deeper, under `data`."""
    return lambda rows, count: json_answer(
        {"data": {name: rows, **({total: count} if total else {})}}
    )


def in_envelope(name: str) -> Wrap:
    """Rows in the envelope of Content, Prices and Feedbacks."""
    return lambda rows, _total: wrapped({name: rows})


def next_page(
    items: str,
    *,
    params: str = "query",
    least: int = 1,
    most: int = 1_000,
    default: int | None = None,
    start: int | None = None,
    select: Callable[[Visit], tuple[int, int] | None] = lambda _visit: None,
) -> Reply:
    """`next`: the id after which the page begins; 0 in a reply: there is no more.

    A full last page still gives a cursor, which leads to an empty page.

    Args:
        items: Where the rows are.
        params: `query`, or `body` of a POST.
        least: Smallest page.
        most: Largest page.
        default: Page size if none is sent; None: it is required, as all over Marketplace.
        start: What a missing `next` means; None: it is required, as all over Marketplace.
        select: The period that rows must have been created in, if any.
    """

    def reply(visit: Visit) -> Answer:
        place = visit.call.query if params == "query" else visit.section()
        limit = visit.integer(place, "limit", default=default, low=least, high=most)
        after = visit.integer(place, "next", default=start)
        low, high = select(visit) or (-(1 << 62), 1 << 62)
        chosen = (key for key in visit.shelf.by_id if key.id > after and low <= key.moment <= high)
        keys = list(islice(chosen, limit))
        following = keys[-1].id if len(keys) == limit else 0
        if visit.is_stuck and after and keys:
            following = after
        return json_answer({"next": following, items: visit.rows(keys)})

    return reply


def last_month(visit: Visit) -> tuple[int, int]:
    """FBS orders: `dateFrom` and `dateTo` in Unix seconds, at most 30 days, by default the last."""
    query = visit.call.query
    start = visit.shop.stock.today.timestamp()
    high, low = visit.now, None
    if query.get("dateTo"):
        high = round((visit.integer(query, "dateTo", default=0) - start) * SECOND)
    if query.get("dateFrom"):
        low = round((visit.integer(query, "dateFrom", default=0) - start) * SECOND)
    if low is None:
        low = high - 30 * DAY
    if high - low > 30 * DAY:
        visit.refuse("the period is longer than 30 days")
    return low, high


def given_month(visit: Visit) -> tuple[int, int]:
    """The same where both dates are required."""
    visit.require(visit.call.query, "dateFrom", "dateTo")
    return last_month(visit)


def archived_month(visit: Visit) -> tuple[int, int]:
    """FBS archive: `year` and `month`."""
    year = visit.integer(visit.call.query, "year", default=None, low=2015, high=2100)
    month = visit.integer(visit.call.query, "month", default=None, low=1, high=12)
    following = f"{year + month // 12}-{month % 12 + 1:02}-01"
    return visit.time(f"{year}-{month:02}-01", "month"), visit.time(following, "month") - 1


def offset_page(
    wrap: Wrap,
    *,
    params: str = "query",
    default: int | None = None,
    most: int = 1_000,
    check: Callable[[Visit], object] = lambda _visit: None,
    select: Callable[[Visit, RowKey], bool] | None = None,
    no_content: bool = False,
) -> Reply:
    """`limit` and `offset`, newest change first; rows that come or go meanwhile shift the pages.

    Args:
        wrap: Puts rows, and the number of all rows, into a reply.
        params: `query` or `body`; what is in the other place is not read.
        default: Page size if none is sent; None: it is required.
        most: Largest page.
        check: Refuses what else is wrong with the request.
        select: Whether a row is among those asked for.
        no_content: Whether 204 comes instead of an empty page.
    """

    def reply(visit: Visit) -> Answer:
        check(visit)
        place = visit.call.query if params == "query" else visit.section()
        limit = visit.integer(place, "limit", default=default, low=1, high=most)
        offset = visit.integer(place, "offset", default=0)
        keys, total = visit.shelf.newest(offset, limit), len(visit.shelf)
        if select is not None:
            chosen = [key for key in visit.shelf.newest(0, total) if select(visit, key)]
            keys, total = chosen[offset : offset + limit], len(chosen)
        if not keys and no_content:
            return NO_CONTENT
        return wrap(visit.rows(keys), total)

    return reply


def skip_page(items: str, *, most: int, most_skip: int, most_reach: int | None = None) -> Reply:
    """Feedbacks: `take` and `skip`, rows answered or not by the required `isAnswered`.

    Args:
        items: Where the rows are, under `data`.
        most: Largest page.
        most_skip: Largest `skip`.
        most_reach: Largest sum of both; None: no bound of its own.
    """

    def reply(visit: Visit) -> Answer:
        answered = visit.flag("isAnswered")
        take = visit.integer(visit.call.query, "take", default=None, low=1, high=most)
        skip = visit.integer(visit.call.query, "skip", default=None, high=most_skip)
        if most_reach is not None and take + skip > most_reach:
            visit.refuse("take + skip is out of range")
        keys = [key for key in visit.shelf.keys if is_answered(key) == answered]
        unanswered = sum(not is_answered(key) for key in visit.shelf.keys)
        if visit.call.query.get("order", "dateDesc") == "dateDesc":
            keys.reverse()
        data = {
            "countUnanswered": unanswered,
            "countArchive": len(visit.shelf) - unanswered,
            items: visit.rows(keys[skip : skip + take]),
        }
        return wrapped(data)

    return reply


def is_answered(key: RowKey) -> bool:
    """Two thirds are."""
    return key.id % 3 != 0


def chunk_page(
    wrap: Wrap,
    ids: Callable[[Visit], list[int]],
    *,
    most: int,
    number: Callable[[Visit, RowKey], int],
    check: Callable[[Visit], object] = lambda _visit: None,
) -> Reply:
    """Rows by their ids, in the order asked for; ids that nobody has are left out.

    Args:
        wrap: Puts rows into a reply.
        ids: The ids that are asked for.
        most: Most of them.
        number: A row's id.
        check: Refuses what else is wrong with the request.
    """

    def reply(visit: Visit) -> Answer:
        asked = ids(visit)
        if len(asked) > most:
            visit.refuse(f"more than {most} ids")
        check(visit)
        known = {number(visit, key): key for key in visit.shelf.keys}
        keys = [known[id_] for id_ in asked if id_ in known]
        return wrap(visit.rows(keys), len(keys))

    return reply


def ids_in_query(visit: Visit) -> list[int]:
    """`ids=1,2,3`."""
    text = visit.call.query.get("ids", "")
    try:
        return [int(part) for part in text.split(",") if part]
    except ValueError:
        visit.refuse("ids must be numbers")


def ids_in_body(visit: Visit) -> list[int]:
    """`nmIds`, of which at least one is required."""
    ids = visit.section().get("nmIds")
    if not (isinstance(ids, list) and ids and all(isinstance(id_, int) for id_ in ids)):
        visit.refuse("nmIds is required")
    return ids


def all_at_once(wrap: Wrap, *, check: Callable[[Visit], object] = lambda _visit: None) -> Reply:
    """Every row in one reply."""

    def reply(visit: Visit) -> Answer:
        check(visit)
        return wrap(visit.rows(list(visit.shelf.keys)), len(visit.shelf))

    return reply


def needs(*names: str) -> Callable[[Visit], None]:
    """A check that query parameters are there."""
    return lambda visit: visit.require(visit.call.query, *names)


def needs_period(
    first: str, last: str, *, most_days: int | None = None
) -> Callable[[Visit], object]:
    """A check that the query names a period that is not too long."""
    return lambda visit: visit.period(visit.call.query, first, last, most_days=most_days)
