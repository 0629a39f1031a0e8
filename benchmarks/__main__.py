"""`make bench`: every contender in a process of its own, in interleaved rounds, medians printed.

Starts a Redis server of its own, and empties it before each run. Writes
`benchmarks/results/latest.json`, with the environment beside the figures.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import subprocess
import sys
from collections import defaultdict
from importlib.metadata import version
from pathlib import Path

import msgspec

from benchmarks._measure import Figures, Job, LoopName
from tests.support.redis_server import RedisServer

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "latest.json"
CONTENDERS: dict[str, tuple[str, tuple[LoopName, ...]]] = {
    "raw blocking EVALSHA": ("raw_evalsha", ("",)),
    "bare multiplexer": ("bare_multiplexer", ("trio", "asyncio", "uvloop")),
    "RedisStore": ("store", ("trio", "asyncio", "uvloop")),
    "WbRateLimiter": ("limiter", ("trio", "asyncio", "uvloop")),
}
LONGEST_RUN = 120
"""Seconds; a contender takes a few."""
LIBRARIES = ("trio", "anyio", "hiredis", "redis", "uvloop", "msgspec")


def run(module: str, job: Job) -> Figures:
    """One contender's figures, measured in a fresh process."""
    command = [sys.executable, "-m", f"benchmarks.contenders.{module}"]
    done = subprocess.run(
        [*command, msgspec.json.encode(job).decode()],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=LONGEST_RUN,
        check=False,
    )
    if done.returncode:
        return Figures(note=done.stderr.strip().rpartition("\n")[2])
    return msgspec.json.decode(done.stdout, type=Figures)


def measure(server: RedisServer, rounds: int, calls: int) -> dict[str, dict[str, float]]:
    """Median figures by contender and loop: p50, p90 and p99 in µs, calls per second."""
    seen: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for _ in range(rounds):
        for name, (module, loops) in CONTENDERS.items():
            for loop in loops:
                server.reset()
                job = Job(
                    loop=loop, url=server.url, calls=calls, calls_per_task=max(1, calls // 15)
                )
                figures = run(module, job)
                row = seen[f"{name} ({loop})" if loop else name]
                if figures.note:
                    print(f"{name} ({loop}): {figures.note}")
                for what, value in figures.values.items():
                    row[f"{what}, calls/s"].append(value)
                for what, spread in figures.spreads.items():
                    for percentile in (50, 90, 99):
                        row[f"{what} p{percentile}, us"].append(spread[percentile])
    return {
        name: {what: round(statistics.median(values), 1) for what, values in row.items()}
        for name, row in seen.items()
    }


def environment() -> dict[str, str]:
    """What the figures depend on."""
    libraries = {name: version(name) for name in LIBRARIES}
    machine = {"python": platform.python_version(), "machine": platform.platform()}
    return {**machine, **libraries}


def main() -> None:
    """Measure, print a table, keep the JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=4_000, help="calls timed one by one")
    given = parser.parse_args()
    with RedisServer() as server:
        medians = measure(server, given.rounds, given.calls)
    for name, row in medians.items():
        print(name)
        for what, value in row.items():
            print(f"    {what:<32}{value:>12,.1f}")
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_bytes(
        msgspec.json.format(msgspec.json.encode({"environment": environment(), "medians": medians}))
    )


if __name__ == "__main__":
    main()
