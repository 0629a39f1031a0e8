"""The figures of many runs, computed in as many processes as there are cores."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from benchmarks.lab._measures import Figures
from benchmarks.lab._play import figures
from benchmarks.lab._scenario import Scenario
from benchmarks.lab.scenarios import BY_NAME

Results = Mapping[str, Mapping[str, Figures]]
"""By scenario, then by strategy."""


def compute(scenarios: Iterable[Scenario], strategies: Sequence[str]) -> Results:
    """Play all of the strategies through all of the scenarios."""
    jobs = [(one.name, strategy) for one in scenarios for strategy in strategies]
    found: dict[str, dict[str, Figures]] = {}
    # Started afresh, since a fork would carry this process's event loops along.
    context = get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), mp_context=context) as pool:
        for (scenario, strategy), one in zip(jobs, pool.map(_figures, jobs), strict=True):
            found.setdefault(scenario, {})[strategy] = one
    return found


def _figures(job: tuple[str, str]) -> Figures:
    # What the limiter finds wrong with WB is the scenario's own doing.
    logging.getLogger("wbtrio").setLevel(logging.ERROR)
    scenario, strategy = job
    return figures(BY_NAME[scenario], strategy)
