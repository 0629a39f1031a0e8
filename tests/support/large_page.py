"""An import of one page of 200 MB; a program of its own, because it measures its memory.

    python -m tests.support.large_page FOLDER

Prints rows, bytes of the page, and the MB that the process grew by at most, as JSON.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import trio
from trio.testing import MockClock

from tests.support.importing import SINCE, TODAY, TOKEN
from wbtrio import WbApiClient
from wbtrio.importer import NdjsonSink, import_all

ROWS = 100_000
"""A full page of the finance report."""
FIELDS = {f"field_{number}": f"a value of some length, number {number}" for number in range(43)}


class Page:
    """WB's reply, made row by row; the second one is empty."""

    def __init__(self) -> None:
        self.size = 0
        self._asked = 0

    def __call__(self, _: httpx.Request) -> httpx.Response:
        self._asked += 1
        if self._asked > 1:
            return httpx.Response(204)
        return httpx.Response(
            200, headers={"content-type": "application/json"}, content=self._rows()
        )

    async def _rows(self) -> AsyncIterator[bytes]:
        for number in range(1, ROWS + 1):
            row = msgspec.json.encode({"rrdId": number, **FIELDS})
            text = (b"[" if number == 1 else b",") + row + (b"]" if number == ROWS else b"")
            self.size += len(text)
            yield text


def peak() -> float:
    """MB that this process had in memory at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024


async def main(folder: Path) -> dict[str, Any]:
    """Import the page, and say what it took."""
    page = Page()
    before = peak()
    async with (
        WbApiClient(transport=httpx.MockTransport(page)) as wb,
        NdjsonSink(folder, threads=False) as sink,
    ):
        summary = await import_all(wb, [TOKEN], ["finance_details"], sink, since=SINCE, until=TODAY)
    return {"rows": summary.sources[0].rows, "bytes": page.size, "grown": peak() - before}


if __name__ == "__main__":
    # WB admits the second page after a minute, which is not to be waited for.
    found = trio.run(main, Path(sys.argv[1]), clock=MockClock(autojump_threshold=0))
    sys.stdout.write(msgspec.json.encode(found).decode())
