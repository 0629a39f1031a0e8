"""Feed a database: rows are upserted by their key, with the checkpoint in the same transaction.

    python examples/upsert.py TOKEN_FILE shop.db

A sink is four methods. This one keeps each source in a table of (account, key, row): a row that
changed at WB replaces the one before. SQLite stands for any database that has transactions.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import msgspec

from wbtrio import WbApiClient
from wbtrio.importer import Checkpoint, SourceKey, Summary, import_all

KEYS = {"cards": "nmID", "prices": "nmID", "orders": "srid"}
"""What tells two rows of a source apart."""


class UpsertSink:
    """Upserts into SQLite. Use it as an async context manager."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._waiting: dict[SourceKey, list[Any]] = {}
        self._turn = anyio.Lock()

    async def __aenter__(self) -> UpsertSink:
        self._database = sqlite3.connect(self._path, check_same_thread=False)
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS checkpoints"
            " (account TEXT, source TEXT, checkpoint TEXT, PRIMARY KEY (account, source))"
        )
        for source in KEYS:
            self._database.execute(
                f"CREATE TABLE IF NOT EXISTS {source}"
                " (account TEXT, key TEXT, row TEXT, PRIMARY KEY (account, key))"
            )
        return self

    async def __aexit__(self, *_: object) -> None:
        self._database.close()

    async def open(self, key: SourceKey) -> Checkpoint | None:
        """What was committed last."""
        self._waiting[key] = []
        found = self._database.execute(
            "SELECT checkpoint FROM checkpoints WHERE (account, source) = (?, ?)",
            (key.account, key.source),
        ).fetchone()
        return None if found is None else msgspec.json.decode(found[0], type=Checkpoint)

    async def restart(self, key: SourceKey) -> None:
        """Import anew."""
        # Upserts make a new import harmless: the rows stay until newer ones replace them.
        self._waiting[key] = []

    async def write(self, key: SourceKey, rows: Sequence[Any]) -> None:
        """Take rows."""
        self._waiting[key].extend(rows)

    async def commit(self, key: SourceKey, checkpoint: Checkpoint) -> None:
        """Rows and checkpoint, both or neither."""
        rows, self._waiting[key] = self._waiting[key], []
        async with self._turn:
            await anyio.to_thread.run_sync(self._transaction, key, rows, checkpoint)

    def _transaction(self, key: SourceKey, rows: list[Any], checkpoint: Checkpoint) -> None:
        name = KEYS[key.source]
        values = [(key.account, str(row[name]), msgspec.json.encode(row).decode()) for row in rows]
        with self._database:
            self._database.executemany(
                f"INSERT OR REPLACE INTO {key.source} VALUES (?, ?, ?)",
                values,
            )
            self._database.execute(
                "INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?)",
                (key.account, key.source, msgspec.json.encode(checkpoint).decode()),
            )


async def main(wb: WbApiClient, tokens: Sequence[str], database: Path) -> Summary:
    """Import into the database; call it as often as you like."""
    async with UpsertSink(database) as sink:
        return await import_all(wb, tokens, list(KEYS), sink)


async def _run(token_file: str, database: str) -> None:
    tokens = (await anyio.Path(token_file).read_text()).split()
    async with WbApiClient() as wb:
        for one in (await main(wb, tokens, Path(database))).sources:
            print(one.key.account, one.key.source, one.status, one.rows)


if __name__ == "__main__":
    anyio.run(_run, sys.argv[1], sys.argv[2], backend="trio")
