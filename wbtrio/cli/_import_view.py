"""What a person, a log or a machine sees of an import while it runs, and of its end."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from typing import Protocol, TextIO

import msgspec
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.table import Table

from wbtrio.cli._import_settings import clock_time, counted, in_words
from wbtrio.importer import (
    Event,
    Forecast,
    PageStored,
    SourceEnded,
    SourceKey,
    SourceStarted,
    Status,
    Summary,
)

WORTH_TELLING = 2.0
"""Seconds of a wait that are worth a word."""
LINE_EVERY = 10.0
"""Seconds between two lines of one source in a log."""


class View(Protocol):
    """Shows an import."""

    def running(self) -> AbstractContextManager[None]:
        """For as long as the import runs."""
        ...

    def watch(self, event: Event) -> None:
        """Take one event in."""
        ...

    def conclude(self, summary: Summary) -> None:
        """Show how it ended."""
        ...


class Bars:
    """Bars on a terminal: rows, time left, and what is waited for.

    Args:
        console: The terminal.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bars: dict[SourceKey, TaskID] = {}
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[rows]:>9,} rows"),
            TextColumn("{task.fields[note]}", style="dim", markup=False),
            console=console,
        )

    @contextmanager
    def running(self) -> Iterator[None]:
        """See `View.running`."""
        with self._progress:
            yield

    def watch(self, event: Event) -> None:
        """See `View.watch`."""
        if event.key not in self._bars:
            name = f"{event.key.account} {event.key.source}"
            self._bars[event.key] = self._progress.add_task(name, total=None, rows=0, note="")
        bar = self._bars[event.key]
        if isinstance(event, SourceStarted):
            note = "goes on" if event.resumed else ""
            self._progress.update(bar, rows=event.rows, note=note)
        elif isinstance(event, PageStored):
            self._progress.update(bar, rows=event.total, advance=event.page > 0)
        elif isinstance(event, Forecast):
            done = self._progress.tasks[bar].completed
            total = None if event.pages_left is None else done + event.pages_left
            self._progress.update(bar, total=total, note=told(event))
        else:
            done = max(1.0, self._progress.tasks[bar].completed)
            is_done = event.status is Status.DONE
            total = done if is_done else None
            completed = done if is_done else self._progress.tasks[bar].completed
            self._progress.update(bar, total=total, completed=completed, note=ending(event))

    def conclude(self, summary: Summary) -> None:
        """See `View.conclude`."""
        _print_table(self._console, summary)


class Lines:
    """Plain lines for a log: beginnings, ends, long waits, and a page now and then.

    Args:
        stream: Where they go.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._said: dict[SourceKey, datetime] = {}
        self._waits: dict[SourceKey, str] = {}

    @contextmanager
    def running(self) -> Iterator[None]:
        """See `View.running`."""
        yield

    def watch(self, event: Event) -> None:
        """See `View.watch`."""
        now = datetime.now(UTC)
        if isinstance(event, SourceStarted):
            self._say(event, f"goes on after {event.rows:,} rows" if event.resumed else "begins")
        elif isinstance(event, SourceEnded):
            self._say(event, ending(event))
        elif isinstance(event, PageStored):
            said = self._said.get(event.key)
            if said is None or (now - said).total_seconds() >= LINE_EVERY:
                self._said[event.key] = now
                self._say(event, f"page {event.page:,}, {event.total:,} rows")
        elif _is_wait(event, now) and self._waits.get(event.key) != told(event):
            self._waits[event.key] = told(event)
            self._say(event, told(event))

    def conclude(self, summary: Summary) -> None:
        """See `View.conclude`."""
        _print_table(Console(file=self._stream, width=160), summary)

    def _say(self, event: Event, words: str) -> None:
        moment = datetime.now().astimezone()
        self._stream.write(f"{moment:%H:%M:%S} {event.key.account} {event.key.source}: {words}\n")
        self._stream.flush()


class JsonLines:
    """One JSON object a line on standard output: each event, then the summary."""

    @contextmanager
    def running(self) -> Iterator[None]:
        """See `View.running`."""
        yield

    def watch(self, event: Event) -> None:
        """See `View.watch`."""
        sys.stdout.write(msgspec.json.encode(event).decode() + "\n")
        sys.stdout.flush()

    def conclude(self, summary: Summary) -> None:
        """See `View.conclude`."""
        facts = {
            "type": "summary",
            "exit_code": summary.exit_code,
            "resume_at": summary.resume_at,
            "sources": summary.sources,
        }
        sys.stdout.write(msgspec.json.encode(facts).decode() + "\n")


def told(event: Forecast) -> str:
    """What is to come: `budget statistics.orders.list, resumes 14:05`, or when it is ready."""
    now = datetime.now(UTC)
    if _is_wait(event, now):
        return f"budget {event.budget}, resumes {clock_time(event.next_at, now)}"
    if event.ready_at is None:
        return ""
    left = (event.ready_at - now).total_seconds()
    return f"{counted(event.pages_left or 0, 'page')}, {in_words(left)} left" if left > 0 else ""


def ending(event: SourceEnded) -> str:
    """How a source ended."""
    if event.status is Status.DONE:
        return f"done, {counted(event.rows, 'row')} in {counted(event.pages, 'page')}"
    if event.resume_at is not None:
        return f"deferred: budget {event.budget}, resumes at {clock_time(event.resume_at)}"
    return f"failed: {event.error}"


def _is_wait(event: Forecast, now: datetime) -> bool:
    return (event.next_at - now).total_seconds() >= WORTH_TELLING


def _print_table(console: Console, summary: Summary) -> None:
    table = Table("seller", "resource", "rows", "in all", "")
    for one in summary.sources:
        table.add_row(
            one.key.account, one.key.source, f"{one.rows:,}", f"{one.total:,}", ending(one)
        )
    console.print(table, markup=False)
    if summary.resume_at is not None:
        console.print(f"Resumes at {clock_time(summary.resume_at)}: run the same command then.")
