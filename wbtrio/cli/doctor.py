"""`wbtrio doctor`: whether a Redis is fit to keep budgets, and what to change if it is not."""

from __future__ import annotations

import sys
import time
from itertools import islice
from typing import Annotated, Any

import anyio
import msgspec
import redis
from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

from wbtrio._bucket import FULL, Bucket, Limit
from wbtrio._errors import StoreError, StoreUnavailable, StoreUrlError
from wbtrio.cli import EXIT_ANSWER_IS_NO, EXIT_FAILED, _doctor_checks
from wbtrio.cli._doctor_checks import Finding
from wbtrio.stores import AcquireRequest, RedisStore

PINGS = 100
MOST_KEYS = 100_000
TIMEOUT = 2.0
_PROBE = Bucket("doctor", "test", "doctor", Limit(period=1, limit=1, burst=1))
"""Full again after a microsecond, so that nothing of it is kept."""
_COLOURS = {"ok": "green", "warning": "yellow", "failed": "red"}


def doctor(
    *,
    url: Annotated[str, Parameter(name="--redis")] = "redis://localhost:6379/0",
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Look at a Redis server: version, speed, eviction, persistence, clock, scripts, buckets.

    Changes nothing there, but for the scripts that wbtrio loads anyway. Reads with SCAN, so the
    server is never blocked.

    Exit status: 0 fit; 1 there are warnings; 3 it cannot be reached, or cannot serve wbtrio.

    Examples: `wbtrio doctor --redis redis://cache:6379/0`, `wbtrio doctor --json`.

    Parameters
    ----------
    url
        URL of the server, as `RedisStore` takes it.
    as_json
        Print one JSON object instead of a table.
    """
    store = RedisStore(url, timeout=TIMEOUT, connect_timeout=TIMEOUT)
    findings = examine(url, store)
    if as_json:
        sys.stdout.write(msgspec.json.encode({"findings": findings}).decode() + "\n")
    else:
        Console(highlight=False).print(_table(findings))
    verdicts = {finding.verdict for finding in findings}
    if "failed" in verdicts:
        return EXIT_FAILED
    return EXIT_ANSWER_IS_NO if "warning" in verdicts else 0


def examine(url: str, store: RedisStore) -> list[Finding]:
    """Ask a server all that there is to ask.

    Raises:
        StoreUrlError: The URL is none that redis-py understands.
        StoreUnavailable: Nobody answers there, or not in time.
        StoreError: The server does not let us in.
    """
    refusal = anyio.run(_refusal_of_scripts, store)
    with _client(url) as client:
        try:
            info: dict[str, Any] = client.info()
            asked = _now()
            seconds, microseconds = client.time()
            answered = _now()
            keys = list(islice(client.scan_iter("wbtrio:*", count=1_000), MOST_KEYS))
            round_trips = [_ping(client) for _ in range(PINGS)]
        except redis.RedisError as error:
            raise StoreUnavailable(f"The server broke off: {error}.") from error
    return [
        _doctor_checks.check_version(info),
        _doctor_checks.check_scripts(refusal),
        _doctor_checks.check_role(info),
        _doctor_checks.check_latency(round_trips),
        _doctor_checks.check_clock(seconds * 1_000_000 + microseconds, asked, answered),
        _doctor_checks.check_eviction(info),
        _doctor_checks.check_memory(info),
        _doctor_checks.check_persistence(info),
        _doctor_checks.check_keys(len(keys), is_all=len(keys) < MOST_KEYS),
    ]


async def _refusal_of_scripts(store: RedisStore) -> str:
    """What the server says against a real acquire; empty if it grants one."""
    try:
        async with store:
            await store.acquire([AcquireRequest(_PROBE.key, _PROBE.limit, 1, FULL)])
    except StoreUnavailable:
        raise
    except StoreError as error:
        if "password" in error.advice or "TLS" in error.message:
            raise
        return str(error)
    return ""


def _client(url: str) -> redis.Redis:
    try:
        return redis.Redis.from_url(url, socket_timeout=TIMEOUT, socket_connect_timeout=TIMEOUT)
    except ValueError as error:
        raise StoreUrlError("The text given is no Redis URL.") from error


def _ping(client: redis.Redis) -> int:
    started = time.perf_counter_ns()
    client.ping()
    return (time.perf_counter_ns() - started) // 1_000


def _now() -> int:
    return time.time_ns() // 1_000


def _table(findings: list[Finding]) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True, style="bold")
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for one in findings:
        colour = _COLOURS[one.verdict]
        text = f"{one.found}\n{one.advice}" if one.advice else one.found
        table.add_row(one.check, f"[{colour}]{one.verdict}[/]", text)
    return table
