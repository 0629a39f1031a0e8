"""Imports from a simulated WB, in virtual time, into folders that can be read back."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import httpx
import msgspec

from wbtrio import WbApiClient, WbRateLimiter
from wbtrio.importer import NdjsonSink, Sink, Source, Summary, import_all
from wbtrio.simulator import Scenario, Stock, WbSimulator, make_token
from wbtrio.stores import FileStore

TOKEN = make_token("seller-1")
OTHER = make_token("seller-2")
BASIC = make_token("seller-1", kind="basic")
TODAY = datetime(2026, 12, 1, 9, tzinfo=UTC)
SINCE = datetime(2026, 11, 1, tzinfo=UTC)


def simulator(**stock: Any) -> WbSimulator:
    return WbSimulator(Scenario(stock=Stock(**stock)))


def virtual_now() -> datetime:
    """The time of day, as the virtual clock moves it."""
    return TODAY + timedelta(seconds=anyio.current_time())


def virtual_unix() -> int:
    return round(virtual_now().timestamp() * 1_000_000)


async def run_import(
    server: WbSimulator,
    folder: Path,
    resources: Sequence[str | Source],
    *,
    tokens: Sequence[str] = (TOKEN,),
    sink: Sink | None = None,
    budgets: bool = False,
    patience: float = 1e9,
    **how: Any,
) -> Summary:
    """One run of an import, as one process would do it; its limiter forgets with it."""
    store = FileStore(folder / "budgets.json", clock=virtual_unix) if budgets else None
    transport = httpx.ASGITransport(server)
    settings: dict[str, Any] = {"since": SINCE, "until": TODAY, "now": virtual_now, **how}
    async with WbApiClient(
        transport=transport, limiter=WbRateLimiter(store), max_wait=patience, network_retries=0
    ) as wb:
        if sink is not None:
            return await import_all(wb, tokens, resources, sink, **settings)
        async with NdjsonSink(folder, threads=False) as files:
            return await import_all(wb, tokens, resources, files, **settings)


def rows_in(folder: Path, source: str, account: str = "seller-1") -> list[Any]:
    """Rows of a source as its file has them; a half row is an error."""
    text = (folder / account / f"{source}.ndjson").read_bytes()
    return [msgspec.json.decode(line) for line in text.splitlines()]


def as_set(rows: Sequence[Any]) -> list[bytes]:
    """Rows in an order of their own, each as often as it is there."""
    return sorted(msgspec.json.encode(row, order="sorted") for row in rows)
