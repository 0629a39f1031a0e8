"""Where rows go: the protocol, and what all sinks of files share."""

from __future__ import annotations

import importlib
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, TypeVarTuple

import anyio
import anyio.to_thread
import msgspec
from msgspec import Struct

from .._errors import CallerError
from ._checkpoint import Checkpoint, SourceKey

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class Sink(Protocol):
    """Keeps the rows of an import, and with them how far it has come.

    The one rule: rows that are written count from the next `commit` on, all of them together with
    its checkpoint, or none. A database does both in one transaction. Calls for one key come one
    after another; calls for different keys may overlap. What a method raises fails that source
    alone.
    """

    async def open(self, key: SourceKey) -> Checkpoint | None:
        """What was committed last for this key, None if nothing was.

        Rows that were written after it, by a process that was killed say, are gone.
        """
        ...

    async def restart(self, key: SourceKey) -> None:
        """Forget all rows and the checkpoint of this key: it is imported anew."""
        ...

    async def write(self, key: SourceKey, rows: Sequence[Any]) -> None:
        """Take rows of a page, plain JSON objects; may be called several times for one page."""
        ...

    async def commit(self, key: SourceKey, checkpoint: Checkpoint) -> None:
        """Keep the rows that were written, and the checkpoint: both, or neither."""
        ...


class Kept(Struct, frozen=True):
    """The checkpoint file of a source.

    Attributes:
        checkpoint: How far the import has come.
        size: Bytes (of one file) or files (of a folder) that belong to it; what is beyond them
            is left from a commit that did not happen.
    """

    checkpoint: Checkpoint
    size: int


class FileSink(ABC):
    """What sinks of files share: folders, checkpoint files, threads, one process at a time.

    Args:
        folder: Where the files go; it is made.
        threads: Files are written by worker threads, so that the event loop does not wait for
            the disk. False: by the loop itself, for tests in virtual time.

    Raises:
        CallerError: Another process imports into this folder.
    """

    def __init__(self, folder: Path, *, threads: bool = True) -> None:
        self.folder = Path(folder)
        self._threads = threads
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = _locked(self.folder / ".lock")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the files and let another process in; what was not committed does not count."""
        self.close()
        await anyio.lowlevel.checkpoint()

    def close(self) -> None:
        """The same, where no event loop runs."""
        self._close_files()
        if self._lock is not None:
            lock, self._lock = self._lock, None
            os.close(lock)

    async def open(self, key: SourceKey) -> Checkpoint | None:
        """See `Sink.open`."""
        return await self._run(self._open, key)

    async def restart(self, key: SourceKey) -> None:
        """See `Sink.restart`."""
        await self._run(self._restart, key)

    async def write(self, key: SourceKey, rows: Sequence[Any]) -> None:
        """See `Sink.write`."""
        await self._run(self._write, key, rows)

    async def commit(self, key: SourceKey, checkpoint: Checkpoint) -> None:
        """See `Sink.commit`."""
        await self._run(self._commit, key, checkpoint)

    def checkpoint_of(self, key: SourceKey) -> Checkpoint | None:
        """What was committed last for this key; reads one small file."""
        kept = self._kept(key)
        return None if kept is None else kept.checkpoint

    @abstractmethod
    def _open(self, key: SourceKey) -> Checkpoint | None: ...

    @abstractmethod
    def _restart(self, key: SourceKey) -> None: ...

    @abstractmethod
    def _write(self, key: SourceKey, rows: Sequence[Any]) -> None: ...

    @abstractmethod
    def _commit(self, key: SourceKey, checkpoint: Checkpoint) -> None: ...

    @abstractmethod
    def _close_files(self) -> None: ...

    async def _run(self, function: Callable[[*Ts], T], *args: *Ts) -> T:
        if self._threads:
            return await anyio.to_thread.run_sync(function, *args)
        await anyio.lowlevel.checkpoint()
        return function(*args)

    def _place(self, key: SourceKey, suffix: str) -> Path:
        return self.folder / file_name(key.account) / f"{file_name(key.source)}{suffix}"

    def _kept(self, key: SourceKey) -> Kept | None:
        path = self._place(key, ".checkpoint.json")
        try:
            return msgspec.json.decode(path.read_bytes(), type=Kept)
        except FileNotFoundError:
            return None
        except msgspec.DecodeError as error:
            raise CallerError(
                f"{path} is no checkpoint: {error}.", advice="Delete it to import anew."
            ) from error

    def _keep(self, key: SourceKey, kept: Kept) -> None:
        path = self._place(key, ".checkpoint.json")
        partial = path.with_name(f"{path.name}.tmp")
        with partial.open("wb") as file:
            file.write(msgspec.json.encode(kept))
            synced(file.fileno())
        partial.replace(path)
        sync_folder(path.parent)

    def _forget(self, key: SourceKey) -> None:
        self._place(key, ".checkpoint.json").unlink(missing_ok=True)


def optional_module(name: str, extra: str) -> Any:
    """A package that an extra of ours brings, imported when it is first needed.

    Raises:
        CallerError: It is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as missing:
        package = name.partition(".")[0]
        raise CallerError(
            f"{package} is not installed.", advice=f"Install wbtrio[{extra}]."
        ) from missing


def file_name(text: str) -> str:
    """A text as the name of a file or folder: unusual characters as `%XX`; never hidden."""
    safe = re.sub(
        r"[^A-Za-z0-9_+\-.]",
        lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()),
        text,
    )
    return f"%2E{safe[1:]}" if safe.startswith(".") else safe or "%"


def synced(descriptor: int) -> None:
    """Have the disk itself hold what was written, so that a power cut loses nothing of it."""
    os.fsync(descriptor)


def sync_folder(folder: Path) -> None:
    """The same for the names in a folder, where the system knows such a thing."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _locked(path: Path) -> int | None:
    """A lock that ends with the process, however it ends; None where there is no such lock."""
    try:
        import fcntl
    except ImportError:
        return None
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise CallerError(
            f"Another process imports into {path.parent}.", advice="Let it end first."
        ) from error
    return descriptor
