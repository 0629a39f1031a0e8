"""Several processes while their common store is away: together they stay inside the budget."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.stores import WatchedStore, a_bucket
from wbtrio import MemoryStore, StoreUnavailable, WbRateLimiter
from wbtrio._bucket import Limit
from wbtrio._guards import Share
from wbtrio.simulator.engine import Rule, SmoothCounter

SECOND = 1_000_000
BUCKET = a_bucket(interval=0.2, burst=20)
OUTAGE = 60.0
TRIP = 0.05
DOWN = StoreUnavailable("nobody there")


class Outcome(NamedTuple):
    """What became of the requests sent during the outage."""

    admitted: int
    refused: int


class Wb:
    """WB's counter, and how it answered."""

    def __init__(self) -> None:
        limit = BUCKET.limit
        self._counter = SmoothCounter(Rule(limit.period, limit.limit, limit.burst))
        self.answers = {True: 0, False: 0}

    async def ask(self) -> dict[str, str] | None:
        """One request there and back; the headers of its refusal, if it is one."""
        await anyio.sleep(TRIP)
        now = round(anyio.current_time() * SECOND)
        admitted = self._counter.take(now)
        self.answers[admitted] += 1
        await anyio.sleep(TRIP)
        return None if admitted else {"X-Ratelimit-Retry": "1"}


async def run_outage(workers_of_each: list[int]) -> Outcome:
    """A minute with the store, a minute without it, at all that the workers can ask for."""
    shared = MemoryStore()
    stores = [WatchedStore(shared) for _ in workers_of_each]
    wb = Wb()

    async def work(limiter: WbRateLimiter) -> None:
        while True:
            async with await limiter.acquire(BUCKET) as permit:
                permit.mark_sent()
                refusal = await wb.ask()
                await permit.settle(200 if refusal is None else 429, refusal or {})

    with anyio.move_on_after(OUTAGE + 60):
        async with anyio.create_task_group() as tasks:
            for store, workers in zip(stores, workers_of_each, strict=True):
                limiter = WbRateLimiter(store)
                for _ in range(workers):
                    tasks.start_soon(work, limiter)
            await anyio.sleep(60)
            before = dict(wb.answers)
            for store in stores:
                store.fault = DOWN
    return Outcome(wb.answers[True] - before[True], wb.answers[False] - before[False])


@pytest.mark.anyio
@pytest.mark.parametrize("workers", [[4], [4, 4], [4, 4, 4], [8, 1], [2] * 8], ids=str)
async def test_an_outage_earns_at_most_one_429_for_each_process(workers: list[int]) -> None:
    outcome = await run_outage(workers)
    assert outcome.refused <= len(workers)
    allowed = OUTAGE * SECOND / BUCKET.limit.interval
    assert outcome.admitted >= 0.6 * allowed


LIMITS = st.builds(
    Limit,
    period=st.integers(1, 3_600 * SECOND),
    limit=st.integers(1, 1_000),
    burst=st.integers(1, 500),
)


@given(limit=LIMITS, own=st.lists(st.integers(1, 50), min_size=2, max_size=8), data=st.data())
def test_shares_that_add_up_to_one_take_together_no_more_than_the_bucket_has(
    limit: Limit, own: list[int], data: st.DataObject
) -> None:
    left = data.draw(st.integers(0, limit.burst))
    elapsed = data.draw(st.integers(0, 3 * limit.refill_time))
    taken = 0
    for one in own:
        share = Share()
        share.note(one, sum(own) - one)
        share.begin(left, limit, now=0)
        while not share.wait(elapsed, 1):
            share.spend(1, elapsed)
            taken += 1
    refilled = Fraction(elapsed, limit.interval)
    # A share may be less than one token of burst; it is let have one, or it would never send.
    assert taken <= left + refilled + len(own)


@given(limit=LIMITS, left=st.integers(0, 500), now=st.integers(0, 10**15))
def test_whoever_was_alone_is_not_held_back(limit: Limit, left: int, now: int) -> None:
    share = Share()
    share.note(3, 0)
    share.begin(min(left, limit.burst), limit, now=now)
    assert share.wait(now, 1) == 0


def test_a_share_that_has_ended_holds_nobody_back() -> None:
    share = Share()
    share.note(1, 9)
    share.begin(0, BUCKET.limit, now=5)
    assert share.wait(5, 1) > 0
    share.end()
    assert share.wait(5, 1) == 0
