"""Tables of figures, in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from benchmarks.lab._measures import Figures
from benchmarks.lab._results import Results
from benchmarks.lab._scenario import Scenario
from benchmarks.lab.strategies import ABLATIONS, OURS

COLUMNS = (
    *("strategy", "requests", "429s", "% of requests", "utilisation, %", "makespan"),
    *("p99 wait, s", "longest wait, s", "store calls a request"),
)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table whose first column is text and the others are numbers."""
    yield _row(columns)
    yield _row(["---", *("--:" for _ in columns[1:])])
    for row in rows:
        yield _row(row)


def summary(scenarios: Sequence[Scenario], results: Results, strategies: Sequence[str]) -> str:
    """429s in percent of requests, and utilisation in percent, of everybody everywhere."""
    rows = (
        [scenario.name, *(_cell(results[scenario.name][one], one) for one in strategies)]
        for scenario in scenarios
    )
    return "\n".join(table(["429s %, utilisation %", *strategies], rows))


def details(scenario: Scenario, found: Mapping[str, Figures]) -> str:
    """One scenario's table; of the ablations only those that change anything."""
    shown = (
        _details(name, one)
        for name, one in found.items()
        if name not in ABLATIONS or differs(one, found[OURS])
    )
    title = f"### {scenario.name[:1].upper()}{scenario.name[1:]}"
    return "\n".join([title, "", scenario.says, "", *table(COLUMNS, shown)])


def differs(one: Figures, other: Figures) -> bool:
    """Whether they do in what the tables show."""
    return _details("", one)[2:] != _details("", other)[2:]


def _details(name: str, one: Figures) -> list[str]:
    label = f"**{name}**" if name == OURS else f"ours, {name}" if name in ABLATIONS else name
    return [
        label,
        str(one.requests),
        str(one.refused),
        f"{one.share_refused:.2%}".rstrip("%"),
        f"{one.utilisation:.2%}".rstrip("%"),
        f"{one.makespan:.3f}",
        f"{one.wait_p99:.1f}",
        f"{one.starved:.1f}",
        f"{one.store_calls:.2f}",
    ]


def _cell(one: Figures, strategy: str) -> str:
    text = f"{100 * one.share_refused:.1f}, {100 * one.utilisation:.0f}"
    return f"**{text}**" if strategy == OURS else text


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
