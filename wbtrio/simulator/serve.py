"""The simulated WB over real HTTP, on a loopback port, on whichever loop is running."""

from __future__ import annotations

import logging
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

import anyio
import httpx
import sniffio

if TYPE_CHECKING:
    from hypercorn.config import Config

    from .app import WbSimulator
    from .asgi import Receive, Scope, Send

LOOPBACK = "127.0.0.1"
GRACE = 1.0
"""Seconds that requests in flight get when the block is left."""

logger = logging.getLogger("wbtrio.simulator")


@asynccontextmanager
async def serve(app: WbSimulator, *, port: int = 0) -> AsyncIterator[str]:
    """Serve a simulator until the block is left; connections are accepted from the start.

    Clients send WB's host in the header `X-Wb-Host`, or leave it to the path. A lost request or
    reply shows as silence, so that the client's own timeout ends it: HTTP servers offer no way
    to hang up.

    Args:
        app: The simulator.
        port: Of 127.0.0.1; 0: any free one.

    Yields:
        The base URL, such as `http://127.0.0.1:41234`.

    Raises:
        ImportError: hypercorn, an optional dependency, is not installed.
        OSError: The port is taken.
    """
    run = _runner()
    listener = socket.create_server((LOOPBACK, port), backlog=1_000)
    url = f"http://{LOOPBACK}:{listener.getsockname()[1]}"
    config = _config(listener.detach())
    stop = anyio.Event()
    # Shielded, as hypercorn on asyncio breaks when it is cancelled; it is told to stop instead.
    scope = anyio.CancelScope(shield=True)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run, _Silent(app, stop), config, stop, scope)
        try:
            yield url
        finally:
            stop.set()
            scope.deadline = anyio.current_time() + 3 * GRACE


class _Silent:
    """Turns the exceptions that stand for losses into silence, until either side ends."""

    def __init__(self, app: WbSimulator, stop: anyio.Event) -> None:
        self._app = app
        self._stop = stop

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        except (httpx.ReadError, httpx.ConnectError):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_hear_disconnect, receive, tasks.cancel_scope)
                await self._stop.wait()
                tasks.cancel_scope.cancel()


async def _hear_disconnect(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


def _config(fd: int) -> Config:
    from hypercorn.config import Config

    config = Config()
    config.bind = [f"fd://{fd}"]
    config.errorlog = logger
    config.graceful_timeout = GRACE
    config.keep_alive_timeout = 3_600
    config.keep_alive_max_requests = 1_000_000_000
    return config


Run = Callable[["_Silent", "Config", anyio.Event, anyio.CancelScope], Coroutine[None, None, None]]


def _runner() -> Run:
    try:
        if sniffio.current_async_library() == "trio":
            from hypercorn.trio import serve as hypercorn_serve
        else:
            from hypercorn.asyncio import serve as hypercorn_serve  # type: ignore[assignment]
    except ImportError as missing:
        raise ImportError(
            "The simulator is served by hypercorn, which is not installed:"
            " pip install 'wbtrio[cli]'."
        ) from missing

    async def run(
        app: _Silent, config: Config, stop: anyio.Event, scope: anyio.CancelScope
    ) -> None:
        with scope:
            await hypercorn_serve(cast("Any", app), config, shutdown_trigger=stop.wait, mode="asgi")

    return run
