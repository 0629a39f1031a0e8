"""Rows as newline-delimited JSON: one file for each source of each seller."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from ._checkpoint import Checkpoint, SourceKey
from ._sinks import FileSink, Kept, synced

_ENCODER = msgspec.json.Encoder()


class NdjsonSink(FileSink):
    """Writes `FOLDER/<account>/<source>.ndjson`, one row a line.

    A commit brings the rows to the disk first, then replaces the checkpoint, which states the
    file's length. Whatever is beyond that length was never committed and is cut off when the file
    is opened again: no half row stays, no row is lost, and none comes twice.

    Args:
        folder: As of `FileSink`.
        threads: As of `FileSink`.
    """

    def __init__(self, folder: Path, *, threads: bool = True) -> None:
        super().__init__(folder, threads=threads)
        self._files: dict[SourceKey, BinaryIO] = {}

    def _open(self, key: SourceKey) -> Checkpoint | None:
        kept = self._kept(key)
        path = self._place(key, ".ndjson")
        path.parent.mkdir(parents=True, exist_ok=True)
        if key in self._files:
            self._files.pop(key).close()
        file = path.open("ab")
        self._files[key] = file
        file.truncate(0 if kept is None else kept.size)
        file.seek(0, 2)
        return None if kept is None else kept.checkpoint

    def _restart(self, key: SourceKey) -> None:
        # The checkpoint first: rows without one are cut off, one without its rows would lie.
        self._forget(key)
        self._files[key].truncate(0)
        self._files[key].seek(0)

    def _write(self, key: SourceKey, rows: Sequence[Any]) -> None:
        self._files[key].write(_ENCODER.encode_lines(rows))

    def _commit(self, key: SourceKey, checkpoint: Checkpoint) -> None:
        file = self._files[key]
        file.flush()
        synced(file.fileno())
        self._keep(key, Kept(checkpoint, file.tell()))

    def _close_files(self) -> None:
        while self._files:
            self._files.popitem()[1].close()
