"""Rows as Parquet: a folder of files for each source of each seller. Needs `wbtrio[parquet]`."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from ._checkpoint import Checkpoint, SourceKey
from ._sinks import FileSink, Kept, optional_module, sync_folder

LARGEST_PART = 20_000
"""Rows that wait in memory for a commit at most; more of them go into several files."""


class ParquetSink(FileSink):
    """Writes `FOLDER/<account>/<source>/part-00000001.parquet` and on, a file for each commit.

    Parquet files cannot grow, so each commit makes new ones: written under another name, renamed
    when they are whole, then counted by the checkpoint. What it does not count is deleted when the
    source is opened again. Readers take the folder as one table.

    Columns take the types of their values; a column whose values are of several types holds JSON
    text.

    Args:
        folder: As of `FileSink`.
        threads: As of `FileSink`.

    Raises:
        CallerError: pyarrow is not installed.
    """

    def __init__(self, folder: Path, *, threads: bool = True) -> None:
        self._parquet = optional_module("pyarrow.parquet", "parquet")
        super().__init__(folder, threads=threads)
        self._parts: dict[SourceKey, int] = {}
        self._rows: dict[SourceKey, list[Any]] = {}

    def _open(self, key: SourceKey) -> Checkpoint | None:
        kept = self._kept(key)
        folder = self._place(key, "")
        folder.mkdir(parents=True, exist_ok=True)
        parts = 0 if kept is None else kept.size
        counted = {_part_name(number) for number in range(1, parts + 1)}
        for path in folder.iterdir():
            if path.name not in counted:
                path.unlink()
        self._parts[key], self._rows[key] = parts, []
        return None if kept is None else kept.checkpoint

    def _restart(self, key: SourceKey) -> None:
        self._forget(key)
        shutil.rmtree(self._place(key, ""))
        self._open(key)

    def _write(self, key: SourceKey, rows: Sequence[Any]) -> None:
        waiting = self._rows[key]
        waiting.extend(rows)
        if len(waiting) >= LARGEST_PART:
            self._make_part(key)

    def _commit(self, key: SourceKey, checkpoint: Checkpoint) -> None:
        self._make_part(key)
        self._keep(key, Kept(checkpoint, self._parts[key]))

    def _close_files(self) -> None:
        self._rows.clear()

    def _make_part(self, key: SourceKey) -> None:
        rows, self._rows[key] = self._rows[key], []
        if not rows:
            return
        number = self._parts[key] + 1
        path = self._place(key, "") / _part_name(number)
        partial = path.with_name(f"{path.name}.tmp")
        self._parquet.write_table(table_of(rows), partial)
        partial.replace(path)
        sync_folder(path.parent)
        self._parts[key] = number


def table_of(rows: Sequence[Any]) -> Any:
    """Rows as a pyarrow.Table; a column of values that do not fit together holds JSON text."""
    pyarrow = optional_module("pyarrow", "parquet")
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: _column(pyarrow, [row.get(name) for row in rows]) for name in names}
    return pyarrow.table(columns)


def _column(pyarrow: Any, values: list[Any]) -> Any:
    try:
        column = pyarrow.array(values)
    except (pyarrow.ArrowException, TypeError, OverflowError):
        return pyarrow.array([_text(value) for value in values], pyarrow.string())
    if pyarrow.types.is_null(column.type):
        # Nothing is known of the type yet; text is what the most fields have.
        return column.cast(pyarrow.string())
    return column


def _text(value: Any) -> str | None:
    return None if value is None else msgspec.json.encode(value).decode()


def _part_name(number: int) -> str:
    return f"part-{number:08}.parquet"
