"""Each example is run, against a simulated WB."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import anyio
import httpx
import msgspec
import pytest

from examples import own_nursery, upsert, web_app
from tests.support.importing import OTHER, TOKEN, rows_in, simulator
from wbtrio import WbApiClient
from wbtrio.simulator import Motion, Scenario, Stock, WbSimulator


def client_of(server: WbSimulator) -> WbApiClient:
    return WbApiClient(transport=httpx.ASGITransport(server), max_wait=1e9)


@pytest.mark.real_io
@pytest.mark.anyio
async def test_the_database_holds_each_row_once_and_the_newest_of_it(tmp_path: Path) -> None:
    moment = [0.0]
    stock = Stock(default_rows=120, motions=(Motion("cards", every=60.0),))
    server = WbSimulator(Scenario(stock=stock), clock=lambda: moment[0])
    database = tmp_path / "shop.db"
    async with client_of(server) as wb:
        first = await upsert.main(wb, [TOKEN, OTHER], database)
        moment[0] += 600.0
        second = await upsert.main(wb, [TOKEN], database)
    assert first.exit_code == second.exit_code == 0
    with sqlite3.connect(database) as found:
        texts = dict(found.execute("SELECT key, row FROM cards WHERE account = 'seller-1'"))
        counts = dict(found.execute("SELECT account, count(*) FROM orders GROUP BY account"))
    found.close()
    owed = {row["nmID"] for row in server.catalogue.rows("seller-1", "cards", server.now())}
    assert {int(key) for key in texts} == owed
    assert all(msgspec.json.decode(text)["nmID"] == int(key) for key, text in texts.items())
    assert counts["seller-2"] > 0
    assert next(one for one in second.sources if one.key.source == "cards").rows == 10


@pytest.mark.anyio
async def test_the_web_application_imports_while_it_answers(tmp_path: Path) -> None:
    server = simulator(rows={"cards": 230})
    app = web_app.application([TOKEN], tmp_path, client_of(server), threads=False)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://app") as http,
    ):
        assert (await http.post("/imports/cards")).status_code == 202
        assert (await http.post("/imports/nothing")).status_code == 404
        await anyio.sleep(60)
        assert (await http.get("/imports")).json() == {"seller-1/cards": "done"}
    assert len(rows_in(tmp_path, "cards")) == 230


@pytest.mark.anyio
async def test_the_web_applications_shutdown_ends_an_import_and_keeps_what_it_committed(
    tmp_path: Path,
) -> None:
    server = simulator(rows={"cards": 2_000})
    app = web_app.application([TOKEN], tmp_path, client_of(server), threads=False)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://app") as http,
    ):
        await http.post("/imports/cards")
        assert (await http.post("/imports/cards")).status_code == 409
        await anyio.sleep(3)
        assert "rows" in (await http.get("/imports")).json()["seller-1/cards"]
    kept = len(rows_in(tmp_path, "cards"))
    assert 0 < kept < 2_000
    assert kept % 100 == 0, "whole pages only"


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["trio"], indirect=True)
async def test_a_nursery_of_ones_own_counts_all_cards() -> None:
    server = simulator(rows={"cards": 250})
    async with client_of(server) as wb:
        found = await own_nursery.main(wb, [TOKEN, OTHER])
    assert {account: cards for account, (cards, _) in found.items()} == {
        "seller-1": 250,
        "seller-2": 250,
    }


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["trio"], indirect=True)
async def test_a_nursery_of_ones_own_ends_all_sellers_at_its_time_limit() -> None:
    server = simulator(rows={"cards": 100_000})
    async with client_of(server) as wb:
        assert await own_nursery.main(wb, [TOKEN, OTHER], limit=30.0) == {}
    assert anyio.current_time() == pytest.approx(30.0)
    assert server.refused == 0
