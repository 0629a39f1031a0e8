"""One seller's rows of one resource, in the order in which WB keeps them. Pure.

Rows are kept as keys only, a moment and an id; what a row says follows from its id. So a
catalogue of 100,000 rows costs little until a page of it is asked for.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from datetime import timedelta
from random import Random
from typing import Literal, NamedTuple

from msgspec import Struct

SECOND = 1_000_000
SPAN = timedelta(days=20)
"""Rows are at most this old when the simulator starts, so that they stay within the 30 days that
WB's FBS orders show by default, for ten days of an import."""


class RowKey(NamedTuple):
    """Where a row stands.

    Attributes:
        moment: µs since the simulator's start when the row last changed; negative: before it.
        id: The row's number, unique on its shelf.
    """

    moment: int
    id: int


class Motion(Struct, frozen=True, forbid_unknown_fields=True):
    """Rows that change while somebody pages through them.

    Attributes:
        resource: Name of the resource.
        every: Seconds between changes.
        how: `touch`: a row changes and gets a new moment; `add`: a row appears, with the newest
            moment; `remove`: a row is gone.
    """

    resource: str
    every: float
    how: Literal["touch", "add", "remove"] = "touch"

    def __post_init__(self) -> None:
        if self.every * SECOND < 1:
            raise ValueError(f"changes need time between them: {self}")


class Shelf:
    """Rows ordered by (moment, id).

    Args:
        first_id: Id of the oldest row; the others count up from it.
        size: How many rows.
        group: Rows that share one moment, as those of one order do.
        resolution: µs to which moments are rounded, as WB prints them.
        motions: Changes as time passes.
        seed: Decides which rows change.
    """

    def __init__(
        self,
        first_id: int,
        size: int,
        *,
        group: int = 1,
        resolution: int = 1,
        motions: tuple[Motion, ...] = (),
        seed: str = "",
    ) -> None:
        span = SPAN // timedelta(microseconds=1)
        step = span // (size // group + 2)
        self._keys = [
            RowKey(
                (number // group + 1) * step // resolution * resolution - span, first_id + number
            )
            for number in range(size)
        ]
        self._by_id: list[RowKey] | None = None
        self._next_id = first_id + size
        self._resolution = resolution
        self._random = Random(seed)
        self._motions = motions
        self._due = [round(motion.every * SECOND) for motion in motions]

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def keys(self) -> tuple[RowKey, ...]:
        """All rows, oldest change first."""
        return tuple(self._keys)

    @property
    def by_id(self) -> list[RowKey]:
        """All rows by their ids; sorted once, and again after a change."""
        if self._by_id is None:
            self._by_id = sorted(self._keys, key=lambda key: key.id)
        return self._by_id

    def advance(self, now: int) -> None:
        """Let the rows change as they do until `now` (µs)."""
        while self._due and min(self._due) <= now:
            moment = min(self._due)
            which = self._due.index(moment)
            self._due[which] += round(self._motions[which].every * SECOND)
            self._change(self._motions[which].how, moment)

    def after(self, key: tuple[int, int] | None, count: int) -> list[RowKey]:
        """Rows after a key, oldest change first; None: from the start."""
        start = 0 if key is None else bisect_right(self._keys, key)
        return self._keys[start : start + count]

    def since(self, moment: int, count: int) -> list[RowKey]:
        """Rows changed at or after a moment, oldest change first."""
        start = bisect_left(self._keys, (moment, 0))
        return self._keys[start : start + count]

    def before(self, key: tuple[int, int] | None, count: int) -> list[RowKey]:
        """Rows before a key, newest change first; None: from the newest."""
        end = len(self._keys) if key is None else bisect_left(self._keys, key)
        return self._keys[max(0, end - count) : end][::-1]

    def newest(self, offset: int, count: int) -> list[RowKey]:
        """Rows by their place from the newest change on."""
        end = max(0, len(self._keys) - offset)
        return self._keys[max(0, end - count) : end][::-1]

    def _change(self, how: str, moment: int) -> None:
        self._by_id = None
        stamp = moment // self._resolution * self._resolution
        if how == "add":
            insort(self._keys, RowKey(stamp, self._next_id))
            self._next_id += 1
        elif self._keys:
            row = self._keys.pop(self._random.randrange(len(self._keys)))
            if how == "touch":
                insort(self._keys, RowKey(stamp, row.id))
