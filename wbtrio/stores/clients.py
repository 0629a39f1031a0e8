"""Buckets in a Redis that another library's client reaches: a cluster, or one behind Sentinel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import anyio
import anyio.lowlevel

from .._errors import CallerError, StoreError, StoreTimeout, StoreUnavailable
from .._loop import uninterrupted
from ._connection import error_of_reply
from ._scripted import Answer, ScriptedStore

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from ._scripted import Argument, Script

_CODES = {
    "NoScriptError": "NOSCRIPT",
    "BusyLoadingError": "LOADING",
    "ReadOnlyError": "READONLY",
    "OutOfMemoryError": "OOM",
    "NoPermissionError": "NOPERM",
    "AuthorizationError": "NOPERM",
    "AuthenticationRequiredError": "NOAUTH",
    "AuthenticationFailureError": "WRONGPASS",
    "AuthenticationError": "NOAUTH",
    "WrongTypeError": "WRONGTYPE",
    "MasterDownError": "MASTERDOWN",
    "ClusterDownError": "CLUSTERDOWN",
    "TryAgainError": "TRYAGAIN",
    "ClusterCrossSlotError": "CROSSSLOT",
    "AskError": "ASK",
    "MovedError": "MOVED",
}
"""What the libraries' errors are called in the server's own words, which they cut off."""

_NEVER_SENT = {
    *("MasterNotFoundError", "SlaveNotFoundError", "PrimaryNotFoundError", "StalePrimaryError"),
    *("MaxConnectionsError", "ClusterRoutingError", "SlotNotCoveredError"),
}
_ONCE_ADVICE = {
    "redis": "Give redis-py's client retry=Retry(NoBackoff(), 0).",
    "coredis": "Give coredis's client retry_policy=NoRetryPolicy().",
}


class RedisClient(Protocol):
    """A client of `redis.asyncio` or of coredis, whichever server or servers it talks to."""

    @property
    def evalsha(self) -> Callable[..., object]:
        """Runs a script by its hash."""
        ...

    @property
    def eval(self) -> Callable[..., object]:
        """Runs a script by its source."""
        ...


class ClientStore(ScriptedStore):
    """A store over a client of your own, for what one connection cannot do: Cluster, Sentinel.

    It follows moved slots and fail-overs as its client does. All keys of an account share one slot.
    Where one server is enough, `RedisStore` is about twice as fast.

    Args:
        client: `redis.asyncio.RedisCluster`, what `redis.asyncio.Sentinel(...).master_for(...)`
            returns, `redis.asyncio.Redis` (all on asyncio only), or coredis's `RedisCluster`, what
            its `Sentinel(...).primary_for(...)` returns, or its `Redis` (trio and asyncio). It is
            opened and closed by you, and must not repeat commands.
        timeout: Seconds that one call may take. A call that takes longer ends with `StoreTimeout`
            and is not replayed.
        clock: µs that take the place of the server's clock: for tests only. Nothing expires then.

    Raises:
        CallerError: The client is of another library, or would send a command again whose reply was
            lost: an acquire would then count twice.
    """

    def __init__(
        self,
        client: RedisClient,
        *,
        timeout: float = 0.5,
        clock: Callable[[], int] | None = None,
    ) -> None:
        super().__init__(clock)
        self._library = _library(client)
        _refuse_repeating(client, self._library)
        self._client = client
        self._timeout = timeout
        self._peer = f"{self._library}'s {type(client).__name__}"

    def __repr__(self) -> str:
        return f"<ClientStore over {self._peer}>"

    async def aclose(self) -> None:
        """Do nothing: the client is yours to close."""
        await anyio.lowlevel.checkpoint()

    async def run_script(
        self, script: Script, keys: Sequence[str], arguments: Sequence[Argument]
    ) -> Answer:
        """See `ScriptedStore.run_script`."""

        async def call() -> object:
            with anyio.move_on_after(self._timeout):
                try:
                    return await self._send(self._client.evalsha, script.sha, keys, arguments)
                except Exception as error:
                    if _code(error) != "NOSCRIPT":
                        raise
                # It certainly did not run, so sending it again is no replay.
                return await self._send(self._client.eval, script.source, keys, arguments)
            raise StoreTimeout(
                f"The store behind {self._peer} did not answer in time.",
                advice="Look at its load and at the network, or allow a longer timeout.",
                may_have_run=True,
            )

        try:
            reply, interruption = await uninterrupted(call)
        except StoreError:
            raise
        except Exception as error:
            raise self._translated(error) from error
        return Answer(reply, interruption)

    def _send(
        self,
        command: Callable[..., object],
        script: str,
        keys: Sequence[str],
        arguments: Sequence[Argument],
    ) -> Awaitable[object]:
        if self._library == "redis":
            return command(script, len(keys), *keys, *arguments)  # type: ignore[return-value]
        return command(script, list(keys), list(arguments))  # type: ignore[return-value]

    def _translated(self, error: Exception) -> Exception:
        names = _names(error)
        if code := _code(error):
            text = str(error)
            return error_of_reply(text if text.startswith(code) else f"{code} {text}", self._peer)
        if "ResponseError" in names:
            return error_of_reply(str(error), self._peer)
        if "TimeoutError" in names:
            return StoreTimeout(
                f"The store behind {self._peer} did not answer in time: {error}.",
                advice="Look at its load and at the network, or allow longer timeouts.",
                may_have_run=True,
            )
        if names & {"RedisError", "RedisClusterException", "OSError"} or isinstance(
            error, anyio.BrokenResourceError | anyio.ClosedResourceError | anyio.EndOfStream
        ):
            return StoreUnavailable(
                f"The store behind {self._peer} is unreachable: {error}.",
                advice="Are its servers running, and reachable from here?",
                may_have_run=not names & _NEVER_SENT,
            )
        return error


def _names(error: Exception) -> set[str]:
    return {base.__name__ for base in type(error).__mro__}


def _code(error: Exception) -> str:
    for base in type(error).__mro__:
        if base.__name__ in _CODES:
            return _CODES[base.__name__]
    return ""


def _library(client: RedisClient) -> str:
    for base in type(client).__mro__:
        if base.__module__.startswith("coredis."):
            return "coredis"
        if base.__module__.startswith("redis.asyncio."):
            return "redis"
    raise CallerError(
        f"{type(client).__name__} is no client that ClientStore knows.",
        advice="Give it a client of redis.asyncio or of coredis, or use RedisStore(url).",
    )


def _refuse_repeating(client: object, library: str) -> None:
    if library == "coredis":
        policy = getattr(client, "retry_policy", None)
        repeats = type(policy).__name__ != "NoRetryPolicy"
    else:
        settings: dict[str, object] = getattr(client, "get_connection_kwargs", dict)()
        retry: Any = getattr(client, "retry", None) or settings.get("retry")
        at_errors = settings.get("retry_on_error") or settings.get("retry_on_timeout")
        repeats = retry.get_retries() != 0 if retry else bool(at_errors)
    if repeats:
        raise CallerError(
            f"{type(client).__name__} sends a command again whose reply was lost.",
            advice=f"{_ONCE_ADVICE[library]} An acquire that is sent twice may count twice.",
        )
