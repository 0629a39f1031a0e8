"""What a call makes of WB's refusals and of failures: wait, try again, or raise."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import httpx
import pytest

from tests.support.canned import LIST, TOKEN, WRITE, Wb, call_once, error_body, ok
from wbtrio import (
    BadRequest,
    Conflict,
    Maintenance,
    MethodDisabled,
    MethodGone,
    NetworkError,
    PaymentRequired,
    RateLimited,
    ServerError,
    TokenKindNotAllowed,
    Unauthorized,
    Undecodable,
    WbRateLimiter,
    WrongPath,
)

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (error_body(400, "bad"), BadRequest),
        (error_body(401, "token scope not allowed"), Unauthorized),
        (error_body(402, "payment required"), PaymentRequired),
        (error_body(403, "token does not satisfy additional requirements"), TokenKindNotAllowed),
        (error_body(404, "", title="path not found"), WrongPath),
        (error_body(404, "This method is deprecated. Link: https://wb.ru/1"), MethodGone),
        (error_body(404, "This method is temporarily disabled. Link: x"), MethodDisabled),
        (error_body(409, "conflict"), Conflict),
        (httpx.Response(503, json={"errors": ["Технический перерыв"]}), Maintenance),
        (httpx.Response(200, html="<html>"), Undecodable),
        (httpx.Response(500), ServerError),
    ],
)
async def test_each_refusal_of_wb_is_an_error_with_its_circumstances(
    reply: httpx.Response, error: type[Exception]
) -> None:
    with pytest.raises(error) as raised:
        await call_once(Wb(reply), LIST, network_retries=0)
    fault: Any = raised.value
    assert fault.operation == LIST
    assert fault.account == "seller-1"
    assert fault.status == reply.status_code
    assert TOKEN not in str(fault) + repr(fault)


async def test_a_429_is_waited_out_under_the_limiter_and_tried_again() -> None:
    server = Wb(httpx.Response(429, headers={"X-Ratelimit-Retry": "20"}), ok({"cards": [1]}))
    started = anyio.current_time()
    assert await call_once(server, LIST) == {"cards": [1]}
    assert anyio.current_time() - started == pytest.approx(20, abs=0.1)
    assert len(server.requests) == 2


async def test_a_429_beyond_the_callers_patience_is_raised_with_all_that_wb_said() -> None:
    """Field case WB-003: one request, no sleep, and `resume_at`."""
    headers = {
        "X-RateLimit-Retry": "18236",
        "X-RateLimit-Reset": "18236",
        "X-RateLimit-Remaining": "0",
    }
    refusal = error_body(429, "rate limit exceeded")
    server = Wb(httpx.Response(429, headers=headers, content=refusal.content))
    started = anyio.current_time()
    with pytest.raises(RateLimited) as raised:
        await call_once(server, LIST, max_wait=60)
    error = raised.value
    assert len(server.requests) == 1
    assert anyio.current_time() == started
    assert error.retry_after == pytest.approx(18236)
    assert error.resume_at - datetime.now(UTC) == pytest.approx(
        timedelta(seconds=18236), abs=timedelta(seconds=5)
    )
    assert (error.status, error.request_id, error.origin) == (429, "req-1", "ag-x")
    assert error.headers == {key.lower(): value for key, value in headers.items()}
    assert error.bucket == "wbtrio:{seller-1}:personal:content.cards.list"
    assert error.cause == "penalty"


async def test_429s_are_tried_again_only_so_often() -> None:
    server = Wb(httpx.Response(429, headers={"X-Ratelimit-Retry": "1"}))
    with pytest.raises(RateLimited) as raised:
        await call_once(server, LIST, attempts=3)
    assert len(server.requests) == 3
    assert raised.value.retry_after == pytest.approx(1)


async def test_all_waits_of_one_call_share_its_patience() -> None:
    server = Wb(httpx.Response(429, headers={"X-Ratelimit-Retry": "40"}))
    with pytest.raises(RateLimited) as raised:
        await call_once(server, LIST, max_wait=100, attempts=9)
    assert len(server.requests) == 3
    assert raised.value.retry_after == pytest.approx(40)


async def test_a_429_is_no_network_retry() -> None:
    server = Wb(httpx.Response(429, headers={"X-Ratelimit-Retry": "1"}), ok())
    assert await call_once(server, WRITE, network_retries=0, json={"name": "x"}) == {}


@pytest.mark.parametrize(
    "failure", [httpx.ReadError("x"), httpx.Response(502), httpx.ReadTimeout("x")]
)
async def test_a_read_is_repeated_after_a_network_failure_or_a_5xx(failure: Any) -> None:
    server = Wb(failure, failure, ok({"cards": []}))
    assert await call_once(server, LIST) == {"cards": []}
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("failure", "sent", "tries"),
    [(httpx.ReadError("x"), True, 1), (httpx.ConnectError("x"), False, 3)],
)
async def test_a_write_is_repeated_only_if_it_surely_was_not_sent(
    failure: Exception, sent: bool, tries: int
) -> None:
    server = Wb(failure)
    with pytest.raises(NetworkError) as raised:
        await call_once(server, WRITE, json={"name": "x"})
    assert raised.value.sent is sent
    assert raised.value.operation == WRITE
    assert len(server.requests) == tries


async def test_a_write_is_not_repeated_after_a_5xx() -> None:
    server = Wb(httpx.Response(500))
    with pytest.raises(ServerError):
        await call_once(server, WRITE, json={"name": "x"})
    assert len(server.requests) == 1


async def test_html_in_place_of_json_is_tried_again_once() -> None:
    """Field case WB-039."""
    server = Wb(httpx.Response(200, html="<html>"))
    with pytest.raises(Undecodable):
        await call_once(server, LIST)
    assert len(server.requests) == 2


async def test_every_attempt_has_a_permit_of_its_own() -> None:
    limiter = WbRateLimiter()
    server = Wb(httpx.ReadError("x"), httpx.ConnectError("x"), ok())
    async with server.client(limiter=limiter) as wb, wb.account(TOKEN) as seller:
        await seller.call(LIST)
    total = limiter.statistics().total
    assert (total.granted, total.refunded, total.settled) == (3, 1, 1)
