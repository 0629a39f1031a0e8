"""A 429 that proves a slower limit than the registry's is gone by, until it is forgotten."""

from __future__ import annotations

import logging

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wbtrio import MemoryStore, RateLimited, WbRateLimiter
from wbtrio._bucket import (
    FULL,
    Bucket,
    Limit,
    Narrowing,
    State,
    acquire,
    forget,
    narrow,
    pace,
    tokens,
)
from wbtrio._headers import Observation
from wbtrio._reconcile import SLOW_FOR, Grant, plan_penalty, slower_limit

SECOND = 1_000_000
HOUR = 3600 * SECOND
PERSONAL = Limit(60 * SECOND, 1, 10)
"""Statistics orders with a personal token: 1 a minute, burst 10."""

limits = st.builds(
    Limit,
    period=st.integers(1, 86_400 * SECOND),
    limit=st.integers(1, 500),
    burst=st.integers(1, 500),
)
moments = st.integers(0, 10 * HOUR)
slowdowns = st.tuples(
    st.integers(1, 10 * HOUR), st.integers(0, 500), st.integers(1, 48 * HOUR)
).map(lambda parts: Narrowing(slow_interval=parts[0], burst_cut=parts[1], slow_for=parts[2]))


def seconds(count: float) -> int:
    return round(count * SECOND)


def refused(retry: float | None, reset: float | None, limit: int | None = None) -> Observation:
    return Observation(
        limit=limit,
        remaining=0,
        reset=None if reset is None else seconds(reset),
        retry=None if retry is None else seconds(retry),
    )


def test_wb_003_a_personal_row_that_is_answered_with_hours_is_a_base_row() -> None:
    slower = slower_limit(refused(18_236, 18_236), PERSONAL)
    assert slower == Limit(seconds(18_236), 1, 1)


def test_wb_014_retry_alone_proves_it_once_it_is_longer_than_a_whole_refill() -> None:
    feedbacks = Limit(seconds(1), 3, 6)
    assert slower_limit(refused(720, None), feedbacks) == Limit(seconds(720), 1, 1)
    assert slower_limit(refused(2, None), feedbacks) is None


def test_a_limit_header_tells_the_interval_of_a_whole_bucket() -> None:
    slower = slower_limit(refused(1, 8, limit=20), Limit(seconds(60), 300, 20))
    assert slower == Limit(seconds(0.4), 1, 20)


@pytest.mark.parametrize("elapsed", range(0, 4_000, 50))
def test_a_window_of_the_registrys_own_length_proves_nothing(elapsed: int) -> None:
    rest = -(-(4_000 - elapsed) // 1_000)
    limit = Limit(seconds(60), 300, 20)
    assert slower_limit(refused(rest, rest, limit=20), limit) is None
    assert slower_limit(refused(rest, rest), limit) is None


def test_a_debt_from_wbs_error_cost_proves_nothing() -> None:
    limit = Limit(seconds(60), 300, 20)
    assert slower_limit(refused(2, 6, limit=20), limit, error_cost=10) is None
    assert slower_limit(refused(2, 6, limit=20), limit) is not None


@given(limits, st.integers(0, 10**9), st.integers(0, 3_000))
def test_a_truthful_429_of_the_registrys_own_limit_proves_nothing(
    limit: Limit, part: int, since: int
) -> None:
    # An exact smooth counter with less than one token, its answers rounded up to whole seconds.
    retry = 1 + part % limit.interval
    reset = retry + (limit.burst - 1) * limit.interval
    told = refused(-(-retry // SECOND), -(-reset // SECOND), limit=limit.burst)
    assert slower_limit(told, limit) is None


@given(limits, moments, moments, slowdowns)
def test_slowing_down_raises_no_level_above_zero_and_is_idempotent(
    limit: Limit, full_at: int, now: int, by: Narrowing
) -> None:
    state = State(full_at, 0, 7)
    once = narrow(state, limit, now, by)
    assert tokens(once, limit, now) <= max(0, tokens(state, limit, now))
    assert narrow(once, limit, now, by) == once
    assert pace(once, limit).interval >= limit.interval
    assert pace(once, limit).burst <= limit.burst


def test_a_slower_limit_is_believed_until_the_refill_that_it_tells_of_has_ended() -> None:
    limit = Limit(SECOND, 100, 2)
    grant = Grant(acquire(FULL, limit, 0).state, 0, 1)
    plan = plan_penalty(refused(0, 30 * 3600, limit=60), limit, grant=grant)
    assert plan.narrowing is not None
    assert plan.narrowing.slow_for == 30 * HOUR


def test_a_hold_s_hours_are_not_multiplied_by_the_slower_pace() -> None:
    fast = Limit(60 * SECOND, 100, 5)
    blindly_held = narrow(FULL, fast, 0, Narrowing(hold=24 * HOUR, full_in=24 * HOUR))
    by = Narrowing(hold=HOUR, full_in=HOUR, slow_interval=HOUR, burst_cut=4, slow_for=24 * HOUR)
    assert narrow(blindly_held, fast, HOUR, by).full_at <= 26 * HOUR


@given(limits, moments, moments, slowdowns, slowdowns)
def test_the_slower_of_two_proofs_holds_in_either_order(
    limit: Limit, full_at: int, now: int, one: Narrowing, other: Narrowing
) -> None:
    state = State(full_at, 0, 0)
    there = narrow(narrow(state, limit, now, one), limit, now, other)
    back = narrow(narrow(state, limit, now, other), limit, now, one)
    assert there[2:] == back[2:]
    assert pace(there, limit) == pace(back, limit)
    assert tokens(there, limit, now) == tokens(back, limit, now)


@given(limits, moments, moments, slowdowns)
def test_what_is_forgotten_leaves_the_tokens_that_were_there_and_no_more(
    limit: Limit, full_at: int, now: int, by: Narrowing
) -> None:
    slow = narrow(State(full_at, 0, 0), limit, now, by)
    end = slow.slow_until
    before = tokens(slow._replace(slow_until=end + 1), limit, end)
    after = forget(slow, limit, end)
    assert after.slow_until == 0
    assert pace(after, limit) == limit
    assert tokens(after, limit, end) == before


@pytest.mark.anyio
async def test_one_429_is_earned_and_no_second_one_until_its_hold_is_over(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING, logger="wbtrio")
    limiter = WbRateLimiter(MemoryStore())
    bucket = Bucket("seller", "personal", "statistics.orders", PERSONAL)
    permit = await limiter.acquire(bucket)
    settlement = await permit.settle(
        429, {"X-Ratelimit-Limit": "1", "X-Ratelimit-Retry": "3598", "X-Ratelimit-Reset": "3598"}
    )
    assert settlement.retry_after == pytest.approx(3598)
    with pytest.raises(RateLimited) as caught:
        await limiter.acquire(bucket, max_wait=900)
    assert caught.value.retry_after == pytest.approx(3598)

    for _ in range(3):
        permit = await limiter.acquire(bucket)
        await permit.settle(200, {"X-Ratelimit-Limit": "1", "X-Ratelimit-Remaining": "0"})
    assert anyio.current_time() == pytest.approx(3 * 3598, abs=1)
    assert limiter.statistics().buckets[bucket.key].slowed == 1
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith("calibration: WB refills wbtrio:{seller}:personal:statistics.orders")


@pytest.mark.anyio
async def test_other_buckets_of_the_account_keep_their_pace() -> None:
    limiter = WbRateLimiter(MemoryStore())
    slow, other = (Bucket("seller", "personal", name, PERSONAL) for name in ("orders", "sales"))
    permit = await limiter.acquire(slow)
    await permit.settle(429, {"X-Ratelimit-Retry": "3598", "X-Ratelimit-Reset": "3598"})
    waits = [(await limiter.acquire(other, max_wait=0)).waited for _ in range(10)]
    assert waits == [0] * 10


@pytest.mark.anyio
async def test_after_a_day_the_registry_is_believed_again() -> None:
    limiter = WbRateLimiter(MemoryStore())
    bucket = Bucket("seller", "personal", "orders", PERSONAL)
    permit = await limiter.acquire(bucket)
    await permit.settle(429, {"X-Ratelimit-Retry": "3598", "X-Ratelimit-Reset": "3598"})
    await anyio.sleep(SLOW_FOR / SECOND - 60)
    await limiter.acquire(bucket, max_wait=0)
    with pytest.raises(RateLimited):
        await limiter.acquire(bucket, max_wait=0)
    await anyio.sleep(60 * 12)
    for _ in range(10):
        await limiter.acquire(bucket, max_wait=0)


def test_an_absent_bucket_has_no_slower_limit() -> None:
    assert pace(FULL, PERSONAL) is PERSONAL
