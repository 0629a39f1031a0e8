"""`python -m benchmarks.lab`: play strategies through scenarios; print tables, or write the page.

python -m benchmarks.lab --only exact --strategy ours
python -m benchmarks.lab --docs docs/strategies.md
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import msgspec

from benchmarks.lab import _tables
from benchmarks.lab._page import page
from benchmarks.lab._results import compute
from benchmarks.lab.scenarios import BY_NAME, SCENARIOS
from benchmarks.lab.strategies import OURS, STRATEGIES


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lab", description=__doc__)
    parser.add_argument("--only", action="append", choices=list(BY_NAME), metavar="SCENARIO")
    parser.add_argument("--strategy", action="append", choices=list(STRATEGIES), metavar="STRATEGY")
    parser.add_argument("--json", type=Path, help="write all figures there")
    parser.add_argument("--docs", type=Path, help="write the page there; needs a whole run")
    given = parser.parse_args()
    if given.docs and (given.only or given.strategy):
        parser.error("the page is of all scenarios and all strategies")
    scenarios = [BY_NAME[name] for name in given.only or [one.name for one in SCENARIOS]]
    # Ours is what the others are compared with.
    strategies = [
        name for name in STRATEGIES if not given.strategy or name in {OURS, *given.strategy}
    ]
    results = compute(scenarios, strategies)
    if given.json:
        given.json.write_bytes(msgspec.json.format(msgspec.json.encode(results)))
    if given.docs:
        given.docs.write_text(page(scenarios, results), encoding="utf-8")
        print(f"wrote {given.docs}", file=sys.stderr)
        return
    for scenario in scenarios:
        print(_tables.details(scenario, results[scenario.name]), end="\n\n")


if __name__ == "__main__":
    main()
