"""`make bench`: every contender in processes of its own, in interleaved rounds, medians printed.

Starts a Redis server of its own, and empties it before each run. Writes every figure of every
round to `benchmarks/results/latest.json`, with what they depend on. `python -m benchmarks.report`
makes docs/benchmarks.md of that file.
"""

from __future__ import annotations

import argparse
import shlex
import sys

import msgspec

from benchmarks._catalogue import Run, runs
from benchmarks._measure import Job
from benchmarks._results import Measured, Results
from benchmarks._runner import ROOT, WAITERS, environment, load, one_round
from benchmarks._tables import tables
from tests.support.redis_server import RedisServer

RESULTS = ROOT / "benchmarks" / "results" / "latest.json"
SHARE_OF_A_TASK = 15
"""Each of many tasks makes a fifteenth of the calls that are timed one by one."""


def chosen(only: list[str]) -> list[Run]:
    """The runs whose label has one of these words; all, if there are none."""
    return [run for run in runs() if not only or any(word in run.label for word in only)]


def main() -> None:
    """Measure, print the tables, keep the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=4_000, help="calls timed one by one")
    parser.add_argument("--seconds", type=float, default=5.0, help="length of a crowd's run")
    parser.add_argument(
        "--only", action="append", default=[], help="a word of a run's label; may be repeated"
    )
    given = parser.parse_args()
    job = Job(
        calls=given.calls,
        calls_per_task=max(1, given.calls // SHARE_OF_A_TASK),
        seconds=given.seconds,
        waiters=WAITERS,
    )
    command = shlex.join(["python", "-m", "benchmarks", *sys.argv[1:]])
    with RedisServer() as server:
        surroundings = environment(server, command)
        rounds: list[list[Measured]] = []
        for number in range(given.rounds):
            rounds.append([])
            for measured in one_round(chosen(given.only), server, job, number):
                rounds[-1].append(measured)
                note = measured.figures.note
                progress = f"round {number + 1}: {measured.run.label}"
                print(f"{progress}: {note}" if note else progress, file=sys.stderr)
    surroundings["load after"] = load()
    results = Results(surroundings, rounds)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_bytes(msgspec.json.format(msgspec.json.encode(results)))
    print("\n".join(tables(results)))


if __name__ == "__main__":
    main()
