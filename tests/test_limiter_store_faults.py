"""A store that fails: replies still settle, permits are counted here, and it all merges later."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest

from tests.support.logs import warnings_logged
from tests.support.stores import WatchedStore, a_bucket, drain, let_all_run, tokens_left
from wbtrio import (
    Cause,
    MemoryStore,
    RateLimited,
    Reason,
    StoreProtocolError,
    StoreTimeout,
    StoreUnavailable,
    WbRateLimiter,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wbtrio import StoreError

pytestmark = pytest.mark.anyio

TEN = a_bucket(burst=10)
DOWN = StoreUnavailable("nobody there")
LOST = StoreTimeout("no answer in time", may_have_run=True)
FAULTS = pytest.mark.parametrize("fault", [DOWN, LOST, StoreProtocolError("READONLY")], ids=repr)


@pytest.fixture
def warnings() -> Iterator[list[str]]:
    """What is logged as a warning or worse; filled while the test runs."""
    with warnings_logged() as found:
        yield found


@FAULTS
async def test_settling_returns_though_the_store_fails_and_warns_once(
    fault: StoreError, warnings: list[str]
) -> None:
    store = WatchedStore()
    limiter = WbRateLimiter(store)
    permits = await drain(limiter, TEN)
    store.fault = fault
    for permit in permits:
        settlement = await permit.settle(429, {"X-Ratelimit-Retry": "5"})
        assert (settlement.reason, settlement.retry_after) == (Reason.PENALIZED, 5)
        assert settlement.cause is Cause.STORE_DOWN
    assert len(warnings) == 1
    assert str(fault) in warnings[0]


async def test_each_outage_is_told_once_and_so_is_its_end(warnings: list[str]) -> None:
    store = WatchedStore()
    limiter = WbRateLimiter(store)
    await limiter.acquire(TEN)
    assert warnings == []
    for outage in (1, 2, 3):
        store.fault = DOWN
        for _ in range(2):
            await (await limiter.acquire(TEN)).settle(200, {})
        assert len(warnings) == 2 * outage - 1
        store.fault = None
        for _ in range(2):
            await (await limiter.acquire(TEN)).settle(200, {})
        assert len(warnings) == 2 * outage
        assert "back" in warnings[-1]


async def test_while_the_store_fails_this_process_counts_on_from_what_it_knows() -> None:
    store = WatchedStore()
    limiter = WbRateLimiter(store)
    for _ in range(7):
        await limiter.acquire(TEN)
    store.fault = DOWN
    for _ in range(3):
        assert (await limiter.acquire(TEN)).waited == 0
    with pytest.raises(RateLimited) as caught:
        await limiter.acquire_nowait(TEN)
    assert (caught.value.cause, caught.value.retry_after) == (Cause.STORE_DOWN, 1)
    permit = await limiter.acquire(TEN)
    assert (permit.waited, permit.cause) == (1, Cause.STORE_DOWN)
    assert anyio.current_time() == 1


async def test_a_store_that_never_answered_is_taken_for_full_buckets() -> None:
    store = WatchedStore()
    store.fault = DOWN
    limiter = WbRateLimiter(store)
    assert len(await drain(limiter, TEN)) == 10
    with pytest.raises(RateLimited):
        await limiter.acquire_nowait(TEN)


async def test_a_hold_that_only_this_process_saw_outlives_the_outage() -> None:
    shared = MemoryStore()
    store = WatchedStore(shared)
    ours, theirs = WbRateLimiter(store), WbRateLimiter(shared)
    permit = await ours.acquire(TEN)
    store.fault = DOWN
    await permit.settle(429, {"X-Ratelimit-Retry": "100", "X-Ratelimit-Limit": "10"})
    store.fault = None
    with pytest.raises(RateLimited):
        await ours.acquire_nowait(TEN)
    await ours.reconcile(TEN, {"X-Ratelimit-Remaining": "9"})
    with pytest.raises(RateLimited) as caught:
        await theirs.acquire_nowait(TEN)
    assert (caught.value.cause, caught.value.retry_after) == (Cause.HELD, 100)


async def test_what_was_granted_here_meanwhile_is_spent_in_the_store_afterwards() -> None:
    shared = MemoryStore()
    store = WatchedStore(shared)
    ours, theirs = WbRateLimiter(store), WbRateLimiter(shared)
    await ours.acquire(TEN)
    store.fault = DOWN
    for _ in range(6):
        await ours.acquire(TEN)
    assert await tokens_left(shared, TEN) == 9
    store.fault = None
    await ours.acquire(TEN)
    assert await tokens_left(shared, TEN) == 2
    assert (await theirs.acquire(TEN, cost=2)).waited == 0


async def test_a_store_that_forgot_everything_is_reminded() -> None:
    store = WatchedStore()
    limiter = WbRateLimiter(store)
    await drain(limiter, TEN)
    store.inner = MemoryStore()
    permit = await limiter.acquire(TEN)
    assert permit.waited == 1
    assert await tokens_left(store, TEN) == 0


@FAULTS
async def test_on_request_a_failing_store_is_an_error_of_acquire_alone(fault: StoreError) -> None:
    store = WatchedStore()
    limiter = WbRateLimiter(store, on_store_error="raise")
    permit = await limiter.acquire(TEN)
    store.fault = fault
    with pytest.raises(type(fault)):
        await limiter.acquire(TEN)
    with pytest.raises(type(fault)):
        await limiter.acquire_nowait(TEN)
    await permit.settle(200, {"X-Ratelimit-Remaining": "3"})
    store.fault = None
    assert (await limiter.acquire(TEN)).waited == 0
    calls_that_may_have_run = 2 if fault.may_have_run else 0
    assert await tokens_left(store, TEN) == max(0, 3 - 1 - calls_that_may_have_run)


async def test_an_error_of_one_waiter_leaves_the_lane_to_the_next() -> None:
    store = WatchedStore()
    limiter = WbRateLimiter(store, on_store_error="raise")
    await drain(limiter, TEN)
    ended: list[tuple[str, float]] = []

    async def caller() -> None:
        try:
            await limiter.acquire(TEN)
        except StoreUnavailable:
            ended.append(("failed", anyio.current_time()))
        else:
            ended.append(("served", anyio.current_time()))

    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(caller)
            await let_all_run()
        store.fault = DOWN
        await anyio.sleep(1.5)
        store.fault = None
    assert [name for name, _ in ended].count("served") < 3
    assert not limiter._ledger.lanes[TEN.key].queue
    assert (await limiter.acquire(TEN)).waited <= 2


async def test_a_lost_reply_is_not_replayed_and_costs_at_most_its_own_token() -> None:
    store = WatchedStore()
    limiter = WbRateLimiter(store)
    await limiter.acquire(TEN)
    store.fault = LOST
    await limiter.acquire(TEN)
    assert store.calls["acquire"] == 2
    assert limiter.statistics().total.lost_replies == 1
    store.fault = None
    await limiter.acquire(TEN)
    left = await tokens_left(store, TEN)
    assert 10 - 4 <= left <= 10 - 3


async def test_a_failed_call_that_surely_did_not_run_is_no_lost_reply() -> None:
    store = WatchedStore()
    limiter = WbRateLimiter(store)
    store.fault = DOWN
    await limiter.acquire(TEN)
    assert limiter.statistics().total.lost_replies == 0
    assert limiter.statistics().total.store_calls == 1


async def test_a_permit_granted_here_can_be_given_back_here() -> None:
    store = WatchedStore()
    limiter = WbRateLimiter(store)
    store.fault = DOWN
    permits = await drain(limiter, TEN)
    assert await permits[0].refund() is False
    assert await permits[-1].refund() is True
    assert store.calls["refund"] == 0
    assert (await limiter.acquire(TEN)).waited == 0


async def test_a_refund_that_the_store_does_not_take_leaves_the_token_spent() -> None:
    store = WatchedStore()
    limiter = WbRateLimiter(store)
    permit = await limiter.acquire(TEN)
    store.fault = DOWN
    assert await permit.refund() is False
    async with await limiter.acquire(TEN):
        pass
    store.fault = None
    await limiter.acquire(TEN)
    assert await tokens_left(store, TEN) == 8


async def test_waiters_queue_on_through_an_outage_in_their_order_and_at_their_pace() -> None:
    store, bucket = WatchedStore(), a_bucket(burst=2)
    limiter = WbRateLimiter(store)
    await drain(limiter, bucket)
    served: list[tuple[int, float]] = []

    async def caller(number: int) -> None:
        await limiter.acquire(bucket)
        served.append((number, anyio.current_time()))

    async with anyio.create_task_group() as tasks:
        for number in range(1, 9):
            tasks.start_soon(caller, number)
            await let_all_run()
        await anyio.sleep(2.5)
        store.fault = DOWN
        await anyio.sleep(3)
        store.fault = None
    assert served == [(number, number) for number in range(1, 9)]
