"""Where a walk over a list stands, and how its next position follows from a page. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ._errors import CallerError

if TYPE_CHECKING:
    from ._registry import Pagination

Scalar = bool | int | float | str | None
Position = Mapping[str, Scalar]
"""Where a walk stands: request path of each cursor field -> its value. JSON, so it can be kept."""

OFFSET_SCHEMES = frozenset({"offset", "skip_take", "offset_snapshot"})


def get_path(data: Any, path: str) -> Any:
    """The value at a dotted path, None if there is none; `name[]` flattens a list of lists.

    >>> get_path({"data": {"orders": [1, 2]}}, "data.orders")
    [1, 2]
    >>> get_path({"groups": [{"rows": [1]}, {"rows": [2, 3]}]}, "groups[].rows[]")
    [1, 2, 3]
    """
    values = [data]
    flat = False
    for part in path.split(".") if path else ():
        name = part.removesuffix("[]")
        values = [value.get(name) for value in values if isinstance(value, Mapping)]
        if name != part:
            flat = True
            values = list(itertools.chain.from_iterable(v for v in values if isinstance(v, list)))
    if flat:
        return values
    return values[0] if values else None


def is_null(data: Any, path: str) -> bool:
    """Whether the path leads to a null, or to a null on the way."""
    for part in path.split(".") if path else ():
        name = part.removesuffix("[]")
        if data is None:
            return True
        if not isinstance(data, Mapping) or name not in data:
            return False
        data = data[name]
    return data is None


def put_path(target: dict[str, Any], path: str, value: Any) -> None:
    """Set the value at a dotted path, making the tables on the way.

    Raises:
        CallerError: Something other than a table is in the way.
    """
    *way, name = path.split(".")
    for part in way:
        target = target.setdefault(part, {})
        if not isinstance(target, dict):
            raise CallerError(f"{path!r} cannot be set: {part!r} is no object.")
    target[name] = value


class PageSeen(Struct, frozen=True):
    """One reply, read.

    Attributes:
        reply: Its JSON; of a large page, all but the rows.
        count: Its rows, seen before or not.
        last: The last of them; None: there is none.
        size: Rows that were asked for; 0: WB takes no size.
        fresh: Its rows that were not seen before.
    """

    reply: Any
    count: int
    last: Any
    size: int
    fresh: int


class Offset:
    """Positions of `offset`, `skip_take`, and `offset_snapshot` with its moment from page one."""

    is_zero = False
    ended = False

    def __init__(self, pagination: Pagination, own: Mapping[str, Any]) -> None:
        self._pagination = pagination
        start = get_path(own, pagination.offset)
        self.reached = self._start = start if isinstance(start, int) else 0
        self._kept: dict[str, Any] = {}

    def rewind(self) -> bool:
        """Go back to the start; False if it never left it."""
        moved = self.reached != self._start
        self.reached = self._start
        self._kept = {}
        return moved

    def now(self) -> Mapping[str, Any]:
        return {self._pagination.offset: self.reached, **self._kept}

    def advance(self, page: PageSeen) -> None:
        # By the rows that came, not by those asked for: WB may cap a page below its limit.
        self.reached += page.count
        self.ended = not page.count
        if not self._kept:
            for path, source in self._pagination.cursor.items():
                value = get_path(page.reply, source)
                if value is not None:
                    self._kept[path] = value


class Cursor:
    """Positions of `cursor`, `next`, `last_change_date`, `rrd_id`; `none` has none at all."""

    reached = 0

    def __init__(
        self, pagination: Pagination, own: Mapping[str, Any], position: Position | None
    ) -> None:
        self._pagination = pagination
        self._at: dict[str, Any] = {}
        for path in pagination.cursor:
            value = get_path(own, path)
            if position is not None:
                value = position[path]
            elif value is None:
                value = pagination.start.get(path)
            if value is not None:
                self._at[path] = value
        self._next: dict[str, Any] | None = None

    @property
    def ended(self) -> bool:
        return not self._pagination.cursor

    @property
    def is_zero(self) -> bool:
        """Whether the last reply gave no cursor to go on with."""
        return self._next is not None and not any(self._next.values())

    def now(self) -> Mapping[str, Any]:
        return self._at if self._next is None or self.is_zero else self._next

    def advance(self, page: PageSeen) -> None:
        self._at = dict(self.now())
        source = page.reply
        if self._pagination.cursor_from == "last_row":
            source = page.last
        self._next = {
            path: get_path(source, where) for path, where in self._pagination.cursor.items()
        }


class Chunks:
    """Positions of `chunk`: so many ids at a time."""

    is_zero = False
    reached = 0

    def __init__(self, pagination: Pagination, ids: list[int | str], size: int) -> None:
        self._pagination = pagination
        self._left = ids
        self._size = size or len(ids) or 1

    @property
    def ended(self) -> bool:
        return not self._left

    def now(self) -> Mapping[str, Any] | None:
        ids = self._left[: self._size]
        if not ids:
            return None
        in_query = self._pagination.params == "query"
        return {self._pagination.ids: ",".join(map(str, ids)) if in_query else ids}

    def advance(self, page: PageSeen) -> None:  # noqa: ARG002 - as the other courses
        self._left = self._left[self._size :]
