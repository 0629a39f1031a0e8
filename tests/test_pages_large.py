"""Pages too large for memory, pages asked ahead, and buckets in a file."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import msgspec
import pytest

from tests.support.canned import TOKEN, Wb, ok
from wbtrio import (
    Bucket,
    CallerError,
    Limit,
    OperationId,
    RateLimited,
    Undecodable,
    WbApiClient,
    WbRateLimiter,
    _replies,
    _spool,
)
from wbtrio._errors import StoreProtocolError
from wbtrio.simulator import Fault, FaultKind, Scenario, Stock, WbSimulator
from wbtrio.stores import FileStore

pytestmark = pytest.mark.anyio

PERIOD = {"dateFrom": "2026-11-08", "dateTo": "2026-12-01"}
BY_PARTS: dict[str, tuple[str, dict[str, Any]]] = {
    "finance.sales_reports.details": ("finance_details", {"json": PERIOD}),
    "analytics.wb_stocks.list": ("wb_stocks", {}),
    "content.cards.list": ("cards", {}),
    "reports.warehouse_remains.create": ("remains", {}),
    "promotion.campaigns.count": ("campaigns", {}),
}

UNCUT = {"promotion.campaigns.count"}
"""Its rows are a list of lists, which is decoded at once."""


@pytest.fixture
def spooled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every body beyond 2 kB counts as large."""
    monkeypatch.setattr(_spool, "KEPT", 2_000)
    monkeypatch.setattr(_replies, "SCANNED_AT_MOST", 2_000)


def as_set(rows: list[Any]) -> list[bytes]:
    return sorted(msgspec.json.encode(row, order="sorted") for row in rows)


@pytest.mark.usefixtures("spooled")
@pytest.mark.parametrize("operation", sorted(BY_PARTS))
async def test_a_large_page_comes_in_parts_with_exactly_its_rows(operation: OperationId) -> None:
    resource, how = BY_PARTS[operation]
    server = WbSimulator(Scenario(stock=Stock(rows={resource: 230})))
    async with (
        WbApiClient(transport=httpx.ASGITransport(server)) as wb,
        wb.account(TOKEN) as seller,
    ):
        plain = [page async for page in seller.pages(operation, **how)]
        asked = len(server.log)
        parts = [page async for page in seller.pages(operation, part_rows=20, **how)]
    assert len(server.log) == 2 * asked
    assert as_set([row for page in parts for row in page.items]) == as_set(
        [row for page in plain for row in page.items]
    )
    whole = [page for page in parts if page.is_whole]
    assert len(parts) > len(whole)
    assert [page.cursor for page in whole] == [page.cursor for page in plain]
    assert [page.is_last for page in whole] == [page.is_last for page in plain]
    assert all(page.cursor is None and not page.is_last for page in parts if not page.is_whole)
    assert max(len(page.items) for page in parts if not page.is_whole) <= 20 or operation in UNCUT


@pytest.mark.usefixtures("spooled")
async def test_a_large_page_that_breaks_off_is_undecodable_and_no_page() -> None:
    body = msgspec.json.encode([{"rrdId": number} for number in range(400)])[:-20] + b"]"
    server = Wb(httpx.Response(200, content=body, headers={"content-type": "application/json"}))
    async with server.client() as wb, wb.account(TOKEN) as seller:
        pages = seller.pages("finance.sales_reports.details", json=PERIOD, part_rows=50)
        with pytest.raises(Undecodable, match="in its rows"):
            await partial_pages(pages)
        with pytest.raises(CallerError, match="part_rows"):
            seller.pages("finance.sales_reports.details", json=PERIOD, part_rows=0)


async def partial_pages(pages: AsyncIterator[Any]) -> list[Any]:
    return [page async for page in pages if not page.is_whole]


async def leave_early(ahead: Any) -> None:
    async with ahead as pages:
        async for _ in pages:
            raise KeyError


async def walked(pages: AsyncIterator[Any], work: float) -> list[float]:
    taken = []
    async for _ in pages:
        taken.append(anyio.current_time())
        await anyio.sleep(work)
    return taken


async def test_the_next_page_is_asked_for_while_the_caller_works_on_this_one() -> None:
    server = WbSimulator(Scenario(stock=Stock(rows={"cards": 350})))
    async with (
        WbApiClient(transport=httpx.ASGITransport(server)) as wb,
        wb.account(TOKEN) as seller,
        seller.pages("content.cards.list").ahead() as pages,
    ):
        taken = await walked(pages, work=10.0)
    asked = [entry.time for entry in server.log]
    start = taken[0]
    assert [moment - start for moment in taken] == [0, 10, 20, 30]
    assert asked[1] < 1.0, "page 2 is asked for while page 1 is worked on"
    assert 10.0 <= asked[2] < 11.0, "and page 3 is not, for one page ahead is the bound"


async def test_without_asking_ahead_a_page_is_asked_for_when_it_is_wanted() -> None:
    server = WbSimulator(Scenario(stock=Stock(rows={"cards": 250})))
    async with (
        WbApiClient(transport=httpx.ASGITransport(server)) as wb,
        wb.account(TOKEN) as seller,
    ):
        await walked(seller.pages("content.cards.list"), work=10.0)
    assert [round(entry.time) for entry in server.log] == [0, 10, 20]


async def test_a_block_left_early_stops_asking_ahead() -> None:
    server = WbSimulator(Scenario(stock=Stock(rows={"cards": 5_000})))
    async with (
        WbApiClient(transport=httpx.ASGITransport(server)) as wb,
        wb.account(TOKEN) as seller,
    ):
        ahead = seller.pages("content.cards.list").ahead(2)
        with pytest.raises(KeyError):
            await leave_early(ahead)
        await anyio.sleep(3_600)
        with pytest.raises(CallerError, match="inside"):
            await ahead.__anext__()
    assert len(server.log) <= 3


async def test_an_error_of_a_page_ahead_comes_after_the_pages_before_it_and_the_walk_goes_on() -> (
    None
):
    # The fault strikes page 2 more often than the client repeats a request.
    fault = Fault(kind=FaultKind.SERVER_ERROR, operation="content.cards.list", skip=1, times=1)
    server = WbSimulator(Scenario(stock=Stock(rows={"cards": 250}), faults=(fault,)))
    async with (
        WbApiClient(transport=httpx.ASGITransport(server), network_retries=0) as wb,
        wb.account(TOKEN) as seller,
        seller.pages("content.cards.list").ahead() as pages,
    ):
        sizes, errors = [], 0
        while True:
            try:
                sizes.append(len((await pages.__anext__()).items))
            except StopAsyncIteration:
                break
            except Exception:
                errors += 1
    assert (sizes, errors) == ([100, 100, 50], 1)


@pytest.mark.parametrize("count", [0, -1, 65])
async def test_the_number_of_pages_ahead_is_bounded(count: int) -> None:
    async with Wb(ok()).client() as wb, wb.account(TOKEN) as seller:
        with pytest.raises(CallerError):
            seller.pages("content.cards.list").ahead(count)


BUCKET = Bucket("seller", "basic", "statistics.orders", Limit(3 * 3_600 * 1_000_000, 1, 1))


async def test_a_file_store_remembers_a_grant_for_the_next_process(tmp_path: Path) -> None:
    def clock() -> int:
        return round(anyio.current_time() * 1_000_000) + 1_000_000

    file = tmp_path / "budgets.json"
    await WbRateLimiter(FileStore(file, clock=clock)).acquire(BUCKET)
    await anyio.sleep(3_600)
    with pytest.raises(RateLimited) as refused:
        await WbRateLimiter(FileStore(file, clock=clock)).acquire(BUCKET, max_wait=60)
    assert refused.value.retry_after == pytest.approx(2 * 3_600 + 1)
    await anyio.sleep(2 * 3_600 + 1)
    permit = await WbRateLimiter(FileStore(file, clock=clock)).acquire(BUCKET, max_wait=0)
    assert permit.waited == 0


async def test_a_file_that_holds_no_buckets_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "budgets.json"
    file.write_text('{"a": 1}')
    with pytest.raises(StoreProtocolError, match="does not hold buckets"):
        FileStore(file)
