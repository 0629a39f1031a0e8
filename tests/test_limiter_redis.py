"""The limiter on a real Redis: its commands, and what cancellation and outages cost it."""

from __future__ import annotations

import itertools
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio
import anyio.lowlevel
import pytest

from tests.support.cancellation import Attempt, Means, cancellations, means_here
from tests.support.limiter_cases import Case, check_everywhere
from tests.support.logs import warnings_logged
from tests.support.redis_server import RedisServer
from tests.support.stores import SECOND, a_bucket, drain, tokens_left
from wbtrio import (
    Cause,
    Permit,
    RateLimited,
    Reason,
    RedisStore,
    Settlement,
    StoreError,
    StoreUnavailable,
    WbRateLimiter,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Sequence

    from wbtrio import Bucket
    from wbtrio.stores import RefundReply, RefundRequest

pytestmark = [pytest.mark.anyio, pytest.mark.real_io]

HOUR = 3600.0
accounts = (f"seller-{number}" for number in itertools.count())


def a_fresh_bucket(*, burst: int = 5, interval: float = HOUR) -> Bucket:
    return a_bucket(burst=burst, interval=interval, account=next(accounts))


@asynccontextmanager
async def cases(url: str) -> AsyncIterator[Callable[[], Case]]:
    """Makes cases that share one store, each with a bucket of its own."""
    async with RedisStore(url, timeout=10) as store:
        yield lambda: Case(store, a_fresh_bucket())


@pytest.mark.parametrize(
    ("status", "headers", "reason", "commands"),
    [
        (200, {}, Reason.NOT_OBSERVED, 0),
        (200, {"X-Ratelimit-Remaining": "4"}, Reason.AS_EXPECTED, 0),
        (200, {"X-Ratelimit-Remaining": "5"}, Reason.AT_CAPACITY, 0),
        (200, {"X-Ratelimit-Remaining": "1"}, Reason.NARROWED, 1),
        (404, {}, Reason.CHARGED, 1),
        (429, {"X-Ratelimit-Retry": "9", "X-Ratelimit-Reset": "9"}, Reason.PENALIZED, 1),
    ],
)
async def test_settling_is_one_command_where_it_narrows_and_none_where_it_is_skipped(
    redis_server: RedisServer,
    redis_url: str,
    status: int,
    headers: dict[str, str],
    reason: Reason,
    commands: int,
) -> None:
    async with RedisStore(redis_url) as store:
        permit = await WbRateLimiter(store).acquire(a_fresh_bucket(), error_cost=10)
        redis_server.reset()
        settlement = await permit.settle(status, headers)
        calls = redis_server.calls()
    assert (settlement.reason, settlement.store_called) == (reason, bool(commands))
    assert (calls["evalsha"], calls["eval"]) == (commands, 0)


async def test_a_permit_and_its_refund_are_one_command_each(
    redis_server: RedisServer, redis_url: str
) -> None:
    async with RedisStore(redis_url) as store:
        limiter, bucket = WbRateLimiter(store), a_fresh_bucket()
        redis_server.reset()
        async with await limiter.acquire(bucket):
            assert redis_server.calls()["evalsha"] == 1
        assert redis_server.calls()["evalsha"] == 2
        assert await tokens_left(store, bucket) == 5
        assert limiter.statistics().total.store_calls == 2


async def test_a_wait_that_the_hints_foresee_asks_no_earlier(
    redis_server: RedisServer, redis_url: str
) -> None:
    async with RedisStore(redis_url) as store:
        limiter, bucket = WbRateLimiter(store), a_fresh_bucket(burst=2, interval=0.02)
        await drain(limiter, bucket)
        redis_server.reset()
        async with anyio.create_task_group() as tasks:
            for _ in range(10):
                tasks.start_soon(limiter.acquire, bucket)
        asked = redis_server.calls()["evalsha"]
    assert 10 <= asked <= 11
    assert limiter.statistics().total.granted == 12


async def test_two_processes_on_one_server_never_exceed_the_budget(redis_url: str) -> None:
    bucket = a_fresh_bucket(burst=10, interval=0.002)

    async def caller(limiter: WbRateLimiter) -> None:
        for _ in range(10):
            await limiter.acquire(bucket)

    async with RedisStore(redis_url) as one, RedisStore(redis_url) as other:
        limiters = [WbRateLimiter(one), WbRateLimiter(other)]
        started, _ = await one.peek([])
        async with anyio.create_task_group() as tasks:
            for limiter in limiters * 5:
                tasks.start_soon(caller, limiter)
        ended, (state,) = await one.peek([bucket.key])
    assert sum(limiter.statistics().total.granted for limiter in limiters) == 100
    assert state.granted <= 100
    assert (100 - 10) * bucket.limit.interval <= ended - started


async def test_what_one_process_learns_the_other_is_told_as_held(redis_url: str) -> None:
    bucket = a_fresh_bucket()
    async with RedisStore(redis_url) as one, RedisStore(redis_url) as other:
        permit = await WbRateLimiter(one).acquire(bucket)
        await permit.settle(429, {"X-Ratelimit-Retry": "300", "X-Ratelimit-Limit": "5"})
        with pytest.raises(RateLimited) as caught:
            await WbRateLimiter(other).acquire_nowait(bucket)
    assert caught.value.cause is Cause.HELD
    assert 299 < caught.value.retry_after <= 300


def hold_back_replies(server: RedisServer) -> None:
    """For some milliseconds, so that whoever asks the server certainly has to wait."""
    server.client.client_pause(3)


async def test_a_cancelled_acquire_was_granted_and_delivered_or_spent_nothing(
    redis_server: RedisServer, redis_url: str
) -> None:
    async def acquire(case: Case) -> Permit:
        hold_back_replies(redis_server)
        return await case.limiter.acquire(case.bucket)

    async def check(case: Case, attempt: Attempt[object]) -> None:
        spent = 5 - await tokens_left(case.store, case.bucket)
        assert spent == isinstance(attempt.result, Permit), attempt

    async with cases(redis_url) as make_case:
        await check_everywhere(make_case, acquire, check)


async def test_an_unsent_permit_comes_back_wherever_its_holder_is_cancelled(
    redis_server: RedisServer, redis_url: str
) -> None:
    async def leave_unsent(case: Case) -> None:
        hold_back_replies(redis_server)
        async with await case.limiter.acquire(case.bucket):
            hold_back_replies(redis_server)

    async def check(case: Case, attempt: Attempt[object]) -> None:
        assert await tokens_left(case.store, case.bucket) == 5, attempt

    async with cases(redis_url) as make_case:
        await check_everywhere(make_case, leave_unsent, check)


async def test_a_reply_narrows_wherever_its_caller_is_cancelled(
    redis_server: RedisServer, redis_url: str
) -> None:
    settling: list[Case] = []

    async def settle(case: Case) -> Settlement:
        permit = await case.limiter.acquire(case.bucket)
        permit.mark_sent()
        settling.append(case)
        hold_back_replies(redis_server)
        return await permit.settle(200, {"X-Ratelimit-Remaining": "1"})

    async def check(case: Case, attempt: Attempt[object]) -> None:
        if case in settling:
            await case.limiter.acquire_nowait(case.bucket)
            assert await tokens_left(case.store, case.bucket) == 0, attempt

    async with cases(redis_url) as make_case:
        await check_everywhere(make_case, settle, check)
    assert len(settling) > 1


async def test_a_crowd_of_which_many_are_cancelled_loses_no_token(redis_url: str) -> None:
    delivered: list[Permit] = []

    async def caller(scope: anyio.CancelScope, limiter: WbRateLimiter, bucket: Bucket) -> None:
        with scope:
            delivered.append(await limiter.acquire(bucket))

    async with RedisStore(redis_url, timeout=10) as store:
        limiter, bucket = WbRateLimiter(store), a_fresh_bucket(burst=150)
        scopes = [anyio.CancelScope() for _ in range(300)]
        async with anyio.create_task_group() as tasks:
            for scope in scopes:
                tasks.start_soon(caller, scope, limiter, bucket)
            for scope in scopes[::3]:
                await anyio.lowlevel.checkpoint()
                scope.cancel()
            with anyio.fail_after(20):
                while len(delivered) < 150:
                    await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
        assert len(delivered) == 150
        assert await tokens_left(store, bucket) == 0
        assert not limiter._ledger.lanes[bucket.key].queue


async def test_asyncio_s_cancellation_is_not_lost_with_the_store(
    redis_server: RedisServer, redis_url: str
) -> None:
    class Refusing(RedisStore):
        async def refund(self, requests: Sequence[RefundRequest]) -> RefundReply:
            raise StoreUnavailable(f"it broke before {len(requests)} refunds")

    async with Refusing(redis_url, timeout=10) as store:
        for means in means_here():
            for attempt in cancellations(means):
                limiter = WbRateLimiter(store)
                hold_back_replies(redis_server)
                await attempt.run(limiter.acquire(a_fresh_bucket()))
                if attempt.requested and means is not Means.SCOPE:
                    assert attempt.cancelled, attempt
            assert isinstance(attempt.result, Permit)


async def use_until_the_store_is_back(limiter: WbRateLimiter, bucket: Bucket) -> None:
    with anyio.fail_after(20):
        while limiter._ledger.is_down:
            await limiter.acquire(bucket)
            await anyio.lowlevel.checkpoint()


@pytest.fixture
def warnings() -> Iterator[list[str]]:
    """What is logged as a warning or worse; filled while the test runs."""
    with warnings_logged() as found:
        yield found


async def test_a_server_that_dies_and_comes_back_empty_learns_all_that_was_spent(
    warnings: list[str],
) -> None:
    bucket = a_fresh_bucket(burst=1_000_000)
    with RedisServer() as server:
        async with RedisStore(server.url) as store:
            limiter = WbRateLimiter(store)
            permit = await limiter.acquire(bucket)
            server.kill()
            settlement = await permit.settle(200, {"X-Ratelimit-Remaining": "900000"})
            assert settlement.reason is Reason.NARROWED
            for _ in range(10):
                assert (await limiter.acquire(bucket)).waited == 0
            assert len(warnings) == 1
            server.start()
            await use_until_the_store_is_back(limiter, bucket)
            await limiter.acquire(bucket)
            granted = limiter.statistics().total.granted
            assert await tokens_left(store, bucket) == 900_000 - (granted - 1)
    assert len(warnings) == 2


async def test_a_server_that_hangs_keeps_nobody_longer_than_the_timeout(
    warnings: list[str],
) -> None:
    bucket = a_fresh_bucket(burst=1_000_000)
    with RedisServer() as server:
        async with RedisStore(server.url, timeout=0.05, connect_timeout=0.05) as store:
            limiter = WbRateLimiter(store)
            permit = await limiter.acquire(bucket)
            server.pause()
            with anyio.fail_after(5):
                await limiter.acquire(bucket)
                await permit.settle(200, {"X-Ratelimit-Remaining": "900000"})
                async with await limiter.acquire(bucket):
                    pass
            assert len(warnings) == 1
            assert limiter.statistics().total.lost_replies == 1
            server.resume()
            await use_until_the_store_is_back(limiter, bucket)
            assert await tokens_left(store, bucket) < 900_000
    assert len(warnings) == 2


async def test_on_request_a_dead_server_is_an_error_before_anything_is_sent() -> None:
    with RedisServer() as server:
        async with RedisStore(server.url) as store:
            limiter, bucket = WbRateLimiter(store, on_store_error="raise"), a_fresh_bucket()
            await limiter.acquire(bucket)
            server.kill()
            with pytest.raises(StoreError):
                await limiter.acquire(bucket)
    assert limiter.statistics().total.granted == 1


async def test_a_wait_is_told_in_seconds_of_the_server(redis_url: str) -> None:
    async with RedisStore(redis_url) as store:
        limiter, bucket = WbRateLimiter(store), a_fresh_bucket(burst=1, interval=60)
        await limiter.acquire(bucket)
        with pytest.raises(RateLimited) as caught:
            await limiter.acquire(bucket, max_wait=1)
        now, (state,) = await store.peek([bucket.key])
    assert caught.value.retry_after >= (state.full_at - now) / SECOND
    assert caught.value.retry_after <= 60
