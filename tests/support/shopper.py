"""One seller who asks the simulator's catalogue for rows, without any HTTP between."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from wbtrio.simulator import Stock
from wbtrio.simulator.catalogue import Catalogue
from wbtrio.simulator.visit import Call

Json = Any

NOVEMBER = {"dateFrom": "2026-11-01", "dateTo": "2026-11-30"}
MONTH = {
    "dateFrom": str(int(datetime(2026, 11, 5, tzinfo=UTC).timestamp())),
    "dateTo": str(int(datetime(2026, 12, 2, tzinfo=UTC).timestamp())),
}
SIZES = pytest.mark.parametrize("size", [0, 1, 99, 100, 101, 250])


class Shopper:
    """Asks a catalogue as one seller."""

    def __init__(self, **stock: Any) -> None:
        self.catalogue = Catalogue(Stock(**stock))
        self.now = 0

    def ask(
        self,
        method: str,
        path: str,
        query: dict[str, Any] | None = None,
        body: Json = None,
        **params: str,
    ) -> tuple[int, Json]:
        asked = {name: str(value) for name, value in (query or {}).items()}
        answer = self.catalogue.answer(
            (method, path), "seller", Call(params, asked, body), self.now
        )
        assert answer is not None
        return answer.status, msgspec.json.decode(answer.body) if answer.body else None

    def page(
        self,
        method: str,
        path: str,
        query: dict[str, Any] | None = None,
        body: Json = None,
        **params: str,
    ) -> Json:
        """What it hands out."""
        status, page = self.ask(method, path, query, body, **params)
        assert status == 200, page
        return page

    def expected(self, name: str) -> list[Json]:
        return self.catalogue.rows("seller", name, self.now / 1_000_000)


def same_rows(found: list[Json], expected: list[Json]) -> bool:
    """Whether they are the same rows, each as often, in whatever order."""
    return sorted(map(msgspec.json.encode, found)) == sorted(map(msgspec.json.encode, expected))


def dig(page: Json, path: str) -> list[Json]:
    for name in path.split(".") if path else ():
        page = page[name]
    assert isinstance(page, list)
    return page
