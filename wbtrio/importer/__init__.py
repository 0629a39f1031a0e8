"""Imports: what WB has of several sellers, into files or a database, in as many runs as it takes.

    async with WbApiClient() as wb, NdjsonSink(folder) as sink:
        summary = await import_all(wb, tokens, ["cards", "orders"], sink)

sources, plan, checkpoint    what is asked for, when it can be, how far it has come    pure
sinks, ndjson, parquet, duckdb    where rows and checkpoints go
run, outlook, events         the run, and what it tells
"""

from __future__ import annotations

from ._checkpoint import Checkpoint, SourceKey
from ._demands import demand_of
from ._events import (
    Event,
    Forecast,
    Listener,
    PageStored,
    SourceEnded,
    SourceStarted,
    Status,
    Summary,
)
from ._plan import Demand, Leg, Plan, PlanEntry, Requests, legs_of, plan, requests_for
from ._run import import_all
from ._sinks import FileSink, Sink
from ._sources import RESOURCES, ListSource, Source, Window, source_named
from .duckdb import DuckdbSink
from .ndjson import NdjsonSink
from .parquet import ParquetSink

__all__ = [
    "RESOURCES",
    "Checkpoint",
    "Demand",
    "DuckdbSink",
    "Event",
    "FileSink",
    "Forecast",
    "Leg",
    "ListSource",
    "Listener",
    "NdjsonSink",
    "PageStored",
    "ParquetSink",
    "Plan",
    "PlanEntry",
    "Requests",
    "Sink",
    "Source",
    "SourceEnded",
    "SourceKey",
    "SourceStarted",
    "Status",
    "Summary",
    "Window",
    "demand_of",
    "import_all",
    "legs_of",
    "plan",
    "requests_for",
    "source_named",
]
