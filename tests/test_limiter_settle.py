"""Settling: what a reply of WB does to its bucket, before whoever sent it can send again."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import anyio
import pytest

from tests.support.stores import WatchedStore, a_bucket, drain, let_all_run, tokens_left
from wbtrio import Cause, MemoryStore, Permit, RateLimited, Reason, WbRateLimiter

if TYPE_CHECKING:
    from wbtrio import Bucket

pytestmark = pytest.mark.anyio

TEN = a_bucket(burst=10)


def says(
    remaining: int | None = None,
    *,
    reset: float | None = None,
    retry: float | None = None,
    limit: int | None = None,
) -> dict[str, str]:
    """The headers that state this much of WB's counter."""
    stated = {"Remaining": remaining, "Reset": reset, "Retry": retry, "Limit": limit}
    return {
        f"X-Ratelimit-{name}": str(value) for name, value in stated.items() if value is not None
    }


async def wait_for_next(limiter: WbRateLimiter, bucket: Bucket) -> float:
    """Seconds that the next permit takes."""
    started = anyio.current_time()
    await limiter.acquire(bucket)
    return anyio.current_time() - started


async def test_a_lower_remaining_narrows_the_bucket_and_names_foreign_use() -> None:
    store = WatchedStore()
    limiter = WbRateLimiter(store)
    permit = await limiter.acquire(TEN)
    settlement = await permit.settle(200, says(2))
    assert (settlement.reason, settlement.store_called) == (Reason.NARROWED, True)
    assert (settlement.retry_after, settlement.cause) == (0, None)
    assert store.calls["narrow"] == 1
    assert await tokens_left(store, TEN) == 2
    await limiter.acquire(TEN, cost=2)
    with pytest.raises(RateLimited) as caught:
        await limiter.acquire_nowait(TEN)
    assert caught.value.cause is Cause.FOREIGN_USE
    counted = limiter.statistics().total
    assert (counted.settled, counted.narrowed, counted.skipped, counted.foreign) == (1, 1, 0, 7)


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ({}, Reason.NOT_OBSERVED),
        ({"X-Ratelimit-Remaining": "many"}, Reason.NOT_OBSERVED),
        (says(9), Reason.AS_EXPECTED),
        (says(10), Reason.AT_CAPACITY),
        (says(500, limit=500), Reason.AT_CAPACITY),
    ],
)
async def test_a_reply_without_news_costs_no_store_call(
    headers: dict[str, str], reason: Reason
) -> None:
    store = WatchedStore()
    limiter = WbRateLimiter(store)
    permit = await limiter.acquire(TEN)
    settlement = await permit.settle(200, headers)
    assert (settlement.reason, settlement.store_called) == (reason, False)
    assert store.calls == {"acquire": 1}
    assert await tokens_left(store, TEN) == 9
    counted = limiter.statistics().total
    assert (counted.settled, counted.skipped, counted.foreign) == (1, 1, 0)


@pytest.mark.parametrize("order", [range(10), range(9, -1, -1), (3, 8, 1, 9, 0, 2, 7, 5, 4, 6)])
async def test_replies_that_overtook_each_other_are_no_news(order: tuple[int, ...]) -> None:
    store = WatchedStore()
    limiter = WbRateLimiter(store)
    permits = await drain(limiter, TEN)
    remaining = iter(range(9, -1, -1))
    for number in order:
        await permits[number].settle(200, says(next(remaining)))
    assert store.calls["narrow"] == 0
    assert limiter.statistics().total.foreign == 0


async def test_ten_replies_with_the_same_news_narrow_once_and_count_one_stranger() -> None:
    store, bucket = WatchedStore(), a_bucket(burst=20)
    limiter = WbRateLimiter(store)
    permits = [await limiter.acquire(bucket) for _ in range(10)]
    async with anyio.create_task_group() as tasks:
        for permit, remaining in zip(permits, range(14, 4, -1), strict=True):
            tasks.start_soon(permit.settle, 200, says(remaining))
    assert await tokens_left(store, bucket) == 5
    assert limiter.statistics().total.foreign == 5


async def test_the_first_reply_already_counts_what_is_under_way() -> None:
    store, bucket = MemoryStore(), a_bucket(burst=20)
    limiter = WbRateLimiter(store)
    permits = [await limiter.acquire(bucket) for _ in range(10)]
    await permits[0].settle(200, says(4))
    assert await tokens_left(store, bucket) == 4 - 9


async def test_what_refilled_meanwhile_is_no_foreign_use() -> None:
    store = WatchedStore()
    limiter = WbRateLimiter(store)
    for _ in range(30):
        permit = await limiter.acquire(TEN)
        left = await tokens_left(store, TEN)
        await anyio.sleep(0.4)
        await permit.settle(200, says(left))
    assert limiter.statistics().total.foreign == 0
    assert store.calls["narrow"] == 0


async def test_foreign_use_is_what_was_missing_at_the_grant_however_late_the_reply() -> None:
    limiter = WbRateLimiter()
    permit = await limiter.acquire(TEN)
    await anyio.sleep(5)
    await permit.settle(200, says(5))
    assert limiter.statistics().total.foreign == 4


async def test_a_429_counts_as_an_empty_bucket_that_did_not_count_the_request() -> None:
    limiter = WbRateLimiter()
    permit = await limiter.acquire(TEN)
    await permit.settle(429, says(5, retry=2, reset=11, limit=10))
    assert limiter.statistics().total.foreign == 10


@pytest.mark.parametrize("headers", [True, False])
async def test_two_404s_of_a_marketplace_operation_empty_its_bucket(headers: bool) -> None:
    """Field cases WB-032 and WB-059: a 4XX counts as ten requests."""
    store, bucket = WatchedStore(), a_bucket(burst=20, interval=0.2)
    limiter = WbRateLimiter(store)
    for left in (10, 0):
        permit = await limiter.acquire(bucket, error_cost=10)
        settlement = await permit.settle(404, says(left) if headers else {})
        assert settlement.reason is Reason.CHARGED
        assert await tokens_left(store, bucket) == left
    assert settlement.retry_after == pytest.approx(0.2)
    assert settlement.cause is Cause.OWN_USE
    assert store.calls["narrow"] == 2
    assert limiter.statistics().total.foreign == 0
    assert await wait_for_next(limiter, bucket) == pytest.approx(0.2)


@pytest.mark.parametrize("status", [200, 204, 301, 429, 500, 503])
async def test_no_other_status_takes_the_error_cost(status: int) -> None:
    store, bucket = MemoryStore(), a_bucket(burst=20)
    permit = await WbRateLimiter(store).acquire(bucket, error_cost=10)
    await permit.settle(status, {}, refused=False)
    assert await tokens_left(store, bucket) == 19


@pytest.mark.parametrize("status", [400, 401, 404, 409, 422])
async def test_each_caller_s_error_takes_the_error_cost_even_into_debt(status: int) -> None:
    store, bucket = MemoryStore(), a_bucket(burst=5)
    permit = await WbRateLimiter(store).acquire(bucket, error_cost=10)
    await permit.settle(status, {})
    assert await tokens_left(store, bucket) == -5


@pytest.mark.parametrize(("status", "slowed"), [(404, 0), (200, 1)])
async def test_a_reset_that_an_error_s_debt_explains_proves_no_slower_limit(
    status: int, slowed: int
) -> None:
    limiter, bucket = WbRateLimiter(), a_bucket(burst=20)
    first = await limiter.acquire(bucket, error_cost=10)
    second = await limiter.acquire(bucket, error_cost=10)
    await first.settle(status, {})
    await second.settle(429, says(0, retry=11, reset=30, limit=20))
    assert limiter.statistics().total.slowed == slowed


async def test_a_429_holds_until_its_retry_and_refills_until_its_reset() -> None:
    """WB's own example: Reset 29, Retry 2, Limit 10."""
    bucket = a_bucket(burst=10, interval=3)
    limiter = WbRateLimiter()
    *_, permit = await drain(limiter, bucket)
    await anyio.sleep(1)
    settlement = await permit.settle(429, says(0, reset=29, retry=2, limit=10))
    assert (settlement.reason, settlement.cause) == (Reason.PENALIZED, Cause.PENALTY)
    assert settlement.retry_after == 2
    with pytest.raises(RateLimited) as caught:
        await limiter.acquire(bucket, max_wait=1)
    assert (caught.value.cause, caught.value.retry_after) == (Cause.PENALTY, 2)
    permit = await limiter.acquire(bucket)
    assert (permit.waited, permit.cause) == (2, Cause.PENALTY)
    assert await wait_for_next(limiter, bucket) == 3
    assert limiter.statistics().total.penalized == 1


async def test_a_reserve_for_strangers_makes_nobody_wait_longer_than_it_is_remembered() -> None:
    bucket = a_bucket(burst=4, interval=3600)
    limiter = WbRateLimiter()
    permit = await limiter.acquire(bucket)
    await permit.settle(200, says(2))
    assert limiter.statistics().total.foreign == 1
    permit = await limiter.acquire(bucket)
    await permit.settle(429, says(0, retry=60, reset=60 + 3 * 3600, limit=4))
    assert await wait_for_next(limiter, bucket) == 60
    assert await wait_for_next(limiter, bucket) == 3600


async def test_the_strict_reading_holds_until_the_reset() -> None:
    bucket = a_bucket(burst=10, interval=3)
    limiter = WbRateLimiter(exhausted_hold="reset")
    permit = await limiter.acquire(bucket)
    await permit.settle(429, says(0, reset=29, retry=2, limit=10))
    assert await wait_for_next(limiter, bucket) == 29


async def test_an_exhausted_reply_that_is_no_429_holds_until_it_says() -> None:
    limiter = WbRateLimiter()
    permit = await limiter.acquire(TEN)
    settlement = await permit.settle(200, says(0, reset=40))
    assert (settlement.reason, settlement.cause) == (Reason.EXHAUSTED, Cause.EXHAUSTED)
    assert settlement.retry_after == 40
    permit = await limiter.acquire(TEN)
    assert (permit.waited, permit.cause) == (40, Cause.EXHAUSTED)


async def test_a_window_that_refills_late_is_not_counted_on_to_refill_early() -> None:
    limiter = WbRateLimiter()
    permit = await limiter.acquire(TEN)
    await permit.settle(200, says(3, reset=60))
    for _ in range(3):
        assert await wait_for_next(limiter, TEN) == 0
    permit = await limiter.acquire(TEN)
    assert (permit.waited, permit.cause) == (60, Cause.EXHAUSTED)


async def test_an_unsent_permit_gives_the_window_its_token_back() -> None:
    limiter = WbRateLimiter()
    permit = await limiter.acquire(TEN)
    await permit.settle(200, says(3, reset=60))
    for _ in range(5):
        await unsent(limiter)
    for _ in range(3):
        assert await wait_for_next(limiter, TEN) == 0
    assert await wait_for_next(limiter, TEN) == 60


async def test_another_status_can_be_a_refusal_too_and_costs_no_error() -> None:
    store = MemoryStore()
    limiter = WbRateLimiter(store)
    permit = await limiter.acquire(TEN, error_cost=10)
    settlement = await permit.settle(403, says(retry=1), refused=True)
    assert settlement.reason is Reason.PENALIZED
    assert await tokens_left(store, TEN) >= 0


async def test_a_429_that_only_says_maintenance_is_neither_penalty_nor_error() -> None:
    store = MemoryStore()
    limiter = WbRateLimiter(store)
    permit = await limiter.acquire(TEN, error_cost=10)
    settlement = await permit.settle(429, {}, refused=False)
    assert settlement.reason is Reason.NOT_OBSERVED
    assert limiter.statistics().total.penalized == 0
    assert await tokens_left(store, TEN) == 9


async def test_blind_429s_hold_one_interval_and_then_ever_longer() -> None:
    bucket, limiter = a_bucket(burst=1, interval=10), WbRateLimiter()
    permit = await limiter.acquire(bucket)
    holds = []
    for _ in range(5):
        settlement = await permit.settle(429, {})
        holds.append(settlement.retry_after)
        permit = await limiter.acquire(bucket)
        assert permit.cause is Cause.PENALTY
    assert holds == [10, 20, 40, 80, 160]


async def test_a_blind_429_grows_no_longer_than_a_day() -> None:
    bucket, limiter = a_bucket(burst=1, interval=10), WbRateLimiter()
    for _ in range(40):
        permit = await limiter.acquire(bucket)
        settlement = await permit.settle(429, {})
    assert settlement.retry_after == 24 * 3600


async def test_requests_refused_together_without_a_word_count_as_one_refusal() -> None:
    bucket, limiter = a_bucket(burst=5, interval=10), WbRateLimiter()
    permits = await drain(limiter, bucket)
    settlements = [await permit.settle(429, {}) for permit in permits]
    assert {settlement.retry_after for settlement in settlements} == {10}
    assert limiter.statistics().total.penalized == 5
    permit = await limiter.acquire(bucket)
    assert (permit.waited, permit.cause) == (10, Cause.PENALTY)


async def test_after_one_blind_429_an_admitted_request_starts_the_count_anew() -> None:
    bucket, limiter = a_bucket(burst=1, interval=10), WbRateLimiter()
    for status, held in ((429, 10), (200, 10), (429, 10)):
        permit = await limiter.acquire(bucket)
        settlement = await permit.settle(status, {})
        assert settlement.retry_after == held


@pytest.mark.parametrize(
    "weaker", [says(9), says(0, retry=5), says(0, reset=5), says(0), says(3), {}]
)
async def test_no_reply_shortens_a_hold(weaker: dict[str, str]) -> None:
    shared = MemoryStore()
    limiter = WbRateLimiter(shared)
    permits = await drain(limiter, TEN)
    await permits[0].settle(429, says(0, retry=100, reset=10, limit=10))
    for permit, status in zip(permits[1:], itertools.cycle((200, 429)), strict=False):
        settlement = await permit.settle(status, weaker)
        assert settlement.retry_after >= 100
    with pytest.raises(RateLimited) as caught:
        await WbRateLimiter(shared).acquire_nowait(TEN)
    assert caught.value.retry_after >= 100
    permit = await limiter.acquire(TEN)
    assert permit.waited >= 100
    assert permit.cause is Cause.PENALTY


async def test_penalize_outweighs_reconcile_in_either_order() -> None:
    for order in itertools.permutations(("penalize", "reconcile")):
        limiter, bucket = WbRateLimiter(), a_bucket(interval=30)
        for step in order:
            if step == "penalize":
                await limiter.penalize(bucket, 100)
            else:
                await limiter.reconcile(bucket, says(0, retry=20, reset=150))
        permit = await limiter.acquire(bucket)
        assert (permit.waited, permit.cause) == (100, Cause.PENALTY)


async def test_penalize_rounds_up_and_takes_no_time_travel() -> None:
    limiter = WbRateLimiter()
    await limiter.penalize(TEN, 2.0000001)
    await limiter.penalize(TEN, -5)
    await limiter.penalize(TEN, 0)
    assert await wait_for_next(limiter, TEN) == pytest.approx(2.000001, abs=1e-9)


async def test_penalize_for_hours_leaves_the_bucket_its_pace() -> None:
    limiter = WbRateLimiter()
    await limiter.penalize(TEN, 5 * 3600)
    assert await wait_for_next(limiter, TEN) == 5 * 3600
    assert await wait_for_next(limiter, TEN) == 1
    assert limiter.statistics().total.slowed == 0


async def test_reconcile_without_a_permit_takes_the_reply_at_its_word() -> None:
    store = WatchedStore()
    limiter = WbRateLimiter(store)
    assert (await limiter.reconcile(TEN, says(4))).reason is Reason.NARROWED
    assert await tokens_left(store, TEN) == 4
    assert (await limiter.reconcile(TEN, says(10))).store_called is False
    assert (await limiter.reconcile(TEN, says(6))).reason is Reason.NARROWED
    assert await tokens_left(store, TEN) == 4
    assert limiter.statistics().total.foreign == 0, "without a permit nobody knows who took them"


async def test_what_another_process_saw_is_told_as_held() -> None:
    shared = MemoryStore()
    ours, theirs = WbRateLimiter(shared), WbRateLimiter(shared)
    mine = await ours.acquire(TEN)
    other = await theirs.acquire(TEN)
    await other.settle(429, says(0, retry=50, reset=59, limit=10))
    settlement = await mine.settle(200, says(0))
    assert (settlement.cause, settlement.retry_after) == (Cause.HELD, 50)
    permit = await ours.acquire(TEN)
    assert (permit.waited, permit.cause) == (50, Cause.HELD)


async def test_a_longer_hold_of_another_process_is_told_as_such() -> None:
    shared = MemoryStore()
    ours, theirs = WbRateLimiter(shared), WbRateLimiter(shared)
    mine, other = await ours.acquire(TEN), await theirs.acquire(TEN)
    settlement = await mine.settle(429, says(0, retry=5, reset=10, limit=10))
    assert settlement.cause is Cause.PENALTY
    await other.settle(429, says(0, retry=8, reset=10, limit=10))
    await anyio.sleep(6)
    with pytest.raises(RateLimited) as caught:
        await ours.acquire_nowait(TEN)
    assert (caught.value.cause, caught.value.retry_after) == (Cause.HELD, 2)


async def test_a_page_loop_sees_the_narrowed_bucket_in_the_tick_after_its_reply() -> None:
    limiter = WbRateLimiter()
    waits = []
    permit = await limiter.acquire(TEN)
    for remaining in (1, 0, 0, 0):
        await permit.settle(200, says(remaining))
        permit = await limiter.acquire(TEN)
        waits.append(permit.waited)
    assert waits == [0, 1, 1, 1]


async def test_a_page_loop_that_must_not_wait_is_refused_right_after_the_reply() -> None:
    limiter = WbRateLimiter()
    permit = await limiter.acquire(TEN)
    await permit.settle(200, says(0, reset=7200))
    with pytest.raises(RateLimited) as caught:
        await limiter.acquire_nowait(TEN)
    assert (caught.value.cause, caught.value.retry_after) == (Cause.EXHAUSTED, 7200)


async def test_waiters_wait_on_when_a_reply_narrows_under_them() -> None:
    store, bucket = WatchedStore(), a_bucket(burst=2)
    limiter = WbRateLimiter(store)
    first, _ = await drain(limiter, bucket)
    served: list[float] = []

    async def caller() -> None:
        await limiter.acquire(bucket)
        served.append(anyio.current_time())

    async with anyio.create_task_group() as tasks:
        for _ in range(2):
            tasks.start_soon(caller)
            await let_all_run()
        await anyio.sleep(0.5)
        await first.settle(200, says(0, retry=10))
        asked = store.calls["acquire"]
    assert served == [10.5, 11.5]
    assert store.calls["acquire"] - asked == 2


async def unsent(limiter: WbRateLimiter) -> Permit:
    async with await limiter.acquire(TEN) as permit:
        pass
    return permit


async def test_a_permit_left_unsent_comes_back() -> None:
    store = MemoryStore()
    limiter = WbRateLimiter(store)
    await unsent(limiter)
    with pytest.raises(OSError, match="no network"):
        async with await limiter.acquire(TEN):
            raise OSError("no network")
    assert await tokens_left(store, TEN) == 10
    assert limiter.statistics().total.refunded == 2


async def test_a_permit_sent_or_settled_stays_spent() -> None:
    store = MemoryStore()
    limiter = WbRateLimiter(store)
    async with await limiter.acquire(TEN) as permit:
        permit.mark_sent()
    async with await limiter.acquire(TEN) as permit:
        await permit.settle(200, {})
    assert await tokens_left(store, TEN) == 8
    assert limiter.statistics().total.refunded == 0


async def test_a_refund_happens_once() -> None:
    store = MemoryStore()
    limiter = WbRateLimiter(store)
    permit = await limiter.acquire(TEN, cost=3)
    assert await permit.refund() is True
    assert await permit.refund() is False
    assert await tokens_left(store, TEN) == 10
    assert limiter.statistics().total.refunded == 1


async def test_a_settled_permit_is_not_refunded() -> None:
    store = WatchedStore()
    limiter = WbRateLimiter(store)
    permit = await limiter.acquire(TEN)
    await permit.settle(200, says(9))
    assert await permit.refund() is False
    assert store.calls["refund"] == 0
    assert await tokens_left(store, TEN) == 9


async def test_a_token_that_others_built_upon_stays_spent() -> None:
    store = MemoryStore()
    limiter = WbRateLimiter(store)
    first, second = await limiter.acquire(TEN), await limiter.acquire(TEN)
    assert await first.refund() is False
    assert await tokens_left(store, TEN) == 8
    assert await second.refund() is True
    assert await tokens_left(store, TEN) == 9


async def test_a_reply_to_a_refunded_permit_is_still_news() -> None:
    store = MemoryStore()
    limiter = WbRateLimiter(store)
    permit = await unsent(limiter)
    assert (await permit.settle(200, says(4))).reason is Reason.NARROWED
    assert await tokens_left(store, TEN) == 4


async def test_several_buckets_are_refunded_together_and_the_first_is_settled() -> None:
    store = MemoryStore()
    limiter = WbRateLimiter(store)
    sandbox = a_bucket("sandbox", burst=3)
    permit = await limiter.acquire(TEN, sandbox, cost=2)
    assert await permit.refund()
    assert (await tokens_left(store, TEN), await tokens_left(store, sandbox)) == (10, 3)
    permit = await limiter.acquire(TEN, sandbox)
    await permit.settle(200, says(1))
    assert (await tokens_left(store, TEN), await tokens_left(store, sandbox)) == (1, 2)


async def test_a_hold_without_end_in_sight_lets_the_patient_wait() -> None:
    limiter = WbRateLimiter()
    permit = await limiter.acquire(TEN)
    await permit.settle(429, says(0, retry=86_367, reset=86_367, limit=1))
    permit = await limiter.acquire(TEN, max_wait=math.inf)
    assert permit.waited == 86_367


async def test_a_grant_that_was_told_late_counts_as_sent_late() -> None:
    store = WatchedStore(latency=0.1)
    limiter = WbRateLimiter(store)
    permit = await limiter.acquire(TEN)
    permit.mark_sent()
    store.latency = 0
    await anyio.sleep(0.1)
    await limiter.acquire(a_bucket("prices"))
    settlement = await permit.settle(200, says(9))
    assert settlement.reason is Reason.DEPARTED_LATE
    (state,) = (await store.peek([TEN.key])).states
    # Granted at 0.1 s; on its way from 0.2 to 0.3 s.
    assert state.full_at == 300_000 + TEN.limit.interval


async def test_a_lost_reply_may_be_to_a_request_that_began_the_refill_as_late_as_now() -> None:
    store = WatchedStore()
    limiter = WbRateLimiter(store)
    async with await limiter.acquire(TEN) as permit:
        await anyio.sleep(0.2)
        permit.mark_sent()
        await anyio.sleep(0.1)
    (state,) = (await store.peek([TEN.key])).states
    assert state.full_at == 300_000 + TEN.limit.interval
    assert await permit.refund() is False
    await permit.lose()
    assert (store.calls["narrow"], store.calls["refund"]) == (1, 0)


async def test_a_lost_reply_to_a_request_that_left_at_once_takes_no_store_call() -> None:
    store = WatchedStore()
    permit = await WbRateLimiter(store).acquire(TEN)
    permit.mark_sent()
    await anyio.sleep(5)
    await permit.lose()
    assert store.calls["narrow"] == 0
    assert await tokens_left(store, TEN) == 10
