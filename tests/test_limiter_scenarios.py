"""Random traffic in virtual time, against a clairvoyant who knows all of it beforehand."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trio.testing import MockClock

from tests.support.stores import SECOND, WatchedStore
from tests.support.virtual_loop import VirtualTimeLoop
from wbtrio import Bucket, Limit, MemoryStore, WbRateLimiter

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from wbtrio import Permit

INTERVALS = (1, 333_334, SECOND, 20 * SECOND)
MOST_CALLERS = 25
LONG_ENOUGH = 400 * 24 * 3600.0
LOOPS = pytest.mark.parametrize("loop", ["trio", "asyncio"])


class Caller(NamedTuple):
    """Someone who asks for a permit at a moment (µs) and is cancelled when patience (µs) ends."""

    arrives: int
    cost: int
    patience: float = math.inf
    deed: str = "keep"
    delay: int = 0
    stated: tuple[int, int, int] = (0, 0, 0)

    @property
    def leaves(self) -> float:
        return self.arrives + self.patience


class Grant(NamedTuple):
    """A permit that a caller got, at a moment in µs."""

    at: int
    caller: Caller


@st.composite
def buckets(draw: st.DrawFn) -> Bucket:
    limit = Limit(draw(st.sampled_from(INTERVALS)), 1, draw(st.integers(1, 6)))
    return Bucket("seller", "personal", "orders", limit)


@st.composite
def crowds(draw: st.DrawFn, *, deeds: tuple[str, ...] = ("keep",)) -> tuple[Bucket, list[Caller]]:
    """A bucket, and callers who arrive one after the other."""
    bucket = draw(buckets())
    limit = bucket.limit
    moment, callers = 0, []
    for number in range(draw(st.integers(1, MOST_CALLERS))):
        moment += draw(st.integers(1, 2 * limit.interval))
        # A fraction of a µs, so that no patience ends in the moment of a grant or of another's.
        whole = draw(st.integers(0, 6 * limit.interval))
        callers.append(
            Caller(
                moment,
                draw(st.integers(1, limit.burst)),
                draw(st.sampled_from((math.inf, whole + 0.1 + number / 100))),
                draw(st.sampled_from(deeds)),
                draw(st.integers(0, 2 * limit.interval)),
                draw(st.tuples(st.integers(0, limit.burst), SECONDS, SECONDS)),
            )
        )
    return bucket, callers


SECONDS = st.integers(0, 90)


def run(loop: str, work: Callable[[], Awaitable[None]]) -> None:
    """Run to the end in virtual time that starts at 0."""
    options: dict[str, object] = {"loop_factory": VirtualTimeLoop}
    if loop == "trio":
        options = {"clock": MockClock(autojump_threshold=0)}
    anyio.run(work, backend=loop, backend_options=options)


def now() -> int:
    return round(anyio.current_time() * SECOND)


def clairvoyant(bucket: Bucket, callers: list[Caller]) -> list[Grant]:
    """Whom a single queue would serve, and when: nobody earlier, nobody later."""
    limit = bucket.limit
    credit, counted_at, free_at = limit.refill_time, 0, 0
    grants = []
    for caller in callers:
        head_at = max(free_at, caller.arrives)
        credit_then = min(limit.refill_time, credit + head_at - counted_at)
        ready_at = head_at + max(0, caller.cost * limit.interval - credit_then)
        if ready_at > caller.leaves:
            free_at = max(free_at, math.floor(caller.leaves))
            continue
        credit = min(limit.refill_time, credit + ready_at - counted_at)
        credit -= caller.cost * limit.interval
        counted_at = free_at = ready_at
        grants.append(Grant(ready_at, caller))
    return grants


async def act(permit: Permit, caller: Caller) -> bool:
    """What a caller does with its permit; whether its tokens came back."""
    remaining, reset, retry = caller.stated
    match caller.deed:
        case "refund":
            await anyio.sleep(caller.delay / SECOND)
            return await permit.refund()
        case "settle":
            await anyio.sleep(caller.delay / SECOND)
            await permit.settle(200, {"X-Ratelimit-Remaining": str(remaining)})
        case "exhaust":
            await permit.settle(
                200, {"X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": str(reset)}
            )
        case "penalty":
            stated = {"X-Ratelimit-Retry": str(retry), "X-Ratelimit-Reset": str(reset)}
            await permit.settle(429, stated if remaining else {})
    return False


async def serve(
    limiter: WbRateLimiter, bucket: Bucket, caller: Caller, grants: list[Grant]
) -> None:
    await anyio.sleep_until(caller.arrives / SECOND)
    permit = None
    with anyio.CancelScope(deadline=caller.leaves / SECOND):
        permit = await limiter.acquire(bucket, cost=caller.cost)
    if permit is not None:
        grant = Grant(now(), caller)
        grants.append(grant)
        if await act(permit, caller):
            grants.remove(grant)


@LOOPS
@settings(max_examples=100, deadline=None)
@given(crowds())
def test_everybody_is_served_in_turn_at_the_moment_that_a_clairvoyant_would_choose(
    loop: str, crowd: tuple[Bucket, list[Caller]]
) -> None:
    bucket, callers = crowd
    grants: list[Grant] = []
    store = WatchedStore()

    async def traffic() -> None:
        limiter = WbRateLimiter(store)
        async with anyio.create_task_group() as tasks:
            for caller in callers:
                tasks.start_soon(serve, limiter, bucket, caller, grants)

    run(loop, traffic)
    assert grants == clairvoyant(bucket, callers)
    assert store.calls["acquire"] <= 1.05 * len(grants) + 1


def assert_never_beyond_the_burst(grants: list[Grant], limit: Limit) -> None:
    """In no window more than the burst and its refill; WB does not count what it refuses."""
    grants = [grant for grant in grants if grant.caller.deed != "penalty"]
    for first, grant in enumerate(grants):
        spent = 0
        for later in grants[first:]:
            spent += later.caller.cost * limit.interval
            assert spent <= limit.refill_time + later.at - grant.at


DEEDS = ("keep", "refund", "settle", "exhaust", "penalty")


@LOOPS
@pytest.mark.parametrize("processes", [1, 3])
@settings(max_examples=60, deadline=None)
@given(crowds(deeds=DEEDS), st.sampled_from((0.0, 0.01)))
def test_whatever_replies_refunds_and_rivals_do_all_are_served_in_turn_within_the_budget(
    loop: str, processes: int, crowd: tuple[Bucket, list[Caller]], latency: float
) -> None:
    bucket, callers = crowd
    shared = MemoryStore()
    stores = [WatchedStore(shared, latency=latency) for _ in range(processes)]
    grants: list[list[Grant]] = [[] for _ in stores]
    ended_in_time = False

    async def traffic() -> None:
        nonlocal ended_in_time
        limiters = [WbRateLimiter(store) for store in stores]
        with anyio.move_on_after(LONG_ENOUGH) as scope:
            async with anyio.create_task_group() as tasks:
                for number, caller in enumerate(callers):
                    which = number % processes
                    tasks.start_soon(serve, limiters[which], bucket, caller, grants[which])
        ended_in_time = not scope.cancelled_caught
        assert all(not lane.queue for one in limiters for lane in one._ledger.lanes.values())

    run(loop, traffic)
    assert ended_in_time
    if processes == 1 or not latency:
        # Else a rival may take what is thought to be enough for two, and the cheaper one gets it.
        for ours in grants:
            served = [grant.caller.arrives for grant in ours]
            assert served == sorted(served)
    assert_never_beyond_the_burst(sorted(grant for ours in grants for grant in ours), bucket.limit)
    calls = sum(store.calls["acquire"] for store in stores)
    assert calls <= 20 * len(callers) * processes, "somebody asks again and again"
