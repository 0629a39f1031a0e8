"""The floor: our scripts over a plain blocking socket, one call after another."""

from __future__ import annotations

import gc
import socket
import time

import hiredis

from benchmarks._measure import Figures, Job, contender, percentiles
from benchmarks._workload import Command, address_of, our_commands


class RawConnection:
    """A blocking socket that speaks Redis and does nothing else."""

    def __init__(self, url: str) -> None:
        self._socket = socket.create_connection(address_of(url))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._reader = hiredis.Reader()

    def call(self, command: Command) -> object:
        """Send one command, wait for its reply."""
        # hiredis's stub forgets that the tuple may have more than one element.
        self._socket.sendall(hiredis.pack_command(command))  # type: ignore[arg-type]
        while (reply := self._reader.gets()) is False:
            self._reader.feed(self._socket.recv(65536))
        if isinstance(reply, Exception):
            raise reply
        return reply


def time_command(connection: RawConnection, command: Command, calls: int) -> list[float]:
    """Percentiles (µs) of one command."""
    for _ in range(max(1, calls // 10)):
        connection.call(command)
    times = []
    gc.collect()
    for _ in range(calls):
        started = time.perf_counter_ns()
        connection.call(command)
        times.append(time.perf_counter_ns() - started)
    return percentiles(times)


def measure(job: Job) -> Figures:
    """Latency of an acquire and of a narrowing."""
    acquire, narrow = our_commands(job.url)
    connection = RawConnection(job.url)
    return Figures(
        spreads={
            "acquire": time_command(connection, acquire, job.calls),
            "narrow": time_command(connection, narrow, job.calls),
        }
    )


if __name__ == "__main__":
    contender(blocking=measure)
