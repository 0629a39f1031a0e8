"""A TCP proxy that fails as told, for any event loop: it runs in threads of its own."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import TYPE_CHECKING, Literal, Self

if TYPE_CHECKING:
    from types import TracebackType

Mode = Literal["pass", "hold", "swallow", "cut", "lose"]
CHUNK = 65_536


class Proxy:
    """What lies between a client and a server on this machine; a context manager.

    Args:
        port: The server's TCP port.

    Attributes:
        mode: What becomes of the server's replies from now on.
            "pass": they go on. "hold": they wait until the mode is another. "swallow": neither
            they nor further commands go on, and no side is told: a half-open connection.
            "cut": half of the next one goes on, then the connection ends. "lose": the next one
            is dropped and the connection ends.
        port: The port to connect to.
        replies: Replies that came from the server so far, in pieces as they came.
    """

    def __init__(self, port: int) -> None:
        self._server_port = port
        self._changed = threading.Condition()
        self._mode: Mode = "pass"
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.replies = 0

    @property
    def url(self) -> str:
        """Redis URL that leads through the proxy."""
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def mode(self) -> Mode:
        """See the class."""
        return self._mode

    @mode.setter
    def mode(self, mode: Mode) -> None:
        with self._changed:
            self._mode = mode
            self._changed.notify_all()

    def wait_for_replies(self, count: int, timeout: float = 10.0) -> bool:
        """Wait until the server has answered so often; whether it has."""
        with self._changed:
            return self._changed.wait_for(lambda: self.replies >= count, timeout)

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.mode = "pass"
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for one in self._sockets:
            _close(one)
        for thread in self._threads:
            thread.join(10)

    def _start(self, run: object, *arguments: socket.socket) -> None:
        thread = threading.Thread(target=run, args=arguments, daemon=True)  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self._server_port))
            except OSError:
                client.close()
                continue
            self._sockets += [client, server]
            self._start(self._carry_commands, client, server)
            self._start(self._carry_replies, client, server)

    def _carry_commands(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := client.recv(CHUNK):
                if self._mode != "swallow":
                    server.sendall(data)
        _close(server)

    def _carry_replies(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := server.recv(CHUNK):
                with self._changed:
                    self.replies += 1
                    self._changed.notify_all()
                    self._changed.wait_for(lambda: self._mode != "hold")
                    mode = self._mode
                if mode == "pass":
                    client.sendall(data)
                elif mode == "cut":
                    client.sendall(data[: len(data) // 2])
                if mode in {"cut", "lose"}:
                    break
        if self._mode != "swallow":
            _close(client)
        _close(server)


def _close(one: socket.socket) -> None:
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
