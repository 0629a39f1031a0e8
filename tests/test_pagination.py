"""Walks over lists, by property: no row is lost, and none comes twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tests.support.lists import CHANGES, CURSOR, NEXT, OFFSET, a_list
from wbtrio._errors import CursorStuck
from wbtrio._pagination import PageRequest, Walk
from wbtrio._positions import get_path, put_path

if TYPE_CHECKING:
    from collections.abc import Callable


def rows_of(walk: Walk, server: Callable[[PageRequest], Any], *, most: int = 500) -> list[Any]:
    """All rows of a walk, faults raised; more than `most` requests are a walk without end."""
    rows: list[Any] = []
    request: PageRequest | None = walk.first()
    for _ in range(most):
        assert request is not None
        step = walk.take(server(request))
        rows += step.rows
        if step.fault is not None:
            raise step.fault
        request = step.request
        if request is None:
            return rows
    raise AssertionError(f"no end after {most} pages")


def ids_of(rows: list[Any], key: str = "id") -> list[Any]:
    return [row[key] for row in rows]


def offset_server(total: int, *, cap: int = 1_000) -> Callable[[PageRequest], Any]:
    def answer(request: PageRequest) -> list[Any]:
        start = request.params["offset"]
        size = min(request.params["limit"], cap)
        return [{"id": number} for number in range(total)][start : start + size]

    return answer


def cursor_server(total: int) -> Callable[[PageRequest], Any]:
    catalogue = [{"nmID": number, "updatedAt": number // 3} for number in range(1, total + 1)]

    def answer(request: PageRequest) -> Any:
        cursor = request.json["settings"]["cursor"]
        after = (cursor.get("updatedAt", -1), cursor.get("nmID", -1))
        rows = [row for row in catalogue if (row["updatedAt"], row["nmID"]) > after]
        page = rows[: cursor["limit"]]
        last = {"updatedAt": page[-1]["updatedAt"], "nmID": page[-1]["nmID"]} if page else {}
        return {"cards": page, "cursor": {**last, "total": len(page)}}

    return answer


def next_server(total: int) -> Callable[[PageRequest], Any]:
    def answer(request: PageRequest) -> Any:
        start, size = request.params["next"], request.params["limit"]
        end = start + size
        page = [{"id": number} for number in range(total)][start:end]
        return {"orders": page, "next": end if end < total else 0}

    return answer


def change_server(changes: list[int], *, cap: int) -> Callable[[PageRequest], Any]:
    """Rows changed at or after `dateFrom`, oldest change first, at most `cap` of them."""
    rows = [{"id": number, "changed": moment} for number, moment in enumerate(sorted(changes))]

    def answer(request: PageRequest) -> Any:
        return [row for row in rows if row["changed"] >= request.params["dateFrom"]][:cap]

    return answer


totals = st.integers(0, 230)
sizes = st.integers(1, 50)


@given(total=totals, size=sizes)
def test_an_offset_walk_brings_each_row_once_in_order(total: int, size: int) -> None:
    rows = rows_of(Walk(OFFSET, limit=size), offset_server(total))
    assert ids_of(rows) == list(range(total))


@given(total=totals, cap=st.integers(1, 60))
def test_an_offset_walk_goes_on_by_the_rows_that_came_when_wb_caps_its_pages(
    total: int, cap: int
) -> None:
    until_empty = a_list(
        scheme="offset", limit="limit", offset="offset", page_size=50, end=("empty_page",)
    )
    rows = rows_of(Walk(until_empty), offset_server(total, cap=cap))
    assert ids_of(rows) == list(range(total))


@given(total=totals, size=sizes)
def test_a_cursor_walk_brings_each_row_once_in_order(total: int, size: int) -> None:
    rows = rows_of(Walk(CURSOR, limit=size), cursor_server(total))
    assert ids_of(rows, "nmID") == list(range(1, total + 1))


@given(total=totals, size=sizes)
def test_a_next_walk_brings_each_row_once_in_order(total: int, size: int) -> None:
    rows = rows_of(Walk(NEXT, limit=size), next_server(total))
    assert ids_of(rows) == list(range(total))


@given(changes=st.lists(st.integers(1, 40), max_size=150), cap=st.integers(1, 50))
def test_a_walk_by_change_date_brings_each_row_once_or_says_that_it_is_stuck(
    changes: list[int], cap: int
) -> None:
    walk = Walk(CHANGES, params={"dateFrom": 1}, limit=cap)
    crowded = max((changes.count(moment) for moment in changes), default=0) >= cap
    try:
        rows = rows_of(walk, change_server(changes, cap=cap))
    except CursorStuck:
        assert crowded, "every moment's rows fit on one page with a row of the next"
    else:
        assert sorted(ids_of(rows)) == list(range(len(changes)))


@given(total=totals, size=sizes, stop=st.integers(1, 6))
def test_a_walk_goes_on_from_the_cursor_of_an_earlier_one(total: int, size: int, stop: int) -> None:
    server = cursor_server(total)
    walk = Walk(CURSOR, limit=size)
    request: PageRequest | None = walk.first()
    before: list[Any] = []
    position = None
    for _ in range(stop):
        if request is None:
            break
        step = walk.take(server(request))
        before, position, request = before + step.rows, step.position, step.request
    # Kept as JSON between two runs.
    kept = msgspec.json.decode(msgspec.json.encode(position))
    after = rows_of(Walk(CURSOR, limit=size, position=kept), server)
    assert ids_of(before + after, "nmID") == list(range(1, total + 1))


@given(
    path=st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(".".join),
    value=st.integers(),
)
def test_a_value_put_at_a_path_is_found_there(path: str, value: int) -> None:
    target: dict[str, Any] = {}
    put_path(target, path, value)
    assert get_path(target, path) == value
