"""`wbtrio plan`: what an import will take, before anything is sent."""

from __future__ import annotations

import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio
import msgspec
from cyclopts import Parameter
from msgspec import Struct
from rich.console import Console

from wbtrio._bucket import MICROSECONDS, State
from wbtrio._limiter import WbRateLimiter
from wbtrio._registry import Registry, default_registry
from wbtrio._tokens import SellerToken, decode_token
from wbtrio.cli._import_settings import (
    SINKS,
    Format,
    clock_time,
    counted,
    in_words,
    kind_in_words,
    moment_of,
    numbers_of,
    pace_in_words,
    read_tokens,
    store_of,
)
from wbtrio.importer import (
    Checkpoint,
    Demand,
    Plan,
    PlanEntry,
    Source,
    SourceKey,
    demand_of,
    plan,
    source_named,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def plan_command(
    *,
    token_file: Path,
    resource: Annotated[list[str], Parameter(negative="")],
    since: date | None = None,
    rows: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    out: Path | None = None,
    format: Format = "ndjson",  # noqa: A002 - the option's name
    redis: str | None = None,
    secret: bool = False,
    latency: float = 0.0,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Say when each page of an import can be sent, and when it will be ready. Sends nothing.

    How many pages a list has, WB alone knows: state the rows you expect with `--rows`, or let the
    last import in `--out` tell. Sources that share a budget are planned together.

    Exit status: 0, or 2 for wrong usage.

    Parameters
    ----------
    token_file
        File with a WB token a line, one for each seller.
    resource
        What to import: a short name such as `cards`, or an operation's id; may be repeated.
    since
        First day to import, where a list is chosen by time.
    rows
        Rows that a resource will bring, such as `cards=6100`; may be repeated.
    out
        Folder of the import: what it holds already, and its budgets, are taken into account.
    format
        How that folder keeps its rows.
    redis
        Redis that keeps the budgets.
    secret
        A service secret goes with the tokens.
    latency
        Seconds from a request to its reply.
    as_json
        Print one JSON object for each source.
    """
    registry = default_registry()
    sellers = [decode_token(token, has_secret=secret) for token in read_tokens(token_file)]
    sources = [source_named(name, registry) for name in resource]
    expected = numbers_of(rows, "--rows")
    folder = out if out is not None and out.is_dir() else None
    kept = _checkpoints(folder, format, sellers, sources)
    now = datetime.now(UTC)

    asked = _Question(
        sellers, sources, registry, expected, kept, moment_of(since), now, round(latency * 1e6)
    )
    made = anyio.run(_plan, asked, redis, folder)
    if as_json:
        for entry in made.entries:
            sys.stdout.write(msgspec.json.encode(_facts(entry, made, now)).decode() + "\n")
    else:
        _print(made, {one.account: one for one in sellers}, now)
    return 0


class _Question(Struct, frozen=True):
    """What is to be planned; `latency` in µs."""

    sellers: list[SellerToken]
    sources: Sequence[Source]
    registry: Registry
    expected: Mapping[str, int]
    kept: Mapping[SourceKey, Checkpoint]
    since: datetime | None
    now: datetime
    latency: int

    def demands(self, now: int) -> list[Demand]:
        """What each source of each seller asks for; `now` in µs of the store's clock."""
        return [
            demand_of(
                source,
                seller,
                self.registry,
                since=self.since,
                until=self.now,
                rows=self.expected.get(source.name),
                checkpoint=self.kept.get(SourceKey(seller.account, source.name)),
                now=now,
            )
            for seller in self.sellers
            for source in self.sources
        ]


async def _plan(asked: _Question, redis: str | None, folder: Path | None) -> Plan:
    now = round(asked.now.timestamp() * MICROSECONDS)
    buckets = {leg.bucket.key: leg.bucket for one in asked.demands(now) for leg in one.legs}
    states: dict[str, State] = {}
    async with store_of(redis, folder) as store:
        if store is not None:
            found = await WbRateLimiter(store).peek(*buckets.values())
            states, now = dict(zip(buckets, found.states, strict=True)), found.now
    return plan(asked.demands(now), states, now, latency=asked.latency)


def _checkpoints(
    folder: Path | None, format_: Format, sellers: list[SellerToken], sources: Sequence[Source]
) -> dict[SourceKey, Checkpoint]:
    """How far an earlier import into the folder came."""
    if folder is None:
        return {}
    keys = [SourceKey(seller.account, source.name) for seller in sellers for source in sources]
    sink = SINKS[format_](folder)
    try:
        found = {key: sink.checkpoint_of(key) for key in keys}
    finally:
        sink.close()
    return {key: one for key, one in found.items() if one is not None}


def _print(made: Plan, sellers: Mapping[str, SellerToken], now: datetime) -> None:
    console = Console(highlight=False, soft_wrap=True)
    account = ""
    for entry in made.entries:
        if entry.key.account != account:
            account = entry.key.account
            console.print(f"{account} ({kind_in_words(sellers[account].kind)})", markup=False)
        console.print(f"  {line_of(entry, made, sellers[account], now)}", markup=False)
    is_open = any(entry.requests.most is None for entry in made.entries)
    ready = clock_time(_moment(made.ready_at, made, now), now)
    console.print(f"not ready before {ready}" if is_open else f"ready at {ready}")


def line_of(entry: PlanEntry, made: Plan, seller: SellerToken, now: datetime) -> str:
    """One source's line: `cards: 61 pages, 37 s; 1 request per 600 ms on a personal token; ...`."""
    parts = []
    if entry.requests.most is None:
        parts.append(f"{entry.requests.least} or more pages")
    else:
        few = entry.requests.least != entry.requests.most
        pages = f"{'at most ' if few else ''}{counted(entry.requests.most, 'page')}"
        parts.append(f"{pages}, {in_words((entry.ready_at - made.now) / MICROSECONDS)}")
    if entry.bucket is not None:
        pace = f"{pace_in_words(entry.bucket.limit)} on a {seller.kind} token"
        shared = f", shared by {entry.shared_by} of these" if entry.shared_by > 1 else ""
        parts.append(f"{pace} (budget {entry.bucket.budget}{shared})")
    if entry.moments and entry.moments[0] > made.now:
        parts.append(f"first at {clock_time(_moment(entry.moments[0], made, now), now)}")
    if entry.requests.most is not None:
        parts.append(f"ready at {clock_time(_moment(entry.ready_at, made, now), now)}")
    return f"{entry.key.source}: {'; '.join(parts)}"


def _facts(entry: PlanEntry, made: Plan, now: datetime) -> dict[str, object]:
    is_open = entry.requests.most is None
    return {
        "account": entry.key.account,
        "source": entry.key.source,
        "requests_at_least": entry.requests.least,
        "requests_at_most": entry.requests.most,
        "budget": None if entry.bucket is None else entry.bucket.budget,
        "interval_s": None if entry.bucket is None else entry.bucket.limit.interval / MICROSECONDS,
        "sources_on_budget": entry.shared_by,
        "seconds": None if is_open else (entry.ready_at - made.now) / MICROSECONDS,
        "ready_at": None if is_open else _moment(entry.ready_at, made, now),
        "pages_at": [_moment(moment, made, now) for moment in entry.moments],
    }


def _moment(us: int, made: Plan, now: datetime) -> datetime:
    return now + timedelta(microseconds=us - made.now)
