"""The estimate of the store's clock between its replies."""

from __future__ import annotations

import anyio
import pytest

from wbtrio._loop import loop_clock
from wbtrio._store_clock import StoreClock

pytestmark = pytest.mark.anyio

OFFSET = 10**15
"""µs by which the store's clock is ahead of the loop's."""


async def ask(clock: StoreClock, there: float, back: float, *, offset: int = OFFSET) -> None:
    """One call of the store, which takes so many seconds each way."""
    asked_at = loop_clock()
    await anyio.sleep(there)
    store_now = loop_clock() + offset
    await anyio.sleep(back)
    clock.observe(store_now, asked_at)


@pytest.mark.parametrize("first", [0, 1, 50_000, 10**15])
async def test_the_first_reply_sets_the_clock_whatever_it_says(first: int) -> None:
    clock = StoreClock()
    assert clock.now() > 10**15, "before any reply it is the wall clock"
    clock.observe(first, loop_clock())
    assert clock.now() == first


async def test_the_true_clock_lies_between_bounds_that_only_tighten() -> None:
    clock = StoreClock()
    widths: list[int] = []
    for there, back in [(0.01, 0.15), (0.2, 0.001), (0.003, 0.3), (0.05, 0.05)]:
        await ask(clock, there, back)
        least, most = clock.elapsed(0, 0)
        assert least <= OFFSET <= most
        assert clock.now() <= loop_clock() + OFFSET
        widths.append(most - least)
        await anyio.sleep(0.2)
    assert widths == [160_000, 11_000, 4_000, 4_000]


@pytest.mark.parametrize("jump", [-3_600, 3_600])
async def test_a_clock_that_jumped_is_believed_anew(jump: int) -> None:
    clock = StoreClock()
    await ask(clock, 0.001, 0.001)
    await anyio.sleep(1)
    offset = OFFSET + jump * 1_000_000
    await ask(clock, 0.005, 0.005, offset=offset)
    assert clock.now() == loop_clock() + offset - 5_000
