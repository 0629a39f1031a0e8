"""The transport: which bucket a request is charged to, and that its reply is settled at once."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import anyio
import httpx
import httpx2
import pytest

from wbtrio import (
    CallerError,
    Cause,
    PermitReport,
    RateLimited,
    RateLimitTransport,
    Reason,
    Sending,
    TokenExpired,
    TokenMalformed,
    WbRateLimiter,
)
from wbtrio._bucket import MICROSECONDS
from wbtrio.simulator import WbSimulator, make_token
from wbtrio.stores import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wbtrio._bucket import Limit, Narrowing, State
    from wbtrio.stores import NarrowReply

pytestmark = pytest.mark.anyio

CARDS = "https://content-api.wildberries.ru/content/v2/get/cards/list"
ORDERS = "https://marketplace-api.wildberries.ru/api/v3/orders"
TOKEN = make_token("seller-1")


def auth(token: str = TOKEN) -> dict[str, str]:
    return {"Authorization": token}


def answering(
    status: int = 200, headers: Mapping[str, str] | None = None, content: bytes = b"{}"
) -> httpx.MockTransport:
    return httpx.MockTransport(lambda _: httpx.Response(status, headers=headers, content=content))


def client_of(
    inner: httpx.AsyncBaseTransport | Callable[[httpx.Request], httpx.Response],
    *,
    limiter: WbRateLimiter | None = None,
    max_wait: float | None = None,
) -> httpx.AsyncClient:
    if not isinstance(inner, httpx.AsyncBaseTransport):
        inner = httpx.MockTransport(inner)
    transport = RateLimitTransport(inner, limiter=limiter, max_wait=max_wait)
    return httpx.AsyncClient(transport=transport)


def report_of(response: httpx.Response) -> PermitReport:
    report = response.extensions["wbtrio"]
    assert isinstance(report, PermitReport)
    return report


async def test_a_request_to_another_host_passes_untouched() -> None:
    seen: list[httpx.Request] = []

    def inner(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(418)

    limiter = WbRateLimiter()
    async with client_of(inner, limiter=limiter) as client:
        request = client.build_request("GET", "http://example.com/api/v3/orders")
        response = await client.send(request)
    assert response.status_code == 418
    assert seen == [request]
    assert not limiter.statistics().buckets


async def test_a_request_is_charged_to_its_operations_bucket_and_says_so() -> None:
    limiter = WbRateLimiter()
    async with client_of(answering(), limiter=limiter) as client:
        response = await client.post(CARDS, headers=auth())
    report = report_of(response)
    assert report.operation == "content.cards.list"
    assert report.account == "seller-1"
    assert report.bucket == "wbtrio:{seller-1}:personal:content.cards.list"
    assert (report.waited, report.cause, report.settlement) == (0.0, None, Reason.NOT_OBSERVED)
    assert limiter.statistics().buckets[report.bucket].granted == 1


async def test_a_bearer_token_and_a_rotated_one_share_the_sellers_bucket() -> None:
    other = make_token("seller-1", serial=2)
    async with client_of(answering()) as client:
        one = await client.post(CARDS, headers=auth())
        two = await client.post(CARDS, headers=auth(f"Bearer {other}"))
    assert report_of(one).bucket == report_of(two).bucket


@pytest.mark.parametrize(
    ("token", "headers", "bucket"),
    [
        (make_token("s", "basic"), {}, "wbtrio:{s}:basic:content.cards.list"),
        (
            make_token("s", "basic"),
            {"X-Client-Secret": "shh"},
            "wbtrio:{s}:basic_secret:content.cards.list",
        ),
        (make_token("s", "service"), {}, "wbtrio:{s+service:service-1}:service:content.cards.list"),
    ],
)
async def test_each_token_kind_has_a_bucket_of_its_own(
    token: str, headers: dict[str, str], bucket: str
) -> None:
    async with client_of(answering()) as client:
        response = await client.post(CARDS, headers={**auth(token), **headers})
    assert report_of(response).bucket == bucket


async def test_an_unknown_path_of_wb_gets_a_strict_bucket_and_one_warning_per_shape(
    caplog: pytest.LogCaptureFixture,
) -> None:
    limiter = WbRateLimiter()
    async with client_of(answering(), limiter=limiter, max_wait=0) as client:
        first = await client.get("https://content-api.wildberries.ru/new/v3/17", headers=auth())
        with pytest.raises(RateLimited) as refusal:
            await client.get("https://content-api.wildberries.ru/new/v3/18", headers=auth())
    assert report_of(first).operation == "GET /new/v3/17"
    assert refusal.value.operation == "GET /new/v3/18"
    assert refusal.value.bucket == report_of(first).bucket
    warnings = [entry.getMessage() for entry in caplog.records if entry.levelname == "WARNING"]
    assert [line.partition(" is not")[0] for line in warnings] == [
        "GET content-api.wildberries.ru/new/v3/{}"
    ]


@pytest.mark.parametrize(
    ("headers", "error"),
    [
        ({}, TokenMalformed),
        (auth("nonsense"), TokenMalformed),
        (auth(make_token(expires=datetime(2020, 1, 1, tzinfo=UTC))), TokenExpired),
    ],
)
async def test_a_token_that_cannot_be_used_is_refused_before_anything_is_sent(
    headers: dict[str, str], error: type[Exception]
) -> None:
    sent: list[httpx.Request] = []
    limiter = WbRateLimiter()

    def inner(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(200)

    async with client_of(inner, limiter=limiter) as client:
        with pytest.raises(error):
            await client.post(CARDS, headers=headers)
    assert not sent
    assert not limiter.statistics().buckets


async def test_a_token_that_expired_while_it_waited_is_not_sent_and_its_permit_comes_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    moments = iter([datetime(2026, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)])
    monkeypatch.setattr("wbtrio._transport.utc_now", lambda: next(moments))
    limiter = WbRateLimiter()
    async with client_of(answering(), limiter=limiter) as client:
        with pytest.raises(TokenExpired):
            await client.post(CARDS, headers=auth())
    assert limiter.statistics().total.refunded == 1


async def test_a_token_is_never_sent_unencrypted() -> None:
    async with client_of(answering()) as client:
        with pytest.raises(CallerError, match="TLS only"):
            await client.post(CARDS.replace("https", "http"), headers=auth())


@pytest.mark.parametrize("status", [200, 204, 302, 400, 401, 404, 409, 500, 503])
async def test_the_next_request_in_the_same_tick_sees_what_any_reply_said(status: int) -> None:
    exhausted = {"X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": "30"}
    async with client_of(answering(status, exhausted, b""), max_wait=0) as client:
        response = await client.post(CARDS, headers=auth())
        with pytest.raises(RateLimited) as refusal:
            await client.post(CARDS, headers=auth())
    assert response.status_code == status
    assert report_of(response).settlement == Reason.EXHAUSTED
    assert report_of(response).retry_after == pytest.approx(30)
    assert refusal.value.retry_after == pytest.approx(30)
    assert refusal.value.cause == Cause.EXHAUSTED
    assert refusal.value.operation == "content.cards.list"
    assert refusal.value.status is None


async def test_a_429_holds_its_bucket_and_no_other() -> None:
    def inner(request: httpx.Request) -> httpx.Response:
        if "cards" not in request.url.path:
            return httpx.Response(200)
        return httpx.Response(429, headers={"X-Ratelimit-Retry": "564", "X-Ratelimit-Limit": "1"})

    async with client_of(inner, max_wait=60) as client:
        assert (await client.post(CARDS, headers=auth())).status_code == 429
        with pytest.raises(RateLimited) as refusal:
            await client.post(CARDS, headers=auth())
        assert (await client.get(ORDERS, headers=auth())).status_code == 200
        others = await client.post(CARDS, headers=auth(make_token("seller-2")))
    assert refusal.value.retry_after == pytest.approx(564)
    assert refusal.value.cause == Cause.PENALTY
    assert others.status_code == 429


async def test_a_client_error_of_a_marketplace_operation_costs_ten() -> None:
    limiter = WbRateLimiter()
    async with client_of(answering(404), limiter=limiter, max_wait=0) as client:
        for _ in range(2):
            await client.get(ORDERS, headers=auth())
        with pytest.raises(RateLimited):
            await client.get(ORDERS, headers=auth())
    assert limiter.statistics().total.granted == 2


@pytest.mark.parametrize(
    ("body", "held"),
    [
        ('{"errors": ["Технический перерыв до 16:00"]}', False),
        ('{"errors": ["(api-new) too many requests"]}', True),
        ("", True),
    ],
)
async def test_a_429_that_only_says_maintenance_is_no_penalty(body: str, held: bool) -> None:
    """Field case WB-038."""
    limiter = WbRateLimiter()
    async with client_of(answering(429, content=body.encode()), limiter=limiter) as client:
        response = await client.post(CARDS, headers=auth())
    assert response.text == body
    assert limiter.statistics().total.penalized == held


class SlowBody(httpx.AsyncByteStream):
    """A body that takes an hour, and notes when it is closed."""

    def __init__(self) -> None:
        self.closed = False

    async def __aiter__(self):  # type: ignore[no-untyped-def]
        await anyio.sleep(3_600)
        yield b"{}"

    async def aclose(self) -> None:
        self.closed = True


async def test_settling_a_429_does_not_wait_long_for_a_body_that_does_not_come() -> None:
    limiter = WbRateLimiter()
    inner = httpx.MockTransport(lambda _: httpx.Response(429, stream=SlowBody()))
    transport = RateLimitTransport(inner, limiter=limiter)
    request = httpx.Request("POST", CARDS, headers=auth())
    started = anyio.current_time()
    await transport.handle_async_request(request)
    assert anyio.current_time() - started == pytest.approx(2.0)
    assert limiter.statistics().total.penalized == 1


class SlowStore(MemoryStore):
    """A store whose narrowing takes a tenth of a second."""

    async def narrow(self, key: str, limit: Limit, by: Narrowing, hint: State) -> NarrowReply:
        await anyio.sleep(0.1)
        return await super().narrow(key, limit, by, hint)


async def test_a_reply_is_settled_and_closed_when_its_caller_is_cancelled_meanwhile() -> None:
    store, body = SlowStore(), SlowBody()
    limiter = WbRateLimiter(store)
    headers = {"X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": "30"}
    inner = httpx.MockTransport(lambda _: httpx.Response(200, headers=headers, stream=body))
    async with client_of(inner, limiter=limiter) as client:
        with anyio.move_on_after(0.05) as scope:
            await client.post(CARDS, headers=auth())
        assert scope.cancelled_caught
        assert body.closed
        key = "wbtrio:{seller-1}:personal:content.cards.list"
        held = (await store.peek([key])).states[0].not_before
        assert held >= 30 * MICROSECONDS


async def test_a_request_may_bring_its_own_patience() -> None:
    headers = {"X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": "30"}
    async with client_of(answering(headers=headers)) as client:
        await client.post(CARDS, headers=auth())
        with pytest.raises(RateLimited):
            await client.post(CARDS, headers=auth(), extensions={"wbtrio": Sending(max_wait=10)})
        with pytest.raises(RateLimited), anyio.fail_after(10):
            await client.post(CARDS, headers=auth(), extensions={"wbtrio": Sending(fail_fast=True)})
        response = await client.post(CARDS, headers=auth())
    assert report_of(response).waited == pytest.approx(30)
    assert report_of(response).cause == Cause.EXHAUSTED


async def test_base_url_sends_wbs_requests_elsewhere_and_names_the_true_host() -> None:
    seen: list[httpx.Request] = []

    def inner(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200)

    transport = RateLimitTransport(httpx.MockTransport(inner), base_url="http://127.0.0.1:8001")
    async with httpx.AsyncClient(transport=transport) as client:
        response = await client.post(f"{CARDS}?locale=ru", headers=auth(), json={"a": 1})
        await client.get("http://example.com/")
    assert response.request.url == f"{CARDS}?locale=ru"
    assert report_of(response).operation == "content.cards.list"
    assert str(seen[0].url) == "http://127.0.0.1:8001/content/v2/get/cards/list?locale=ru"
    assert seen[0].headers["X-Wb-Host"] == "content-api.wildberries.ru"
    assert seen[0].headers["Host"] == "127.0.0.1:8001"
    assert "X-Wb-Host" not in seen[1].headers


@pytest.mark.parametrize("base_url", ["127.0.0.1", "ftp://x", "http://x/path", ""])
def test_a_base_url_that_is_no_origin_is_refused(base_url: str) -> None:
    with pytest.raises(CallerError, match="base_url"):
        RateLimitTransport(base_url=base_url)


def test_a_transport_needs_at_least_one_connection() -> None:
    with pytest.raises(CallerError, match="max_connections"):
        RateLimitTransport(max_connections=0)


async def test_it_limits_an_httpx2_client_just_so() -> None:
    limiter = WbRateLimiter()
    inner = httpx2.ASGITransport(WbSimulator())
    transport = RateLimitTransport(inner, limiter=limiter)  # type: ignore[arg-type]
    async with httpx2.AsyncClient(transport=transport) as client:  # type: ignore[arg-type]
        for _ in range(6):
            response = await client.post(CARDS, headers=auth(), json={})
            assert response.status_code == 200
    assert response.json()["cards"]
    assert response.extensions["wbtrio"].waited > 0
    assert limiter.statistics().total.granted == 6


async def test_tokens_stay_out_of_logs(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    odd = make_token("seller-9", "basic")
    async with client_of(answering()) as client:
        await client.get("https://content-api.wildberries.ru/unknown", headers=auth(odd))
    assert caplog.records
    assert odd not in caplog.text
    assert odd.rpartition(".")[2] not in caplog.text
