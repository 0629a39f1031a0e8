"""Rows in a DuckDB file, a table for each source. Needs `wbtrio[duckdb]`."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from .._errors import CallerError
from ._checkpoint import Checkpoint, SourceKey
from ._sinks import FileSink, optional_module

CHECKPOINTS = "wbtrio_checkpoints"
FILE = "wb.duckdb"


class DuckdbSink(FileSink):
    """Writes `FOLDER/wb.duckdb`: each source is a table with the columns `account` and `row`.

    `row` is JSON: `SELECT row->>'nmID' FROM cards`. Rows and checkpoint are committed in one
    transaction.

    Args:
        folder: As of `FileSink`.
        threads: As of `FileSink`.

    Raises:
        CallerError: duckdb is not installed.
    """

    def __init__(self, folder: Path, *, threads: bool = True) -> None:
        duckdb = optional_module("duckdb", "duckdb")
        super().__init__(folder, threads=threads)
        self._database: Any = duckdb.connect(str(self.folder / FILE))
        self._database.execute(
            f"CREATE TABLE IF NOT EXISTS {CHECKPOINTS}"
            " (account VARCHAR, source VARCHAR, checkpoint VARCHAR, PRIMARY KEY (account, source))"
        )
        self._connections: dict[SourceKey, Any] = {}
        self._making = threading.Lock()

    def checkpoint_of(self, key: SourceKey) -> Checkpoint | None:
        """What was committed last for this key."""
        return _read(self._connection(key), key)

    def _connection(self, key: SourceKey) -> Any:
        connection = self._connections.get(key)
        if connection is None:
            if self._database is None:
                raise CallerError("The sink is closed.")
            # Each has its own transaction.
            connection = self._connections[key] = self._database.cursor()
        return connection

    def _open(self, key: SourceKey) -> Checkpoint | None:
        if key in self._connections:
            # An open transaction ends with its connection, and its rows with it.
            self._connections.pop(key).close()
        connection = self._connection(key)
        # Two accounts that make one table at the same time would be a conflict of transactions.
        with self._making:
            connection.execute(
                f"CREATE TABLE IF NOT EXISTS {_table(key)} (account VARCHAR, row JSON)"
            )
        checkpoint = _read(connection, key)
        connection.execute("BEGIN")
        return checkpoint

    def _restart(self, key: SourceKey) -> None:
        connection = self._connection(key)
        connection.execute(f"DELETE FROM {_table(key)} WHERE account = ?", [key.account])  # noqa: S608
        connection.execute(
            f"DELETE FROM {CHECKPOINTS} WHERE account = ? AND source = ?",  # noqa: S608
            [key.account, key.source],
        )
        connection.execute("COMMIT")
        connection.execute("BEGIN")

    def _write(self, key: SourceKey, rows: Sequence[Any]) -> None:
        texts = [msgspec.json.encode(row).decode() for row in rows]
        self._connection(key).execute(
            f"INSERT INTO {_table(key)} SELECT ?, unnest(?::VARCHAR[])::JSON",
            [key.account, texts],
        )

    def _commit(self, key: SourceKey, checkpoint: Checkpoint) -> None:
        connection = self._connection(key)
        connection.execute(
            f"INSERT OR REPLACE INTO {CHECKPOINTS} VALUES (?, ?, ?)",  # noqa: S608
            [key.account, key.source, msgspec.json.encode(checkpoint).decode()],
        )
        connection.execute("COMMIT")
        connection.execute("BEGIN")

    def _close_files(self) -> None:
        while self._connections:
            self._connections.popitem()[1].close()
        if self._database is not None:
            database, self._database = self._database, None
            database.close()


def _table(key: SourceKey) -> str:
    name = key.source.replace('"', '""')
    return f'"{name}"'


def _read(connection: Any, key: SourceKey) -> Checkpoint | None:
    found = connection.execute(
        f"SELECT checkpoint FROM {CHECKPOINTS} WHERE account = ? AND source = ?",  # noqa: S608
        [key.account, key.source],
    ).fetchone()
    return None if found is None else msgspec.json.decode(found[0], type=Checkpoint)
