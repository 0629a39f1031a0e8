"""Imports inside FastAPI, on asyncio: started by a request, ended with the application.

    WB_TOKENS=tokens uvicorn examples.web_app:app

The application owns the nursery. Imports run in it while requests are answered, and the
shutdown ends them: whatever they had committed stays, and the next start goes on from there.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from fastapi import FastAPI, HTTPException

from wbtrio import WbApiClient
from wbtrio.importer import Event, NdjsonSink, PageStored, SourceEnded, import_all


def application(
    tokens: Sequence[str],
    folder: Path,
    client: WbApiClient | None = None,
    *,
    threads: bool = True,
) -> FastAPI:
    """An application that imports on request.

    Args:
        tokens: A token for each seller.
        folder: Where rows and checkpoints go.
        client: For tests: a client of your own.
        threads: For tests: whether threads write the files.
    """
    progress: dict[str, str] = {}
    running: set[str] = set()

    def watch(event: Event) -> None:
        if isinstance(event, PageStored):
            progress[f"{event.key.account}/{event.key.source}"] = f"{event.total} rows"
        elif isinstance(event, SourceEnded):
            until = f" until {event.resume_at:%H:%M}" if event.resume_at else ""
            progress[f"{event.key.account}/{event.key.source}"] = f"{event.status}{until}"

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with (
            client or WbApiClient() as wb,
            NdjsonSink(folder, threads=threads) as sink,
            anyio.create_task_group() as imports,
        ):

            async def run(resource: str) -> None:
                try:
                    await import_all(wb, tokens, [resource], sink, on_event=watch)
                finally:
                    running.discard(resource)

            app.state.start = lambda resource: imports.start_soon(run, resource)
            yield
            imports.cancel_scope.cancel()

    app = FastAPI(lifespan=lifespan)

    @app.post("/imports/{resource}", status_code=202)
    async def start(resource: str) -> dict[str, str]:
        if resource not in {"cards", "prices", "orders", "sales"}:
            raise HTTPException(404, "no such resource")
        if resource in running:
            raise HTTPException(409, "it is being imported")
        running.add(resource)
        app.state.start(resource)
        return {"started": resource}

    @app.get("/imports")
    async def state() -> dict[str, str]:
        return progress

    return app


if "WB_TOKENS" in os.environ:
    app = application(Path(os.environ["WB_TOKENS"]).read_text().split(), Path("data"))
