"""Imports that are killed at chosen points; a program of its own, because it forks.

    python -m tests.support.killed_imports ndjson FOLDER SEED KILLS

Each child process runs a whole import in virtual time, and kills itself with SIGKILL before the
n-th line of the importer that it executes: half of the points are anywhere, half in the sinks,
where a commit can be half done. What it left is then imported to the end. Prints the
points at which the rows were not exactly those of WB, and how many points there were, as JSON.
"""

from __future__ import annotations

import os
import random
import signal
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec
import trio
from trio.testing import MockClock

from tests.support.importing import TODAY, run_import, simulator
from tests.support.reading import READ
from wbtrio import default_registry
from wbtrio.importer import RESOURCES, DuckdbSink, NdjsonSink, ParquetSink, SourceKey, Status

SINKS: dict[str, Any] = {"ndjson": NdjsonSink, "parquet": ParquetSink, "duckdb": DuckdbSink}
SOURCES = (
    "cards",
    msgspec.structs.replace(RESOURCES["orders"], limit=40),
    "fbs_orders",
    "documents",
)
ROWS = {"cards": 230, "statistics_orders": 100, "orders": 70, "documents": 120}
OWED = {
    "cards": ("cards", "nmID"),
    "orders": ("statistics_orders", "srid"),
    "fbs_orders": ("orders", "id"),
    "documents": ("documents", "serviceName"),
}
"""Name in the simulator, and what tells two rows apart."""
NEVER = 0
COMMITTING = ("/_sinks.py", "/ndjson.py", "/parquet.py", "/duckdb.py", "/file.py")
TRACED = ("/wbtrio/importer/", "/wbtrio/stores/file.py", "/wbtrio/_spool.py")


async def whole_run(kind: str, folder: Path) -> bool:
    """Import all that is left; whether it is done."""
    server = simulator(rows=ROWS, caps={"statistics_orders": 40})
    async with SINKS[kind](folder, threads=False) as sink:
        summary = await run_import(
            server, folder, SOURCES, sink=sink, budgets=True, since=TODAY - timedelta(days=85)
        )
    return {one.status for one in summary.sources} == {Status.DONE}


class Countdown:
    """Counts the lines of the importer, and kills the process before one of them."""

    def __init__(self, last: int | None) -> None:
        self.lines = 0
        self.in_sinks: list[int] = []
        self._last = last

    def enter(self, frame: FrameType, _event: str, _: object) -> Callable[..., Any] | None:
        """A function is called."""
        return self.step if any(part in frame.f_code.co_filename for part in TRACED) else None

    def step(self, frame: FrameType, event: str, _: object) -> Callable[..., Any]:
        """A line is about to run."""
        if event == "line":
            self.lines += 1
            if any(part in frame.f_code.co_filename for part in COMMITTING):
                self.in_sinks.append(self.lines)
            if self.lines == self._last:
                os.kill(os.getpid(), signal.SIGKILL)
        return self.step


def in_child(kind: str, folder: Path, last: int | None) -> tuple[int, list[int]]:
    """Run an import in a child process; its wait status, the number of lines, those in sinks.

    Args:
        kind: The sink's.
        folder: Where it writes.
        last: The line before which it is killed; None: it counts all; `NEVER`: it does not count.
    """
    read, write = os.pipe()
    child = os.fork()
    if not child:
        code = 1
        try:
            countdown = Countdown(last)
            if last is None or last > 0:
                sys.settrace(countdown.enter)
            done = trio.run(whole_run, kind, folder, clock=MockClock(autojump_threshold=0))
            sys.settrace(None)
            with os.fdopen(write, "wb") as pipe:
                pipe.write(msgspec.json.encode([countdown.lines, *countdown.in_sinks]))
            code = 0 if done else 2
        finally:
            os._exit(code)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        lines = msgspec.json.decode(pipe.read() or b"[]", type=list[int])
    return os.waitpid(child, 0)[1], lines


def is_exact(kind: str, folder: Path) -> bool:
    """Whether the rows are WB's, each of them once."""
    server = simulator(rows=ROWS)
    for source, (name, key) in OWED.items():
        owed = [row[key] for row in server.catalogue.rows("seller-1", name)]
        found = [row[key] for row in READ[kind](folder, SourceKey("seller-1", source))]
        if sorted(found) != sorted(owed):
            return False
    return True


def main(kind: str, folder: Path, seed: str, kills: int) -> None:
    """Kill so many imports, and say which of them did not come right."""
    folder.mkdir(parents=True, exist_ok=True)
    default_registry()
    # DuckDB's threads must not be there when a child is forked: it is imported by children only,
    # and read by the parent when all of them are gone.
    status, (lines, *in_sinks) = in_child(kind, folder / "whole", None)
    chosen = random.Random(seed)
    anywhere = set(range(1, lines)) - set(in_sinks)
    points = chosen.sample(in_sinks, kills // 2)
    points += chosen.sample(sorted(anywhere), kills - kills // 2)
    wrong = [0] if status else []
    for point in points:
        killed, _ = in_child(kind, folder / str(point), point)
        resumed, _ = in_child(kind, folder / str(point), NEVER)
        if not os.WIFSIGNALED(killed) or resumed:
            wrong.append(point)
    wrong += [point for point in points if not is_exact(kind, folder / str(point))]
    sys.stdout.write(
        msgspec.json.encode({"lines": lines, "points": len(points), "wrong": wrong}).decode()
    )


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
