"""The demo in several processes: each imports everything, and all share the budgets on Redis.

A child gets its orders as one line of JSON on its standard input, tokens included, so that no
token is ever on a command line; it answers with one line of JSON for each step, and a last one
with what its limiter counted.
"""

from __future__ import annotations

import sys
from subprocess import PIPE

import anyio
import msgspec
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream
from msgspec import Struct

from wbtrio import WbRateLimiter
from wbtrio._errors import StoreError
from wbtrio._statistics import BucketStatistics
from wbtrio.cli._demo_import import Seller, Step, Watcher, import_sellers
from wbtrio.stores import RedisStore

LONGEST_LINE = 1_000_000


class Orders(Struct, frozen=True):
    """What a child is to do."""

    base_url: str
    redis_url: str
    backend: str
    max_wait: float
    sellers: list[Seller]


class Counted(Struct, frozen=True):
    """What a child's limiter counted, its last line."""

    buckets: dict[str, BucketStatistics]


class Line(Struct, frozen=True):
    """One line of a child's output: one of the two."""

    step: Step | None = None
    counted: Counted | None = None


async def import_in_processes(
    orders: Orders, processes: int, watch: Watcher
) -> list[dict[str, BucketStatistics]]:
    """Run so many children to their end; what the limiter of each counted.

    Raises:
        StoreError: A child failed.
    """
    counted: list[dict[str, BucketStatistics]] = []

    async def run() -> None:
        command = [sys.executable, "-m", "wbtrio.cli._demo_processes"]
        async with await anyio.open_process(command, stdin=PIPE, stdout=PIPE, stderr=None) as child:
            counted.append(await _follow(child, orders, watch))

    async with anyio.create_task_group() as children:
        for _ in range(processes):
            children.start_soon(run)
    return counted


async def _follow(child: Process, orders: Orders, watch: Watcher) -> dict[str, BucketStatistics]:
    assert child.stdin is not None  # noqa: S101  # both were asked for as pipes
    assert child.stdout is not None  # noqa: S101
    await child.stdin.send(msgspec.json.encode(orders) + b"\n")
    await child.stdin.aclose()
    lines = BufferedByteReceiveStream(child.stdout)
    while True:
        try:
            text = await lines.receive_until(b"\n", LONGEST_LINE)
        except (anyio.EndOfStream, anyio.IncompleteRead):
            code = await child.wait()
            raise StoreError(f"A process of the demo ended early, with code {code}.") from None
        line = msgspec.json.decode(text, type=Line)
        if line.step is not None:
            watch(line.step)
        if line.counted is not None:
            return line.counted.buckets


async def _work(orders: Orders) -> None:
    def tell(line: Line) -> None:
        sys.stdout.buffer.write(msgspec.json.encode(line) + b"\n")
        sys.stdout.buffer.flush()

    async with RedisStore(orders.redis_url) as store:
        buckets = await import_sellers(
            orders.base_url,
            orders.sellers,
            WbRateLimiter(store),
            max_wait=orders.max_wait,
            watch=lambda step: tell(Line(step=step)),
        )
    tell(Line(counted=Counted(buckets)))


if __name__ == "__main__":
    given = msgspec.json.decode(sys.stdin.buffer.readline(), type=Orders)
    anyio.run(_work, given, backend=given.backend)
