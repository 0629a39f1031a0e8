"""A WB of canned replies, for tests of what a client makes of each."""

from __future__ import annotations

from typing import Any, Final, cast

import httpx

from wbtrio import OperationId, WbApiClient
from wbtrio.simulator import make_token

TOKEN = make_token("seller-1")
LIST: Final = "content.cards.list"
WRITE: Final = "fbs.supplies.create"


class Wb:
    """A WB of canned replies: the last one is repeated. Keeps what it was asked."""

    def __init__(self, *replies: httpx.Response | Exception) -> None:
        self.replies = list(replies)
        self.requests: list[httpx.Request] = []

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, Exception):
            raise reply
        return httpx.Response(reply.status_code, headers=reply.headers, content=reply.content)

    def client(self, **settings: Any) -> WbApiClient:
        return WbApiClient(transport=httpx.MockTransport(self), **settings)


async def call_once(server: Wb, operation: str, *, token: str = TOKEN, **how: Any) -> Any:
    """One call in a scope of its own, its error without the group around it."""
    settings = {key: how.pop(key) for key in ("attempts", "network_retries") if key in how}
    async with server.client(**settings) as wb:
        outcome: list[Any] = []
        async with wb.account(token) as seller:
            try:
                outcome.append(await seller.call(cast("OperationId", operation), **how))
            except Exception as error:
                outcome.append(error)
    if isinstance(outcome[0], Exception):
        raise outcome[0]
    return outcome[0]


def ok(json: Any = None) -> httpx.Response:
    return httpx.Response(200, json={} if json is None else json)


def error_body(status: int, detail: str, **more: Any) -> httpx.Response:
    body = {
        "title": "t",
        "detail": detail,
        "status": status,
        "requestId": "req-1",
        "origin": "ag-x",
    }
    return httpx.Response(status, json={**body, **more})
