"""What sinks wrote, read back with other means than theirs."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from wbtrio.importer import SourceKey
from wbtrio.importer.duckdb import FILE


def read_ndjson(folder: Path, key: SourceKey) -> list[Any]:
    """Each line is a row; a half row is an error."""
    path = folder / key.account / f"{key.source}.ndjson"
    return [msgspec.json.decode(line) for line in path.read_bytes().splitlines()]


def read_parquet(folder: Path, key: SourceKey) -> list[Any]:
    """Each file is a table; a half file is an error."""
    parquet: Any = importlib.import_module("pyarrow.parquet")
    rows: list[Any] = []
    for part in sorted((folder / key.account / key.source).iterdir()):
        rows += parquet.read_table(part).to_pylist()
    return rows


def read_duckdb(folder: Path, key: SourceKey) -> list[Any]:
    """The table of the source."""
    duckdb: Any = importlib.import_module("duckdb")
    with duckdb.connect(str(folder / FILE)) as database:
        found = database.execute(
            f'SELECT row FROM "{key.source}" WHERE account = ?',  # noqa: S608
            [key.account],
        ).fetchall()
    return [msgspec.json.decode(text) for (text,) in found]


READ: dict[str, Callable[[Path, SourceKey], list[Any]]] = {
    "ndjson": read_ndjson,
    "parquet": read_parquet,
    "duckdb": read_duckdb,
}
