"""`wbtrio import`: lists of several sellers into files, in as many runs as the budgets take."""

from __future__ import annotations

import os
import sys
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import anyio
from cyclopts import Parameter, validators
from msgspec import Struct
from rich.console import Console

from wbtrio._client import DEFAULT_MAX_WAIT, WbApiClient
from wbtrio._errors import CallerError
from wbtrio._limiter import WbRateLimiter
from wbtrio._reply_text import clean
from wbtrio.cli._import_settings import (
    SINKS,
    Format,
    moment_of,
    numbers_of,
    read_tokens,
    store_of,
)
from wbtrio.cli._import_view import Bars, JsonLines, Lines, View
from wbtrio.importer import import_all

if TYPE_CHECKING:
    from wbtrio.importer import Summary

Patience = Annotated[float, Parameter(validator=validators.Number(gte=0))]


def import_command(
    *,
    token_file: Path,
    resource: Annotated[list[str], Parameter(negative="")],
    out: Path,
    since: date | None = None,
    format: Format = "ndjson",  # noqa: A002 - the option's name
    max_wait: Patience = DEFAULT_MAX_WAIT,
    prefetch: Annotated[int, Parameter(validator=validators.Number(gte=0, lte=64))] = 1,
    rows: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    redis: str | None = None,
    secret_env: str | None = None,
    backend: Literal["trio", "asyncio"] = "trio",
    base_url: str | None = None,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Import lists of WB's for one or several sellers, each inside its budgets.

    Rows and progress are kept together: a run may be stopped at any moment, and the same command
    goes on from there. A list whose budget needs more patience than `--max-wait` is deferred; the
    others go on. A list that WB can continue brings only what is new when it is imported again,
    any other is imported anew.

    Example: `wbtrio import --token-file tokens --resource cards --resource orders --out data`

    Exit status: 0 all done; 75 something is deferred, run again at the time that is printed;
    3 something failed; 2 wrong usage, nothing was sent.

    Parameters
    ----------
    token_file
        File with a WB token a line, one for each seller.
    resource
        What to import: a short name such as `cards`, or an operation's id; may be repeated.
    out
        Folder for rows, checkpoints and, without a Redis, budgets.
    since
        First day to import, where a list is chosen by time.
    format
        `ndjson`: a file of JSON lines for each list; `parquet`, `duckdb`: need their extras.
    max_wait
        Seconds that one page may wait for its budget.
    prefetch
        Pages that are asked for while the one before is written; 0: none.
    rows
        Rows that a resource will bring, such as `cards=6100`, for the time left.
    redis
        URL of a Redis that keeps the budgets, for several programs on the same tokens.
    secret_env
        Environment variable with the service secret that goes with the tokens.
    backend
        The event loop to run on.
    base_url
        A simulator's address, such as `http://127.0.0.1:8400`, instead of WB's hosts.
    as_json
        Print one JSON object for each event, and one for the summary.
    """
    tokens = read_tokens(token_file)
    out.mkdir(parents=True, exist_ok=True)
    asked = _Asked(
        tokens=tokens,
        resources=resource,
        since=moment_of(since),
        max_wait=max_wait,
        prefetch=prefetch,
        rows=numbers_of(rows, "--rows"),
        redis=redis,
        secret=_secret(secret_env),
        base_url=base_url,
    )
    view = _view(as_json=as_json)
    with view.running():
        summary = anyio.run(_run, asked, out, format, view, backend=backend)
    view.conclude(summary)
    return summary.exit_code


class _Asked(Struct, frozen=True):
    """What is to be imported, and how."""

    tokens: list[str]
    resources: list[str]
    since: datetime | None
    max_wait: float
    prefetch: int
    rows: dict[str, int]
    redis: str | None
    secret: str | None
    base_url: str | None

    def __repr__(self) -> str:
        return f"<import of {len(self.tokens)} sellers>"


async def _run(asked: _Asked, out: Path, format_: Format, view: View) -> Summary:
    # The lock of the folder comes first: it also guards the file of the budgets.
    async with (
        SINKS[format_](out) as sink,
        store_of(asked.redis, out) as store,
        WbApiClient(
            limiter=WbRateLimiter(store),
            client_secret=asked.secret,
            base_url=asked.base_url,
            max_wait=asked.max_wait,
        ) as client,
    ):
        return await import_all(
            client,
            asked.tokens,
            asked.resources,
            sink,
            since=asked.since,
            until=datetime.now(UTC),
            max_wait=asked.max_wait,
            prefetch=asked.prefetch,
            expected_rows=asked.rows,
            on_event=view.watch,
        )


def _secret(variable: str | None) -> str | None:
    if variable is None:
        return None
    if not os.environ.get(variable):
        raise CallerError(f"There is no environment variable {clean(variable)}.")
    return os.environ[variable]


def _view(*, as_json: bool) -> View:
    if as_json:
        return JsonLines()
    return Bars(Console(stderr=True)) if sys.stderr.isatty() else Lines(sys.stderr)
