"""Results as tables: the same ones are printed and go into docs/benchmarks.md. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from benchmarks._catalogue import (
    ALL_LOOPS,
    BARE,
    FOOTPRINT,
    IMPORT,
    LIMITER,
    PEERS,
    RAW,
    SKIP,
    STORE,
    TRANSPORT,
    Place,
    Run,
)
from benchmarks._measure import LoopName
from benchmarks._results import Results

GOAL_TO_BARE = 1.15
"""Times the bare multiplexer's p50 that reconciling may take."""
GOAL_TO_RAW = 3.3
"""The same, of the raw blocking socket's."""
GOAL_SKIP_NS = 1_000

Table = list[str]
MISSING = "–"


def number(value: float | None, digits: int = 0) -> str:
    """A figure as a cell."""
    return MISSING if value is None else f"{value:,.{digits}f}"


def percent(value: float | None) -> str:
    """A share as a cell."""
    return MISSING if value is None else f"{value:.1%}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """A Markdown table; nothing where there are no rows."""
    if not rows:
        return []
    lines = [list(head), ["---", *["---:"] * (len(head) - 1)], *map(list, rows)]
    return [f"| {' | '.join(line)} |" for line in lines]


def path_table(results: Results) -> Table:
    """Every call of the Redis path: percentiles, and ratios to the two yardsticks."""
    rows = []
    for name in (RAW, BARE, STORE, LIMITER):
        for loop in ("", *ALL_LOOPS):
            run = results.find(name, loop)
            if run is not None:
                rows += [
                    _path_row(results, run, what)
                    for what in ("acquire", "narrow", "settle_429")
                    if results.spread(run, what)
                ]
    head = ("call", "loop", "p50, µs", "p90", "p99", "p50 to bare", "p50 to raw")
    return table(head, rows)


def _path_row(results: Results, run: Run, what: str) -> list[str]:
    times = [number(results.value(run, f"{what} p{percentile}")) for percentile in (50, 90, 99)]
    # A 429 is one narrowing of another content.
    command = "narrow" if what == "settle_429" else what
    bare, raw = results.find(BARE, run.loop), results.find(RAW)
    ratios = [
        number(results.ratio(run, other, f"{what} p50", f"{command} p50") if other else None, 2)
        for other in (bare, raw)
    ]
    called = {"narrow": "reconcile", "settle_429": "settle a 429"}.get(what, what)
    return [f"{run.name}: {called}", run.loop or "none", *times, *ratios]


def throughput_table(results: Results) -> Table:
    """64 tasks at once, on as many buckets and on one."""
    rows = []
    for name in (BARE, STORE, LIMITER):
        for loop in ALL_LOOPS:
            run, bare = results.find(name, loop), results.find(BARE, loop)
            if run is None or bare is None:
                continue
            rows.append([name, loop])
            for what in ("many_keys", "one_key"):
                rows[-1] += [
                    number(results.value(run, what)),
                    number(results.ratio(run, bare, what), 2),
                ]
    head = ("acquire", "loop", "64 buckets, calls/s", "to bare", "one bucket, calls/s", "to bare")
    return table(head, rows)


def goals_table(results: Results) -> Table:
    """What was aimed at, and whether it was reached."""
    rows = [
        _goal_row(results, "reconcile", loop, other, most)
        for loop in ALL_LOOPS
        for other, most in ((BARE, GOAL_TO_BARE), (RAW, GOAL_TO_RAW))
        if results.find(LIMITER, loop)
    ]
    for rule, called in (("at_capacity", "`Remaining` at the burst"), ("as_expected", "no news")):
        for loop in ALL_LOOPS:
            run = results.find(SKIP, loop)
            value = None if run is None else results.value(run, f"{rule}_ns")
            if value is not None:
                reached = "yes" if value < GOAL_SKIP_NS else "no"
                goal = f"< {GOAL_SKIP_NS:,} ns"
                rows.append([f"skip, {called}, {loop}", goal, f"{value:,.0f} ns", reached])
    return table(("", "goal", "measured", "reached"), rows)


def _goal_row(results: Results, called: str, loop: LoopName, other: str, most: float) -> list[str]:
    run, yardstick = results.find(LIMITER, loop), results.find(other, "" if other == RAW else loop)
    ratio = results.ratio(run, yardstick, "narrow p50") if run and yardstick else None
    reached = MISSING if ratio is None else "yes" if ratio <= most else "no"
    return [f"{called} p50 to {other}, {loop}", f"<= {most}", number(ratio, 2), reached]


def skip_table(results: Results) -> Table:
    """What a reply costs that needs no store call."""
    lines: tuple[tuple[str, str], ...] = (
        ("decision, `Remaining` at or above the burst, ns", "at_capacity_ns"),
        ("decision, no less than the grant foresaw, ns", "as_expected_ns"),
        ("reading the headers, ns", "headers_ns"),
        ("settling a permit, headers and checkpoint included, ns", "settle_ns"),
        ("a checkpoint of the loop alone, ns", "checkpoint_ns"),
        ("bytes that the first decision needs at most", "at_capacity_bytes"),
        ("bytes that the second decision needs at most", "as_expected_bytes"),
        ("blocks kept after each first decision", "at_capacity_blocks"),
        ("blocks kept after each second decision", "as_expected_blocks"),
        ("store calls of all these settlements", "store_calls"),
    )
    return _by_loop(results, SKIP, lines)


def transport_table(results: Results) -> Table:
    """A request answered in process, without and with the transport."""
    lines = tuple(
        (f"{called}, p{percentile}, µs", f"{what} p{percentile}")
        for what, called in (("bare", "httpx alone"), ("limited", "with `RateLimitTransport`"))
        for percentile in (50, 99)
    )
    return _by_loop(results, TRANSPORT, lines)


def _by_loop(results: Results, name: str, lines: Sequence[tuple[str, str]]) -> Table:
    found = [run for loop in ALL_LOOPS if (run := results.find(name, loop)) is not None]
    if not found:
        return []
    rows = [
        [called, *(number(results.value(run, what), _digits(what)) for run in found)]
        for called, what in lines
    ]
    return table(("", *(run.loop for run in found)), rows)


def _digits(what: str) -> int:
    return 3 if what.endswith("blocks") else 0


def import_table(results: Results) -> Table:
    """Store calls a request, by which replies are skipped."""
    run = results.find(IMPORT)
    if run is None:
        return []
    rows = [
        ["both rules (as it is)", number(results.value(run, "both_rules"), 3)],
        ["the literal rule alone (counted beside)", number(results.value(run, "literal_rule"), 3)],
        ["acquires alone", number(results.value(run, "acquires"), 3)],
        ["requests", number(results.value(run, "requests"))],
        ["429s", number(results.value(run, "refused"))],
    ]
    return table(("a whole import", "store calls a request"), rows)


def footprint_table(results: Results) -> Table:
    """Bytes of buckets and accounts."""
    run = results.find(FOOTPRINT, "asyncio")
    if run is None:
        return []
    lines = (
        ("Redis, one key (`MEMORY USAGE`)", "redis_key"),
        ("the same while a 429 has proved a slower limit", "redis_key_slowed"),
        ("Redis, all memory for one bucket more", "redis_bucket"),
        ("Python, one account of ten buckets, with a `MemoryStore`", "python_account"),
        ("Python, one bucket", "python_bucket"),
        ("accounts", "accounts"),
        ("buckets", "buckets"),
    )
    rows = [[called, number(results.value(run, what))] for called, what in lines]
    return table(("memory", "bytes"), rows)


def speed_table(results: Results, place: Place) -> Table:
    """Every library's own fastest way to one token of a full bucket."""
    rows = []
    for name in PEERS:
        for loop in ALL_LOOPS:
            run = results.find(name, loop, "speed", place)
            if run is not None:
                times = [number(results.value(run, f"acquire p{p}"), 1) for p in (50, 99)]
                rows.append([name, loop, *times, number(results.value(run, "many_keys"))])
                if place == "Redis":
                    rows[-1].append(number(results.value(run, "commands"), 2))
    head = ["", "loop", "p50, µs", "p99, µs", "64 tasks, 64 buckets: calls/s"]
    return table([*head, *(["commands an acquire"] if place == "Redis" else [])], rows)


def crowd_table(results: Results, place: Place) -> Table:
    """Twenty waiters for one bucket, and what cancelled ones take with them."""
    rows = []
    for name in PEERS:
        lost = results.find(name, "asyncio", "cancelled", place)
        for loop in ALL_LOOPS:
            run = results.find(name, loop, "crowd", place)
            if run is None:
                continue
            rows.append(
                [
                    name,
                    loop,
                    percent(results.value(run, "utilisation")),
                    number(results.value(run, "overshoot"), 1),
                    number(results.value(run, "fairness"), 2),
                ]
            )
            cells = [results.value(run, "commands_per_grant")] if place == "Redis" else []
            if lost is not None and loop == "asyncio":
                cells.append(results.value(lost, "lost_waiting"))
                cells += [results.value(lost, "lost_asking")] if place == "Redis" else []
            else:
                cells += [None, None] if place == "Redis" else [None]
            rows[-1] += [number(cell, 2 if at == 0 else 0) for at, cell in enumerate(cells)]
    head = ["", "loop", "utilisation", "overshoot, tokens", "fairness"]
    if place == "Redis":
        head += ["commands a token", "lost, of 3 left waiting", "lost, of 150 left asking"]
    else:
        head.append("lost, of 3 left waiting")
    return table(head, rows)


def notes(results: Results) -> Table:
    """Why figures are missing."""
    return [f"- {label}: {note}" for label, note in results.notes.items()]


def environment_table(results: Results) -> Table:
    """What the figures depend on."""
    return table(("", ""), [[name, f"{value}"] for name, value in results.environment.items()])


SECTIONS: tuple[tuple[str, Callable[[Results], Table]], ...] = (
    ("Goals", goals_table),
    ("The Redis path", path_table),
    ("Many tasks", throughput_table),
    ("A reply that needs no store call", skip_table),
    ("A whole import", import_table),
    ("Limiters on Redis", lambda results: speed_table(results, "Redis")),
    ("A crowd on Redis", lambda results: crowd_table(results, "Redis")),
    ("Limiters in memory", lambda results: speed_table(results, "memory")),
    ("A crowd in memory", lambda results: crowd_table(results, "memory")),
    ("Transport", transport_table),
    ("Memory", footprint_table),
    ("Not measured", notes),
    ("Environment", environment_table),
)


def tables(results: Results) -> Iterator[str]:
    """All of them, line by line; those of which nothing was measured are left out."""
    for title, make in SECTIONS:
        lines = make(results)
        if lines:
            yield from (f"## {title}", "", *lines, "")
