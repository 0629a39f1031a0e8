"""One seller's side of WB: his rows, made up from a seed, and how WB prints them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING
from zlib import crc32

from msgspec import Struct

from .shelf import Motion, RowKey, Shelf

if TYPE_CHECKING:
    from .visit import Resource

MOSCOW = timezone(timedelta(hours=3))
"""Statistics prints and reads times without a zone, and means this one."""

DEFAULT_ROWS = 250


class Stock(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What sellers have at this WB.

    Attributes:
        today: The moment at which the simulator starts.
        rows: How many rows of each resource a seller has; those not named: `default_rows`.
        sellers: The same for single sellers, by account.
        default_rows: See `rows`.
        caps: Most rows of a reply, for resources where WB's own cap (80,000 in Statistics) is
            too much for a test.
        motions: Rows that change while somebody pages.
        stuck: Resources whose cursor does not advance (field case WB-053).
        seed: Another seed, other rows.
    """

    today: datetime = datetime(2026, 12, 1, 9, tzinfo=UTC)
    rows: Mapping[str, int] = {}
    sellers: Mapping[str, Mapping[str, int]] = {}
    default_rows: int = DEFAULT_ROWS
    caps: Mapping[str, int] = {}
    motions: tuple[Motion, ...] = ()
    stuck: frozenset[str] = frozenset()
    seed: int = 0


class Shop:
    """One seller's rows; shelves are made when they are first asked for."""

    def __init__(self, account: str, stock: Stock) -> None:
        self.account = account
        self.stock = stock
        self.tasks: dict[str, int] = {}
        """Reports that were asked for, by id, and when (µs)."""
        self._number = crc32(f"{stock.seed}/{account}".encode()) % 9_000
        self._shelves: dict[str, Shelf] = {}

    def shelf(self, resource: Resource, now: int) -> Shelf:
        """The rows of a resource as of now (µs)."""
        shelf = self._shelves.get(resource.name)
        if shelf is None:
            shelf = self._new_shelf(resource)
            self._shelves[resource.name] = shelf
        shelf.advance(now)
        return shelf

    def moment(self, us: int) -> datetime:
        """The time of day at a moment of the simulator's clock."""
        return self.stock.today + timedelta(microseconds=us)

    def microseconds(self, moment: datetime) -> int:
        """The moment of the simulator's clock at a time of day; naive: Moscow's."""
        aware = moment if moment.tzinfo else moment.replace(tzinfo=MOSCOW)
        return (aware - self.stock.today) // timedelta(microseconds=1)

    def zulu(self, us: int) -> str:
        """As Content prints a moment, with µs; it sorts as it reads."""
        return self.moment(us).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def zulu_seconds(self, us: int) -> str:
        """As Marketplace prints a moment."""
        return self.moment(us).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def moscow(self, us: int) -> str:
        """As Statistics prints a moment."""
        return self.moment(us).astimezone(MOSCOW).strftime("%Y-%m-%dT%H:%M:%S")

    def milliseconds(self, us: int) -> int:
        """As Chat counts moments: Unix milliseconds."""
        return round(self.moment(us).timestamp() * 1_000)

    def day(self, us: int) -> str:
        """As reports print a day, Moscow's."""
        return self.moment(us).astimezone(MOSCOW).strftime("%Y-%m-%d")

    def nm_id(self, row_id: int) -> int:
        """A product of this seller."""
        return 100_000_000 + self._number * 100_000 + row_id % DEFAULT_ROWS

    def _new_shelf(self, resource: Resource) -> Shelf:
        stock = self.stock
        sizes = {**stock.rows, **stock.sellers.get(self.account, {})}
        return Shelf(
            resource.first_id + self._number * 100_000,
            sizes.get(resource.name, stock.default_rows),
            group=resource.group,
            resolution=resource.resolution,
            motions=tuple(item for item in stock.motions if item.resource == resource.name),
            seed=f"{stock.seed}/{self.account}/{resource.name}",
        )


def key_text(prefix: str, key: RowKey) -> str:
    """An id that WB prints as text."""
    return f"{prefix}{key.id:012x}"
