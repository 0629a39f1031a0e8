"""Settling on a real Redis: how many commands a request costs, and what an outage costs it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import anyio
import httpx
import pytest

from tests.support.redis_server import RedisServer
from wbtrio import RateLimitTransport, Reason, RedisStore, WbRateLimiter
from wbtrio.simulator import make_token

if TYPE_CHECKING:
    from collections.abc import Mapping

pytestmark = [pytest.mark.anyio, pytest.mark.real_io]

CARDS = "https://content-api.wildberries.ru/content/v2/get/cards/list"
AUTH = {"Authorization": make_token("seller-1")}
EXHAUSTED = {"X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": "30"}


def transport_on(
    store: RedisStore, status: int = 200, headers: Mapping[str, str] | None = None
) -> RateLimitTransport:
    inner = httpx.MockTransport(lambda _: httpx.Response(status, headers=headers, json={}))
    return RateLimitTransport(inner, limiter=WbRateLimiter(store))


async def ask(transport: RateLimitTransport) -> httpx.Response:
    return await transport.handle_async_request(httpx.Request("POST", CARDS, headers=AUTH))


@pytest.mark.parametrize(
    ("status", "headers", "reason", "scripts"),
    [
        (200, {"X-RateLimit-Remaining": "5", "X-RateLimit-Limit": "5"}, Reason.AT_CAPACITY, 1),
        (200, {"X-RateLimit-Remaining": "4", "X-RateLimit-Limit": "5"}, Reason.AS_EXPECTED, 1),
        (200, {}, Reason.NOT_OBSERVED, 1),
        (200, {"X-RateLimit-Remaining": "1"}, Reason.NARROWED, 2),
        (200, EXHAUSTED, Reason.EXHAUSTED, 2),
        (429, {"X-Ratelimit-Retry": "20"}, Reason.PENALIZED, 2),
    ],
)
async def test_a_settled_request_costs_one_command_and_one_more_only_where_it_narrows(
    redis_server: RedisServer,
    redis_url: str,
    status: int,
    headers: dict[str, str],
    reason: Reason,
    scripts: int,
) -> None:
    async with RedisStore(redis_url) as store:
        # Loads both scripts: a command that only finds one missing is no settling.
        await ask(transport_on(store, 429, {"X-Ratelimit-Retry": "1"}))
        redis_server.reset()
        response = await ask(transport_on(store, status, headers))
        calls = redis_server.calls()
    assert response.extensions["wbtrio"].settlement == reason
    assert (calls["evalsha"], calls["eval"]) == (scripts, 0)


async def test_a_reply_comes_as_it_is_when_the_store_has_died_meanwhile(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with RedisServer() as server:
        async with RedisStore(server.url) as store:

            def answer(_: httpx.Request) -> httpx.Response:
                server.kill()
                return httpx.Response(200, headers=EXHAUSTED, json={"cards": [1]})

            limiter = WbRateLimiter(store)
            transport = RateLimitTransport(httpx.MockTransport(answer), limiter=limiter)
            with caplog.at_level(logging.WARNING, logger="wbtrio"), anyio.fail_after(5):
                response = await ask(transport)
    assert response.json() == {"cards": [1]}
    assert response.extensions["wbtrio"].settlement == Reason.EXHAUSTED
    assert response.extensions["wbtrio"].retry_after == pytest.approx(30, abs=1)
    assert len(caplog.records) == 1
