"""Cancellation at every checkpoint: no token lost, none spent twice, no lane blocked, no task left.

In virtual time, with and without a store that takes its time. On asyncio also by the loop's own
`Task.cancel()`, which comes once and ignores all shields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest

from tests.support.limiter_cases import Case, check_everywhere
from tests.support.stores import WatchedStore, a_bucket, drain, let_all_run, tokens_left
from wbtrio import MemoryStore, Permit, Settlement, WbRateLimiter

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.support.cancellation import Attempt
    from wbtrio import Bucket, Limit
    from wbtrio._bucket import Narrowing, State
    from wbtrio.stores import NarrowReply, Store

pytestmark = pytest.mark.anyio

HOUR = 3600.0
MEMORY = pytest.mark.parametrize("latency", [0.0, 0.1])


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
