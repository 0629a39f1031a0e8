"""The yardstick: one socket, a writer task and a reader task, nothing else.

No deadlines, no cancellation, no reconnecting, no errors: what any multiplexed connection on this
loop costs at the least.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import anyio
import hiredis

from benchmarks._measure import Figures, Job, calls_per_second, contender, time_calls
from benchmarks._workload import Command, address_of, for_key, our_commands

if TYPE_CHECKING:
    from anyio.abc import ByteStream


class BareMultiplexer:
    """Commands of all tasks over one stream, coalesced; replies in FIFO order."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        self._reader = hiredis.Reader()
        self._pending: deque[tuple[anyio.Event, list[object]]] = deque()
        self._queue: list[bytes] = []
        self._has_work = anyio.Event()

    async def call(self, command: Command) -> object:
        """Send one command, wait for its reply."""
        done: anyio.Event = anyio.Event()
        reply: list[object] = []
        self._pending.append((done, reply))
        # hiredis's stub forgets that the tuple may have more than one element.
        self._queue.append(hiredis.pack_command(command))  # type: ignore[arg-type]
        self._has_work.set()
        await done.wait()
        return reply[0]

    async def write(self) -> None:
        """The writer task."""
        while True:
            await self._has_work.wait()
            self._has_work = anyio.Event()
            data = b"".join(self._queue)
            self._queue.clear()
            await self._stream.send(data)

    async def read(self) -> None:
        """The reader task."""
        while True:
            self._reader.feed(await self._stream.receive(65536))
            while (reply := self._reader.gets()) is not False:
                done, slot = self._pending.popleft()
                slot.append(reply)
                done.set()


def commands_for(job: Job) -> tuple[Command, Command, list[Command]]:
    """An acquire, a narrowing, and one acquire for each task's own key."""
    acquire, narrow = our_commands(job.url)
    return acquire, narrow, [for_key(acquire, f"b{number}") for number in range(job.tasks)]


async def measure(job: Job) -> Figures:
    """Latency of both commands, and throughput on many keys and on one."""
    # The commands are looked at on a loop of their own, hence in a thread.
    acquire, narrow, acquires = await anyio.to_thread.run_sync(commands_for, job)
    host, port = address_of(job.url)
    async with await anyio.connect_tcp(host, port) as stream, anyio.create_task_group() as group:
        bare = BareMultiplexer(stream)
        group.start_soon(bare.write)
        group.start_soon(bare.read)
        figures = Figures(
            spreads={
                "acquire": await time_calls(lambda: bare.call(acquire), job.calls),
                "narrow": await time_calls(lambda: bare.call(narrow), job.calls),
            },
            values={
                "many_keys": await calls_per_second(
                    lambda number: bare.call(acquires[number]), job.tasks, job.calls_per_task
                ),
                "one_key": await calls_per_second(
                    lambda _: bare.call(acquire), job.tasks, job.calls_per_task
                ),
            },
        )
        group.cancel_scope.cancel()
    return figures


if __name__ == "__main__":
    contender(measure)
