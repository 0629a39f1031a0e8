"""Cancellation at every checkpoint: no token lost, none spent twice, no lane blocked, no task left.

In virtual time on the memory store, with and without a store that takes its time; and on a real
Redis. On asyncio also by the loop's own `Task.cancel()`, which comes once and ignores all shields.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import anyio
import pytest
import trio
from sniffio import current_async_library

from tests.support.cancellation import Attempt, cancel_at_every_checkpoint, means_here
from tests.support.stores import WatchedStore, a_bucket, drain, let_all_run, tokens_left
from wbtrio import MemoryStore, Permit, Settlement, WbRateLimiter

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from wbtrio import Bucket, Limit
    from wbtrio._bucket import Narrowing, State
    from wbtrio.stores import NarrowReply, Store

pytestmark = pytest.mark.anyio

HOUR = 3600.0
MEMORY = pytest.mark.parametrize("latency", [0.0, 0.1])


class Case:
    """One attempt's own limiter, store and bucket."""

    def __init__(self, store: Store, bucket: Bucket) -> None:
        self.store = store
        self.bucket = bucket
        self.limiter = WbRateLimiter(store)

    async def assert_nothing_is_stuck(self) -> None:
        """The lane serves whoever comes next, and both sides agree on what is left."""
        left = await tokens_left(self.store, self.bucket)
        for _ in range(max(0, left)):
            await self.limiter.acquire_nowait(self.bucket)
        assert await tokens_left(self.store, self.bucket) == min(left, 0)
        lane = self.limiter._lanes[self.bucket.key]
        assert not lane.queue
        assert lane.hint.full_at == (await self.store.peek([self.bucket.key])).states[0].full_at


async def assert_no_task_is_left(before: int) -> None:
    await let_all_run()
    assert count_tasks() == before


def count_tasks() -> int:
    if current_async_library() == "asyncio":
        return len(asyncio.all_tasks())
    return trio.lowlevel.current_statistics().tasks_living


async def check_everywhere(
    make_case: Callable[[], Case],
    work: Callable[[Case], Awaitable[object]],
    check: Callable[[Case, Attempt[object]], Awaitable[None]],
) -> int:
    """Cancel `work` at each checkpoint by each means, `check` each; how many were cancelled."""
    cases: list[Case] = []
    tasks = count_tasks()

    async def on_a_case_of_its_own() -> object:
        cases.append(make_case())
        return await work(cases[-1])

    async def check_case(attempt: Attempt[object]) -> None:
        await check(cases[-1], attempt)
        await cases[-1].assert_nothing_is_stuck()
        await assert_no_task_is_left(tasks)

    cancelled = await cancel_at_every_checkpoint(on_a_case_of_its_own, check_case)
    assert cancelled >= len(means_here())
    return cancelled


def in_memory(latency: float, *, burst: int = 5, interval: float = HOUR) -> Callable[[], Case]:
    def make() -> Case:
        return Case(WatchedStore(latency=latency), a_bucket(burst=burst, interval=interval))

    return make


async def acquire(case: Case) -> Permit:
    return await case.limiter.acquire(case.bucket)


async def check_that_a_grant_was_delivered_or_not_made(
    case: Case, attempt: Attempt[object]
) -> None:
    spent = case.bucket.limit.burst - await tokens_left(case.store, case.bucket)
    assert spent == isinstance(attempt.result, Permit), attempt


@MEMORY
async def test_a_cancelled_acquire_was_granted_and_delivered_or_spent_nothing(
    latency: float,
) -> None:
    await check_everywhere(
        in_memory(latency), acquire, check_that_a_grant_was_delivered_or_not_made
    )


async def use_a_permit_and_leave_it_unsent(case: Case) -> None:
    async with await case.limiter.acquire(case.bucket):
        await anyio.sleep(1)


async def check_that_all_tokens_are_back(case: Case, attempt: Attempt[object]) -> None:
    assert await tokens_left(case.store, case.bucket) == case.bucket.limit.burst, attempt


@MEMORY
async def test_an_unsent_permit_comes_back_wherever_its_holder_is_cancelled(
    latency: float,
) -> None:
    await check_everywhere(
        in_memory(latency), use_a_permit_and_leave_it_unsent, check_that_all_tokens_are_back
    )


@MEMORY
async def test_a_refund_happens_wherever_its_caller_is_cancelled(latency: float) -> None:
    async def refund(case: Case) -> None:
        permit = await case.limiter.acquire(case.bucket)
        try:
            await anyio.sleep(1)
        finally:
            await permit.refund()

    await check_everywhere(in_memory(latency), refund, check_that_all_tokens_are_back)


class SlowToConnect(MemoryStore):
    """Takes a second before a narrowing leaves; asyncio's own cancellation ends that."""

    async def narrow(self, key: str, limit: Limit, by: Narrowing, hint: State) -> NarrowReply:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(1)
        return await super().narrow(key, limit, by, hint)


@pytest.mark.parametrize("make_store", [MemoryStore, WatchedStore, SlowToConnect])
async def test_a_reply_narrows_wherever_its_caller_is_cancelled(
    make_store: Callable[[], Store],
) -> None:
    settling: list[Case] = []

    async def settle(case: Case) -> Settlement:
        permit = await case.limiter.acquire(case.bucket)
        permit.mark_sent()
        settling.append(case)
        return await permit.settle(200, {"X-Ratelimit-Remaining": "1"})

    async def check(case: Case, attempt: Attempt[object]) -> None:
        if case in settling:
            await case.limiter.acquire_nowait(case.bucket)
            assert await tokens_left(case.store, case.bucket) == 0, attempt

    def make_case() -> Case:
        return Case(make_store(), a_bucket(interval=HOUR))

    await check_everywhere(make_case, settle, check)
    assert len(settling) > 1


@MEMORY
async def test_a_cancelled_head_waits_at_nobody_s_cost(latency: float) -> None:
    async def wait_as_head(case: Case) -> float:
        permits = await drain(case.limiter, case.bucket)
        assert len(permits) == 2
        return (await case.limiter.acquire(case.bucket)).waited

    async def check(case: Case, attempt: Attempt[object]) -> None:
        spent = 2 if attempt.result is None else 3
        granted = (await case.store.peek([case.bucket.key])).states[0].granted
        assert granted <= spent, attempt
        before = anyio.current_time()
        with anyio.fail_after(10):
            await case.limiter.acquire(case.bucket)
        assert anyio.current_time() - before <= 1.5 + 4 * latency

    await check_everywhere(in_memory(latency, burst=2, interval=1.0), wait_as_head, check)


@MEMORY
async def test_cancelled_anywhere_in_a_queue_the_others_are_served_in_their_turn(
    latency: float,
) -> None:
    async def one_of_a_queue(limiter: WbRateLimiter, bucket: Bucket) -> None:
        await limiter.acquire(bucket)

    served: list[list[float]] = []

    async def queue_up(case: Case) -> None:
        times: list[float] = []
        served.append(times)

        async def other() -> None:
            await case.limiter.acquire(case.bucket)
            times.append(anyio.current_time())

        with anyio.CancelScope(shield=True):
            await drain(case.limiter, case.bucket)
        started = anyio.current_time()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(protected, other)
            await let_all_run()
            tasks.start_soon(one_of_a_queue, case.limiter, case.bucket)
            await let_all_run()
            tasks.start_soon(protected, other)
            await let_all_run()
            await anyio.sleep(5)
        times[:] = [time - started for time in times]

    async def check(case: Case, attempt: Attempt[object]) -> None:
        assert len(served[-1]) <= 2
        assert served[-1] == sorted(served[-1])
        if not attempt.requested:
            assert served[-1] == pytest.approx([1, 3], abs=0.7)

    await check_everywhere(in_memory(latency, burst=1, interval=1.0), queue_up, check)


async def protected(work: Callable[[], Awaitable[None]]) -> None:
    with anyio.CancelScope(shield=True):
        await work()
