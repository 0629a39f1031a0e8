"""The estimate of the store's clock between its replies."""

from __future__ import annotations

import pytest

from wbtrio._ledger import StoreClock

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("first", [0, 1, 50_000, 10**15])
async def test_the_first_reply_sets_the_clock_whatever_it_says(first: int) -> None:
    clock = StoreClock()
    assert clock.now() > 10**15, "before any reply it is the wall clock"
    clock.observe(first)
    assert clock.now() == first
