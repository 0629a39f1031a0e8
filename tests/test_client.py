"""The client's calls: sent where they belong, refused where they cannot succeed, decoded."""

from __future__ import annotations

import logging
import math
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import httpx
import msgspec
import pytest

from tests.support.canned import LIST, TOKEN, WRITE, Wb, call_once, ok
from wbtrio import (
    CallerError,
    OperationId,
    RateLimitTransport,
    TokenExpired,
    TokenMalformed,
    TokenNotAllowed,
    Undecodable,
    UnknownOperation,
    WbApiClient,
    WbRateLimiter,
)
from wbtrio.simulator import make_token

pytestmark = pytest.mark.anyio


async def test_a_call_goes_over_tls_to_its_operations_host_with_the_token_and_its_parameters() -> (
    None
):
    server = Wb(ok({"cards": []}))
    got = await call_once(server, LIST, params={"locale": "ru", "no": None}, json={"a": [1]})
    (request,) = server.requests
    assert got == {"cards": []}
    assert str(request.url) == (
        "https://content-api.wildberries.ru/content/v2/get/cards/list?locale=ru"
    )
    assert request.method == "POST"
    assert request.headers["Authorization"] == TOKEN
    assert request.content == b'{"a":[1]}'
    assert request.headers["Content-Type"] == "application/json"
    assert "X-Client-Secret" not in request.headers


async def test_bearer_is_dropped_and_the_secret_goes_along() -> None:
    server = Wb(ok())
    basic = make_token("seller-1", "basic")
    async with server.client(client_secret="of-the-client") as wb:
        async with wb.account(f"Bearer {basic}") as seller:
            await seller.call(LIST)
        async with wb.account(basic, client_secret="of-the-account") as seller:
            await seller.call(LIST)
            assert seller.seller.kind == "basic_secret"
    assert [request.headers["X-Client-Secret"] for request in server.requests] == [
        "of-the-client",
        "of-the-account",
    ]
    assert server.requests[0].headers["Authorization"] == basic


async def test_headers_of_the_caller_cannot_replace_the_token() -> None:
    server = Wb(ok())
    await call_once(server, LIST, headers={"authorization": "other", "X-Nm-Id": "5"})
    (request,) = server.requests
    assert request.headers.get_list("Authorization") == [TOKEN]
    assert request.headers["X-Nm-Id"] == "5"


async def test_redirects_are_not_followed() -> None:
    server = Wb(httpx.Response(302, headers={"Location": "https://evil.example/"}))
    with pytest.raises(Undecodable):
        await call_once(server, LIST, network_retries=0)
    assert len(server.requests) == 1


async def test_cookies_of_one_seller_never_reach_another() -> None:
    server = Wb(httpx.Response(200, json={}, headers={"Set-Cookie": "session=seller-1"}))
    async with server.client() as wb:
        for sid in ("seller-1", "seller-2"):
            async with wb.account(make_token(sid)) as seller:
                await seller.call(LIST)
    assert "Cookie" not in server.requests[1].headers


@pytest.mark.parametrize(
    ("value", "raw"),
    [
        ("a/b", b"a%2Fb"),
        ("a?b#c", b"a%3Fb%23c"),
        ("%2e%2e", b"%252e%252e"),
        ("..%2f", b"..%252f"),
        ("я\n", b"%D1%8F%0A"),
        (7, b"7"),
    ],
)
async def test_a_path_parameter_cannot_leave_its_segment(value: str | int, raw: bytes) -> None:
    server = Wb(ok())
    await call_once(server, "fbs.supplies.get", path={"supplyId": value})
    (request,) = server.requests
    assert request.url.raw_path == b"/api/v3/supplies/" + raw


@pytest.mark.parametrize(
    "path",
    [{"supplyId": ""}, {"supplyId": "."}, {"supplyId": ".."}, {"supplyId": True}, {}, {"x": 1}],
)
async def test_path_parameters_that_do_not_fit_are_refused_unsent(path: dict[str, Any]) -> None:
    server = Wb(ok())
    with pytest.raises(CallerError):
        await call_once(server, "fbs.supplies.get", path=path)
    assert not server.requests


@pytest.mark.parametrize(
    ("token", "operation", "error", "says"),
    [
        (TOKEN, "content.cards.lisst", UnknownOperation, "content.cards.list"),
        (make_token(scopes={"prices"}), LIST, TokenNotAllowed, "content"),
        (make_token(read_only=True), WRITE, TokenNotAllowed, "read-only"),
        (make_token(kind="basic"), "general.users.list", TokenNotAllowed, "personal"),
    ],
)
async def test_what_the_token_forbids_is_refused_unsent_and_unspent(
    token: str, operation: str, error: type[Exception], says: str
) -> None:
    server = Wb(ok())
    with pytest.raises(error, match=says):
        await call_once(server, operation, token=token)
    assert not server.requests


@pytest.mark.parametrize(
    ("token", "error"),
    [
        ("not a token", TokenMalformed),
        (make_token(expires=datetime.now(UTC) - timedelta(seconds=1)), TokenExpired),
    ],
)
async def test_an_account_of_an_unusable_token_does_not_open(
    token: str, error: type[Exception]
) -> None:
    async with Wb(ok()).client() as wb:
        with pytest.raises(error):
            async with wb.account(token):
                pytest.fail("it opened")


async def test_the_sandbox_has_hosts_and_budgets_of_its_own() -> None:
    server = Wb(ok())
    async with server.client() as wb:
        async with wb.account(TOKEN, sandbox=True) as seller:
            answer = await seller.fetch(LIST)
        async with wb.account(make_token("seller-1", "test")) as seller:
            await seller.call(LIST)
            with pytest.raises(CallerError, match="no sandbox"):
                await seller.call("finance.sales_reports.list")
    assert {request.url.host for request in server.requests} == {
        "content-api-sandbox.wildberries.ru"
    }
    assert answer.permit.bucket.endswith(":sandbox-content")


async def test_an_operation_of_several_hosts_may_be_asked_at_any_of_them_and_no_other() -> None:
    server = Wb(ok())
    await call_once(server, "general.ping", host="statistics-api.wildberries.ru")
    assert server.requests[0].url.host == "statistics-api.wildberries.ru"
    with pytest.raises(CallerError, match="not served at"):
        await call_once(server, LIST, host="statistics-api.wildberries.ru")


class Cards(msgspec.Struct):
    cards: list[int]


async def test_a_type_decodes_the_body_and_a_misfit_names_the_json_path() -> None:
    assert await call_once(Wb(ok({"cards": [1], "more": 2})), LIST, type=Cards) == Cards([1])
    with pytest.raises(Undecodable) as misfit:
        await call_once(Wb(ok({"cards": ["x"]})), LIST, type=Cards)
    assert "$.cards[0]" in str(misfit.value)
    assert "got `str`" in str(misfit.value)
    assert LIST in str(misfit.value)
    assert misfit.value.excerpt == '{"cards":["x"]}'


async def test_no_content_decodes_to_nothing_or_to_an_empty_list() -> None:
    """Field case WB-045."""
    assert await call_once(Wb(httpx.Response(204)), LIST) is None
    assert await call_once(Wb(httpx.Response(204)), LIST, type=list[Cards]) == []
    with pytest.raises(Undecodable):
        await call_once(Wb(httpx.Response(204)), LIST, type=Cards)


async def test_bytes_come_as_they_are() -> None:
    zipped = httpx.Response(200, content=b"PK\x03\x04", headers={"Content-Type": "application/zip"})
    assert await call_once(Wb(zipped), LIST, type=bytes) == b"PK\x03\x04"


async def test_check_asks_nothing_but_ping() -> None:
    server = Wb(ok({"TS": "x", "Status": "OK"}))
    async with server.client() as wb:
        seller = await wb.check(TOKEN)
    assert seller.account == "seller-1"
    assert [request.url.path for request in server.requests] == ["/ping"]


async def test_a_deprecated_operation_is_called_with_one_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Field case WB-055."""
    server = Wb(ok())
    async with server.client(max_wait=math.inf) as wb, wb.account(TOKEN) as seller:
        deprecated = min(
            one.id
            for one in wb.registry.operations.values()
            if one.deprecated and not one.path_parameters
        )
        with caplog.at_level(logging.WARNING, logger="wbtrio"):
            for _ in range(2):
                await seller.call(cast("OperationId", deprecated))
    assert len(server.requests) == 2
    assert [entry.getMessage() for entry in caplog.records] == [
        f"{deprecated} is deprecated: WB will remove it"
    ]


@pytest.mark.parametrize(
    "settings", [{"max_wait": -1}, {"max_wait": math.nan}, {"attempts": 0}, {"network_retries": -1}]
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(CallerError):
        WbApiClient(**settings)


def test_a_ready_transport_brings_its_own_limiter() -> None:
    transport = RateLimitTransport()
    assert WbApiClient(transport=transport).limiter is transport.limiter
    with pytest.raises(CallerError):
        WbApiClient(transport=transport, limiter=WbRateLimiter())


async def test_a_closed_client_opens_no_account() -> None:
    async with Wb(ok()).client() as wb:
        pass
    with pytest.raises(CallerError, match="closed"):
        async with wb.account(TOKEN):
            pytest.fail("it opened")
