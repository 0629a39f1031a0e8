"""A network in virtual time below the real httpcore: connections that take as long as told."""

# ruff: noqa: ARG002 - the signatures are httpcore's

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING, Any

import anyio
import anyio.lowlevel
import httpcore
import httpx

if TYPE_CHECKING:
    from collections.abc import Iterable

OK_REPLY = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
    b"X-RateLimit-Limit: 5\r\nX-RateLimit-Remaining: 4\r\n\r\n{}"
)


class Network(httpcore.AsyncNetworkBackend):
    """What lies between a client and WB.

    Attributes:
        connect: Seconds that a connection takes.
        reply: Seconds from the first byte of a request to its reply.
        answer: The bytes of each reply.
        refuse: Refuse connections, after the time that they take.
        hang_up: Close the connection in place of a reply.
        connections: Connections asked for.
        requests: Requests of which at least a byte arrived.
        open: Connections that are open.
    """

    def __init__(
        self,
        *,
        connect: float = 0.1,
        reply: float = 0.1,
        answer: bytes = OK_REPLY,
        refuse: bool = False,
        hang_up: bool = False,
    ) -> None:
        self.connect = connect
        self.reply = reply
        self.answer = answer
        self.refuse = refuse
        self.hang_up = hang_up
        self.connections = 0
        self.requests = 0
        self.open = 0

    def transport(self, *, max_connections: int | None = None) -> httpx.AsyncHTTPTransport:
        """Httpx's real transport over this network."""
        transport = httpx.AsyncHTTPTransport(verify=_NO_CHECKS)
        transport._pool = httpcore.AsyncConnectionPool(
            ssl_context=_NO_CHECKS,
            network_backend=self,
            max_connections=max_connections,
            max_keepalive_connections=5,
        )
        return transport

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        self.connections += 1
        await anyio.sleep(self.connect)
        if self.refuse:
            raise httpcore.ConnectError("refused")
        self.open += 1
        return _Stream(self)


class _Stream(httpcore.AsyncNetworkStream):
    def __init__(self, network: Network) -> None:
        self._network = network
        self._in_request = False
        self._is_open = True

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        await anyio.sleep(self._network.reply)
        self._in_request = False
        return b"" if self._network.hang_up else self._network.answer

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await anyio.lowlevel.checkpoint()
        if not self._in_request:
            self._in_request = True
            self._network.requests += 1

    async def aclose(self) -> None:
        if self._is_open:
            self._is_open = False
            self._network.open -= 1
        await anyio.lowlevel.checkpoint()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.AsyncNetworkStream:
        try:
            await anyio.lowlevel.checkpoint()
        except BaseException:
            # As anyio's own TLS streams do.
            with anyio.CancelScope(shield=True):
                await self.aclose()
            raise
        return self

    def get_extra_info(self, info: str) -> Any:
        return False if info == "is_readable" else None


_NO_CHECKS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
