"""How far an import has come: what is kept beside its rows, and changes with them only. Pure."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from .._positions import Position, Scalar, get_path

if TYPE_CHECKING:
    from .._pages import Page
    from .._registry import Pagination


class SourceKey(Struct, frozen=True, order=True):
    """One source of one seller.

    Attributes:
        account: Key of the seller's account.
        source: Name of the source.
    """

    account: str
    source: str


class Checkpoint(Struct, frozen=True, kw_only=True):
    """How far one source of one seller is imported. JSON, so that any sink can keep it.

    Attributes:
        until: End of the span that is imported.
        since: Its beginning, as given.
        window: Windows that are complete.
        cursor: Where to go on within the next one; None: at its beginning.
        boundary: Keys of the rows that stand at the cursor: a list that is continued by the
            moment of a change gives them again.
        rows: Rows that are imported, of all runs.
        pages: Pages that they came in.
        finished: Whether the import is complete.
        resume_at: Before this moment no request is sent: the budget would refuse it.
    """

    until: datetime
    since: datetime | None = None
    window: int = 0
    cursor: Position | None = None
    boundary: tuple[tuple[Scalar, ...], ...] = ()
    rows: int = 0
    pages: int = 0
    finished: bool = False
    resume_at: datetime | None = None


class Tally(Struct):
    """What came since the last checkpoint.

    Attributes:
        rows: Rows that were written.
        pages: Pages that they came in.
    """

    rows: int = 0
    pages: int = 0


class Boundary:
    """Knows the rows at the cursor of an inclusive list, such as `lastChangeDate`.

    Args:
        pagination: How the list is walked.
        checkpoint: Where the walk begins.
    """

    def __init__(self, pagination: Pagination, checkpoint: Checkpoint) -> None:
        self._names = pagination.row_key
        self._field = ""
        if pagination.cursor_from == "last_row" and len(pagination.cursor) == 1:
            (self._field,) = pagination.cursor.values()
        at_start = tuple((checkpoint.cursor or {}).values())
        self._at: Scalar = at_start[0] if self._field and at_start else None
        known = checkpoint.boundary if at_start else ()
        self._known = set(known)
        self._keys: dict[tuple[Scalar, ...], None] = dict.fromkeys(known)

    def new(self, rows: list[Any]) -> list[Any]:
        """Those of the rows that the earlier run did not write."""
        if not self._field or not self._names:
            return rows
        if self._known:
            rows = [row for row in rows if self._key(row) not in self._known]
        for row in rows:
            at = get_path(row, self._field)
            if at != self._at:
                self._keys = {}
            self._at = at
            self._keys[self._key(row)] = None
        return rows

    @property
    def keys(self) -> tuple[tuple[Scalar, ...], ...]:
        """Keys of all rows that have the last row's cursor value."""
        return tuple(self._keys)

    def _key(self, row: Any) -> tuple[Scalar, ...]:
        return tuple(get_path(row, name) for name in self._names)


def advanced(
    checkpoint: Checkpoint,
    page: Page[Any],
    tally: Tally,
    boundary: Boundary,
    *,
    windows: int,
    continues: bool,
) -> Checkpoint | None:
    """The checkpoint after a page, or None where the import cannot go on from there.

    Offsets are never gone on from: rows may have moved. Such a window counts once it is complete.

    Args:
        checkpoint: The last one.
        page: The page that was just written.
        tally: All that was written since that checkpoint, this page included.
        boundary: Knows the rows at the page's cursor.
        windows: How many windows there are.
        continues: Whether a finished import keeps its cursor.
    """
    rows, pages = checkpoint.rows + tally.rows, checkpoint.pages + tally.pages
    made = replace(checkpoint, rows=rows, pages=pages, resume_at=None)
    if page.is_last:
        window = checkpoint.window + 1
        finished = window >= windows
        cursor = page.cursor or checkpoint.cursor if finished and continues else None
        keys = boundary.keys if cursor else ()
        return replace(made, window=window, cursor=cursor, boundary=keys, finished=finished)
    if page.cursor is None:
        return None
    return replace(made, cursor=page.cursor, boundary=boundary.keys)
