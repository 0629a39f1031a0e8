"""One connected socket, plain or TLS, whose effects are all synchronous.

Awaiting only ever waits until the socket is ready. So a cancellation, even asyncio's own
`task.cancel()`, cannot leave half a command written or a read reply lost, which no stream with an
awaited `send` can promise on both loops.
"""

from __future__ import annotations

import errno
import os
import socket
import ssl

import anyio
import anyio.lowlevel

CHUNK = 65_536


class Wire:
    """A non-blocking byte stream over one socket.

    Args:
        sock: A connected, non-blocking stream socket; owned from here on.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._unsent = bytearray()
        self._tls: ssl.SSLObject | None = None
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()

    async def start_tls(self, context: ssl.SSLContext, server_hostname: str) -> None:
        """Shake hands; from then on everything is encrypted.

        Raises:
            ssl.SSLError: The other side's certificate or protocol is not acceptable.
            OSError: The connection broke.
        """
        tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=server_hostname)
        while True:
            try:
                tls.do_handshake()
            except ssl.SSLWantReadError:
                self._unsent += self._outgoing.read()
                await self.flush()
                self._incoming.write(await self._receive_raw() or b"")
            else:
                self._unsent += self._outgoing.read()
                await self.flush()
                self._tls = tls
                return

    @property
    def has_unsent(self) -> bool:
        """Whether queued bytes still wait to be sent."""
        return bool(self._unsent)

    def queue(self, data: bytes) -> None:
        """Put bytes behind those not sent yet; sends nothing."""
        if self._tls is None:
            self._unsent += data
            return
        self._tls.write(data)
        self._unsent += self._outgoing.read()

    async def flush(self) -> None:
        """Send what is queued; waits only when the socket's buffer is full.

        Raises:
            OSError: The connection broke.
        """
        while not self.try_flush():
            await anyio.wait_writable(self._sock)

    def try_flush(self) -> bool:
        """Send what fits into the socket's buffer; whether that was all.

        Raises:
            OSError: The connection broke.
        """
        while self._unsent:
            try:
                sent = self._sock.send(self._unsent)
            except BlockingIOError:
                return False
            del self._unsent[:sent]
        return True

    async def receive(self) -> bytes:
        """Whatever has arrived, waiting for the first byte; empty at the end of the stream.

        Raises:
            OSError: The connection broke.
        """
        if self._tls is None:
            return await self._receive_raw()
        while True:
            try:
                return self._tls.read(CHUNK)
            except ssl.SSLWantReadError:
                data = await self._receive_raw()
                if not data:
                    return b""
                self._incoming.write(data)
            except ssl.SSLZeroReturnError:
                return b""

    def was_closed_by_peer(self) -> bool:
        """Whether the other side hung up while nothing was under way; never waits."""
        try:
            return not self._sock.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True

    def close(self) -> None:
        """Close the socket; whoever waits for it is woken."""
        if self._sock.fileno() != -1:
            anyio.notify_closing(self._sock)
            self._sock.close()

    async def _receive_raw(self) -> bytes:
        while True:
            # Not even tried before: a reply that is there already must still be waited for, so
            # that a task which calls in a loop gives way to the others.
            await anyio.wait_readable(self._sock)
            try:
                return self._sock.recv(CHUNK)
            except BlockingIOError:
                continue


async def connect_tcp(host: str, port: int) -> Wire:
    """Connect to the first of the host's addresses that answers.

    Raises:
        OSError: None of them does; of several failures, the last one.
    """
    failure: OSError = OSError(errno.EADDRNOTAVAIL, f"{host} has no address")
    for family, kind, proto, _, address in await anyio.getaddrinfo(
        host, port, type=socket.SOCK_STREAM
    ):
        sock = socket.socket(family, kind, proto)
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            return await _connect(sock, address)
        except OSError as error:
            failure = error
    raise failure


async def connect_unix(path: str) -> Wire:
    """Connect to a Unix socket.

    Raises:
        OSError: Nobody listens there.
    """
    await anyio.lowlevel.checkpoint()
    return await _connect(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM), path)


async def _connect(sock: socket.socket, address: object) -> Wire:
    sock.setblocking(False)
    try:
        code = sock.connect_ex(address)  # type: ignore[arg-type]  # typeshed wants one family's form
        if code in {errno.EINPROGRESS, errno.EWOULDBLOCK, errno.EAGAIN}:
            await anyio.wait_writable(sock)
            code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            raise OSError(code, os.strerror(code))  # noqa: TRY301  # the socket is closed below
    except BaseException:
        sock.close()
        raise
    return Wire(sock)
