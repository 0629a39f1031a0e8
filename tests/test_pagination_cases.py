"""Walks over lists, case by case: what is asked, what ends them, and what is a fault."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.lists import CHANGES, CURSOR, OFFSET, a_list
from wbtrio._errors import CallerError, CursorStuck
from wbtrio._pagination import Walk, passes_of
from wbtrio._positions import get_path
from wbtrio._registry import Operation, default_registry


def ids_of(rows: list[Any], key: str = "id") -> list[Any]:
    return [row[key] for row in rows]


def test_a_full_page_with_the_cursor_that_it_was_asked_with_is_stuck_after_two_requests() -> None:
    """Field case WB-053."""
    page = {
        "cards": [{"nmID": number} for number in range(50)],
        "cursor": {"updatedAt": "same", "nmID": 1, "total": 50},
    }
    walk = Walk(CURSOR)
    walk.first()
    first = walk.take(page)
    assert first.request is not None
    second = walk.take(page)
    assert second.request is None
    assert isinstance(second.fault, CursorStuck)
    assert second.fault.operation == "test.rows.list"


def test_a_page_without_a_cursor_that_is_not_the_last_is_stuck_and_no_end() -> None:
    walk = Walk(CURSOR)
    walk.first()
    step = walk.take({"cards": [{"nmID": n} for n in range(50)], "cursor": {"total": 50}})
    assert isinstance(step.fault, CursorStuck)


def test_an_offset_that_wb_ignores_is_stuck_and_not_endless() -> None:
    walk = Walk(OFFSET, limit=2)
    walk.first()
    page = [{"id": 1}, {"id": 2}]
    assert walk.take(page).fault is None
    assert isinstance(walk.take(page).fault, CursorStuck)


def test_rows_that_move_while_they_are_read_come_once() -> None:
    walk = Walk(CURSOR, limit=2)
    walk.first()
    one = walk.take(
        {"cards": [{"nmID": 1}, {"nmID": 2}], "cursor": {"updatedAt": 1, "nmID": 2, "total": 2}}
    )
    two = walk.take({"cards": [{"nmID": 1}], "cursor": {"updatedAt": 2, "nmID": 1, "total": 1}})
    assert (ids_of(one.rows, "nmID"), two.rows, two.request) == ([1, 2], [], None)


def test_rows_without_the_key_are_never_dropped() -> None:
    walk = Walk(OFFSET)
    walk.first()
    assert len(walk.take([{"id": None}, {"id": None}, {}]).rows) == 3


def test_the_row_cursor_never_comes_from_the_rows_of_a_cursor_list() -> None:
    """Field case WB-042: the last card's `updatedAt` may be null."""
    walk = Walk(CURSOR, limit=1)
    walk.first()
    page = {
        "cards": [{"nmID": 7, "updatedAt": None}],
        "cursor": {"updatedAt": "t", "nmID": 7, "total": 1},
    }
    request = walk.take(page).request
    assert request is not None
    assert request.json["settings"]["cursor"] == {"limit": 1, "updatedAt": "t", "nmID": 7}


def test_fixed_parameters_are_sent_unless_the_caller_gives_them() -> None:
    """Field case WB-040: `withPhoto` is always explicit."""
    assert Walk(CURSOR).first().json["settings"]["filter"] == {"withPhoto": -1}
    own = Walk(CURSOR, json={"settings": {"filter": {"withPhoto": 1}}}).first()
    assert own.json["settings"]["filter"] == {"withPhoto": 1}


def test_the_callers_own_parameters_are_not_changed() -> None:
    json = {"settings": {"filter": {"brands": ["x"]}}}
    params = {"locale": "ru"}
    request = Walk(CURSOR, json=json, params=params).first()
    assert json == {"settings": {"filter": {"brands": ["x"]}}}
    assert request.json["settings"]["filter"]["brands"] == ["x"]
    assert request.params == params


def test_the_callers_own_page_size_and_cursor_count() -> None:
    request = Walk(CURSOR, json={"settings": {"cursor": {"limit": 7, "nmID": 5}}}).first()
    assert request.size == 7
    assert request.json["settings"]["cursor"] == {"limit": 7, "nmID": 5}


def test_parameters_of_a_post_that_pages_by_its_query_stay_out_of_the_body() -> None:
    operation = a_list(
        method="POST",
        scheme="offset",
        limit="limit",
        offset="offset",
        page_size=9,
        end=("short_page",),
    )
    request = Walk(operation, json={"statusIDs": [1]}).first()
    assert (request.params, request.json) == ({"limit": 9, "offset": 0}, {"statusIDs": [1]})
    assert Walk(operation).first().json == {}


@pytest.mark.parametrize("nothing", [{"cards": None, "cursor": {"total": 0}}, None])
def test_null_and_no_content_end_a_walk_without_rows(nothing: Any) -> None:
    walk = Walk(CURSOR)
    walk.first()
    step = walk.take(nothing)
    assert (step.rows, step.request, step.fault) == ([], None, None)


@pytest.mark.parametrize("reply", [{}, {"items": []}, {"cards": {}}, [], "text", 7])
def test_a_reply_without_its_list_is_a_fault_and_no_empty_page(reply: Any) -> None:
    walk = Walk(CURSOR)
    walk.first()
    with pytest.raises(TypeError, match="no list at `cards`"):
        walk.take(reply)


def test_a_snapshot_moment_is_that_of_the_first_page() -> None:
    operation = a_list(
        method="POST",
        scheme="offset_snapshot",
        params="body",
        items="data.orders",
        limit="pagination.limit",
        offset="pagination.offset",
        page_size=1,
        cursor={"pagination.snapshotTime": "data.snapshotTime"},
        cursor_from="first_reply",
        end=("short_page",),
    )
    walk = Walk(operation)
    assert walk.first().json["pagination"] == {"limit": 1, "offset": 0}
    for offset, moment in ((1, "first"), (2, "second")):
        request = walk.take({"data": {"orders": [{}], "snapshotTime": moment}}).request
        assert request is not None
        assert request.json["pagination"] == {"limit": 1, "offset": offset, "snapshotTime": "first"}


def test_rrd_ids_come_from_the_last_row_and_a_short_page_ends_the_walk() -> None:
    operation = default_registry().operation("finance.sales_reports.details")
    walk = Walk(operation, json={"dateFrom": "2026-01-01", "dateTo": "2026-01-31"}, limit=2)
    assert walk.first().json["rrdId"] == 0
    request = walk.take([{"rrdId": 2**53 + 1}, {"rrdId": 2**53 + 3}]).request
    assert request is not None
    assert request.json["rrdId"] == 2**53 + 3
    assert walk.take([{"rrdId": 2**53 + 5}]).request is None


def test_ids_are_asked_in_chunks_and_an_empty_chunk_ends_nothing() -> None:
    operation = a_list(scheme="chunk", ids="ids", page_size=2, items="adverts")
    walk = Walk(operation, ids=[1, 2, 3])
    assert walk.first().params == {"ids": "1,2"}
    request = walk.take(None).request
    assert request is not None
    assert request.params == {"ids": "3"}
    assert walk.take({"adverts": [{"id": 3}]}).request is None


def test_ids_of_a_body_stay_a_list() -> None:
    operation = a_list(method="POST", scheme="chunk", params="body", ids="nmIds", page_size=2)
    assert Walk(operation, ids=[1, 2, 3]).first().json == {"nmIds": [1, 2]}


def test_a_list_longer_than_wb_lets_anyone_page_through_is_a_fault_after_its_last_page() -> None:
    operation = a_list(
        scheme="skip_take",
        limit="take",
        offset="skip",
        page_size=4,
        max_reach=6,
        end=("short_page",),
    )
    walk = Walk(operation)
    walk.first()
    request = walk.take([{}] * 4).request
    assert request is not None
    assert request.params == {"take": 2, "skip": 4}
    step = walk.take([{}] * 2)
    assert len(step.rows) == 2
    assert isinstance(step.fault, CallerError)
    assert "Split its period" in str(step.fault)


def test_a_list_of_passes_is_walked_once_for_each_unless_the_caller_picks_one() -> None:
    operation = a_list(scheme="offset", offset="offset", passes={"isAnswered": (False, True)})
    assert list(passes_of(operation, None, None)) == [{"isAnswered": False}, {"isAnswered": True}]
    assert list(passes_of(operation, {"isAnswered": True}, None)) == [{}]


@pytest.mark.parametrize(
    ("operation", "arguments", "message"),
    [
        (CHANGES, {}, "needs the parameter 'dateFrom'"),
        (OFFSET, {"limit": 51}, "takes 1 to 50 rows"),
        (OFFSET, {"limit": 0}, "takes 1 to 50 rows"),
        (OFFSET, {"position": {"offset": 10}}, "cannot be continued"),
        (CURSOR, {"position": {"nmID": 10}}, "cannot be continued"),
        (OFFSET, {"ids": [1]}, "not asked by ids"),
        (a_list(scheme="chunk", ids="ids"), {}, "needs its ids"),
        (CURSOR, {"json": [1]}, "must be a JSON object"),
        (CURSOR, {"json": {"settings": 1}}, "is no object"),
    ],
)
def test_parameters_that_do_not_fit_are_refused_before_the_first_request(
    operation: Operation, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(CallerError, match=message):
        Walk(operation, **arguments).first()


def test_an_empty_list_of_ids_is_refused() -> None:
    with pytest.raises(CallerError, match="no ids"):
        Walk(a_list(scheme="chunk", ids="ids", page_size=5), ids=[]).first()


LISTS = sorted(
    operation.id
    for operation in default_registry().operations.values()
    if operation.pagination is not None and operation.pagination.scheme != "task"
)


@pytest.mark.parametrize("operation_id", LISTS)
def test_every_list_of_the_registry_can_be_begun(operation_id: str) -> None:
    operation = default_registry().operation(operation_id)
    how = operation.pagination
    assert how is not None
    given: dict[str, Any] = dict.fromkeys(how.required, "x")
    where: dict[str, Any] = {"params": given} if how.params == "query" else {"json": given}
    walk = Walk(operation, ids=[1, 2] if how.scheme == "chunk" else None, **where)
    request = walk.first()
    asked = request.params if how.params == "query" else request.json
    limit = how.limit if how.page_size else ""
    for path in (*how.fixed, *how.start, *filter(None, (limit, how.offset, how.ids))):
        assert get_path(asked, path) is not None, path
