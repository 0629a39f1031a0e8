"""The simulated WB as a client meets it, on both loops and in virtual time."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import httpx
import pytest

from wbtrio.simulator import Rule, Scenario, Stock, WbSimulator, make_token

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

pytestmark = pytest.mark.anyio

CARDS = "https://content-api.wildberries.ru/content/v2/get/cards/list"
PRICES = "https://discounts-prices-api.wildberries.ru/api/v2/list/goods/filter"
ORDERS = "https://marketplace-api.wildberries.ru/api/v3/orders"
STATISTICS = "https://statistics-api.wildberries.ru/api/v1/supplier/orders"
PING = "https://content-api.wildberries.ru/ping"


def client_of(simulator: WbSimulator, token: str | None = None) -> httpx.AsyncClient:
    headers = {"Authorization": make_token() if token is None else token}
    return httpx.AsyncClient(transport=httpx.ASGITransport(simulator), headers=headers)


async def patient(send: Callable[[], Awaitable[httpx.Response]]) -> httpx.Response:
    """Send until it is not refused, waiting as long as WB says."""
    while True:
        response = await send()
        if response.status_code != 429:
            return response
        await anyio.sleep(float(response.headers["X-RateLimit-Retry"]))


async def test_ping_answers_with_the_time_of_the_simulator() -> None:
    async with client_of(WbSimulator()) as http:
        response = await http.get(PING)
    assert response.json() == {"TS": "2026-12-01T09:00:00+00:00", "Status": "OK"}


async def test_cards_are_walked_by_the_cursor_of_the_reply_to_the_exact_set() -> None:
    simulator = WbSimulator(Scenario(stock=Stock(rows={"cards": 250})))
    cursor: dict[str, Any] = {"limit": 100}
    rows, pages = [], 0
    async with client_of(simulator) as http:
        while True:
            body = {"settings": {"cursor": cursor, "filter": {"withPhoto": -1}}}
            response = await patient(partial(http.post, CARDS, json=body))
            page = response.json()
            rows += page["cards"]
            pages += 1
            if page["cursor"]["total"] < 100:
                break
            cursor = {**page["cursor"], "limit": 100}
            del cursor["total"]
    expected = simulator.catalogue.rows("seller-1", "cards")
    assert pages == 3
    assert sorted(row["nmID"] for row in rows) == sorted(row["nmID"] for row in expected)


async def test_prices_end_with_an_empty_page_and_need_a_limit() -> None:
    simulator = WbSimulator(Scenario(stock=Stock(rows={"prices": 20})))
    async with client_of(simulator) as http:
        refused = await http.get(PRICES)
        first = await http.get(PRICES, params={"limit": 20})
        last = await http.get(PRICES, params={"limit": 20, "offset": 20})
    assert refused.status_code == 400
    assert len(first.json()["data"]["listGoods"]) == 20
    assert last.json()["data"]["listGoods"] == []


async def test_orders_need_limit_and_next_and_walk_to_the_exact_set() -> None:
    simulator = WbSimulator(Scenario(stock=Stock(rows={"orders": 250})))
    ids: list[int] = []
    following, pages = 0, 0
    async with client_of(simulator) as http:
        for incomplete in ({"limit": 100}, {"next": 0}):
            assert (await http.get(ORDERS, params=incomplete)).status_code == 400
        await anyio.sleep(10)
        while pages == 0 or following:
            response = await http.get(ORDERS, params={"limit": 100, "next": following})
            page = response.json()
            ids += [row["id"] for row in page["orders"]]
            following = page["next"]
            pages += 1
    assert pages == 3
    assert ids == [row["id"] for row in simulator.catalogue.rows("seller-1", "orders")]


async def test_statistics_hand_out_the_last_row_again_and_lose_none() -> None:
    stock = Stock(rows={"statistics_orders": 250}, caps={"statistics_orders": 100})
    simulator = WbSimulator(Scenario(stock=stock))
    seen: dict[str, Any] = {}
    since, repeated = "2026-01-01", 0
    async with client_of(simulator) as http:
        while True:
            page = (await http.get(STATISTICS, params={"dateFrom": since, "flag": 0})).json()
            repeated += sum(row["srid"] in seen for row in page)
            fresh = [row for row in page if row["srid"] not in seen]
            if not fresh:
                break
            seen |= {row["srid"]: row for row in fresh}
            since = page[-1]["lastChangeDate"]
    assert list(seen.values()) == simulator.catalogue.rows("seller-1", "statistics_orders")
    assert repeated > 0


async def test_wb_may_cut_a_budget_while_clients_run() -> None:
    simulator = WbSimulator()
    query = {"dateFrom": "2026-11-30"}
    async with client_of(simulator) as http:
        before = await http.get(STATISTICS, params=query)
        (key,) = simulator.tallies
        simulator.set_rule(key.budget, "personal", Rule(10_800 * 1_000_000, 1, 1))
        cut = await http.get(STATISTICS, params=query)
        refused = await http.get(STATISTICS, params=query)
    assert before.headers["X-RateLimit-Remaining"] == "9"
    assert cut.headers["X-RateLimit-Remaining"] == "0"
    assert refused.headers["X-RateLimit-Retry"] == "10800"
    assert simulator.tallies[key].allowed == 11


async def test_a_used_up_budget_earns_a_429_that_says_when_to_come_again() -> None:
    simulator = WbSimulator()
    async with client_of(simulator) as http:
        statuses = [
            (await http.get(STATISTICS, params={"dateFrom": "2026-01-01"})).status_code
            for _ in range(10)
        ]
        refused = await http.get(STATISTICS, params={"dateFrom": "2026-01-01"})
        await anyio.sleep(float(refused.headers["X-RateLimit-Retry"]))
        admitted = await http.get(STATISTICS, params={"dateFrom": "2026-01-01"})
    assert statuses == [200] * 10
    assert refused.status_code == 429
    assert refused.headers["X-RateLimit-Retry"] == "60"
    assert refused.headers["X-RateLimit-Reset"] == "600"
    assert refused.json()["origin"] == "ag-statistics"
    assert admitted.status_code == 200
    assert simulator.refused == 1
