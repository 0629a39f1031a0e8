"""docs/strategies.md, made of figures alone."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.lab import _tables
from benchmarks.lab._results import Results
from benchmarks.lab._scenario import Scenario
from benchmarks.lab.strategies import ABLATIONS, OURS, RIVALS, SAYS

HEAD = """\
# Strategies, by numbers

*Made by `python -m benchmarks.lab`; every figure is the same wherever it is computed, since time is
virtual and chance is seeded. `tests/test_lab.py` computes some of them anew and compares.*

[ADR 0066](adr/0066-reconcile-the-bucket-with-wbs-counter.md) chose among ways to keep inside WB's
budgets by argument. Here they are played, in the same client loop, against the same WB: the
simulator's counters, which share no code with the limiter. "Ours" is the real `WbRateLimiter` on
asyncio, not a model of it. Unless a scenario says otherwise, WB grants 300 requests a minute and 20
at once, its replies carry the headers of WB's gateway, a request takes 50 ms each way, and thirty
tasks ask for as much as there is, for ten minutes.
"""

MEASURES = """\
* **429s**: refusals earned, also in percent of our requests.
* **Utilisation**: of what WB granted, less what strangers took.
* **Makespan**: the time taken, in units of what a clairvoyant needs for as many tokens.
* **Waits**: from wanting to send to sending the request that WB admitted; also of those that still
  wait at the end.
"""


def page(scenarios: Sequence[Scenario], results: Results) -> str:
    """The whole page."""
    parts = [
        HEAD,
        "| strategy | what it does |",
        "|---|---|",
        *(f"| {name} | {says} |" for name, says in SAYS.items()),
        "",
        "## Summary\n",
        "429s in percent of requests, and utilisation in percent.\n",
        _tables.summary(scenarios, results, [*RIVALS, OURS]),
        "\n## Scenarios\n",
        MEASURES,
        f'A row "ours, ..." is ours with one part taken out ({", ".join(ABLATIONS)}); it is shown'
        " where that changes a figure.\n",
        *(f"{_tables.details(one, results[one.name])}\n" for one in scenarios),
    ]
    return "\n".join(parts)
