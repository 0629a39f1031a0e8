"""ASGI messages -> requests, answers -> ASGI messages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from msgspec import Struct

if TYPE_CHECKING:
    from .replies import Answer

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

LARGEST_BODY = 16 * 1024 * 1024


class Request(Struct, frozen=True):
    """An HTTP request as received."""

    method: str
    host: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes


async def read_request(scope: Scope, receive: Receive) -> Request:
    """The whole request; of one beyond `LARGEST_BODY`, the first part."""
    headers = {
        name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
    }
    body = bytearray()
    while len(body) <= LARGEST_BODY:
        message = await receive()
        body += message.get("body", b"")
        if message["type"] != "http.request" or not message.get("more_body", False):
            break
    host = headers.get("x-wb-host") or headers.get("host", "")
    raw_path = scope.get("raw_path") or scope["path"].encode()
    query = scope.get("query_string", b"").decode("latin-1")
    return Request(
        method=scope["method"].upper(),
        host=host.partition(":")[0].lower(),
        path=raw_path.decode("latin-1").partition("?")[0],
        query=dict(parse_qsl(query, keep_blank_values=True)),
        headers=headers,
        body=bytes(body),
    )


async def write_answer(send: Send, answer: Answer, headers: Mapping[str, str]) -> None:
    """Send a reply."""
    lines = [(name.encode(), value.encode()) for name, value in headers.items()]
    if answer.content_type is not None:
        lines.append((b"content-type", answer.content_type.encode()))
        lines.append((b"content-length", str(len(answer.body)).encode()))
    await send({"type": "http.response.start", "status": answer.status, "headers": lines})
    await send({"type": "http.response.body", "body": answer.body})


async def live(receive: Receive, send: Send) -> None:
    """ASGI's lifespan protocol, with nothing to start or to stop."""
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
