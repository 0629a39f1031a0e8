"""Cut the rows out of a JSON document that comes in chunks. Pure.

A finance page has 100,000 rows and 200 MB (field case WB-023): decoded at once it takes a
gigabyte. Here no more is held than one row, and what stands around the rows.
"""

from __future__ import annotations

import re

_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_TOKEN = re.compile(
    rb"\s*+(?:(?P<string>" + _STRING + rb")|(?P<mark>[{}\[\],:])|(?P<scalar>[^\s\"{}\[\],:]++))",
    re.DOTALL,
)
_TO_BRACKET = re.compile(
    rb'[^"{}\[\]]*+(?:' + _STRING + rb'[^"{}\[\]]*+)*+([{}\[\]])',
    re.DOTALL,
)
"""Everything up to the next bracket outside of strings: one match for a whole flat row."""
_BEFORE_ROW = re.compile(rb"[\s,]*+")
_SCALAR_ROW = re.compile(_STRING + rb"|[^\s,\]\"]++", re.DOTALL)
_OPENING = b"{["


class RowSplitter:
    """Splits a document into its rows and the rest.

    Args:
        path: Dotted path of the list of rows; empty: the document itself is the list.

    The rest is a document of its own, with an empty list where the rows were: it holds the
    cursors and totals that WB puts before or after the rows. A document without such a list is
    all rest.
    """

    def __init__(self, path: str) -> None:
        self._path = path.split(".") if path else []
        self._keys: list[str | None] = []
        self._name: str | None = None
        self._buffer = b""
        self._scanned = 0
        self._depth = 0
        self._in_rows = False
        self._found = False
        self._rest = bytearray()

    def feed(self, chunk: bytes) -> list[bytes]:
        """The rows that are whole now, each as JSON text.

        Args:
            chunk: The next part of the document, cut anywhere.
        """
        self._buffer += chunk
        rows: list[bytes] = []
        if not self._found:
            self._seek()
        if self._in_rows:
            self._cut(rows)
        if self._found and not self._in_rows:
            self._rest += self._buffer
            self._buffer = b""
        return rows

    def rest(self) -> bytes:
        """The document without its rows, once all of it was fed.

        Of a document that breaks off it is no JSON either.
        """
        return bytes(self._rest + self._buffer)

    def _seek(self) -> None:
        """Go on to where the rows begin."""
        position = 0
        buffer = self._buffer
        while (token := _TOKEN.match(buffer, position)) is not None:
            if token["scalar"] is not None and token.end() == len(buffer):
                break
            position = token.end()
            if token["string"] is not None:
                self._name = token["string"][1:-1].decode("utf-8", "replace")
            elif token["mark"] is not None and self._meets(token["mark"]):
                self._found = self._in_rows = True
                break
        self._rest += buffer[:position]
        self._buffer = buffer[position:]

    def _meets(self, mark: bytes) -> bool:
        """Follow one mark of the document's structure; whether it opens the rows."""
        if mark == b"[" and self._keys == self._path and None not in self._keys:
            return True
        if mark in _OPENING:
            self._keys.append(None)
        elif mark in b"}]" and self._keys:
            self._keys.pop()
        elif mark == b":" and self._keys:
            self._keys[-1] = self._name
        return False

    def _cut(self, rows: list[bytes]) -> None:
        """Take rows off the buffer while they are whole."""
        buffer, start = self._buffer, 0
        while True:
            if not self._depth:
                gap = _BEFORE_ROW.match(buffer, start)
                start = start if gap is None else gap.end()
                self._scanned = start
            end = self._row_end(buffer, start)
            if end is None:
                break
            if end == start:
                self._in_rows = False
                break
            rows.append(buffer[start:end])
            start = end
        self._buffer = buffer[start:]
        self._scanned -= start

    def _row_end(self, buffer: bytes, start: int) -> int | None:
        """Where the row that starts there ends; there itself: the list ends; None: not yet."""
        if not self._depth:
            first = buffer[start : start + 1]
            if first == b"]":
                return start
            if not first:
                return None
            if first not in _OPENING:
                scalar = _SCALAR_ROW.match(buffer, start)
                is_whole = scalar is not None and scalar.end() < len(buffer)
                return scalar.end() if scalar is not None and is_whole else None
        while (bracket := _TO_BRACKET.match(buffer, self._scanned)) is not None:
            self._scanned = bracket.end()
            self._depth += 1 if bracket[1] in _OPENING else -1
            if not self._depth:
                return self._scanned
        return None
