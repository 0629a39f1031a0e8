"""List operations of each scheme, as the registry would describe them, with small pages."""

from __future__ import annotations

from typing import Any

from wbtrio._registry import Operation, Pagination
from wbtrio._tokens import TokenKind


def a_list(*, method: str = "GET", **pagination: Any) -> Operation:
    return Operation(
        id="test.rows.list",
        category="test",
        scope=None,
        method=method,
        path="/rows",
        hosts=("content-api.wildberries.ru",),
        sandbox_host=None,
        budget="test.rows.list",
        error_cost=1,
        sandbox_budget=None,
        kinds=frozenset(TokenKind),
        write=False,
        repeatable=True,
        deprecated=False,
        disabled=False,
        alternative=None,
        pagination=Pagination(**pagination),
        per_host=False,
    )


OFFSET = a_list(
    scheme="offset",
    limit="limit",
    offset="offset",
    page_size=50,
    row_key=("id",),
    end=("short_page",),
)
CURSOR = a_list(
    method="POST",
    scheme="cursor",
    params="body",
    items="cards",
    limit="settings.cursor.limit",
    page_size=50,
    cursor={
        "settings.cursor.updatedAt": "cursor.updatedAt",
        "settings.cursor.nmID": "cursor.nmID",
    },
    end=("total_below_limit",),
    end_field="cursor.total",
    fixed={"settings.filter.withPhoto": -1},
    row_key=("nmID",),
    resumable=True,
)
NEXT = a_list(
    scheme="next",
    items="orders",
    limit="limit",
    page_size=50,
    cursor={"next": "next"},
    start={"next": 0},
    end=("zero_cursor", "empty_page"),
    row_key=("id",),
    resumable=True,
)
CHANGES = a_list(
    scheme="last_change_date",
    page_size=50,
    cursor={"dateFrom": "changed"},
    cursor_from="last_row",
    end=("short_page", "no_new_rows"),
    required=("dateFrom",),
    row_key=("id",),
    resumable=True,
)
