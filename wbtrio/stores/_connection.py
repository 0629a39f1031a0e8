"""From a URL to a connection that heals: connect, greet, reconnect with backoff."""

from __future__ import annotations

import random
import ssl
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio
import anyio.lowlevel
import hiredis
import redis.connection
import redis.exceptions

from .._errors import StoreError, StoreProtocolError, StoreUnavailable, StoreUrlError
from .._loop import loop_time
from ._multiplexer import Call, Multiplexer
from ._wire import Wire, connect_tcp, connect_unix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._scripted import Argument

FIRST_BACKOFF = 0.05
LONGEST_BACKOFF = 5.0
STALE_AFTER = 0.5


class RedisConnection:
    """One multiplexed connection to one Redis, opened when first used and whenever it broke.

    Args:
        url: `redis://`, `rediss://` (TLS) or `unix://`, as redis-py reads it: user, password,
            database number and `ssl_*` settings included.
        timeout: Seconds that one command may take once connected.
        connect_timeout: Seconds that connecting and greeting may take.

    Raises:
        StoreUrlError: The URL is none that redis-py understands.
    """

    def __init__(self, url: str, *, timeout: float = 0.25, connect_timeout: float = 1.0) -> None:
        self._address = _parse(url)
        self.peer = _describe(self._address)
        self._timeout = timeout
        self._connect_timeout = connect_timeout
        self._multiplexer: Multiplexer | None = None
        self._connecting: anyio.Event | None = None
        self._failures = 0
        self._retry_at = 0.0
        self._failure: StoreError | None = None

    def __repr__(self) -> str:
        return f"<RedisConnection to {self.peer}>"

    async def open(self) -> None:
        """Connect now, whatever the backoff says.

        Raises:
            StoreUnavailable: Nobody answers there.
            StoreProtocolError: What answers is no Redis, or refuses the greeting.
        """
        self._retry_at = 0.0
        await self._connected()

    async def call(self, *arguments: Argument) -> Call:
        """Run one command. It is never sent twice.

        Raises:
            StoreError: See `Multiplexer.call`; an error *reply* is no exception here.
        """
        command = _pack(arguments)
        multiplexer = self._multiplexer
        if multiplexer is None or multiplexer.is_stale(loop_time(), STALE_AFTER):
            multiplexer = await self._connected()
        return await multiplexer.call(command, self._timeout)

    async def aclose(self) -> None:
        """Close the connection; commands under way end with `StoreUnavailable`."""
        await anyio.lowlevel.checkpoint()
        if self._multiplexer is not None:
            self._multiplexer.fail(StoreUnavailable("The store was closed."))
            self._multiplexer = None

    async def _connected(self) -> Multiplexer:
        while self._connecting is not None:
            with anyio.CancelScope(shield=True):
                await self._connecting.wait()
        multiplexer = self._multiplexer
        if multiplexer is not None and not multiplexer.is_stale(loop_time(), STALE_AFTER):
            return multiplexer
        if self._failure is not None and loop_time() < self._retry_at:
            raise StoreUnavailable(
                f"The store at {self.peer} is unreachable; not tried again yet.",
                advice=self._failure.advice,
            ) from self._failure
        if multiplexer is not None and not multiplexer.is_broken:
            multiplexer.fail(StoreUnavailable(f"The store at {self.peer} hung up."))
        self._connecting = anyio.Event()
        try:
            self._multiplexer = await self._connect()
        except StoreError as error:
            self._back_off(error)
            raise
        finally:
            self._connecting.set()
            self._connecting = None
        self._failures = 0
        self._failure = None
        return self._multiplexer

    def _back_off(self, error: StoreError) -> None:
        pause = min(FIRST_BACKOFF * 2**self._failures, LONGEST_BACKOFF)
        self._failures = min(self._failures + 1, 16)
        self._failure = error
        self._multiplexer = None
        self._retry_at = loop_time() + pause * random.uniform(0.5, 1.0)

    async def _connect(self) -> Multiplexer:
        wire: Wire | None = None
        deadline = loop_time() + self._connect_timeout
        with anyio.CancelScope(shield=True, deadline=deadline):
            try:
                wire = await self._open_wire()
                multiplexer = Multiplexer(wire, self.peer)
                await self._greet(multiplexer)
            except ssl.SSLError as error:
                _close(wire)
                raise StoreProtocolError(
                    f"No TLS with whatever answers at {self.peer}: {error.reason}.",
                    advice="Check the certificate settings, or use redis:// for a plain server.",
                ) from error
            except OSError as error:
                _close(wire)
                raise StoreUnavailable(
                    f"Nobody answers at {self.peer}: {error}.",
                    advice="Start the server, or check the store's URL.",
                ) from error
            except BaseException:
                _close(wire)
                raise
            else:
                return multiplexer
        raise StoreUnavailable(
            f"{self.peer} did not accept a connection within {self._connect_timeout:g} s.",
            advice="Check that the server is up and that nothing blocks the way to it.",
        )

    async def _open_wire(self) -> Wire:
        address = self._address
        if "path" in address:
            return await connect_unix(address["path"])
        host = address.get("host", "localhost")
        wire = await connect_tcp(host, int(address.get("port", 6379)))
        if _is_tls(address):
            try:
                await wire.start_tls(_tls_context(address), host)
            except BaseException:
                wire.close()
                raise
        return wire

    async def _greet(self, multiplexer: Multiplexer) -> None:
        address = self._address
        greetings: list[Sequence[Argument]] = []
        if address.get("password") is not None:
            user = [address["username"]] if address.get("username") else []
            greetings.append(["AUTH", *user, address["password"]])
        if address.get("db"):
            greetings.append(["SELECT", address["db"]])
        greetings.append(["PING"])
        for greeting in greetings:
            call = await multiplexer.call(_pack(greeting), self._connect_timeout)
            if call.interruption is not None:
                raise call.interruption
            if isinstance(call.reply, redis.exceptions.ResponseError):
                raise error_of_reply(call.reply, self.peer) from call.reply


_ADVICE = {
    "NOAUTH": "Put the password into the store's URL: redis://:password@host.",
    "WRONGPASS": "Check the user and the password in the store's URL.",
    "NOPERM": "Give the user EVALSHA, EVAL, TIME, GET, SET, DEL, PING and the keys wbtrio:*.",
    "READONLY": "The URL leads to a replica: use the primary.",
    "OOM": "The server's memory is full: raise maxmemory, and use noeviction or a volatile policy.",
    "LOADING": "The server is still loading its data.",
    "BUSY": "Another script blocks the server.",
    "MASTERDOWN": "The server lost its primary.",
    "MOVED": "This is a cluster: use ClientStore with a cluster client.",
    "CLUSTERDOWN": "The cluster is down.",
    "WRONGTYPE": "Another program uses a key of wbtrio's; give wbtrio a database of its own.",
}
_NEEDED_ADVICE = (
    "wbtrio needs EVALSHA and EVAL and, inside scripts, TIME, GET, SET and DEL: allow them in the"
    " server's ACL or rename-command, or in the settings of its provider."
)
_REFUSALS_OF_COMMANDS = ("unknown command", "unknown redis command", "can't run this command")
_URL_ADVICE = "Use redis://host:6379/0, rediss://... for TLS, or unix:///path?db=0."
_PASSING = {"LOADING", "BUSY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN"}


def error_of_reply(reply: Exception | str, peer: str) -> StoreError:
    """The typed error for an error reply, its code in front; the command did not run."""
    text = str(reply)
    code = text.partition(" ")[0]
    kind = StoreUnavailable if code in _PASSING else StoreProtocolError
    advice = _ADVICE.get(code, "")
    if any(refusal in text.lower() for refusal in _REFUSALS_OF_COMMANDS):
        advice = _NEEDED_ADVICE
    # What Redis adds of a script's place helps nobody.
    reason = text.partition(" script: ")[0].rstrip(".")
    return kind(f"The store at {peer} refused: {reason[:200]}.", advice=advice)


def _pack(arguments: Sequence[Argument]) -> bytes:
    # hiredis's stub forgets that the tuple may have more than one element.
    packed: bytes = hiredis.pack_command(tuple(arguments))  # type: ignore[arg-type]
    return packed


def _parse(url: str) -> dict[str, Any]:
    try:
        address = dict(redis.connection.parse_url(url))  # type: ignore[no-untyped-call]
    except (ValueError, redis.exceptions.RedisError) as error:
        scheme = url.partition(":")[0] if "://" in url else ""
        raise StoreUrlError(
            f"{f'The scheme {scheme}://' if scheme else 'The text given'} is no Redis URL.",
            advice=_URL_ADVICE,
        ) from error
    parts = urlsplit(url)
    # redis-py reads both in silence, and two programs would no longer share their budgets.
    if parts.scheme == "unix":
        if not address.get("path"):
            raise StoreUrlError("unix:// names no socket.", advice=_URL_ADVICE)
    elif (database := parts.path.strip("/")) and not database.isdecimal():
        raise StoreUrlError("The database of a Redis URL is a number.", advice=_URL_ADVICE)
    address["tls"] = parts.scheme == "rediss"
    return address


def _describe(address: dict[str, Any]) -> str:
    if "path" in address:
        return f"unix://{address['path']}"
    return f"{address.get('host', 'localhost')}:{address.get('port', 6379)}"


def _is_tls(address: dict[str, Any]) -> bool:
    return bool(address["tls"])


def _tls_context(address: dict[str, Any]) -> ssl.SSLContext:
    context = ssl.create_default_context(
        cafile=address.get("ssl_ca_certs"),
        capath=address.get("ssl_ca_path"),
        cadata=address.get("ssl_ca_data"),
    )
    if address.get("ssl_cert_reqs") in {"none", "optional"}:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif address.get("ssl_check_hostname") is False:
        context.check_hostname = False
    if address.get("ssl_certfile"):
        context.load_cert_chain(address["ssl_certfile"], address.get("ssl_keyfile"))
    return context


def _close(wire: Wire | None) -> None:
    if wire is not None:
        wire.close()
