"""Buckets in a file: for programs without a Redis that run one after another."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from .. import _bucket
from .._bucket import MICROSECONDS, Limit, State
from .._errors import StoreProtocolError, StoreUnavailable
from .._loop import loop_clock
from .memory import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable


LATEST_ARRIVAL = MICROSECONDS
"""µs by which WB may have counted the last request of a killed process after its grant: nobody
was left to learn it from the reply."""


class _Kept(Struct, frozen=True):
    limit: tuple[int, int, int]
    state: tuple[int, ...]


class FileStore(MemoryStore):
    """A memory store that outlives its process, whatever ends it.

    Each grant is in the file before its request is sent, so that the next process waits as this
    one would have, also after a SIGKILL. Only one process may use the file at a time: for several
    there is `RedisStore`.

    Args:
        path: The file; it is made with the first grant. Its folder must exist.
        clock: µs of Unix time now. Default: the wall clock when the store is first asked, moved on
            by the event loop's clock, so that corrections of the wall clock move no bucket.

    Raises:
        StoreProtocolError: The file is not one of this store's.
        StoreUnavailable: The file cannot be read; or written, from each call.
    """

    def __init__(self, path: Path, *, clock: Callable[[], int] | None = None) -> None:
        super().__init__(clock=clock or _WallClock())
        self._path = Path(path)
        self._partial = self._path.with_name(f"{self._path.name}.tmp")
        try:
            kept = msgspec.json.decode(self._path.read_bytes(), type=dict[str, _Kept])
        except FileNotFoundError:
            kept = {}
        except OSError as error:
            raise StoreUnavailable(f"{self._path} cannot be read: {error}.") from error
        except msgspec.DecodeError as error:
            raise StoreProtocolError(
                f"{self._path} does not hold buckets: {error}.",
                advice="Give another file, or delete it: the buckets are then taken for full.",
            ) from error
        self._buckets = {key: (Limit(*one.limit), State(*one.state)) for key, one in kept.items()}

        self._inherited = set(self._buckets)

    def __repr__(self) -> str:
        return f"<FileStore {self._path}: {len(self._buckets)} buckets>"

    def _read(self, key: str) -> State:
        state = super()._read(key)
        if key not in self._inherited:
            return state
        return state._replace(
            full_at=state.full_at + LATEST_ARRIVAL,
            not_before=state.not_before and state.not_before + LATEST_ARRIVAL,
        )

    def _write(self, key: str, limit: Limit, state: State, now: int) -> None:
        if key in self._inherited and state == self._read(key):
            # A refusal changes nothing; the allowance must not pile up from process to process.
            return
        super()._write(key, limit, state, now)
        self._inherited.discard(key)
        kept = {
            name: _Kept((limit.period, limit.limit, limit.burst), tuple(state))
            for name, (limit, state) in self._buckets.items()
            if _bucket.time_to_live(state, limit, now) > 0
        }
        try:
            self._partial.write_bytes(msgspec.json.encode(kept))
            self._partial.replace(self._path)
        except OSError as error:
            raise StoreUnavailable(f"{self._path} cannot be written: {error}.") from error


class _WallClock:
    """Unix time in µs, by the event loop's clock."""

    def __init__(self) -> None:
        self._offset: int | None = None

    def __call__(self) -> int:
        if self._offset is None:
            self._offset = time.time_ns() // 1000 - loop_clock()
        return loop_clock() + self._offset
