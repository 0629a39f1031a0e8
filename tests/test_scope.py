"""An account's scope: nothing outlives it, one failure ends it, and a dead token stops it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import httpx
import pytest

from tests.support.cancellation import cancel_at_every_checkpoint
from tests.support.canned import LIST, TOKEN, Wb, error_body, ok
from wbtrio import (
    AccountScope,
    CallerError,
    OperationId,
    RateLimited,
    TokenExpired,
    Unauthorized,
    WbApiClient,
    WbRateLimiter,
    WrongPath,
)
from wbtrio.simulator import Fault, FaultKind, Scenario, Stock, WbSimulator, make_token

if TYPE_CHECKING:
    from tests.support.cancellation import Attempt

pytestmark = pytest.mark.anyio


def client_of(server: WbSimulator, **settings: Any) -> WbApiClient:
    return WbApiClient(transport=httpx.ASGITransport(server), **settings)


async def test_the_scope_ends_when_all_its_tasks_have_ended() -> None:
    done: list[int] = []

    async def later(number: int) -> None:
        await anyio.sleep(number)
        done.append(number)

    async with Wb(ok()).client() as wb, wb.account(TOKEN) as seller:
        for number in (3, 1, 2):
            seller.start_soon(later, number)
    assert done == [1, 2, 3]


async def test_an_ended_scope_takes_neither_tasks_nor_calls() -> None:
    async with Wb(ok()).client() as wb:
        async with wb.account(TOKEN) as seller:
            pass
        with pytest.raises(CallerError, match="has ended"):
            seller.start_soon(anyio.sleep, 1)
        with pytest.raises(CallerError, match="has ended"):
            await seller.call(LIST)
        with pytest.raises(CallerError, match="has ended"):
            seller.pages(LIST)


async def test_the_failure_of_one_task_cancels_the_others_and_comes_in_a_group() -> None:
    ended: list[str] = []

    async def fail(seller: AccountScope) -> None:
        await seller.call(LIST)

    async def wait() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("cancelled")

    async def both(wb: WbApiClient) -> None:
        async with wb.account(TOKEN) as seller:
            seller.start_soon(wait)
            seller.start_soon(fail, seller)

    async with Wb(error_body(404, "", title="path not found")).client() as wb:
        with pytest.raises(ExceptionGroup) as group:
            await both(wb)
    assert [type(error) for error in group.value.exceptions] == [WrongPath]
    assert ended == ["cancelled"]


async def test_a_scope_may_have_a_deadline() -> None:
    async with Wb(ok()).client() as wb:
        with pytest.raises(TimeoutError):
            async with wb.account(TOKEN, timeout=30) as seller:
                seller.start_soon(anyio.sleep_forever)
    assert anyio.current_time() == pytest.approx(30)


async def test_a_scope_can_be_cancelled_by_itself() -> None:
    async with Wb(ok()).client() as wb, wb.account(TOKEN) as other:
        async with wb.account(TOKEN) as seller:
            seller.start_soon(anyio.sleep_forever)
            seller.cancel_scope.cancel()
        assert await other.call(LIST) == {}


async def test_fail_fast_does_not_wait_for_a_deadline_that_is_sure_to_pass() -> None:
    server = Wb(httpx.Response(429, headers={"X-Ratelimit-Retry": "100"}))
    async with server.client() as wb, wb.account(TOKEN, fail_fast=True) as seller:
        with anyio.fail_after(50), pytest.raises(RateLimited):
            await seller.call(LIST)
    assert anyio.current_time() == 0


async def test_accounts_of_one_seller_share_the_buckets_and_other_sellers_do_not() -> None:
    exhausted = {"X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": "30"}
    server = Wb(httpx.Response(200, json={}, headers=exhausted))
    rotated = make_token("seller-1", serial=2)
    async with server.client(max_wait=0) as wb:
        async with wb.account(TOKEN) as seller:
            await seller.call(LIST)
        async with wb.account(rotated) as again, wb.account(make_token("seller-2")) as other:
            with pytest.raises(RateLimited) as refusal:
                await again.call(LIST)
            await other.call(LIST)
    assert refusal.value.account == "seller-1"
    assert len(server.requests) == 2


async def test_what_a_scope_shows_of_itself_holds_no_token() -> None:
    async with Wb(ok()).client() as wb, wb.account(TOKEN, client_secret="hush") as seller:
        shown = f"{seller!r} {vars(seller)} {vars(seller._caller)} {seller.seller}"
    assert "seller-1" in repr(seller)
    assert TOKEN not in shown
    assert "hush" not in shown


async def test_a_token_that_wb_calls_expired_stops_every_call_that_still_waits() -> None:
    """Field case WB-020."""
    expired = Fault(FaultKind.TOKEN_EXPIRED, operation="content.cards.list", skip=5)
    server = WbSimulator(Scenario(faults=(expired,)))
    outcomes: list[str] = []

    async def ask(seller: AccountScope) -> None:
        try:
            await seller.call(LIST, json={})
        except (Unauthorized, TokenExpired) as error:
            outcomes.append(type(error).__name__)
        else:
            outcomes.append("ok")

    async with client_of(server) as wb, wb.account(TOKEN) as seller:
        async with anyio.create_task_group() as tasks:
            for _ in range(20):
                tasks.start_soon(ask, seller)
        with pytest.raises(TokenExpired):
            await seller.call("fbs.orders.list", params={"limit": 1, "next": 0})
    assert sorted(outcomes) == ["TokenExpired"] * 14 + ["Unauthorized"] + ["ok"] * 5
    assert len(server.log) == 6
    # The sixth request had to wait for one interval of 100 a minute; none waited longer.
    assert anyio.current_time() < 1


async def test_a_page_loop_never_earns_a_429_whatever_headers_wb_sends() -> None:
    for style in ("gateway", "legacy", "full", "none"):
        server = WbSimulator(Scenario(headers=style, stock=Stock(rows={"cards": 900})))
        async with client_of(server) as wb, wb.account(TOKEN) as seller:
            rows = [row async for row in seller.items(LIST, limit=10)]
        assert (len(rows), server.refused) == (900, 0), style


async def test_four_sellers_import_four_lists_at_once_without_a_single_429() -> None:
    kinds = {"a": "personal", "b": "personal", "c": "service", "d": "personal"}
    server = WbSimulator(Scenario(stock=Stock(default_rows=700)))
    brought: dict[tuple[str, str], int] = {}
    lists: dict[OperationId, dict[str, Any]] = {
        "content.cards.list": {},
        "prices.goods.list": {"limit": 50},
        "fbs.orders.list": {"limit": 50},
        "statistics.orders.list": {"params": {"dateFrom": "2026-01-01"}},
    }

    async def load(seller: AccountScope, operation: OperationId) -> None:
        rows = [row async for row in seller.items(operation, **lists[operation])]
        brought[seller.seller.sid, operation] = len(rows)

    async def load_all(wb: WbApiClient, token: str) -> None:
        async with wb.account(token) as seller:
            for operation in lists:
                seller.start_soon(load, seller, operation)

    async with client_of(server) as wb, anyio.create_task_group() as tasks:
        for sid, kind in kinds.items():
            tasks.start_soon(load_all, wb, make_token(sid, kind))  # type: ignore[arg-type]
    assert brought == {(sid, operation): 700 for sid in kinds for operation in lists}
    assert server.refused == 0
    total = wb.limiter.statistics().total
    assert total.granted == len(server.log)


async def test_cancelled_anywhere_a_call_leaves_no_token_lost_and_no_lane_blocked() -> None:
    made: list[tuple[WbSimulator, WbRateLimiter, WbApiClient]] = []

    async def scenario() -> int:
        server, limiter = WbSimulator(), WbRateLimiter()
        wb = client_of(server, limiter=limiter, max_connections=1)
        made.append((server, limiter, wb))
        async with wb.account(TOKEN) as seller:
            seller.start_soon(seller.fetch, LIST)
            return len((await seller.call(LIST, json={}))["cards"])

    async def check(attempt: Attempt[int]) -> None:
        server, limiter, wb = made[-1]
        total = limiter.statistics().total
        assert len(server.log) <= total.granted - total.refunded <= 2, attempt
        assert attempt.cancelled or attempt.result == 10
        with anyio.fail_after(10):
            async with wb.account(TOKEN) as seller:
                await seller.call(LIST, json={})

    assert await cancel_at_every_checkpoint(scenario, check) >= 4
