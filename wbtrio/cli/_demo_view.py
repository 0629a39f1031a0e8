"""What a person sees of the demo: bars while it runs, a table at its end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime

from msgspec import Struct
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.table import Table

from wbtrio._statistics import BucketStatistics
from wbtrio.cli._demo_import import LISTS, Seller, Step
from wbtrio.simulator import Key, Tally


class Walked(Struct):
    """What came of one list of one seller so far."""

    rows: int = 0
    requests: int = 0
    waited: float = 0.0
    resumes_at: datetime | None = None


class View:
    """Bars for each seller and list, or plain lines where the output is no terminal.

    Args:
        console: Where to show them.
        sellers: Who is imported.
        expected: Rows of each list that the import owes, over all processes.
    """

    def __init__(
        self, console: Console, sellers: list[Seller], expected: Mapping[str, int]
    ) -> None:
        self.console = console
        self.walked: dict[tuple[str, str], Walked] = defaultdict(Walked)
        self._sellers = sellers
        self._expected = expected
        self._bars: dict[tuple[str, str], TaskID] = {}
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.completed:>6.0f} rows"),
            TextColumn("{task.fields[note]}", style="dim"),
            console=console,
            disable=not console.is_terminal,
        )

    @contextmanager
    def running(self) -> Iterator[None]:
        """Show the bars for as long as this lasts."""
        with self._progress:
            for seller in self._sellers:
                for resource in LISTS:
                    self._bars[seller.name, resource] = self._progress.add_task(
                        f"{seller.name} ({seller.kind:<8}) {resource:<10}",
                        total=self._expected[resource],
                        note="",
                    )
            yield

    def watch(self, step: Step) -> None:
        """Take one step of progress in."""
        walked = self.walked[step.seller, step.resource]
        walked.rows += step.rows
        walked.requests += step.requests
        walked.waited += step.waited
        note = ""
        if step.resumes_at is not None:
            walked.resumes_at = step.resumes_at
            note = f"resumes at {_local(step.resumes_at)}"
        elif step.waited:
            note = f"waited {step.waited:.1f} s ({step.cause})"
        bar = self._bars[step.seller, step.resource]
        self._progress.update(bar, advance=step.rows, note=note)
        if not self.console.is_terminal and step.is_done:
            self._say(step, walked)

    def _say(self, step: Step, walked: Walked) -> None:
        end = f", resumes at {_local(step.resumes_at)}" if step.resumes_at else ""
        self.console.print(
            f"{step.seller} {step.resource}: {walked.rows} rows in {walked.requests} requests,"
            f" waited {walked.waited:.1f} s{end}",
            highlight=False,
        )


class Totals(Struct):
    """One line of the table."""

    requests: int = 0
    rows: int = 0
    refused: int = 0
    waited: float = 0.0
    admitted: int = 0
    allowed: int = 0
    store_calls: int = 0
    skipped: int = 0
    settled: int = 0

    def add(self, other: Totals) -> None:
        """Add another line to this one."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


def totals_of(
    seller: Seller,
    walked: Mapping[tuple[str, str], Walked],
    statistics: list[Mapping[str, BucketStatistics]],
    tallies: Mapping[Key, Tally],
) -> Totals:
    """One seller's line, from what we counted and from what WB counted."""
    line = Totals()
    for (name, _), one in walked.items():
        if name == seller.name:
            line.rows += one.rows
            line.waited += one.waited
    for key, tally in tallies.items():
        if key.account == seller.account:
            line.requests += tally.requests
            line.refused += tally.refused
            line.admitted += tally.admitted + tally.charged
            line.allowed += tally.allowed
    for buckets in statistics:
        for name, counted in buckets.items():
            if name.startswith(f"wbtrio:{{{seller.account}}}:"):
                line.store_calls += counted.store_calls
                line.skipped += counted.skipped
                line.settled += counted.settled
    return line


def table_of(lines: Mapping[str, Totals], resumes: Mapping[str, datetime]) -> Table:
    """The table at the end of the demo."""
    table = Table(title="What the import cost", title_justify="left")
    table.add_column("seller")
    for heading in ("requests", "rows", "429s", "waits", "utilisation", "store calls/request"):
        table.add_column(heading, justify="right")
    table.add_column("skipped", justify="right")
    table.add_column("parked")
    total = Totals()
    for name, line in lines.items():
        total.add(line)
        parked = f"resumes at {_local(resumes[name])}" if name in resumes else ""
        table.add_row(name, *_cells(line), parked)
    table.add_section()
    table.add_row("all", *_cells(total), "")
    return table


def _cells(line: Totals) -> list[str]:
    return [
        str(line.requests),
        f"{line.rows:,}",
        str(line.refused),
        f"{line.waited:.1f} s",
        f"{line.admitted / line.allowed:.0%}" if line.allowed else "-",
        f"{line.store_calls / line.requests:.2f}" if line.requests else "-",
        f"{line.skipped} of {line.settled}",
    ]


def _local(moment: datetime) -> str:
    return f"{moment.astimezone():%H:%M}"
