"""pytest fixtures for programs that call WB through wbtrio: a WB in process, tokens, virtual time.

Ask for them in the `conftest.py` of your tests; nothing is loaded unasked:

    pytest_plugins = ["wbtrio.testing"]

wb_scenario      what kind of WB; override it with a fixture of your own
wb_simulator     a WB that counts, fresh for each test
wb_client        a `WbApiClient` that asks it, and no one else
make_wb_token    mints tokens of any seller, kind and category
wb_token         a personal token of the seller `seller-1`
wb_virtual_time  for anyio's `anyio_backend`: trio, with waits of hours over at once

All are plain (not async) fixtures, for use under anyio's plugin, pytest-trio or neither. pytest
itself is not among wbtrio's own dependencies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest
from trio.testing import MockClock

from ._client import WbApiClient
from .simulator import Scenario, WbSimulator, make_token

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "make_wb_token",
    "wb_client",
    "wb_scenario",
    "wb_simulator",
    "wb_token",
    "wb_virtual_time",
]


@pytest.fixture
def wb_scenario() -> Scenario:
    """What kind of WB `wb_simulator` is: one that answers at once and keeps all its words.

    Override it in a test module or a `conftest.py`, as with any fixture, for other limits, faults,
    latencies, strangers on the account or rows.
    """
    return Scenario()


@pytest.fixture
def wb_simulator(wb_scenario: Scenario) -> WbSimulator:
    """A simulated WB with full budgets, whose clock is that of the event loop.

    Its `log` has every request, `refused` the number of 429s earned, and
    `catalogue.rows(sid, name)` what a seller has.
    """
    return WbSimulator(wb_scenario)


@pytest.fixture
def wb_client(wb_simulator: WbSimulator) -> WbApiClient:
    """A client with the default settings whose requests all go to `wb_simulator`, in process.

    Use it as in production: `async with wb_client as wb, wb.account(wb_token) as seller`. For
    other settings give `WbApiClient(transport=httpx.ASGITransport(wb_simulator), ...)` your own.
    """
    return WbApiClient(transport=httpx.ASGITransport(wb_simulator))


@pytest.fixture
def make_wb_token() -> Callable[..., str]:
    """The factory `wbtrio.simulator.make_token`; its tokens are of no use with the real WB.

    As in `make_wb_token("seller-2", "basic", scopes={"content"}, read_only=True)`.
    """
    return make_token


@pytest.fixture
def wb_token() -> str:
    """A personal token of the seller `seller-1`, with all categories, that does not expire."""
    return make_token("seller-1")


@pytest.fixture
def wb_virtual_time() -> tuple[str, dict[str, object]]:
    """What anyio's plugin needs to run tests on trio in virtual time.

    The clock starts at 0 and jumps whenever all tasks sleep, so that a hold of five hours is over
    at once and `anyio.current_time()` tells exactly how long it was. Give it to the plugin by a
    fixture of your own, `def anyio_backend(wb_virtual_time): return wb_virtual_time`. Real
    sockets and threads have no part in virtual time. Under pytest-trio use its `autojump_clock`.
    `RateLimited.resume_at` stays a moment of the real calendar.
    """
    return "trio", {"clock": MockClock(autojump_threshold=0)}
