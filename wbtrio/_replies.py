"""WB's replies -> what they mean. Pure, bounded in time, and never an exception.

The status decides, then a field (`origin`, `error`), and WB's words only where neither tells:
among the 404s, the 401s, the 403s of an unnamed origin, and for maintenance. WB's bodies come
from two gateways (origins `s2s-...` and `ag-...`), which judge path, token and limits, and from
the backends behind them; field cases WB-008, WB-017, WB-022, WB-035 to WB-038 show them.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, TypedDict

import msgspec
from msgspec import Struct

from ._bucket import MICROSECONDS
from ._errors import (
    MAX_EXCERPT,
    BadRequest,
    Conflict,
    Maintenance,
    MethodDisabled,
    MethodGone,
    PaymentRequired,
    RateLimited,
    ServerError,
    TokenKindNotAllowed,
    Unauthorized,
    Undecodable,
    WrongPath,
)
from ._headers import parse_observed_rate_limit
from ._reply_text import (
    body_text,
    clean,
    first_link,
    first_text,
    header,
    one_field,
    parse_json,
    words_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ._errors import WbError

PARSED_AT_MOST = 65_536
"""Bytes of an error's body that are looked into; a longer one is judged by its beginning."""
SCANNED_AT_MOST = 8 << 20
"""Bytes of a good body that are scanned (some 4 ms); of a longer one only both ends are seen."""


class Meaning(StrEnum):
    """What a reply means to its caller; closed: every reply has exactly one."""

    OK = "ok"
    EMPTY = "empty"
    RATE_LIMITED = "rate_limited"
    MAINTENANCE = "maintenance"
    METHOD_DEPRECATED = "method_deprecated"
    METHOD_DISABLED = "method_disabled"
    WRONG_PATH = "wrong_path"
    NOT_FOUND = "not_found"
    TOKEN_EXPIRED = "token_expired"  # noqa: S105 - no secret
    TOKEN_MALFORMED = "token_malformed"  # noqa: S105 - no secret
    SCOPE_NOT_ALLOWED = "scope_not_allowed"
    UNAUTHORIZED = "unauthorized"
    TOKEN_KIND_REFUSED = "token_kind_refused"  # noqa: S105 - no secret
    FORBIDDEN = "forbidden"
    PAYMENT_REQUIRED = "payment_required"
    BAD_REQUEST = "bad_request"
    CONFLICT = "conflict"
    TOO_LARGE = "too_large"
    SERVER_ERROR = "server_error"
    UNDECODABLE = "undecodable"


class Reply(Struct, frozen=True, kw_only=True):
    """One reply of WB, understood.

    All texts have control characters and anything that looks like a token taken out, so they
    can be logged and printed as they are.

    Attributes:
        status: The HTTP status.
        meaning: What it means.
        title: WB's short name of the fault (`title`, `code` or `statusText`), None without.
        detail: WB's own words (`detail`, `errorText`, `message`, `errors`, ...), None without.
        request_id: WB's id of the request, None without.
        origin: The gateway or service that answered, None if it did not say.
        link: The first link to a page of WB in its words, else the first link, else None.
        excerpt: The beginning of the body, at most 2,000 characters; "" for a good reply.
    """

    status: int
    meaning: Meaning
    title: str | None = None
    detail: str | None = None
    request_id: str | None = None
    origin: str | None = None
    link: str | None = None
    excerpt: str = ""


def read_reply(
    status: int, headers: Mapping[str, str], body: bytes, *, json_due: bool = True
) -> Reply:
    """Say what a reply means; never raises, whatever the bytes are.

    A 2xx body is scanned, not decoded, and a huge one only looked at from both ends: a page may
    have 200 MB (field case WB-023). A 2xx whose body says
    `"error": true` means `bad_request`: WB refused the call and reports it in that field. A 3xx
    is `undecodable`: WB's API has no redirects, and they are not followed.

    Args:
        status: The HTTP status.
        headers: The reply's headers; names in any case.
        body: The whole body, decompressed.
        json_due: Whether an empty 2xx body is a fault. False for writes, some of which answer
            200 with nothing; a 204 is `empty` in any case.
    """
    content_type = header(headers, "content-type").lower()
    request_id = one_field(header(headers, "x-request-id"))
    if 200 <= status <= 299:
        meaning = _success(status, content_type, body, json_due=json_due)
        if meaning in (Meaning.OK, Meaning.EMPTY):
            return Reply(status=status, meaning=meaning, request_id=request_id)
    else:
        meaning = None
    text = body_text(body, content_type, PARSED_AT_MOST)
    parsed = msgspec.UNSET if len(body) > PARSED_AT_MOST else parse_json(text)
    fields = parsed if isinstance(parsed, dict) else {}
    detail = clean("; ".join(words_of(parsed)))[:MAX_EXCERPT] or None
    title = first_text(fields, "title", "code", "statusText")
    origin = first_text(fields, "origin")
    excerpt = clean(text)
    words = " ".join((title or "", detail or "")) if detail or title else excerpt
    if meaning is None:
        meaning = _failure(
            status, origin or "", words.lower(), is_json=isinstance(parsed, (dict, list))
        )
    return Reply(
        status=status,
        meaning=meaning,
        title=title,
        detail=detail,
        request_id=first_text(fields, "requestId", "request_id") or request_id,
        origin=origin,
        link=first_link(words),
        excerpt=excerpt,
    )


# --- what it means -------------------------------------------------------------------------

_HTML = re.compile(rb"\s*<(?:!doctype|html|head|body|script)", re.IGNORECASE)
_ERROR_TRUE = re.compile(rb'"error"\s*:\s*true')
_CLOSING = {b"{": b"}", b"[": b"]"}
_SCANNER = msgspec.json.Decoder(msgspec.Raw)
_TEXTUAL = ("json", "text/plain", "text/html", "plain/text", "text/xml", "application/xml")


def _success(status: int, content_type: str, body: bytes, *, json_due: bool) -> Meaning:
    if status in (204, 205):
        return Meaning.EMPTY
    if not body[:64].strip() and not body.strip():
        return Meaning.UNDECODABLE if json_due else Meaning.EMPTY
    if "text/html" in content_type or _HTML.match(body[:256]):
        return Meaning.UNDECODABLE
    # Labels, archives and spreadsheets are what their operations promise.
    if content_type and not any(kind in content_type for kind in _TEXTUAL):
        return Meaning.OK
    if not _is_json(body):
        return Meaning.UNDECODABLE
    if len(body) <= PARSED_AT_MOST and _ERROR_TRUE.search(body):
        parsed = parse_json(body_text(body, content_type, PARSED_AT_MOST))
        if isinstance(parsed, dict) and parsed.get("error") is True:
            return Meaning.BAD_REQUEST
    return Meaning.OK


def _is_json(body: bytes) -> bool:
    if len(body) > SCANNED_AT_MOST:
        head, tail = body[:64].lstrip() or body.lstrip(), body[-64:].rstrip() or body.rstrip()
        return tail[-1:] == _CLOSING.get(head[:1])
    try:
        _SCANNER.decode(body)
    except (msgspec.MsgspecError, RecursionError):
        return False
    return True


_DEPRECATED = re.compile(r"method\b.{0,40}\bdeprecated")
_DISABLED = re.compile(r"temporarily disabled")
_NO_PATH = re.compile(r"(?:path|page) not found|please consult the https?:")
_EXPIRED = re.compile(r"\bexpired\b")
_SCOPE = re.compile(r"\bscope\b")
_BAD_TOKEN = re.compile(r"malformed|illegal base64|can'?t decode")
_KIND = re.compile(r"\btoken\b.{0,60}\b(?:not allowed|not satisfy)")
_MAINTENANCE = re.compile(
    r"maintenance|тех(?:нич\w*|\.)?\s*(?:перерыв|работ|обслуж)"
    r"|(?:профилакт|планов|регламент)\w*\s+(?:\w+\s+)?работ"
)

_BY_STATUS = {
    402: Meaning.PAYMENT_REQUIRED,
    405: Meaning.WRONG_PATH,
    408: Meaning.SERVER_ERROR,
    409: Meaning.CONFLICT,
    410: Meaning.METHOD_DEPRECATED,
    413: Meaning.TOO_LARGE,
    498: Meaning.FORBIDDEN,
    499: Meaning.SERVER_ERROR,
}


def _failure(status: int, origin: str, words: str, *, is_json: bool) -> Meaning:
    if status == 401:
        return _unauthorized(words)
    if status == 403:
        return _forbidden(origin, words)
    if status == 404:
        return _not_found(origin, words, is_json=is_json)
    if status == 429 or status >= 500:
        return _overloaded(status, words)
    known = _BY_STATUS.get(status)
    if known is not None:
        return known
    return Meaning.BAD_REQUEST if 400 <= status <= 499 else Meaning.UNDECODABLE


def _overloaded(status: int, words: str) -> Meaning:
    if _MAINTENANCE.search(words):
        return Meaning.MAINTENANCE
    if status == 429:
        return Meaning.RATE_LIMITED
    return Meaning.SERVER_ERROR if status <= 599 else Meaning.UNDECODABLE


def _unauthorized(words: str) -> Meaning:
    if _EXPIRED.search(words):
        return Meaning.TOKEN_EXPIRED
    if _SCOPE.search(words):
        return Meaning.SCOPE_NOT_ALLOWED
    return Meaning.TOKEN_MALFORMED if _BAD_TOKEN.search(words) else Meaning.UNAUTHORIZED


def _is_gateway(origin: str) -> bool:
    return origin.lower().startswith(("s2s", "ag-"))


def _forbidden(origin: str, words: str) -> Meaning:
    # A gateway knows nothing but the token: its 403 is about the token's kind, in any words.
    refused = _is_gateway(origin) or _KIND.search(words)
    return Meaning.TOKEN_KIND_REFUSED if refused else Meaning.FORBIDDEN


def _not_found(origin: str, words: str, *, is_json: bool) -> Meaning:
    if _DEPRECATED.search(words):
        return Meaning.METHOD_DEPRECATED
    if _DISABLED.search(words):
        return Meaning.METHOD_DISABLED
    if _is_gateway(origin) or _NO_PATH.search(words):
        return Meaning.WRONG_PATH
    # Backends name a missing entity in JSON or in plain words; a bare or HTML 404 is a router's.
    is_silent = not words.strip() or words.lstrip().startswith("<")
    return Meaning.NOT_FOUND if is_json or not is_silent else Meaning.WRONG_PATH


# --- the error of a reply ------------------------------------------------------------------

UNTOLD_WAIT = 60.0
"""Seconds to wait after a 429 that names no time; WB's commonest period."""

ERRORS: Mapping[Meaning, type[WbError]] = {
    Meaning.RATE_LIMITED: RateLimited,
    Meaning.MAINTENANCE: Maintenance,
    Meaning.METHOD_DEPRECATED: MethodGone,
    Meaning.METHOD_DISABLED: MethodDisabled,
    Meaning.WRONG_PATH: WrongPath,
    Meaning.NOT_FOUND: BadRequest,
    Meaning.TOKEN_EXPIRED: Unauthorized,
    Meaning.TOKEN_MALFORMED: Unauthorized,
    Meaning.SCOPE_NOT_ALLOWED: Unauthorized,
    Meaning.UNAUTHORIZED: Unauthorized,
    Meaning.TOKEN_KIND_REFUSED: TokenKindNotAllowed,
    Meaning.FORBIDDEN: Unauthorized,
    Meaning.PAYMENT_REQUIRED: PaymentRequired,
    Meaning.BAD_REQUEST: BadRequest,
    Meaning.CONFLICT: Conflict,
    Meaning.TOO_LARGE: BadRequest,
    Meaning.SERVER_ERROR: ServerError,
    Meaning.UNDECODABLE: Undecodable,
}
"""The class of each meaning's error; `ok` and `empty` are none."""

_SAYS = {
    Meaning.RATE_LIMITED: "the budget is used up",
    Meaning.MAINTENANCE: "WB is down for maintenance",
    Meaning.METHOD_DEPRECATED: "WB removed this method",
    Meaning.METHOD_DISABLED: "WB switched this method off for a time",
    Meaning.WRONG_PATH: "no such path: the method was removed, or the host is wrong",
    Meaning.NOT_FOUND: "what was asked for does not exist",
    Meaning.TOKEN_EXPIRED: "the token has expired",
    Meaning.TOKEN_MALFORMED: "WB cannot read the token",
    Meaning.SCOPE_NOT_ALLOWED: "the token lacks this method's category",
    Meaning.UNAUTHORIZED: "WB refuses the token",
    Meaning.TOKEN_KIND_REFUSED: "WB admits no tokens of this kind here",
    Meaning.FORBIDDEN: "this account may not do that",
    Meaning.PAYMENT_REQUIRED: "WB asks for a paid subscription",
    Meaning.BAD_REQUEST: "WB refuses the request",
    Meaning.CONFLICT: "it conflicts with the present state",
    Meaning.TOO_LARGE: "the request is too large",
    Meaning.SERVER_ERROR: "WB failed",
    Meaning.UNDECODABLE: "the body is not what the operation promises",
}
_ADVICE = {
    Meaning.NOT_FOUND: "Check the ids in the request.",
    Meaning.TOKEN_EXPIRED: "Issue a new token in the seller's portal; no retry will help.",
    Meaning.TOKEN_MALFORMED: "Copy the whole token from the seller's portal again.",
    Meaning.SCOPE_NOT_ALLOWED: (
        "Issue a token with that category; a test token works on the sandbox hosts only."
    ),
    Meaning.FORBIDDEN: "Check the account's rights and subscriptions in the seller's portal.",
    Meaning.TOO_LARGE: "Send fewer items at a time.",
}


def error_from(
    reply: Reply,
    *,
    operation: str,
    account: str,
    headers: Mapping[str, str],
    retry_after: float | None = None,
    alternative: str | None = None,
) -> WbError:
    """The error to raise for a reply that is not good; its text names what to do next.

    Args:
        reply: What `read_reply` made of it.
        operation: Id of the operation.
        account: Key of the seller's account.
        headers: The rate-limit headers, as observed.
        retry_after: Seconds until WB admits a request again; used by RateLimited only. None
            takes the headers' word, and a minute where they have none.
        alternative: Operation to use instead where this token's kind is refused.

    Raises:
        ValueError: The reply is good: `ok` or `empty`.
    """
    meaning = reply.meaning
    if meaning not in ERRORS:
        raise ValueError(f"a reply that is {meaning} is no error")
    by = f" (answered by {reply.origin})" if reply.origin else ""
    said = f": {reply.detail or reply.title}" if reply.detail or reply.title else ""
    message = f"{operation}: {reply.status}, {_SAYS[meaning]}{by}{said}"
    if message[-1] not in ".!?":
        message += "."
    context = _Context(
        operation=operation,
        account=account,
        status=reply.status,
        request_id=reply.request_id,
        origin=reply.origin,
        headers=headers,
        detail=reply.detail,
        link=reply.link,
        excerpt=reply.excerpt,
    )
    if meaning is Meaning.RATE_LIMITED:
        if retry_after is None:
            wait = parse_observed_rate_limit(headers).retry_or_reset
            retry_after = UNTOLD_WAIT if wait is None else wait / MICROSECONDS
        error: WbError = RateLimited(message, retry_after=retry_after, **context)
    else:
        advice = _ADVICE.get(meaning)
        if meaning is Meaning.TOKEN_KIND_REFUSED and alternative is not None:
            advice = f"Use a personal or service token, or call {alternative} instead."
        error = ERRORS[meaning](message, advice=advice, **context)
    error.meaning = meaning
    return error


class _Context(TypedDict):
    operation: str
    account: str
    status: int
    request_id: str | None
    origin: str | None
    headers: Mapping[str, str]
    detail: str | None
    link: str | None
    excerpt: str
