"""One request for a seller's rows, and the reading of its parameters. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, NoReturn

from msgspec import Struct

from .replies import Answer, bare_error
from .shelf import SECOND, RowKey, Shelf

if TYPE_CHECKING:
    from .shop import Shop

DAY = 24 * 3_600 * SECOND

Json = Any
"""A JSON value."""

Render = Callable[["Shop", RowKey], Json]
Refuse = Callable[[str, int], Answer]


class Call(Struct, frozen=True):
    """What a request asks for.

    Attributes:
        path: Path parameters.
        query: Query parameters; of a repeated one, the last.
        body: The JSON body; None without one.
    """

    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Json


class Refused(Exception):
    """WB refuses the parameters; carries its reply."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(f"status {answer.status}")
        self.answer = answer


class Resource(Struct, frozen=True, kw_only=True):
    """One kind of rows.

    Attributes:
        name: How scenarios and tests call it.
        render: What a row says.
        reply: The page that a request asks for.
        refuse: The form of this service's own refusals.
        first_id: Ids of its rows start about here.
        group: Rows that share one moment.
        resolution: µs to which moments are rounded.
    """

    name: str
    render: Render
    reply: Callable[[Visit], Answer]
    refuse: Refuse = bare_error
    first_id: int = 1_000_000
    group: int = 1
    resolution: int = 1


class Visit(Struct, frozen=True):
    """One request for rows, at one moment.

    Attributes:
        shop: The seller's.
        resource: What is asked for.
        shelf: Its rows.
        call: The request's parameters.
        now: µs.
    """

    shop: Shop
    resource: Resource
    shelf: Shelf
    call: Call
    now: int

    def rows(self, keys: list[RowKey]) -> list[Json]:
        """The rows of a page."""
        return [self.resource.render(self.shop, key) for key in keys]

    def refuse(self, text: str, status: int = 400) -> NoReturn:
        """Answer that the parameters are wrong."""
        raise Refused(self.resource.refuse(text, status))

    def integer(
        self, place: Json, name: str, *, default: int | None, low: int = 0, high: int | None = None
    ) -> int:
        """A whole number of the query or of a body; `default` None: it is required."""
        value = place.get(name) if isinstance(place, Mapping) else None
        if value is None or value == "":
            if default is None:
                self.refuse(f"{name} is required")
            return default
        try:
            number = int(value)
        except (TypeError, ValueError):
            self.refuse(f"{name} must be a number")
        if number < low or (high is not None and number > high):
            self.refuse(f"{name} is out of range")
        return number

    def section(self, *names: str) -> Json:
        """An object nested in the body, {} where it is missing."""
        place = self.call.body
        for name in names:
            place = place.get(name) if isinstance(place, Mapping) else None
        return place if isinstance(place, Mapping) else {}

    def time(self, text: object, name: str) -> int:
        """A date or time as µs of the simulator's clock; naive ones are Moscow's."""
        try:
            return self.shop.microseconds(datetime.fromisoformat(str(text)))
        except (ValueError, OverflowError):
            self.refuse(f"{name} is not a date")

    def cap(self, most: int) -> int:
        """Most rows of a reply."""
        return self.shop.stock.caps.get(self.resource.name, most)

    def flag(self, name: str) -> bool:
        """A required `true` or `false` of the query."""
        text = self.call.query.get(name, "").lower()
        if text not in ("true", "false", "1", "0"):
            self.refuse(f"{name} is required")
        return text in ("true", "1")

    def require(self, place: Json, *names: str) -> None:
        """Refuse a request that lacks one of these parameters."""
        for name in names:
            if not (isinstance(place, Mapping) and place.get(name) not in (None, "")):
                self.refuse(f"{name} is required")

    def period(
        self, place: Json, first: str, last: str, *, most_days: int | None
    ) -> tuple[int, int]:
        """The two required ends of a period as µs of the simulator's clock, both included.

        A date without a time means the whole day, Moscow's.
        """
        self.require(place, first, last)
        low, high = self.time(place[first], first), self.time(place[last], last)
        if len(str(place[last])) == len("2026-11-01"):
            high += DAY - 1
        if high < low or (most_days is not None and high - low > most_days * DAY):
            self.refuse(f"the period from {first} to {last} is not allowed")
        return low, high

    @property
    def is_stuck(self) -> bool:
        """Whether this resource's cursor does not advance."""
        return self.resource.name in self.shop.stock.stuck
