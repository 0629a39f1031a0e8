"""The contract under faults, on real servers: docs/reliability.md, row by row."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest

from tests.support.logs import warnings_logged
from tests.support.proxy import Proxy
from tests.support.redis_server import RedisServer
from tests.support.store_faults import FAULTS, Fault, Scene, change_default_user
from tests.support.stores import a_bucket
from wbtrio import (
    Bucket,
    Permit,
    RateLimited,
    Reason,
    RedisStore,
    StoreError,
    StoreProtocolError,
    WbRateLimiter,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.anyio, pytest.mark.real_io]

BUCKET = a_bucket(interval=3600, burst=20)
"""Refills nothing while a test runs: every token is accounted for."""
BEFORE = DURING = 5
STATED = 12
"""What WB says is left when the bucket has 15: three went to a stranger."""
LONGEST_CALL = 1.0
"""Seconds: the timeouts of a call and of connecting, as the tests set them, and some room."""
PAGE = Path(__file__).parents[1] / "docs" / "reliability.md"

EVERY_FAULT = pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
TOLD = pytest.mark.parametrize(
    "fault", [fault for fault in FAULTS if fault.told_as], ids=lambda fault: fault.name
)


@contextmanager
def scene_of(fault: Fault) -> Iterator[Scene]:
    with RedisServer(config=fault.config) as server, Proxy(server.port) as proxy:
        yield Scene(server, proxy, BUCKET.key)


def store_at(url: str) -> RedisStore:
    return RedisStore(url, timeout=0.3, connect_timeout=0.3)


async def take_all(limiter: WbRateLimiter, bucket: Bucket = BUCKET) -> list[Permit]:
    taken: list[Permit] = []
    while True:
        try:
            taken.append(await limiter.acquire_nowait(bucket))
        except RateLimited:
            return taken


async def answers(store: RedisStore) -> None:
    """Connect anew and return once the store serves us, whatever the backoff says."""
    for _ in range(50):
        try:
            await store.open()
        except StoreError:
            continue
        return
    raise AssertionError("the store does not come back")


@EVERY_FAULT
async def test_a_fault_loses_no_reply_earns_no_429_and_leaves_what_everyone_knew(
    fault: Fault,
) -> None:
    with scene_of(fault) as scene, warnings_logged() as warnings:
        async with store_at(scene.proxy.url) as store:
            limiter = WbRateLimiter(store)
            granted = [await limiter.acquire(BUCKET) for _ in range(BEFORE)]
            assert warnings == []
            with fault.happen(scene):
                with anyio.fail_after(LONGEST_CALL):
                    headers = {"X-Ratelimit-Remaining": str(STATED)}
                    settlement = await granted[-1].settle(200, headers)
                for _ in range(DURING):
                    with anyio.fail_after(LONGEST_CALL):
                        granted.append(await limiter.acquire(BUCKET))
            await answers(store)
            granted += await take_all(limiter)
            known, stored = await limiter.peek(BUCKET), await store.peek([BUCKET.key])
            statistics = limiter.statistics().total
    assert settlement.reason is Reason.NARROWED
    # Every token is granted once; one whose reply was lost may be spent for nothing.
    assert BEFORE + STATED - statistics.lost_replies <= len(granted) <= BEFORE + STATED
    assert fault.may_run or statistics.lost_replies == 0
    assert stored.states == known.states
    assert statistics.foreign >= 20 - BEFORE - STATED
    assert len(warnings) == (0 if fault.told_as is None else 2)


@TOLD
async def test_on_request_a_fault_is_told_with_what_to_do(fault: Fault) -> None:
    with scene_of(fault) as scene:
        async with store_at(scene.proxy.url) as store:
            limiter = WbRateLimiter(store, on_store_error="raise")
            await limiter.acquire(BUCKET)
            with fault.happen(scene), anyio.fail_after(2 * LONGEST_CALL):
                errors = []
                for _ in range(2):
                    with pytest.raises(StoreError) as caught:
                        await limiter.acquire(BUCKET)
                    errors.append(caught.value)
                    if isinstance(caught.value, fault.told_as or ()):
                        break
            await answers(store)
            counted = await store.peek([BUCKET.key])
    assert isinstance(errors[-1], fault.told_as or ())
    assert fault.advice in str(errors[-1])
    # What ran although its reply was lost was counted once: nothing is sent twice.
    assert counted.states[0].granted <= 1 + sum(error.may_have_run for error in errors)


@pytest.mark.parametrize("hours", [1, -1])
async def test_a_clock_that_jumps_by_an_hour_grants_at_most_one_more_burst_and_goes_on(
    redis_url: str, hours: int
) -> None:
    seconds = [1_796_000_000]
    bucket = a_bucket(interval=1, burst=20)

    async def taken_at(moment: int) -> int:
        seconds.append(moment)
        # A limiter anew, as in another process: this one would not ask before its own clock says.
        return len(await take_all(WbRateLimiter(store), bucket))

    async with RedisStore(redis_url, clock=lambda: seconds[-1] * 1_000_000, timeout=5) as store:
        start = seconds[0]
        assert await taken_at(start) == 20
        jumped = start + hours * 3600
        assert await taken_at(jumped) == (20 if hours > 0 else 0)
        assert await taken_at(start + 1) == (0 if hours > 0 else 1)
        assert await taken_at(start + 3600 + 30) == 20


@pytest.mark.parametrize(
    ("rules", "config", "advice"),
    [
        (["-time"], {}, "TIME"),
        (["-evalsha"], {}, "EVALSHA"),
        ([], {"rename-command": "EVALSHA REFUSED"}, "EVALSHA"),
        ([], {"rename-command": "TIME REFUSED"}, "TIME"),
    ],
    ids=["ACL without TIME", "ACL without EVALSHA", "no EVALSHA", "no TIME"],
)
async def test_a_server_that_refuses_what_is_needed_is_told_at_the_start(
    rules: list[str], config: dict[str, str], advice: str
) -> None:
    with RedisServer(config=config) as server:
        if rules:
            change_default_user(server, *rules)
        with pytest.raises(StoreProtocolError) as caught:
            async with RedisStore(server.url, timeout=5):
                raise AssertionError("opened")
    assert advice in caught.value.advice


def test_the_page_has_a_row_for_every_fault_and_names_its_test() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    named = {row.split("|")[1].strip() for row in rows}
    assert {fault.name for fault in FAULTS} <= named
    assert test_a_fault_loses_no_reply_earns_no_429_and_leaves_what_everyone_knew.__name__ in (
        PAGE.read_text(encoding="utf-8")
    )
