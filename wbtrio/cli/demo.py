"""`wbtrio demo`: four sellers, four lists each, one WB that counts, and no 429."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from typing import Annotated, Literal

import anyio
from cyclopts import Parameter, validators
from rich.console import Console

from wbtrio import CallerError, WbRateLimiter, decode_token
from wbtrio._statistics import BucketStatistics
from wbtrio.cli import EXIT_ANSWER_IS_NO
from wbtrio.cli._demo_import import LISTS, Seller, import_sellers
from wbtrio.cli._demo_processes import Orders, import_in_processes
from wbtrio.cli._demo_view import View, table_of, totals_of
from wbtrio.simulator import Latency, Scenario, Stock, WbSimulator, make_token
from wbtrio.simulator.serve import serve
from wbtrio.stores import MemoryStore, RedisStore, Store

PLAIN_WIDTH = 132
MAX_WAIT = 10.0
"""Seconds that one page may wait; beyond them its list is shown as parked."""

KINDS: dict[str, Literal["personal", "service", "basic"]] = {
    "anna": "personal",
    "boris": "personal",
    "clara": "service",
    "dmitri": "basic",
}
RESOURCES = {
    "cards": ("cards", 1_000),
    "prices": ("prices", 10_000),
    "FBS orders": ("orders", 30_000),
    "statistics": ("statistics_orders", 3_000),
}
"""Name of each list in the simulator, and how many rows of it a seller has."""

Positive = Annotated[int, Parameter(validator=validators.Number(gte=1))]


def demo(
    *,
    redis: str | None = None,
    backend: Literal["trio", "asyncio"] = "trio",
    processes: Positive = 1,
    quick: bool = False,
    seed: int = 0,
) -> int:
    """Import four sellers from a simulated WB, over real HTTP, and count what it cost.

    Examples: `wbtrio demo`; `wbtrio demo --backend asyncio`;
    `wbtrio demo --redis redis://localhost:6379/0 --processes 2`.

    Parameters
    ----------
    redis
        Keep the buckets in this Redis instead of in memory.
    backend
        The event loop to run on.
    processes
        How many processes import at once; more than one share the budgets on Redis.
    quick
        A third of the rows.
    seed
        Another seed, other rows.
    """
    if processes > 1 and redis is None:
        raise CallerError(
            "Several processes share their budgets on Redis.",
            advice="Add --redis redis://localhost:6379/0.",
        )
    run = partial(_run, redis=redis, backend=backend, processes=processes, quick=quick, seed=seed)
    return anyio.run(run, backend=backend)


async def _run(*, redis: str | None, backend: str, processes: int, quick: bool, seed: int) -> int:
    console = Console()
    if not console.is_terminal:
        console = Console(width=PLAIN_WIDTH)
    scale = (3 if quick else 1) * processes
    rows = {name: count // scale for name, count in RESOURCES.values()}
    simulator = WbSimulator(
        Scenario(seed=seed, latency=Latency(before=0.005, after=0.005), stock=Stock(rows=rows))
    )
    sellers = []
    for name, kind in KINDS.items():
        token = make_token(name, kind)
        sellers.append(Seller(name, kind, token, decode_token(token).account))
    expected = {name: rows[RESOURCES[name][0]] * processes for name in LISTS}
    view = View(console, sellers, expected)
    async with _opened(redis) as store, serve(simulator) as base_url:
        started = anyio.current_time()
        with view.running():
            if processes > 1 and redis is not None:
                orders = Orders(base_url, redis, backend, MAX_WAIT, sellers)
                statistics = await import_in_processes(orders, processes, view.watch)
            else:
                limiter = WbRateLimiter(store)
                statistics = [
                    await import_sellers(
                        base_url, sellers, limiter, max_wait=MAX_WAIT, watch=view.watch
                    )
                ]
        took = anyio.current_time() - started
    return _report(view, sellers, statistics, simulator, f"{took:.1f} s on {backend}, {store!r}")


@asynccontextmanager
async def _opened(redis: str | None) -> AsyncIterator[Store]:
    if redis is None:
        yield MemoryStore()
        return
    async with RedisStore(redis) as store:
        yield store


def _report(
    view: View,
    sellers: list[Seller],
    statistics: list[dict[str, BucketStatistics]],
    simulator: WbSimulator,
    how: str,
) -> int:
    buckets: list[Mapping[str, BucketStatistics]] = [*statistics]
    lines = {
        f"{seller.name} ({seller.kind})": totals_of(seller, view.walked, buckets, simulator.tallies)
        for seller in sellers
    }
    resumes: dict[str, datetime] = {}
    for (name, _), walked in view.walked.items():
        if walked.resumes_at is not None:
            label = f"{name} ({KINDS[name]})"
            resumes[label] = min(walked.resumes_at, resumes.get(label, walked.resumes_at))
    view.console.print(table_of(lines, resumes))
    view.console.print(f"{how}; utilisation: of what WB would have allowed", style="dim")
    refused = sum(line.refused for line in lines.values())
    return EXIT_ANSWER_IS_NO if refused else 0
