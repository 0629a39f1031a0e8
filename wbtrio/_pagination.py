"""How a list is walked, page after page. Pure: replies in, requests out.

One `Walk` serves every scheme, since the registry's `Pagination` says where each parameter goes
and what ends the walk. What differs between the schemes is only how the next position follows
from a page: `Offset`, `Cursor` and `Chunks`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from ._errors import CallerError, CursorStuck
from ._positions import (
    OFFSET_SCHEMES,
    Chunks,
    Cursor,
    Offset,
    PageSeen,
    Position,
    Scalar,
    get_path,
    is_null,
    put_path,
)

if TYPE_CHECKING:
    from ._registry import Operation, Pagination


class PageRequest(Struct, frozen=True):
    """What to ask for one page.

    Attributes:
        params: Query parameters.
        json: The body, or None.
        size: Rows that a full page has; 0: WB does not say.
    """

    params: Mapping[str, Any]
    json: Any
    size: int


class Step(Struct, frozen=True):
    """What one reply brought.

    Attributes:
        rows: Its rows that were not seen before, in WB's order.
        count: Its rows, seen or not.
        position: Where to go on in a later run; None: this list cannot be continued.
        request: The next page's request; None: the walk has ended.
        fault: Set instead of `request` where the walk cannot go on and yet has not ended: WB's
            reply leads nowhere, or the list is longer than WB lets anyone page through.
    """

    rows: list[Any]
    count: int
    position: Position | None
    request: PageRequest | None
    fault: CursorStuck | CallerError | None = None


class Walk:
    """One walk over a list: `first()`, then `take(reply)` until its `request` is None.

    Args:
        operation: The list operation.
        params: The caller's own query parameters.
        json: The caller's own body.
        limit: Rows per page; None: the most that WB gives.
        position: Where an earlier walk stood, to go on from there.
        ids: The ids to ask for (`chunk` lists).
        seen: Keys of rows already seen; shared by the walks of one list.

    Raises:
        CallerError: The parameters do not fit the operation.
    """

    def __init__(
        self,
        operation: Operation,
        *,
        params: Mapping[str, Any] | None = None,
        json: Any = None,
        limit: int | None = None,
        position: Position | None = None,
        ids: Sequence[int | str] | None = None,
        seen: set[tuple[Any, ...]] | None = None,
    ) -> None:
        self._operation = operation
        self._pagination = pagination = pagination_of(operation)
        self._params, self._json, self._own = _own_parameters(operation, pagination, params, json)
        self._seen = set() if seen is None else seen
        self._known_until = 0
        for name in pagination.required:
            if get_path(self._own, name) is None:
                raise CallerError(f"{operation.id} needs the parameter {name!r}.")
        for path, value in pagination.fixed.items():
            if get_path(self._own, path) is None:
                put_path(self._own, path, value)
        self._size = self._asked_size = self._page_size(limit)
        self._total: int | None = None
        self._course = self._make_course(position, ids)

    def first(self) -> PageRequest:
        """The request of the first page."""
        request = self._request(self._course.now())
        if request is None:
            raise CallerError(f"{self._operation.id} was asked for no ids at all.")
        return request

    def restart(self) -> PageRequest | None:
        """Begin again; None where that makes no sense: no offset yet, or no key to tell rows by."""
        course = self._course
        if not (isinstance(course, Offset) and self._pagination.row_key):
            return None
        self._known_until = course.reached
        if not course.rewind():
            return None
        return self._request(course.now())

    def take(self, reply: Any) -> Step:
        """What a reply brought, and what to ask next.

        Args:
            reply: The reply's JSON; None: no content.

        Raises:
            TypeError: The reply holds no list where its rows should be.
        """
        rows = self._rows(reply)
        fresh = self.fresh(rows)
        last = rows[-1] if rows else None
        return self.conclude(reply, fresh, count=len(rows), fresh=len(fresh), last=last)

    def conclude(self, reply: Any, rows: list[Any], *, count: int, fresh: int, last: Any) -> Step:
        """What to ask next, after a reply whose rows were read elsewhere.

        Args:
            reply: The reply's JSON; its rows need not be in it.
            rows: For `Step.rows`.
            count: How many rows the reply had.
            fresh: How many of them `fresh` let pass.
            last: The last of them; None: there is none.
        """
        page = PageSeen(reply, count, last, self._asked_size, fresh)
        if "total_reached" in self._pagination.end:
            total = get_path(reply, self._pagination.end_field)
            self._total = total if isinstance(total, int) else None
        asked = self._course.now()
        self._course.advance(page)
        request, fault = None, None
        if not self._has_ended(page):
            request, fault = self._onward(asked, page)
        return Step(rows, count, self._kept(), request, fault)

    def foreseen(self, count: int) -> list[PageRequest]:
        """The requests after the next one, as far as they can be known: those of offset lists.

        They are right if every page until then is full.

        Args:
            count: How many at most.
        """
        course = self._course
        if not isinstance(course, Offset) or not self._asked_size:
            return []
        asked_size, requests = self._asked_size, []
        for number in range(1, count + 1):
            ahead = course.reached + number * asked_size
            if self._total is not None and ahead >= self._total:
                break
            try:
                request = self._request({**course.now(), self._pagination.offset: ahead})
            except CallerError:
                break
            if request is not None:
                requests.append(request)
        self._asked_size = asked_size
        return requests

    def _onward(
        self, asked: Mapping[str, Any] | None, page: PageSeen
    ) -> tuple[PageRequest | None, CursorStuck | CallerError | None]:
        stuck = self._stuck(asked, page)
        if stuck is not None:
            return None, stuck
        try:
            return self._request(self._course.now()), None
        except CallerError as beyond:
            return None, beyond

    def _make_course(
        self, position: Position | None, ids: Sequence[int | str] | None
    ) -> Offset | Cursor | Chunks:
        pagination = self._pagination
        if (ids is not None) != (pagination.scheme == "chunk"):
            raise CallerError(
                f"{self._operation.id} needs its ids."
                if ids is None
                else f"{self._operation.id} is not asked by ids."
            )
        if position is not None and not (
            pagination.resumable and set(position) == set(pagination.cursor)
        ):
            raise CallerError(f"{self._operation.id} cannot be continued from {position!r}.")
        if ids is not None:
            return Chunks(pagination, list(ids), self._size)
        if pagination.scheme in OFFSET_SCHEMES:
            return Offset(pagination, self._own)
        return Cursor(pagination, self._own, position)

    def _page_size(self, limit: int | None) -> int:
        pagination = self._pagination
        if limit is None:
            own = get_path(self._own, pagination.limit) if pagination.limit else None
            limit = own if isinstance(own, int) else pagination.page_size
        least, most = pagination.min_page_size, pagination.page_size
        if (most and not least <= limit <= most) or limit < 0:
            raise CallerError(f"{self._operation.id} takes {least} to {most} rows a page.")
        return limit

    def _request(self, at: Mapping[str, Any] | None) -> PageRequest | None:
        if at is None:
            return None
        pagination = self._pagination
        own = msgspec.to_builtins(self._own)
        size = self._size
        if pagination.offset:
            size = self._reachable(int(at[pagination.offset]))
        self._asked_size = size
        if pagination.limit and size:
            put_path(own, pagination.limit, size)
        for path, value in at.items():
            put_path(own, path, value)
        if pagination.params == "query":
            return PageRequest(own, self._json, size)
        return PageRequest(self._params, own, size)

    def _reachable(self, offset: int) -> int:
        """The page size at this offset: WB refuses to look beyond some row."""
        pagination = self._pagination
        size = self._size
        if pagination.max_reach is not None:
            size = min(size, pagination.max_reach - offset)
        beyond = pagination.max_offset is not None and offset > pagination.max_offset
        if beyond or (pagination.max_reach is not None and size < pagination.min_page_size):
            raise CallerError(
                f"{self._operation.id} has more rows than WB lets one page through"
                f" (offset {offset}).",
                advice="Split its period by dates.",
            )
        return size

    def _rows(self, reply: Any) -> list[Any]:
        if reply is None:
            return []
        path = self._pagination.items
        items = get_path(reply, path)
        if items is None and is_null(reply, path):
            # An empty list comes as null from some of WB's services.
            return []
        # A list that is not there at all is no empty list: zero rows would be a silent loss.
        if not isinstance(items, list):
            raise TypeError(f"there is no list at `{path or '$'}`")
        return items

    def fresh(self, rows: list[Any]) -> list[Any]:
        """Those of the rows that were not seen before; they are seen from now on."""
        names = self._pagination.row_key
        if not names:
            return rows
        fresh = []
        for row in rows:
            key = tuple(get_path(row, name) for name in names)
            if any(part is not None for part in key):
                if key in self._seen:
                    continue
                self._seen.add(key)
            fresh.append(row)
        return fresh

    def _has_ended(self, page: PageSeen) -> bool:
        if self._course.ended:
            return True
        if isinstance(self._course, Chunks):
            return False
        field = get_path(page.reply, self._pagination.end_field)
        is_full = bool(page.size) and page.count >= page.size
        rules = {
            "short_page": bool(page.size) and not is_full,
            "empty_page": not page.count,
            "no_content": page.reply is None,
            "zero_cursor": self._course.is_zero,
            "total_reached": isinstance(field, int) and self._course.reached >= field,
            "total_below_limit": isinstance(field, int) and field < page.size,
            "total_zero": field == 0,
            "flag_false": not field,
            # A full page of known rows may hide new ones behind it: that is stuck, not the end.
            "no_new_rows": page.fresh == 0 and not is_full,
        }
        # No content ends every walk, also where WB does not say so.
        return any(rules[rule] for rule in (*self._pagination.end, "no_content"))

    def _stuck(self, asked: Mapping[str, Any] | None, page: PageSeen) -> CursorStuck | None:
        now = self._course.now()
        if self._course.is_zero:
            problem = "gave no cursor, with a page that is not the last"
        elif now == asked:
            problem = f"gave the cursor {_shown(now)} again, with a page that is not the last"
        elif self._is_all_known(page):
            problem = f"answered the offset {self._course.reached} with rows already seen"
        else:
            return None
        return CursorStuck(f"{self._operation.id} {problem}.", operation=self._operation.id)

    def _is_all_known(self, page: PageSeen) -> bool:
        """Whether an offset list gave known rows where, but for a restart, new ones are due."""
        course = self._course
        if not (isinstance(course, Offset) and self._pagination.row_key):
            return False
        return not page.fresh and course.reached > self._known_until

    def _kept(self) -> Position | None:
        # At the end WB's cursor is often 0, which would mean "from the start" in a later run;
        # the course then stays at the last cursor that led somewhere.
        now = self._course.now() if self._pagination.resumable else None
        return now or None


def pagination_of(operation: Operation) -> Pagination:
    """How the operation is walked.

    Raises:
        CallerError: It is no list.
    """
    if operation.pagination is None:
        raise CallerError(f"{operation.id} is no list: use call().")
    return operation.pagination


def passes_of(
    operation: Operation, params: Mapping[str, Any] | None, json: Any
) -> Iterator[Mapping[str, Scalar]]:
    """The parameters of each pass that the whole list takes, those the caller fixed aside.

    A list that has none takes one pass with no parameters of its own.
    """
    pagination = pagination_of(operation)
    own = _own_parameters(operation, pagination, params, json)[2]
    open_passes = {
        path: values for path, values in pagination.passes.items() if get_path(own, path) is None
    }
    for values in itertools.product(*open_passes.values()):
        yield dict(zip(open_passes, values, strict=True))


def _own_parameters(
    operation: Operation, pagination: Pagination, params: Mapping[str, Any] | None, json: Any
) -> tuple[dict[str, Any], Any, dict[str, Any]]:
    """Copies of the caller's query and body, and that of the two which the walk adds to."""
    query = dict(params or {})
    if json is None and operation.method == "POST":
        json = {}
    body = msgspec.to_builtins(json)
    if pagination.params == "query":
        return query, body, query
    if not isinstance(body, dict):
        raise CallerError(f"{operation.id} pages by its body, which must be a JSON object.")
    return query, body, body


def _shown(position: Mapping[str, Any] | None) -> str:
    return ", ".join(f"{path}={value!r}" for path, value in (position or {}).items()) or "none"
