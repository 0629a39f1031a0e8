"""Runs contenders, each in fresh processes, against one server that is empty each time."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, cast

import msgspec
from msgspec.structs import replace

from benchmarks import _crowd
from benchmarks._catalogue import Run
from benchmarks._measure import Figures, Job
from benchmarks._peers import CROWD
from benchmarks._results import Measured
from benchmarks._workload import Monitor, mark

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tests.support.redis_server import RedisServer

ROOT = Path(__file__).parents[1]
LONGEST_RUN = 300
"""Seconds; most contenders take a few."""
START = 3.0
"""Seconds that the processes of a crowd have to come up."""
WAITERS = 20
HOUSEKEEPING = {"AUTH", "CLIENT", "COMMAND", "HELLO", "INFO", "PING", "SCRIPT", "SELECT"}
"""Commands that a connection costs, not a token."""
LIBRARIES = (
    *("trio", "anyio", "uvloop", "httpx", "msgspec", "hiredis", "redis"),
    *("limits", "throttled-py", "pyrate-limiter", "steindamm", "redis-rate-limiters", "aiolimiter"),
)


def one_round(
    runs: Iterable[Run], server: RedisServer, job: Job, number: int
) -> Iterator[Measured]:
    """The figures of each run that this round makes.

    Args:
        runs: What to measure.
        server: The server, emptied before each run.
        job: How much of it.
        number: Of the round, from 0.
    """
    for run in runs:
        if number < run.rounds:
            server.reset()
            yield Measured(run, measure(run, server, job))


def measure(run: Run, server: RedisServer, job: Job) -> Figures:
    """One run's figures; those that cannot be had leave a note."""
    if not run.is_installed:
        return Figures(note=f"{run.requires} is not installed")
    url = "" if run.place == "memory" else server.url
    job = replace(job, loop=run.loop, part=run.part, url=url)
    if run.part == "crowd":
        return measure_crowd(run, job)
    return finish(start(run, job))


def measure_crowd(run: Run, job: Job) -> Figures:
    """A crowd in two processes, or in one where the buckets are in its memory."""
    processes = 2 if job.url else 1
    start_at = time.monotonic() + START
    job = replace(job, start_at=start_at, waiters=max(1, job.waiters // processes))
    monitor = Monitor(job.url) if job.url else None
    children = [start(run, job) for _ in range(processes)]
    parts = [finish(child) for child in children]
    commands = 0
    if monitor is not None:
        mark(job.url, "end")
        commands = sum(words[0].upper() not in HOUSEKEEPING for words in monitor.commands("end"))
        monitor.close()
    notes = [part.note for part in parts if part.note]
    if notes:
        return Figures(note=notes[0])
    grants = [granted for part in parts for granted in part.grants]
    return Figures(values=_crowd.figures_of(grants, CROWD, start_at + job.seconds, commands))


def start(run: Run, job: Job) -> subprocess.Popen[str]:
    """A process that does a job."""
    return subprocess.Popen(
        [
            *(sys.executable, "-m", f"benchmarks.contenders.{run.module}"),
            msgspec.json.encode(job).decode(),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


def finish(child: subprocess.Popen[str]) -> Figures:
    """What such a process measured; a note where it failed or did not end."""
    try:
        output, errors = child.communicate(timeout=LONGEST_RUN)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        return Figures(note=f"did not end within {LONGEST_RUN} s")
    if child.returncode:
        return Figures(note=errors.strip().rpartition("\n")[2] or f"ended with {child.returncode}")
    return msgspec.json.decode(output, type=Figures)


def environment(server: RedisServer, command: str) -> dict[str, str]:
    """What the figures depend on."""
    info = cast("dict[str, str]", server.client.info("server"))
    return {
        "command": command,
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": f"{platform.platform()}, {os.cpu_count()} cores, {_processor()}",
        "load before": load(),
        "python": platform.python_version(),
        "redis server": info["redis_version"],
        **{name: _version_of(name) for name in LIBRARIES},
    }


def load() -> str:
    """Processes that wanted to run in the last 1, 5 and 15 minutes."""
    return " ".join(f"{load:.2f}" for load in os.getloadavg())


def _processor() -> str:
    """The processor's name, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _version_of(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"
