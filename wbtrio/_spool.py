"""A reply's body, kept in memory, or in a temporary file where it is too large for that."""

from __future__ import annotations

import tempfile
from typing import IO, TYPE_CHECKING, Any, Self

import msgspec
from msgspec import Struct

from ._json_rows import RowSplitter
from ._positions import get_path, is_null
from ._replies import SCANNED_AT_MOST

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

    from ._requests import Answer

KEPT = SCANNED_AT_MOST
"""Bytes that are held in memory at most; `read_reply` judges larger bodies by their ends."""
_CHUNK = 1 << 16
_TAIL = 64


class Body(Struct, frozen=True):
    """The whole body, or the beginning of it and all of it in a file.

    Attributes:
        head: The body; where there is a `file`, the beginning and the last bytes of it, from
            which `read_reply` tells a broken body from a whole one.
        file: All of it, or None. Nobody else knows of the file; it is gone when it is closed.
    """

    head: bytes
    file: IO[bytes] | None = None

    @property
    def beginning(self) -> bytes:
        """What is kept of it in memory while its rows are read: all, or enough for an excerpt."""
        return self.head if self.file is None else self.head[:_CHUNK]


async def read_body(response: httpx.Response, *, may_spool: bool) -> Body:
    """Read and decompress a response's body.

    Files are written on the event loop: they stay in the system's cache, so that a chunk takes
    microseconds, less than handing it to a thread.

    Args:
        response: Its stream is used up; closing it is the caller's part.
        may_spool: Whether a body beyond `KEPT` goes to a file.
    """
    if not may_spool or not response.is_success:
        return Body(await response.aread())
    head = bytearray()
    tail = b""
    file: IO[bytes] | None = None
    try:
        async for chunk in response.aiter_bytes(_CHUNK):
            if file is not None:
                file.write(chunk)
                tail = (tail + chunk)[-_TAIL:]
                continue
            head += chunk
            if len(head) > KEPT:
                file = tempfile.TemporaryFile()  # noqa: SIM115 - it goes to the caller
                file.write(head)
                tail = bytes(head[-_TAIL:])
    except BaseException:
        if file is not None:
            file.close()
        raise
    if file is None:
        return Body(bytes(head))
    file.seek(0)
    return Body(bytes(head + tail), file)


def chunks_of(file: IO[bytes]) -> Iterator[bytes]:
    """A file's bytes, piece by piece, from the beginning."""
    file.seek(0)
    while chunk := file.read(_CHUNK):
        yield chunk


class PartReader:
    """The rows of a spooled answer, decoded so many at a time; iterate once, within `with`.

    Args:
        answer: It has a `spool`, which is closed in the end.
        path: Reply path of the rows.
        size: Most rows of a part.

    Attributes:
        count: Rows so far.
        last: The last of them; None: there was none.
    """

    def __init__(self, answer: Answer, path: str, size: int) -> None:
        if answer.spool is None:
            raise ValueError("the answer is in memory")
        self._answer = answer
        self._file = answer.spool
        self._path = path
        self._size = size
        self._rest = b""
        self.count = 0
        self.last: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __iter__(self) -> Iterator[list[Any]]:
        """Lists of rows.

        Raises:
            Undecodable: A row is no JSON, or the list is not where it should be.
        """
        if "[]" in self._path:
            # Lists of lists are not cut; no list of WB's that has them is large.
            self._rest = self._file.read()
            yield self._take(get_path(self._decode(self._rest), self._path))
            return
        splitter = RowSplitter(self._path)
        waiting: list[bytes] = []
        for chunk in chunks_of(self._file):
            waiting += splitter.feed(chunk)
            while len(waiting) >= self._size:
                part, waiting = waiting[: self._size], waiting[self._size :]
                yield self._rows_of(part)
        yield self._rows_of(waiting)
        self._rest = splitter.rest()

    def rest(self) -> Any:
        """The reply without its rows.

        Raises:
            Undecodable: It is no JSON, which means that the reply broke off.
        """
        rest = self._decode(self._rest)
        if not isinstance(get_path(rest, self._path), list) and not is_null(rest, self._path):
            raise self._answer.undecodable(f"there is no list at `{self._path or '$'}`")
        return rest

    def _rows_of(self, texts: list[bytes]) -> list[Any]:
        return self._take(self._decode(b"[" + b",".join(texts) + b"]"))

    def _take(self, rows: list[Any]) -> list[Any]:
        if rows:
            self.count += len(rows)
            self.last = rows[-1]
        return rows

    def _decode(self, text: bytes) -> Any:
        try:
            return msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise self._answer.undecodable(f"{error}, in its rows") from error
