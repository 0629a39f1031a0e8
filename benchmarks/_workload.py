"""The same work for everyone who speaks to Redis: buckets that never run dry, and our commands."""

from __future__ import annotations

import re
import socket
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio

from wbtrio import RedisStore, WbRateLimiter
from wbtrio._bucket import Bucket, Limit

if TYPE_CHECKING:
    from collections.abc import Iterator

WIDE = Limit(period=60_000_000, limit=60_000_000, burst=1_000_000)
"""A million tokens a second: what is timed is the call, never a wait."""

HALF_LEFT = {"x-ratelimit-limit": "1000000", "x-ratelimit-remaining": "500000"}
"""A reply that narrows a `WIDE` bucket each time that it is reconciled."""

REFUSAL = {
    "x-ratelimit-limit": "1000000",
    "x-ratelimit-reset": "60",
    "x-ratelimit-retry": "60",
}
"""A 429 that holds a bucket."""

Command = tuple[str, ...]
_QUOTED = re.compile(rb'"((?:[^"\\]|\\.)*)"')


def wide_bucket(name: str) -> Bucket:
    """A bucket that never runs dry."""
    return Bucket("bench", "personal", name, WIDE)


def address_of(url: str) -> tuple[str, int]:
    """Host and port of a server."""
    parts = urlsplit(url)
    return parts.hostname or "127.0.0.1", parts.port or 6379


class Monitor:
    """Every command that clients send meanwhile, those that scripts run left out.

    `INFO commandstats` counts the commands inside scripts as well, so it cannot tell what a
    library sends from what its script does.
    """

    def __init__(self, url: str) -> None:
        self._socket = socket.create_connection(address_of(url), timeout=10)
        self._socket.sendall(b"*1\r\n$7\r\nMONITOR\r\n")
        self._lines = self._socket.makefile("rb")
        if self._lines.readline() != b"+OK\r\n":
            raise ConnectionError("the server refuses MONITOR")

    def commands(self, until: str) -> Iterator[Command]:
        """The commands seen up to an `ECHO` of this mark, which the caller has sent."""
        for line in self._lines:
            origin, _, rest = line.partition(b"] ")
            if origin.endswith(b" lua"):
                continue
            words = tuple(word.decode(errors="replace") for word in _QUOTED.findall(rest))
            if words == ("ECHO", until):
                return
            yield words

    def close(self) -> None:
        """Stop watching."""
        self._lines.close()
        self._socket.close()


def mark(url: str, text: str) -> None:
    """Put a mark into the stream of commands that a `Monitor` sees."""
    with socket.create_connection(address_of(url), timeout=10) as connection:
        connection.sendall(f"*2\r\n$4\r\nECHO\r\n${len(text)}\r\n{text}\r\n".encode())
        connection.recv(1024)


def our_commands(url: str) -> tuple[Command, Command]:
    """What the limiter sends for an acquire and for a narrowing, word by word.

    Whoever is compared with it sends just these, whatever the scripts' arguments are today. The
    scripts are loaded afterwards.
    """
    seen: list[Command] = []

    async def speak() -> None:
        bucket = wide_bucket("b0")
        async with RedisStore(url) as store:
            limiter = WbRateLimiter(store)
            await limiter.acquire(bucket)
            monitor = Monitor(url)
            await limiter.acquire(bucket)
            await limiter.reconcile(bucket, HALF_LEFT)
            mark(url, "end")
            seen.extend(words for words in monitor.commands("end") if words[0] == "EVALSHA")
            monitor.close()

    anyio.run(speak)
    acquire, narrow = seen
    return acquire, narrow


def for_key(command: Command, name: str) -> Command:
    """The same command for another bucket."""
    return tuple(word.replace(":b0", f":{name}") for word in command)
