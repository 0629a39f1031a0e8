"""More replies of the kinds that the field reports are about, through the real client."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any, cast

import anyio
import httpx
import pytest
from msgspec import Struct, field

from tests.support.canned import TOKEN, Wb, call_once, error_body, ok
from wbtrio import (
    BadRequest,
    Conflict,
    Maintenance,
    Meaning,
    MethodDisabled,
    MethodGone,
    OperationId,
    PaymentRequired,
    RateLimited,
    ServerError,
    TokenExpired,
    TokenKindNotAllowed,
    Unauthorized,
    Undecodable,
    WbApiClient,
    WbError,
    WbRateLimiter,
    WrongPath,
)
from wbtrio._replies import ERRORS
from wbtrio.simulator import make_token

pytestmark = pytest.mark.anyio

GARBAGE = b"\x00\xff<%" * (10 << 18)


async def error_of(server: Wb, operation: str = "content.cards.list", **how: Any) -> WbError:
    """The error that one call ends with, within no wait at all."""
    with pytest.raises(WbError) as raised:
        await call_once(server, operation, json={}, max_wait=0, **how)
    return raised.value


@pytest.mark.parametrize(
    ("status", "error", "meaning"),
    [
        (400, BadRequest, Meaning.BAD_REQUEST),
        (402, PaymentRequired, Meaning.PAYMENT_REQUIRED),
        (405, WrongPath, Meaning.WRONG_PATH),
        (406, BadRequest, Meaning.BAD_REQUEST),
        (409, Conflict, Meaning.CONFLICT),
        (410, MethodGone, Meaning.METHOD_DEPRECATED),
        (413, BadRequest, Meaning.TOO_LARGE),
        (418, BadRequest, Meaning.BAD_REQUEST),
        (422, BadRequest, Meaning.BAD_REQUEST),
        (429, RateLimited, Meaning.RATE_LIMITED),
        (451, BadRequest, Meaning.BAD_REQUEST),
        (500, ServerError, Meaning.SERVER_ERROR),
        (502, ServerError, Meaning.SERVER_ERROR),
        (504, ServerError, Meaning.SERVER_ERROR),
    ],
)
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"<!DOCTYPE html><h1>nginx</h1>", id="html"),
        pytest.param(b'["first", "second"]', id="list of strings"),
        pytest.param(b'{"errorText": 7, "detail": {"a": [null]}}', id="strange fields"),
        pytest.param("Ошибка".encode("cp1251"), id="wrong charset"),
        pytest.param(GARBAGE, id="10 MB of garbage"),
    ],
)
async def test_a_status_that_decides_does_so_under_any_body(
    status: int, error: type[WbError], meaning: Meaning, body: bytes
) -> None:
    raised = await error_of(Wb(httpx.Response(status, content=body)), network_retries=0)
    assert type(raised) is error
    assert (raised.meaning, raised.status) == (meaning, status)
    assert len(raised.excerpt) <= 2_000
    assert raised.advice


@pytest.mark.parametrize("origin", ["ag-supplies", "s2s-api-auth-stat", "AG-Content"])
@pytest.mark.parametrize(
    ("detail", "error"),
    [
        ("THIS METHOD IS DEPRECATED. Link: https://dev.wildberries.ru/x", MethodGone),
        ("The method is now deprecated, see https://dev.wildberries.ru/x", MethodGone),
        ("Method is Temporarily Disabled. https://dev.wildberries.ru/x", MethodDisabled),
        ("Path not found; https://dev.wildberries.ru/x", WrongPath),
    ],
)
async def test_404s_are_told_apart_in_other_spellings_and_keep_their_link(
    detail: str, error: type[WbError], origin: str
) -> None:
    raised = await error_of(Wb(error_body(404, detail, origin=origin)))
    assert type(raised) is error
    assert (raised.link, raised.origin) == ("https://dev.wildberries.ru/x", origin)


@pytest.mark.parametrize("how", [{"status": 404}, {"status": 410}, {"status": 405}])
async def test_no_list_ends_empty_when_its_path_is_gone(how: dict[str, int]) -> None:
    server = Wb(httpx.Response(how["status"], content=b""))
    async with server.client() as wb:
        for operation in ("content.cards.list", "fbs.orders.list", "prices.goods.list"):
            with pytest.raises(ExceptionGroup) as raised:
                await first_page(wb, operation)
            assert raised.group_contains((WrongPath, MethodGone))


async def first_page(wb: WbApiClient, operation: str) -> None:
    async with wb.account(TOKEN) as seller:
        await anext(seller.pages(cast("OperationId", operation)))


@pytest.mark.parametrize("operation", ["content.cards.list", "fbs.orders.list"])
async def test_204_ends_any_list(operation: str) -> None:
    async with Wb(httpx.Response(204)).client() as wb, wb.account(TOKEN) as seller:
        assert [row async for row in seller.items(cast("OperationId", operation))] == []


@pytest.mark.parametrize("detail", ["Token expired", "access token is EXPIRED", "jwt expired"])
async def test_an_expired_token_stops_the_waiting_calls_of_its_account_and_no_other(
    detail: str,
) -> None:
    async def answer(request: httpx.Request) -> httpx.Response:
        if request.headers["Authorization"] == TOKEN:
            await anyio.sleep(1)
            return error_body(401, detail)
        return httpx.Response(200, json=[])

    ends: list[str] = []
    other = make_token("seller-2")
    params = {"dateFrom": "2026-01-01"}

    async def one_call(seller: Any) -> None:
        try:
            await seller.call("statistics.sales.list", params=params)
            ends.append("ok")
        except (TokenExpired, Unauthorized) as error:
            ends.append(type(error).__name__)

    client = WbApiClient(transport=httpx.MockTransport(answer), max_wait=10_000)
    async with client as wb, wb.account(TOKEN) as seller, wb.account(other) as stranger:
        for scope in (seller, seller, seller, stranger):
            scope.start_soon(one_call, scope)
    assert sorted(ends) == ["TokenExpired", "TokenExpired", "Unauthorized", "ok"]
    assert anyio.current_time() == pytest.approx(1)


async def test_an_expired_token_stops_the_calls_of_its_other_scopes_and_not_of_its_successor() -> (
    None
):
    """Field case WB-020: every pending call of the account, whichever scope it belongs to."""
    successor = make_token("seller-1", serial=2)
    params = {"dateFrom": "2026-01-01"}
    sent: list[bool] = []

    async def answer(request: httpx.Request) -> httpx.Response:
        is_old = request.headers["Authorization"] == TOKEN
        sent.append(is_old)
        await anyio.sleep(1)
        return error_body(401, "token expired") if is_old else httpx.Response(200, json=[])

    async def refused_call(seller: Any) -> None:
        with pytest.raises(Unauthorized):
            await seller.call("statistics.sales.list", params=params)

    async def stopped_call(seller: Any) -> None:
        with pytest.raises(TokenExpired):
            await seller.call("statistics.sales.list", params=params)

    client = WbApiClient(transport=httpx.MockTransport(answer), max_wait=10_000)
    async with client as wb, wb.account(TOKEN) as one, wb.account(TOKEN) as two:
        async with wb.account(successor) as new:
            one.start_soon(refused_call, one)
            await anyio.sleep(0.5)
            await stopped_call(two)
            assert anyio.current_time() == pytest.approx(1)
            assert await new.call("statistics.sales.list", params=params) == []
    assert sent == [True, False]


@pytest.mark.parametrize(
    ("detail", "meaning"),
    [
        ("token scope not allowed", Meaning.SCOPE_NOT_ALLOWED),
        ("Token is malformed", Meaning.TOKEN_MALFORMED),
        ("illegal base64 data at input byte 3", Meaning.TOKEN_MALFORMED),
        ("withdrawn", Meaning.UNAUTHORIZED),
    ],
)
async def test_other_401s_are_one_request_each_and_are_told_apart(
    detail: str, meaning: Meaning
) -> None:
    server = Wb(error_body(401, detail))
    raised = await error_of(server)
    assert isinstance(raised, Unauthorized)
    assert (raised.meaning, len(server.requests)) == (meaning, 1)


async def test_a_backends_403_is_no_refusal_of_the_tokens_kind() -> None:
    backend = await error_of(Wb(error_body(403, "no access to this supply", origin="supplies")))
    gateway = await error_of(Wb(error_body(403, "whatever it says", origin="ag-supplies")))
    assert (type(backend), backend.meaning) == (Unauthorized, Meaning.FORBIDDEN)
    assert type(gateway) is TokenKindNotAllowed


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"X-Ratelimit-Retry": "1.5"}, 1.5),
        ({"X-RATELIMIT-RETRY": "1", "Retry-After": "7", "X-Ratelimit-Reset": "3"}, 1),
        ({"Retry-After": "3"}, 3),
        ({"X-Ratelimit-Retry": "soon", "Retry-After": "4"}, 4),
        ({"Retry-After": "2", "X-Ratelimit-Reset": "3"}, 2),
        ({"X-Ratelimit-Reset": "6"}, 6),
        ({"X-Ratelimit-Retry": "2", "X-Ratelimit-Reset": "90"}, 2),
        ({"X-Ratelimit-Retry": "2", "X-Ratelimit-Reset": "74", "X-Ratelimit-Limit": "5"}, 2),
        ({"Retry-After": "5", "X-Ratelimit-Reset": "40"}, 5),
    ],
)
async def test_the_wait_of_a_429_is_retry_then_retry_after_then_reset(
    headers: dict[str, str], seconds: float
) -> None:
    """Also where a long Reset is evidence of a slower row (field cases WB-054, WB-063)."""
    server = Wb(httpx.Response(429, headers=headers, json={}), ok())
    await call_once(server, "content.cards.list", json={})
    assert anyio.current_time() == pytest.approx(seconds, abs=0.01)


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    "body",
    [
        b'{"errors": ["\xd0\xa2\xd0\xb5\xd1\x85\xd0\xbd\xd0\xb8\xd1\x87\xd0\xb5\xd1\x81\xd0\xba'
        b'\xd0\xb8\xd0\xb9 \xd0\xbf\xd0\xb5\xd1\x80\xd0\xb5\xd1\x80\xd1\x8b\xd0\xb2"]}',
        b'{"detail": "Scheduled MAINTENANCE until 16:00"}',
        b"<html>Service maintenance</html>",
    ],
)
async def test_maintenance_is_told_and_holds_no_bucket(status: int, body: bytes) -> None:
    server = Wb(httpx.Response(status, content=body), ok())
    limiter = WbRateLimiter()
    async with server.client(limiter=limiter, max_wait=0) as wb, wb.account(TOKEN) as seller:
        with pytest.raises(Maintenance):
            await seller.call("content.cards.list", json={})
        await seller.call("content.cards.list", json={})
    assert limiter.statistics().total.penalized == 0


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(("headers", "counted"), [({}, 0), ({"X-Ratelimit-Remaining": "0"}, 1)])
async def test_maintenance_costs_nothing_unless_a_header_says_that_wb_counted(
    status: int, headers: dict[str, str], counted: int
) -> None:
    """Field case WB-038, on a budget of one request a minute."""
    body = {"errors": ["Технические работы"]}
    server = Wb(httpx.Response(status, headers=headers, json=body), ok())
    ends: list[str] = []
    async with server.client(max_wait=0) as wb, wb.account(TOKEN) as seller:
        for _ in range(2):
            try:
                await seller.call("finance.sales_reports.details", json={})
                ends.append("ok")
            except WbError as error:
                ends.append(type(error).__name__)
    assert ends == ["Maintenance", "RateLimited" if counted else "ok"]


async def test_a_429_without_headers_or_body_waits_a_while_and_is_not_an_endless_loop() -> None:
    server = Wb(httpx.Response(429, content=b""))
    with pytest.raises(RateLimited) as raised:
        await call_once(server, "content.cards.list", json={}, attempts=3)
    assert raised.value.status == 429
    assert len(server.requests) == 3


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_an_error_and_the_token_stays_here(status: int) -> None:
    server = Wb(httpx.Response(status, headers={"Location": "https://evil.example/"}))
    assert isinstance(await error_of(server, attempts=1, network_retries=0), Undecodable)
    assert {request.url.host for request in server.requests} == {"content-api.wildberries.ru"}


async def test_errors_of_every_status_narrow_the_bucket() -> None:
    for status in (400, 404, 409, 422, 500):
        headers = {"X-Ratelimit-Limit": "5", "X-Ratelimit-Remaining": "1"}
        server = Wb(httpx.Response(status, headers=headers, json={"message": "no"}))
        limiter = WbRateLimiter()
        async with server.client(limiter=limiter, network_retries=0) as wb:
            async with wb.account(TOKEN) as seller:
                with pytest.raises(WbError):
                    await seller.call("content.cards.list", json={})
        assert limiter.statistics().total.narrowed == 1, status


async def test_a_rotated_token_stays_under_the_hold_and_other_kinds_do_not() -> None:
    server = Wb(httpx.Response(429, headers={"X-Ratelimit-Retry": "6000"}, json={}), ok())
    tokens = [TOKEN, make_token("seller-1", serial=2), make_token("seller-1", "service")]
    ends: list[str] = []
    async with server.client(max_wait=0) as wb:
        for token in tokens:
            async with wb.account(token) as seller:
                try:
                    await seller.call("content.cards.list", json={})
                    ends.append("ok")
                except RateLimited:
                    ends.append("held")
    assert ends == ["held", "held", "ok"]
    assert len(server.requests) == 2


async def test_a_slower_row_than_the_registrys_is_believed_and_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, logger="wbtrio")
    sent: list[float] = []

    async def answer(request: httpx.Request) -> httpx.Response:
        now = anyio.current_time()
        is_early = bool(sent) and now - sent[-1] < 3_600
        sent.append(now)
        wait = {"X-Ratelimit-Retry": "3600", "X-Ratelimit-Reset": "3600", "X-Ratelimit-Limit": "1"}
        return httpx.Response(429, headers=wait, json={}) if is_early else ok({"cards": []})

    limiter = WbRateLimiter()
    client = WbApiClient(
        transport=httpx.MockTransport(answer), limiter=limiter, max_wait=float("inf")
    )
    async with client as wb, wb.account(TOKEN) as seller:
        for _ in range(5):
            await seller.call("content.cards.list", json={})
    assert limiter.statistics().total.penalized == 1
    assert "calibration" in caplog.text
    assert len(sent) == 6


@pytest.mark.parametrize("body", [b"<html>login</html>", b'{"cards": [', b'{"a": "\xe6"}'])
async def test_a_body_that_is_no_json_is_kept_whole(body: bytes) -> None:
    raised = await error_of(Wb(httpx.Response(200, content=body)), network_retries=0)
    assert isinstance(raised, Undecodable)
    assert raised.raw == body


class Card(Struct):
    nm_id: int = field(name="nmID")


class Cards(Struct):
    cards: list[Card]


async def test_a_type_that_does_not_fit_names_operation_path_and_what_was_met() -> None:
    reply = ok({"cards": [{"nmID": 1, "new": {}}, {"nmID": "two"}]})
    raised = await error_of(Wb(reply), type=Cards)
    assert isinstance(raised, Undecodable)
    for part in ("content.cards.list", "$.cards[1].nmID", "`int`", "`str`"):
        assert part in str(raised)
    assert raised.raw == reply.content
    assert raised.meaning == Meaning.UNDECODABLE


@pytest.mark.parametrize("value", ["../up", "a/b", "a?b=1", "a#b", "a%2Fb", "a\\b", "a\r\nb"])
async def test_a_path_parameter_stays_one_segment(value: str) -> None:
    server = Wb(ok())
    await call_once(server, "fbs.supplies.get", path={"supplyId": value})
    (request,) = server.requests
    assert request.url.raw_path.startswith(b"/api/v3/supplies/")
    assert request.url.raw_path.count(b"/") == 4
    assert (request.url.query, request.url.fragment) == (b"", "")


async def test_check_spends_nothing_but_one_ping_and_tells_an_expired_token() -> None:
    server = Wb(error_body(401, "token expired"))
    limiter = WbRateLimiter()
    async with server.client(limiter=limiter) as wb:
        with pytest.raises(Unauthorized) as raised:
            await wb.check(TOKEN)
    assert raised.value.meaning == Meaning.TOKEN_EXPIRED
    assert [request.url.path for request in server.requests] == ["/ping"]
    assert len(limiter.statistics().buckets) == 1


async def test_an_error_never_shows_the_token() -> None:
    server = Wb(error_body(401, f"bad token {TOKEN}"))
    raised = await error_of(server)
    shown = f"{raised!r} {raised} {vars(raised)}"
    assert TOKEN not in shown
    assert TOKEN.split(".")[1] not in shown


def test_the_page_of_errors_names_each_meaning_with_its_class() -> None:
    page = (Path(__file__).parents[1] / "docs" / "errors.md").read_text(encoding="utf-8")
    row = re.compile(r"^\| `(\w+)` \| .* \| (?:`(\w+)`|none) \| .*\|$", re.MULTILINE)
    told = {meaning: name or None for meaning, name in row.findall(page)}
    classes = {meaning: ERRORS.get(meaning) for meaning in Meaning}
    assert told == {
        meaning: None if error is None else error.__name__ for meaning, error in classes.items()
    }
