"""Acquire: who is served when, what waiting costs, and when not to wait at all."""

from __future__ import annotations

import math
from collections import Counter
from datetime import UTC, datetime, timedelta

import anyio
import anyio.lowlevel
import pytest

from tests.support.stores import SECOND, WatchedStore, a_bucket, drain, let_all_run, tokens_left
from wbtrio import (
    Bucket,
    CallerError,
    Cause,
    CostExceedsBurst,
    MemoryStore,
    Permit,
    RateLimited,
    WbRateLimiter,
)
from wbtrio._lane import Waiter

pytestmark = pytest.mark.anyio

HOUR = 3600.0


async def test_a_full_bucket_grants_its_burst_at_once_and_then_one_each_interval() -> None:
    limiter, bucket = WbRateLimiter(), a_bucket(interval=0.6, burst=3)
    served = []
    for _ in range(6):
        await limiter.acquire(bucket)
        served.append(anyio.current_time())
    assert served == pytest.approx([0, 0, 0, 0.6, 1.2, 1.8], abs=1e-6)


async def test_waiters_of_one_bucket_are_served_first_come_first_served() -> None:
    limiter, bucket = WbRateLimiter(), a_bucket(burst=4)
    await drain(limiter, bucket)
    served: list[tuple[int, float]] = []

    async def caller(number: int, cost: int) -> None:
        await limiter.acquire(bucket, cost=cost)
        served.append((number, anyio.current_time()))

    async with anyio.create_task_group() as tasks:
        for number, cost in enumerate((1, 3, 1, 4, 1)):
            tasks.start_soon(caller, number, cost)
            await let_all_run()
    assert served == [(0, 1), (1, 4), (2, 5), (3, 9), (4, 10)]


async def test_a_bucket_does_not_wait_for_another() -> None:
    limiter, full = WbRateLimiter(), a_bucket("empty", interval=HOUR)
    await drain(limiter, full)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(limiter.acquire, full)
        await let_all_run()
        for other in (a_bucket("cards"), a_bucket("empty", account="seller-2")):
            permit = await limiter.acquire(other)
            assert permit.waited == 0
            assert permit.cause is None
        tasks.cancel_scope.cancel()


async def test_only_the_head_asks_the_store() -> None:
    store, bucket = WatchedStore(), a_bucket(burst=1)
    limiter = WbRateLimiter(store)
    await limiter.acquire(bucket)
    async with anyio.create_task_group() as tasks:
        for _ in range(50):
            tasks.start_soon(limiter.acquire, bucket)
        await let_all_run()
        assert store.calls["acquire"] == 1, "what the hints prove to be too early is not asked"
        await anyio.sleep(3.5)
        assert store.calls["acquire"] == 4
        tasks.cancel_scope.cancel()


async def test_a_bucket_full_enough_for_all_is_asked_by_all_at_once() -> None:
    store, bucket = WatchedStore(latency=1.0), a_bucket(burst=100)
    limiter = WbRateLimiter(store)
    async with anyio.create_task_group() as tasks:
        for _ in range(100):
            tasks.start_soon(limiter.acquire, bucket)
    assert anyio.current_time() == 2, "the calls were under way together"
    assert store.calls["acquire"] == 100


async def saturate(limiters: list[WbRateLimiter], bucket: Bucket, rounds: int, tasks: int) -> None:
    async def caller(limiter: WbRateLimiter) -> None:
        for _ in range(rounds):
            await limiter.acquire(bucket)

    async with anyio.create_task_group() as group:
        for limiter in limiters:
            for _ in range(tasks):
                group.start_soon(caller, limiter)


@pytest.mark.parametrize(("burst", "interval"), [(1, 1.0), (5, 0.2), (20, 0.1), (30, 0.333334)])
async def test_saturated_one_process_makes_one_store_call_per_token_and_wastes_none(
    burst: int, interval: float
) -> None:
    store, bucket = WatchedStore(), a_bucket(burst=burst, interval=interval)
    await saturate([WbRateLimiter(store)], bucket, rounds=10, tasks=50)
    assert anyio.current_time() == pytest.approx((500 - burst) * interval, abs=1e-3)
    assert store.calls["acquire"] <= 1.05 * 500


@pytest.mark.parametrize(("burst", "interval"), [(5, 0.2), (20, 0.1)])
async def test_saturated_two_processes_share_at_few_store_calls_and_waste_no_token(
    burst: int, interval: float
) -> None:
    shared, bucket = MemoryStore(), a_bucket(burst=burst, interval=interval)
    stores = [WatchedStore(shared), WatchedStore(shared)]
    await saturate([WbRateLimiter(store) for store in stores], bucket, rounds=10, tasks=50)
    turn_left_to_who_is_done = interval
    least = (1000 - burst) * interval
    assert least - 1e-3 <= anyio.current_time() <= least + turn_left_to_who_is_done + 1e-3
    assert sum(store.calls["acquire"] for store in stores) <= 1.3 * 1000


async def test_with_a_slow_store_no_token_of_a_saturated_bucket_is_wasted() -> None:
    store, bucket = WatchedStore(latency=0.01), a_bucket(burst=10, interval=0.1)
    await saturate([WbRateLimiter(store)], bucket, rounds=10, tasks=20)
    assert anyio.current_time() <= (200 - 10) * 0.1 + 5 * store.latency
    assert store.calls["acquire"] <= 1.05 * 200


async def test_a_permit_tells_its_wait_its_cost_and_its_buckets() -> None:
    limiter, bucket = WbRateLimiter(), a_bucket()
    await drain(limiter, bucket)
    permit = await limiter.acquire(bucket, cost=2)
    assert (permit.waited, permit.cause) == (2.0, Cause.OWN_USE)
    assert (permit.cost, permit.buckets) == (2, (bucket,))


async def test_a_wait_longer_than_allowed_is_refused_at_once_with_all_that_is_known() -> None:
    store, bucket = WatchedStore(), a_bucket(interval=HOUR, burst=1)
    limiter = WbRateLimiter(store, max_wait=60)
    await limiter.acquire(bucket)
    with pytest.raises(RateLimited) as caught:
        await limiter.acquire(bucket)
    refusal = caught.value
    assert anyio.current_time() == 0
    assert store.calls["acquire"] == 1
    assert refusal.retry_after == HOUR
    expected = datetime.now(UTC) + timedelta(hours=1)
    assert expected - timedelta(minutes=1) < refusal.resume_at <= expected
    assert (refusal.bucket, refusal.cause) == (bucket.key, Cause.OWN_USE)
    assert (refusal.account, refusal.status) == ("seller-1", None)
    assert bucket.key in str(refusal)
    assert "own_use" in str(refusal)
    assert limiter.statistics().total.refused == 1


async def test_a_wait_of_just_the_time_allowed_is_waited() -> None:
    limiter, bucket = WbRateLimiter(), a_bucket(interval=60, burst=1)
    await limiter.acquire(bucket)
    permit = await limiter.acquire(bucket, max_wait=60)
    assert permit.waited == 60
    with pytest.raises(RateLimited):
        await limiter.acquire(bucket, max_wait=59.999999)
    assert anyio.current_time() == 60


async def test_the_call_s_max_wait_replaces_the_limiter_s_own() -> None:
    limiter, bucket = WbRateLimiter(max_wait=0), a_bucket(burst=1)
    await limiter.acquire(bucket)
    with pytest.raises(RateLimited):
        await limiter.acquire(bucket)
    permit = await limiter.acquire(bucket, max_wait=math.inf)
    assert permit.waited == 1


async def test_patience_counts_all_that_wait_before() -> None:
    limiter, bucket = WbRateLimiter(), a_bucket(burst=3)
    await drain(limiter, bucket)
    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(limiter.acquire, bucket)
        await let_all_run()
        with pytest.raises(RateLimited) as caught:
            await limiter.acquire(bucket, max_wait=4.5)
        assert caught.value.retry_after == 5
        assert anyio.current_time() == 0
        assert (await limiter.acquire(bucket, max_wait=5)).waited == 5


async def test_patience_counts_a_queue_at_the_slower_pace_that_a_429_proved() -> None:
    limiter, bucket = WbRateLimiter(), a_bucket(burst=5)
    permit = await limiter.acquire(bucket)
    one_an_hour = {"Retry": "3600", "Reset": "3600", "Limit": "1"}
    await permit.settle(429, {f"X-Ratelimit-{name}": text for name, text in one_an_hour.items()})
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(limiter.acquire, bucket)
        await let_all_run()
        with pytest.raises(RateLimited) as caught:
            await limiter.acquire(bucket, max_wait=1.5 * HOUR)
        assert (anyio.current_time(), caught.value.retry_after) == (0, 2 * HOUR)
        tasks.cancel_scope.cancel()


async def test_fail_fast_refuses_what_the_enclosing_scope_would_not_live_to_see() -> None:
    limiter, bucket = WbRateLimiter(), a_bucket(burst=1, interval=10)
    await limiter.acquire(bucket)
    with anyio.fail_after(9), pytest.raises(RateLimited):
        await limiter.acquire(bucket, fail_fast=True)
    assert anyio.current_time() == 0
    with anyio.fail_after(11):
        permit = await limiter.acquire(bucket, fail_fast=True)
    assert permit.waited == 10


async def test_fail_fast_without_a_deadline_waits() -> None:
    limiter, bucket = WbRateLimiter(), a_bucket(burst=1, interval=10)
    await limiter.acquire(bucket)
    assert (await limiter.acquire(bucket, fail_fast=True)).waited == 10


async def test_a_deadline_without_fail_fast_just_ends_the_wait() -> None:
    store, bucket = WatchedStore(), a_bucket(burst=1, interval=10)
    limiter = WbRateLimiter(store)
    await limiter.acquire(bucket)
    with anyio.move_on_after(9) as scope:
        await limiter.acquire(bucket)
    assert scope.cancelled_caught
    assert (store.calls["acquire"], limiter.statistics().total.refused) == (1, 0)
    assert (await limiter.acquire(bucket)).waited == 1


async def test_acquire_nowait_takes_what_is_there_and_never_waits() -> None:
    store, bucket = WatchedStore(), a_bucket(burst=2)
    limiter = WbRateLimiter(store)
    assert len(await drain(limiter, bucket)) == 2
    with pytest.raises(RateLimited) as caught:
        await limiter.acquire_nowait(bucket)
    assert (anyio.current_time(), caught.value.retry_after) == (0, 1)
    assert store.calls["acquire"] == 2


async def test_acquire_nowait_learns_from_the_store_what_others_took() -> None:
    shared, bucket = MemoryStore(), a_bucket(burst=2)
    await drain(WbRateLimiter(shared), bucket)
    store = WatchedStore(shared)
    with pytest.raises(RateLimited) as caught:
        await WbRateLimiter(store).acquire_nowait(bucket)
    assert (store.calls["acquire"], caught.value.retry_after) == (1, 1)


async def test_acquire_nowait_does_not_overtake_who_waits() -> None:
    limiter, bucket = WbRateLimiter(), a_bucket(burst=3)
    await drain(limiter, bucket)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: limiter.acquire(bucket, cost=3))
        await anyio.sleep(2)
        with pytest.raises(RateLimited) as caught:
            await limiter.acquire_nowait(bucket)
        assert caught.value.retry_after == 2


async def test_who_may_not_wait_stands_still_behind_one_who_lets_uneven_travel_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limiter, bucket = WbRateLimiter(), a_bucket(interval=0.1, burst=3)
    await drain(limiter, bucket)
    for round_trip in (0, SECOND // 5):
        limiter._ledger.lane(bucket).learn_round_trip(round_trip)
    looks, sleep = 0, Waiter.sleep

    async def counted(self: Waiter, until: int | None) -> None:
        nonlocal looks
        looks += 1
        await sleep(self, until)

    monkeypatch.setattr(Waiter, "sleep", counted)
    await anyio.sleep(0.15)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(limiter.acquire, bucket)
        await anyio.sleep(0.1)
        tasks.start_soon(limiter.acquire_nowait, bucket)
        await let_all_run()
        still = looks
        if looks > 2:
            tasks.cancel_scope.cancel()
    assert still == 2
    assert anyio.current_time() == pytest.approx(0.4)


async def test_a_hold_of_hours_refuses_the_impatient_anywhere_in_the_queue_at_once() -> None:
    limiter, bucket = WbRateLimiter(), a_bucket(burst=1)
    await limiter.acquire(bucket)
    served: dict[str, float] = {}
    refused: dict[str, tuple[float, str]] = {}

    async def caller(name: str, max_wait: float) -> None:
        try:
            await limiter.acquire(bucket, max_wait=max_wait)
        except RateLimited as refusal:
            refused[name] = anyio.current_time(), refusal.cause
        else:
            served[name] = anyio.current_time()

    async with anyio.create_task_group() as tasks:
        patience = (("first", 100), ("patient", math.inf), ("third", 100), ("day", 24 * HOUR))
        for name, max_wait in patience:
            tasks.start_soon(caller, name, max_wait)
            await let_all_run()
        await anyio.sleep(0.5)
        await limiter.penalize(bucket, 5 * HOUR)
        await let_all_run()
        at_once = (0.5, Cause.PENALTY)
        assert refused == {"first": at_once, "third": at_once}
    held_until = 0.5 + 5 * HOUR
    assert served["patient"] == held_until
    assert served["day"] == held_until + 1


async def test_a_narrowing_refuses_who_can_no_longer_be_served_in_time() -> None:
    limiter, bucket = WbRateLimiter(), a_bucket(burst=10, interval=1)
    await drain(limiter, bucket)
    refused_at: list[float] = []

    async def impatient() -> None:
        with pytest.raises(RateLimited):
            await limiter.acquire(bucket, max_wait=5)
        refused_at.append(anyio.current_time())

    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(limiter.acquire, bucket)
            await let_all_run()
        tasks.start_soon(impatient)
        await anyio.sleep(0.5)
        await limiter.reconcile(bucket, {"X-Ratelimit-Remaining": "0"})
        await let_all_run()
        assert refused_at == []
        await limiter.penalize(bucket, 3)
        await let_all_run()
        assert refused_at == [0.5]


async def test_a_narrowing_without_a_hold_refuses_at_once_too() -> None:
    limiter, bucket = WbRateLimiter(), a_bucket(burst=10)
    await limiter.acquire(bucket, cost=7)
    async with anyio.create_task_group() as tasks:

        async def impatient() -> None:
            with pytest.raises(RateLimited) as caught:
                await limiter.acquire(bucket, cost=8, max_wait=6)
            assert (anyio.current_time(), caught.value.retry_after) == (1, 8)

        tasks.start_soon(impatient)
        await anyio.sleep(1)
        await limiter.reconcile(bucket, {"X-Ratelimit-Remaining": "0"})


async def test_a_cancelled_waiter_spends_nothing_and_the_next_goes_on_in_its_place() -> None:
    store, bucket = MemoryStore(), a_bucket(burst=2)
    limiter = WbRateLimiter(store)
    await drain(limiter, bucket)
    served: list[float] = []

    async def caller() -> None:
        await limiter.acquire(bucket)
        served.append(anyio.current_time())

    async with anyio.create_task_group() as tasks:
        with anyio.CancelScope() as first:
            async with anyio.create_task_group() as doomed:
                doomed.start_soon(lambda: limiter.acquire(bucket, cost=2))
                await let_all_run()
                for _ in range(3):
                    tasks.start_soon(caller)
                await anyio.sleep(1.25)
                first.cancel()
        await let_all_run()
        assert served == [1.25], "the token that the head had waited beside is there at once"
    assert served == [1.25, 2, 3]
    assert limiter.statistics().total.granted == 5


async def test_cancelled_followers_leave_no_gap() -> None:
    limiter, bucket = WbRateLimiter(), a_bucket(burst=1)
    await limiter.acquire(bucket)
    served: list[float] = []

    async def caller(patience: float) -> None:
        with anyio.move_on_after(patience):
            await limiter.acquire(bucket)
            served.append(anyio.current_time())

    async with anyio.create_task_group() as tasks:
        for number in range(40):
            tasks.start_soon(caller, 0.5 if number % 4 else math.inf)
            await let_all_run()
    assert served == list(range(1, 11))


async def test_who_is_cancelled_before_asking_spends_nothing() -> None:
    store, bucket = WatchedStore(), a_bucket()
    limiter = WbRateLimiter(store)
    with anyio.CancelScope() as scope:
        scope.cancel()
        await limiter.acquire(bucket)
    assert scope.cancelled_caught
    assert not store.calls


async def test_a_refund_wakes_the_head() -> None:
    limiter, bucket = WbRateLimiter(), a_bucket(burst=1, interval=HOUR)
    permit = await limiter.acquire(bucket)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(limiter.acquire, bucket)
        await anyio.sleep(5)
        assert await permit.refund()
    assert anyio.current_time() == 5


@pytest.mark.parametrize("cost", [-1, 0, 6, 1_000_000])
async def test_a_cost_that_no_full_bucket_grants_is_refused_before_any_store_call(
    cost: int,
) -> None:
    store, bucket = WatchedStore(), a_bucket(burst=5)
    limiter = WbRateLimiter(store)
    with pytest.raises(CostExceedsBurst) as caught:
        await limiter.acquire(a_bucket("wide", burst=10**7), bucket, cost=cost)
    assert not store.calls
    error = caught.value
    assert error.cost == cost
    assert (error.bucket, error.burst) == (bucket.key, 5) or cost < 1


async def test_the_whole_burst_may_be_asked_for_at_once() -> None:
    limiter, bucket = WbRateLimiter(), a_bucket(burst=5)
    assert (await limiter.acquire(bucket, cost=5)).waited == 0
    assert (await limiter.acquire(bucket, cost=5)).waited == 5


async def test_several_buckets_grant_all_or_nothing_and_the_deciding_one_is_named() -> None:
    store = MemoryStore()
    limiter = WbRateLimiter(store)
    wide, narrow = a_bucket("wide", burst=5), a_bucket("sandbox", burst=1, interval=10)
    await limiter.acquire(wide, narrow)
    with pytest.raises(RateLimited) as caught:
        await limiter.acquire(wide, narrow, max_wait=5)
    assert (caught.value.bucket, caught.value.retry_after) == (narrow.key, 10)
    assert await tokens_left(store, wide) == 4
    permit = await limiter.acquire(wide, narrow)
    assert (permit.waited, permit.buckets) == (10, (wide, narrow))
    counted = limiter.statistics().buckets
    assert counted[wide.key].granted == counted[narrow.key].granted == 2


async def test_several_buckets_held_by_another_process_grant_nothing_from_any() -> None:
    shared = MemoryStore()
    wide, narrow = a_bucket("wide", burst=5), a_bucket("sandbox", burst=1, interval=10)
    await WbRateLimiter(shared).penalize(narrow, 100)
    with pytest.raises(RateLimited) as caught:
        await WbRateLimiter(shared).acquire_nowait(wide, narrow)
    assert (caught.value.bucket, caught.value.cause) == (narrow.key, Cause.HELD)
    assert await tokens_left(shared, wide) == 5


async def test_patience_counts_the_further_buckets_of_those_before() -> None:
    limiter = WbRateLimiter()
    wide, narrow = a_bucket("wide", burst=50), a_bucket("sandbox", burst=1, interval=HOUR)
    await limiter.acquire(wide, narrow)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(limiter.acquire, wide, narrow)
        await let_all_run()
        with pytest.raises(RateLimited) as caught:
            await limiter.acquire(wide, narrow, max_wait=60)
        assert (anyio.current_time(), caught.value.bucket) == (0, narrow.key)
        tasks.cancel_scope.cancel()


async def test_a_refund_to_a_further_bucket_wakes_who_waits_for_it() -> None:
    limiter, shared = WbRateLimiter(), a_bucket("sandbox", burst=1, interval=HOUR)
    permit = await limiter.acquire(a_bucket("prices"), shared)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(limiter.acquire, a_bucket("cards"), shared)
        await anyio.sleep(5)
        assert await permit.refund()
    assert anyio.current_time() == 5


async def test_a_hold_on_a_further_bucket_refuses_the_impatient_anywhere_in_the_queue() -> None:
    limiter = WbRateLimiter()
    wide, shared = a_bucket("wide", burst=50), a_bucket("sandbox", burst=1, interval=10)
    await limiter.acquire(wide, shared)
    refused: list[tuple[float, str]] = []

    async def impatient() -> None:
        with pytest.raises(RateLimited) as caught:
            await limiter.acquire(wide, shared, max_wait=100)
        refused.append((anyio.current_time(), caught.value.bucket))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(limiter.acquire, wide, shared)
        await let_all_run()
        tasks.start_soon(impatient)
        await anyio.sleep(5)
        await limiter.penalize(shared, HOUR)
        await let_all_run()
        assert refused == [(5, shared.key)]


async def test_statistics_are_a_snapshot_of_each_bucket_and_their_sum() -> None:
    limiter, bucket, other = WbRateLimiter(), a_bucket(burst=2), a_bucket("other")
    before = limiter.statistics()
    assert before.buckets == {}
    await drain(limiter, bucket)
    await limiter.acquire(bucket)
    await (await limiter.acquire(other)).refund()
    with pytest.raises(RateLimited):
        await limiter.acquire_nowait(bucket)
    after = limiter.statistics()
    assert before.buckets == {}
    mine = after.buckets[bucket.key]
    assert (mine.granted, mine.refused, mine.waited_us) == (3, 1, SECOND)
    assert (mine.store_calls, after.buckets[other.key].store_calls) == (3, 2)
    assert after.buckets[other.key].refunded == 1
    assert (after.total.granted, after.total.store_calls) == (4, 5)


async def test_acquire_is_a_checkpoint_even_when_it_need_not_wait() -> None:
    limiter, bucket = WbRateLimiter(), a_bucket(burst=10)
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(other)
        permits = await drain(limiter, bucket)
        tasks.cancel_scope.cancel()
    assert len(permits) == 10
    assert turns >= 9


async def test_no_name_of_a_limiter_or_permit_shows_more_than_the_bucket() -> None:
    limiter, bucket = WbRateLimiter(), a_bucket()
    permit: Permit = await limiter.acquire(bucket)
    assert repr(permit) == f"<Permit: 1 of {bucket.key}>"
    assert repr(limiter) == "<WbRateLimiter on <MemoryStore: 1 buckets>: 1 buckets>"


async def test_buckets_that_cannot_go_together_are_refused_before_anything_is_asked() -> None:
    store = WatchedStore()
    limiter = WbRateLimiter(store)
    bucket, stranger = a_bucket(), a_bucket(account="seller-2")
    with pytest.raises(CallerError, match="several accounts"):
        await limiter.acquire(bucket, stranger)
    with pytest.raises(CallerError, match="named twice"):
        await limiter.acquire(bucket, bucket)
    assert not store.calls


@pytest.mark.parametrize("processes", [4, 16])
async def test_processes_that_share_a_slow_budget_seldom_ask_in_vain_and_none_starves(
    processes: int,
) -> None:
    shared, bucket = MemoryStore(), a_bucket(interval=0.2, burst=20)
    # None is as near to the store as another: who always asks first would get all.
    stores = [WatchedStore(shared, latency=(10 + 3 * n) / 10_000) for n in range(processes)]
    served: Counter[int] = Counter()

    async def work(process: int, limiter: WbRateLimiter) -> None:
        while True:
            await limiter.acquire(bucket)
            served[process] += 1

    with anyio.move_on_after(300):
        async with anyio.create_task_group() as tasks:
            for process, store in enumerate(stores):
                limiter = WbRateLimiter(store)
                for _ in range(2):
                    tasks.start_soon(work, process, limiter)
    grants = served.total()
    assert grants >= 0.99 * (20 + 300 / 0.2)
    assert sum(store.calls["acquire"] for store in stores) <= 2.5 * grants
    assert min(served.values()) >= 0.3 * grants / processes
