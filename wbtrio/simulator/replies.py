"""Replies, and how WB's services word their own refusals. Pure."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

JSON = "application/json"


class Answer(Struct, frozen=True):
    """A reply without its rate-limit headers.

    Attributes:
        status: HTTP status.
        body: As sent.
        content_type: None: no such header, as on a 204.
    """

    status: int
    body: bytes = b""
    content_type: str | None = JSON


def json_answer(body: Any, status: int = 200) -> Answer:
    """A JSON reply."""
    return Answer(status, msgspec.json.encode(body))


def wrapped(data: Any) -> Answer:
    """The envelope of Content, Prices and Feedbacks."""
    return json_answer({"data": data, "error": False, "errorText": "", "additionalErrors": None})


def wrapped_error(text: str, status: int = 400) -> Answer:
    """The same envelope when it says no."""
    return json_answer(
        {"data": None, "error": True, "errorText": text, "additionalErrors": {}}, status
    )


def bare_error(text: str, status: int = 400) -> Answer:
    """Marketplace's own form."""
    code = {404: "NotFound", 409: "StatusMismatch"}.get(status, "IncorrectParameter")
    return json_answer({"code": code, "message": text, "data": None}, status)


def titled_error(text: str, status: int = 400, *, origin: str = "analytics-open-api") -> Answer:
    """A service's own refusal, without a status in the body (field case WB-022)."""
    body = {
        "title": "Invalid request body",
        "detail": text,
        "requestId": "0",
        "origin": origin,
    }
    return json_answer(body, status)


NO_CONTENT = Answer(204, b"", None)
HTML_PAGE = Answer(
    200,
    b"<!DOCTYPE html><html><head><title>Wildberries</title></head><body>...</body></html>",
    "text/html; charset=utf-8",
)
MAINTENANCE_429 = json_answer({"errors": ["Технический перерыв до 16:00"]}, 429)
MAINTENANCE_503 = json_answer({"errors": ["Технический перерыв до 16:00"]}, 503)
