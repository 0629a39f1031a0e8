"""What the registry knows: operations, their pagination, and the budgets they are charged to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from .._bucket import Limit
from .._tokens import Scope, TokenKind
from ._limits import strictness

Scalar = bool | int | float | str | None
"""A value of one of WB's parameters."""

Scheme = Literal[
    "cursor",
    "offset",
    "skip_take",
    "next",
    "offset_snapshot",
    "last_change_date",
    "rrd_id",
    "task",
    "chunk",
    "none",
]
"""How an operation hands out its rows; `none`: all of them in one reply."""

EndRule = Literal[
    "short_page",
    "empty_page",
    "no_content",
    "zero_cursor",
    "total_reached",
    "total_below_limit",
    "total_zero",
    "flag_false",
    "no_new_rows",
]
"""What ends a walk; any of an operation's rules does.

short_page: fewer rows than asked for. empty_page: none. no_content: status 204.
zero_cursor: the reply's cursor is 0, null or missing. total_reached: offset >= `end_field`.
total_below_limit: `end_field` counts the rows of this page, and is below the page size.
total_zero: `end_field` is 0. flag_false: `end_field` is false. no_new_rows: each row of the page
was seen before (by `row_key`).
"""


class Pagination(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to walk all rows of a list operation.

    Paths are dotted: `settings.cursor.limit` leads into the request's parameters (its query or
    its body, as `params` says), `data.orders` into the reply; `[]` flattens a list of lists. An
    empty path in `items` is the reply itself.

    Attributes:
        scheme: Which walk.
        params: Where the walk's own parameters go. A POST may well take them in its query.
        items: Reply path of the rows.
        row_key: Names of the row's fields that tell two rows apart; empty: WB names none.
        limit: Request path of the page size; empty: WB takes none.
        page_size: Largest page (or, for `chunk`, the most ids per request); 0: WB states none.
        min_page_size: Smallest page size that WB takes.
        offset: Request path of the offset (`offset`, `offset_snapshot`, `skip_take`).
        max_offset: Largest offset that WB takes; the walk has to be split by dates beyond it.
        max_reach: Largest offset + page size that WB takes; None: no bound known.
        cursor: Request path of each cursor field -> path of its next value, within
            `cursor_from`.
        cursor_from: Where the next cursor is read: the last reply, its last row, or the first
            reply of the walk (and then kept for all later pages).
        start: Cursor values to send with the first page; a cursor not named here is left out.
        end: Rules of which any ends the walk; empty only for `none`, `chunk` and `task`.
        end_field: Reply path that the `total_*` and `flag_false` rules read.
        fixed: Parameters to send unless the caller gives them, by request path.
        required: Parameters that WB refuses to go without; the caller gives them.
        passes: Parameter -> all its values; rows of every value together are the whole set.
        resumable: The last cursor may be kept and continued from in a later run.
        ids: Request path of the ids (`chunk`); "a,b" in a query, a list in a body.
        max_days: Longest period of one request, in days.
        max_age_days: How far back WB keeps the rows, in days.
        period: Request paths of the first and the last day of the period, where it has one.
        task_id: Reply path of the id of the task that was created (`task`); for a task whose
            id the caller chooses, the request path of it.
        status: Operation that tells the task's state.
        status_ids: Request path at which `status` takes the id; empty: its path has it.
        status_field: Reply path of that state.
        done: States in which the result can be fetched.
        failed: States from which it never will be.
        download: Operation that fetches the result.
    """

    scheme: Scheme
    params: Literal["query", "body"] = "query"
    items: str = ""
    row_key: tuple[str, ...] = ()
    limit: str = ""
    page_size: int = 0
    min_page_size: int = 1
    offset: str = ""
    max_offset: int | None = None
    max_reach: int | None = None
    cursor: Mapping[str, str] = {}
    cursor_from: Literal["reply", "last_row", "first_reply"] = "reply"
    start: Mapping[str, Scalar] = {}
    end: tuple[EndRule, ...] = ()
    end_field: str = ""
    fixed: Mapping[str, Scalar] = {}
    required: tuple[str, ...] = ()
    passes: Mapping[str, tuple[Scalar, ...]] = {}
    resumable: bool = False
    ids: str = ""
    max_days: int | None = None
    max_age_days: int | None = None
    period: tuple[str, ...] = ()
    task_id: str = ""
    status: str = ""
    status_ids: str = ""
    status_field: str = ""
    done: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    download: str = ""


class Operation(Struct, frozen=True, kw_only=True):
    """One method of WB's API.

    Attributes:
        id: Stable name, `category.noun.verb`, such as `content.cards.list`.
        category: The section of WB's documentation that describes it.
        scope: Category that a token needs for it; None: any token will do.
        method: HTTP method, upper case.
        path: Path template, such as `/api/v3/supplies/{supplyId}`.
        hosts: Production hosts; the first is the one to use unless the caller picks another.
        sandbox_host: Host of WB's sandbox, or None if the operation has none there.
        budget: Id of the budget that production requests are charged to.
        error_cost: Requests that a 4XX reply counts as; 1: no more than any other.
        sandbox_budget: Id of the budget of the sandbox; None: `budget` counts there too.
        kinds: Token kinds that WB admits here.
        write: It changes something at WB: a read-only token is refused.
        repeatable: Sending it twice does no harm, so it may be sent again after a network error.
        deprecated: WB announced its end; it may still answer.
        disabled: WB switched it off for a time; it may be back.
        alternative: Operation to use instead, where one is known.
        pagination: How to walk its rows; None: it is no list.
        per_host: Each host counts its own budget.
    """

    id: str
    category: str
    scope: Scope | None
    method: str
    path: str
    hosts: tuple[str, ...]
    sandbox_host: str | None
    budget: str
    error_cost: int
    sandbox_budget: str | None
    kinds: frozenset[TokenKind]
    write: bool
    repeatable: bool
    deprecated: bool
    disabled: bool
    alternative: str | None
    pagination: Pagination | None
    per_host: bool

    @property
    def path_parameters(self) -> tuple[str, ...]:
        """Names in the braces of the path, in order."""
        return tuple(re.findall(r"\{([^{}]*)\}", self.path))


class Budget(Struct, frozen=True, kw_only=True):
    """One counter of WB's, and what it allows to each token kind.

    Attributes:
        id: Its name: a group's, or the id of the one operation that it counts.
        limits: Limit of each token kind, as published or assumed.
        about: What WB calls the group, in English; empty for an operation's own budget.
        share: Part of WB's limit that is used here; `limits` are scaled by it already.
    """

    id: str
    limits: Mapping[TokenKind, Limit]
    about: str = ""
    share: float = 1.0

    def limit_for(self, kind: TokenKind) -> Limit:
        """The limit of a token kind; never fails.

        A kind that WB publishes no row for gets the strictest row of the budget: this concerns
        test tokens outside the sandbox, and kinds that WB refuses there anyway.
        """
        return self.limits.get(kind) or max(self.limits.values(), key=strictness)
