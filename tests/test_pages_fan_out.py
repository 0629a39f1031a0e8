"""Lists by offset, several pages at once under the limiter."""

from __future__ import annotations

from typing import Any

import anyio
import httpx
import msgspec
import pytest

from tests.support.canned import TOKEN
from wbtrio import AccountScope, Page, ServerError, WbApiClient
from wbtrio._operation_ids import OperationId
from wbtrio.simulator import (
    Fault,
    FaultKind,
    Latency,
    Motion,
    Scenario,
    Stock,
    WbSimulator,
)

pytestmark = pytest.mark.anyio

PERIOD = {"dateFrom": "2026-11-08", "dateTo": "2026-12-01"}
SELECTED = {"selectedPeriod": {"start": "2026-11-20", "end": "2026-12-01"}}
OFFSETS: dict[OperationId, tuple[str, dict[str, Any]]] = {
    "prices.goods.list": ("prices", {}),
    "prices.quarantine.list": ("quarantine", {}),
    "fbw.supplies.list": ("fbw_supplies", {}),
    "analytics.order_feed.list": ("order_feed", {"json": SELECTED}),
    "reports.deductions.list": ("deductions", {"params": PERIOD}),
    "feedbacks.feedbacks.list": ("feedbacks", {}),
    "returns.claims.list": ("claims", {}),
}
SIZE = 12


def as_set(rows: list[Any]) -> list[bytes]:
    return sorted(msgspec.json.encode(row, order="sorted") for row in rows)


async def walked(
    server: WbSimulator, operation: OperationId, at_once: int, **how: Any
) -> list[Page[Any]]:
    async with (
        WbApiClient(transport=httpx.ASGITransport(server), max_wait=1e9, network_retries=0) as wb,
        wb.account(TOKEN) as seller,
    ):
        return await _pages(seller, operation, at_once, **how)


async def _pages(
    seller: AccountScope, operation: OperationId, at_once: int, **how: Any
) -> list[Page[Any]]:
    async with seller.pages(operation, **how).ahead(at_once) as pages:
        return [page async for page in pages]


@pytest.mark.parametrize("total", [0, 1, SIZE, SIZE + 1, 9 * SIZE + 3])
@pytest.mark.parametrize("operation", sorted(OFFSETS))
async def test_pages_that_are_asked_for_together_bring_exactly_the_rows(
    operation: OperationId, total: int
) -> None:
    resource, how = OFFSETS[operation]
    server = WbSimulator(Scenario(stock=Stock(rows={resource: total})))
    pages = await walked(server, operation, 4, limit=SIZE, **how)
    rows = [row for page in pages for row in page.items]
    assert as_set(rows) == as_set(server.catalogue.rows("seller-1", resource))
    assert [page.is_last for page in pages] == [False] * (len(pages) - 1) + [True]
    assert len(server.log) <= len(pages) + 2 * 3, "at most three beyond each of two ends"
    assert server.refused == 0


async def test_a_list_that_states_its_total_is_never_asked_beyond_its_end() -> None:
    server = WbSimulator(Scenario(stock=Stock(rows={"deductions": 5 * SIZE + 3})))
    pages = await walked(server, "reports.deductions.list", 8, limit=SIZE, params=PERIOD)
    assert len(server.log) == len(pages) == 6


async def test_pages_travel_together_where_wb_is_slow_and_the_budget_wide() -> None:
    took = []
    for at_once in (1, 4):
        stock = Stock(rows={"prices": 5 * SIZE - 1})
        server = WbSimulator(Scenario(stock=stock, latency=Latency(before=10.0, after=10.0)))
        started = anyio.current_time()
        await walked(server, "prices.goods.list", at_once, limit=SIZE)
        took.append(anyio.current_time() - started)
        assert len(server.log) == 5
        assert server.refused == 0
    assert took[0] == pytest.approx(100, abs=1)
    assert took[1] == pytest.approx(40, abs=2)


async def test_rows_that_leave_while_pages_are_asked_for_together_do_no_harm() -> None:
    motion = Motion("prices", every=0.5, how="remove")
    server = WbSimulator(
        Scenario(
            stock=Stock(rows={"prices": 200}, motions=(motion,)),
            latency=Latency(before=0.3, after=0.3, jitter=0.5),
        )
    )
    pages = await walked(server, "prices.goods.list", 4, limit=SIZE)
    rows = [row["nmID"] for page in pages for row in page.items]
    assert len(rows) == len(set(rows))
    assert pages[-1].is_last
    assert server.refused == 0


class FailsOnce(httpx.AsyncBaseTransport):
    """A WB that fails the first request for one offset, whenever it comes."""

    def __init__(self, server: WbSimulator, offset: int) -> None:
        self._inner = httpx.ASGITransport(server)
        self._offset = str(offset)
        self.failures = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.params["offset"] == self._offset and not self.failures:
            self.failures += 1
            return httpx.Response(500, json={})
        return await self._inner.handle_async_request(request)


async def test_an_error_of_a_page_comes_in_its_turn_and_others_are_asked_again() -> None:
    server = WbSimulator(Scenario(stock=Stock(rows={"prices": 5 * SIZE})))
    transport = FailsOnce(server, 2 * SIZE)
    async with (
        WbApiClient(transport=transport, max_wait=1e9, network_retries=0) as wb,
        wb.account(TOKEN) as seller,
    ):
        pages = await _pages(seller, "prices.goods.list", 4, limit=SIZE)
    rows = [row for page in pages for row in page.items]
    assert transport.failures == 1
    assert as_set(rows) == as_set(server.catalogue.rows("seller-1", "prices"))


async def test_an_error_of_the_page_itself_is_raised_without_a_group() -> None:
    fault = Fault(kind=FaultKind.SERVER_ERROR, operation="prices.goods.list", skip=1)
    server = WbSimulator(Scenario(stock=Stock(rows={"prices": 5 * SIZE}), faults=(fault,)))
    async with (
        WbApiClient(transport=httpx.ASGITransport(server), network_retries=0) as wb,
        wb.account(TOKEN) as seller,
    ):
        with pytest.raises(ServerError):
            await _pages(seller, "prices.goods.list", 4, limit=SIZE)
