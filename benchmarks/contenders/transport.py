"""What `RateLimitTransport` adds to a request of httpx, answered in process by a tiny app."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import httpx

from benchmarks._measure import Figures, Job, contender, time_calls
from wbtrio import MemoryStore, RateLimitTransport, Registry, WbRateLimiter, shipped_folder
from wbtrio.simulator import make_token

URL = "https://marketplace-api.wildberries.ru/api/v3/orders/new"
HEADERS = {"Authorization": make_token("seller-1")}
BUDGET = "fbs-orders"
WIDE = "1000000 / 24 h, burst 1000000"

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


async def answer(_: Message, receive: Receive, send: Send) -> None:
    """An ASGI app that says yes to everything."""
    await receive()
    headers = [(b"content-type", b"application/json"), (b"x-ratelimit-remaining", b"1000000")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"{}"})


async def measure(job: Job) -> Figures:
    """Latency of a request without and with the transport, in turns."""
    registry = Registry.load(shipped_folder(), overrides={"budgets": {BUDGET: {"personal": WIDE}}})
    app = httpx.ASGITransport(answer)
    limited = RateLimitTransport(app, limiter=WbRateLimiter(MemoryStore()), registry=registry)
    async with httpx.AsyncClient(transport=app) as bare, httpx.AsyncClient(transport=limited) as wb:
        return Figures(
            spreads={
                "bare": await time_calls(lambda: bare.get(URL, headers=HEADERS), job.calls),
                "limited": await time_calls(lambda: wb.get(URL, headers=HEADERS), job.calls),
            }
        )


if __name__ == "__main__":
    contender(measure)
