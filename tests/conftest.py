"""Both event loops in virtual time, and a real Redis, for every test that asks for them."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

import pytest
from trio.testing import MockClock

from tests.support.redis_server import RedisServer, ServerNotFound
from tests.support.virtual_loop import VirtualTimeLoop

if TYPE_CHECKING:
    from collections.abc import Iterator

Options = dict[str, object]


report_key = pytest.StashKey[list[str]]()
"""Lines that tests want to be seen at the end of the run, whether it passes or not."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--deep", action="store_true", help="A million steps of random histories.")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[report_key] = []
    config.addinivalue_line(
        "markers",
        "real_io: the test talks to sockets, processes or threads, so it runs on real clocks.",
    )


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    lines = config.stash[report_key]
    if lines:
        terminalreporter.section("reported by tests")
        for line in dict.fromkeys(lines):
            terminalreporter.write_line(line)


@pytest.fixture(params=["trio", "asyncio"])
def anyio_backend(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, Options]:
    """Each loop in turn: in virtual time (from 0 on), or in real time under `real_io`.

    trio shuffles the tasks that are ready; seeded, so that a test that fails fails again.
    """
    backend: str = request.param
    monkeypatch.setattr("trio._core._run._r", random.Random(request.node.nodeid))
    if request.node.get_closest_marker("real_io"):
        # Named outright: a policy of the environment must not decide which loop is tested.
        factory: object = asyncio.SelectorEventLoop
        return backend, {} if backend == "trio" else {"loop_factory": factory}
    if backend == "trio":
        return backend, {"clock": MockClock(autojump_threshold=0)}
    return backend, {"loop_factory": VirtualTimeLoop}


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    """One real server for the whole run; use `redis_url` unless you need its other means."""
    try:
        server = RedisServer()
    except ServerNotFound as missing:
        pytest.fail(str(missing), pytrace=False)
    with server:
        yield server


@pytest.fixture
def redis_url(redis_server: RedisServer) -> str:
    """TCP URL of a real server that is empty and whose command counters are at zero."""
    redis_server.reset()
    return redis_server.url


@pytest.fixture
def redis_unix_url(redis_server: RedisServer) -> str:
    """As `redis_url`, over the server's Unix socket."""
    redis_server.reset()
    return redis_server.unix_url
