"""Buckets in Redis or Valkey, shared by all processes: one script call for each step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import redis.exceptions

from ._connection import RedisConnection, error_of_reply
from ._scripted import SCRIPTS, Answer, ScriptedStore

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ._scripted import Argument, Script


class RedisStore(ScriptedStore):
    """A store that any number of processes share, on the server's clock.

    The keys are `wbtrio:{<account>}:<kind>:<budget>`, each a string of three or six integers, and
    expire when their bucket is full, unheld and at the registry's pace. Redis 6.2 or newer, or
    Valkey.

    Args:
        url: `redis://`, `rediss://` (TLS) or `unix://`; user, password, database number and
            `ssl_*` settings as redis-py reads them.
        timeout: Seconds that one call may take once connected. A call that takes longer ends with
            `StoreTimeout` and is not replayed.
        connect_timeout: Seconds that connecting may take.
        clock: µs that take the place of the server's clock: for tests only. Nothing expires then.

    Raises:
        StoreUrlError: The URL is none that redis-py understands.
    """

    def __init__(
        self,
        url: str = "redis://localhost:6379/0",
        *,
        timeout: float = 0.25,
        connect_timeout: float = 1.0,
        clock: Callable[[], int] | None = None,
    ) -> None:
        super().__init__(clock)
        self._connection = RedisConnection(url, timeout=timeout, connect_timeout=connect_timeout)

    def __repr__(self) -> str:
        return f"<RedisStore at {self._connection.peer}>"

    async def open(self) -> None:
        """Connect and make sure that the server can serve us. Optional: a call would connect too.

        Raises:
            StoreUnavailable: Nobody answers there.
            StoreProtocolError: What answers is no Redis, or refuses scripts or TIME.
        """
        await self._connection.open()
        for script in SCRIPTS:
            # A user without the right to SCRIPT is served too: the first use sends the source.
            await self._connection.call("SCRIPT", "LOAD", script.source)
        await super().open()

    async def aclose(self) -> None:
        """Close the connection; the buckets stay, and a later call opens a new one."""
        await self._connection.aclose()

    async def run_script(
        self, script: Script, keys: Sequence[str], arguments: Sequence[Argument]
    ) -> Answer:
        """See `ScriptedStore.run_script`."""
        call = await self._connection.call("EVALSHA", script.sha, len(keys), *keys, *arguments)
        if isinstance(call.reply, redis.exceptions.ResponseError):
            if str(call.reply).startswith("NOSCRIPT"):
                # It certainly did not run, so sending it again is no replay.
                interruption = call.interruption
                call = await self._connection.call(
                    "EVAL", script.source, len(keys), *keys, *arguments
                )
                call.interruption = call.interruption or interruption
            if isinstance(call.reply, redis.exceptions.ResponseError):
                error = error_of_reply(call.reply, self._connection.peer)
                raise call.interruption or error from call.reply
        return Answer(call.reply, call.interruption)
