"""A limiter's work, cancelled at each checkpoint, and what must hold after each attempt."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import trio
from sniffio import current_async_library

from tests.support.cancellation import Attempt, cancel_at_every_checkpoint, means_here
from tests.support.stores import let_all_run, tokens_left
from wbtrio import WbRateLimiter

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from wbtrio import Bucket
    from wbtrio.stores import Store


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
        lane = self.limiter._ledger.lanes[self.bucket.key]
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
