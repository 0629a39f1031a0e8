"""The simulated WB over real HTTP, on both loops."""

from __future__ import annotations

import socket
import sys
from functools import partial

import anyio
import httpx
import pytest

from wbtrio.simulator import Fault, FaultKind, Scenario, WbSimulator, make_token
from wbtrio.simulator.serve import serve

pytestmark = [pytest.mark.anyio, pytest.mark.real_io]

HEADERS = {"Authorization": make_token()}


async def test_a_served_simulator_answers_as_soon_as_the_block_is_entered() -> None:
    async with serve(WbSimulator()) as url, httpx.AsyncClient(base_url=url) as http:
        response = await http.get("/ping", headers=HEADERS)
    assert response.status_code == 200
    assert response.json()["Status"] == "OK"


async def test_the_host_header_of_its_own_tells_hosts_apart() -> None:
    simulator = WbSimulator()
    async with serve(simulator) as url, httpx.AsyncClient(base_url=url) as http:
        for host in ("content-api.wildberries.ru", "statistics-api.wildberries.ru"):
            await http.get("/ping", headers={**HEADERS, "X-Wb-Host": host})
    assert len(simulator.tallies) == 2


async def test_many_connections_at_once_are_all_served() -> None:
    simulator = WbSimulator()
    statuses: list[int] = []

    async def ask(http: httpx.AsyncClient, number: int) -> None:
        token = make_token(f"seller-{number}")
        response = await http.get("/ping", headers={"Authorization": token})
        statuses.append(response.status_code)

    limits = httpx.Limits(max_connections=None)
    async with (
        serve(simulator) as url,
        httpx.AsyncClient(base_url=url, limits=limits) as http,
        anyio.create_task_group() as tasks,
    ):
        for number in range(50):
            tasks.start_soon(ask, http, number)
    assert statuses == [200] * 50


async def test_leaving_the_block_frees_the_port() -> None:
    async with serve(WbSimulator()) as url:
        port = httpx.URL(url).port
        assert port is not None
        async with httpx.AsyncClient(base_url=url) as http:
            await http.get("/ping", headers=HEADERS)
    with socket.create_server(("127.0.0.1", port)) as listener:
        assert listener.getsockname()[1] == port


async def test_a_block_that_fails_ends_the_server_too() -> None:
    with pytest.raises(ExceptionGroup) as caught:
        async with serve(WbSimulator()):
            raise ZeroDivisionError
    assert caught.group_contains(ZeroDivisionError)


async def test_cancelling_the_block_ends_the_server() -> None:
    with anyio.CancelScope() as scope:
        async with serve(WbSimulator()) as url, httpx.AsyncClient(base_url=url) as http:
            await http.get("/ping", headers=HEADERS)
            scope.cancel()
            await anyio.sleep_forever()
    assert scope.cancelled_caught


async def test_a_lost_reply_is_silence_until_the_clients_own_timeout() -> None:
    simulator = WbSimulator(Scenario(faults=(Fault(FaultKind.LOST_AFTER, times=1),)))
    async with serve(simulator) as url, httpx.AsyncClient(base_url=url, timeout=0.2) as http:
        with pytest.raises(httpx.ReadTimeout):
            await http.get("/ping", headers=HEADERS)
        again = await http.get("/ping", headers={"Authorization": make_token("seller-2")})
    assert again.status_code == 200
    assert [entry.status for entry in simulator.log] == [0, 200]


async def test_leaving_the_block_does_not_wait_for_a_reply_that_never_comes() -> None:
    asked = anyio.Event()

    def clock() -> float:
        asked.set()
        return anyio.current_time()

    simulator = WbSimulator(Scenario(faults=(Fault(FaultKind.LOST_AFTER),)), clock=clock)
    with anyio.fail_after(30):
        async with httpx.AsyncClient(timeout=60) as http, anyio.create_task_group() as tasks:
            async with serve(simulator) as url:
                tasks.start_soon(partial(http.get, f"{url}/ping", headers=HEADERS))
                await asked.wait()
            tasks.cancel_scope.cancel()
    assert [entry.status for entry in simulator.log] == [0]


async def test_without_hypercorn_the_error_names_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "hypercorn.trio", None)
    monkeypatch.setitem(sys.modules, "hypercorn.asyncio", None)
    with pytest.raises(ImportError, match=r"pip install 'wbtrio\[cli\]'"):
        async with serve(WbSimulator()):
            raise AssertionError
