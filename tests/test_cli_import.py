"""`wbtrio import` and `wbtrio plan`, as a person runs them, against a served simulator."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from tests.support.importing import as_set, rows_in
from wbtrio.cli._import_settings import clock_time, in_words, numbers_of, pace_in_words
from wbtrio.cli._import_view import told
from wbtrio.importer import Forecast, SourceKey
from wbtrio.simulator import Scenario, Stock, WbSimulator, make_token
from wbtrio.simulator.serve import serve

pytestmark = [pytest.mark.anyio, pytest.mark.real_io]

PERSONAL = make_token("seller-1")
BASIC = make_token("seller-2", kind="basic")


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    file = tmp_path / "tokens"
    file.write_text(f"# two sellers\n{PERSONAL}\n\n{BASIC}\n")
    return file


def write(file: Path, text: str) -> None:
    file.write_text(text)


def arguments_of(*arguments: object) -> list[str]:
    return [sys.executable, "-c", "from wbtrio.cli import main; main()", *map(str, arguments)]


async def wbtrio(*arguments: object) -> subprocess.CompletedProcess[bytes]:
    with anyio.fail_after(60):
        return await anyio.run_process(arguments_of(*arguments), check=False)


def json_lines(output: bytes) -> list[Any]:
    return [msgspec.json.decode(line) for line in output.splitlines()]


async def test_a_run_imports_what_it_can_defers_the_rest_and_says_until_when(
    tmp_path: Path, token_file: Path
) -> None:
    server = WbSimulator(Scenario(stock=Stock(rows={"cards": 230, "prices": 2_500})))
    out = tmp_path / "out"
    common = ["--token-file", token_file, "--resource", "cards", "--resource", "prices"]
    async with serve(server) as url:
        where = ["--out", out, "--base-url", url, "--max-wait", 8]
        first = await wbtrio("import", *common, *where)
        asked = len(server.log)
        again = await wbtrio("import", *common, *where, "--json")
        owed = [server.catalogue.rows("seller-1", name) for name in ("cards", "prices")]
    assert first.returncode == again.returncode == 75, first.stderr
    told_first = first.stderr.decode()
    assert "Resumes at" in told_first
    assert "seller-2 prices: deferred: budget prices, resumes at" in told_first
    assert as_set(rows_in(out, "cards")) == as_set(owed[0])
    assert as_set(rows_in(out, "prices")) == as_set(owed[1])
    summary = json_lines(again.stdout)[-1]
    assert (summary["type"], summary["exit_code"]) == ("summary", 75)
    status = {(one["key"]["account"], one["key"]["source"]): one for one in summary["sources"]}
    assert status["seller-2", "prices"]["status"] == "deferred"
    assert status["seller-1", "cards"]["rows"] == 0
    later = [entry for entry in list(server.log)[asked:] if entry.account == "seller-2"]
    assert {entry.operation for entry in later} == {"content.cards.list"}
    assert server.refused == 0
    everything = first.stdout + first.stderr + again.stdout + again.stderr
    assert PERSONAL.encode() not in everything
    assert BASIC.encode() not in everything


@pytest.mark.parametrize("format_", ["parquet", "duckdb"])
async def test_other_formats_are_written_on_request(
    format_: str, tmp_path: Path, token_file: Path
) -> None:
    server = WbSimulator(Scenario(stock=Stock(rows={"pins": 30})))
    async with serve(server) as url:
        done = await wbtrio(
            *("import", "--token-file", token_file, "--resource", "pins", "--format", format_),
            *("--out", tmp_path / "out", "--base-url", url, "--backend", "asyncio"),
        )
    assert done.returncode == 0, done.stderr
    assert b"done, 30 rows in 1 page" in done.stderr


async def test_a_failed_source_is_told_and_shows_in_the_exit_code(
    tmp_path: Path, token_file: Path
) -> None:
    write(token_file, make_token("seller-1", scopes={"content"}))
    server = WbSimulator(Scenario(stock=Stock(rows={"cards": 10})))
    async with serve(server) as url:
        done = await wbtrio(
            *("import", "--token-file", token_file, "--resource", "cards", "--resource", "prices"),
            *("--out", tmp_path / "out", "--base-url", url),
        )
    assert done.returncode == 3
    assert b"seller-1 cards: done, 10 rows" in done.stderr
    assert b"seller-1 prices: failed" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--resource", "nothing"), "no operation"),
        (("--resource", "cards", "--rows", "cards=many"), "NAME=NUMBER"),
        (("--resource", "cards", "--secret-env", "NO_SUCH_VARIABLE"), "no environment variable"),
        (("--resource", "cards", "--max-wait", "-1"), "max-wait"),
    ],
)
async def test_wrong_usage_is_refused_before_anything_is_sent(
    arguments: tuple[str, ...], words: str, tmp_path: Path, token_file: Path
) -> None:
    done = await wbtrio(
        *("import", "--token-file", token_file, "--out", tmp_path / "out", *arguments),
        *("--base-url", "http://127.0.0.1:9"),
    )
    assert done.returncode in {1, 2}
    assert words in (done.stderr + done.stdout).decode()


async def test_a_token_given_for_a_files_name_is_not_shown(tmp_path: Path) -> None:
    done = await wbtrio(
        *("import", "--token-file", PERSONAL, "--resource", "cards", "--out", tmp_path / "out")
    )
    assert done.returncode == 2
    assert PERSONAL.encode() not in done.stderr + done.stdout


@contextmanager
def running(*arguments: object) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        arguments_of(*arguments), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait(30)
        if process.stdout is not None:
            process.stdout.close()


async def test_the_command_killed_after_any_page_goes_on_without_loss_or_repetition(
    tmp_path: Path, token_file: Path
) -> None:
    write(token_file, PERSONAL)
    server = WbSimulator(Scenario(stock=Stock(rows={"cards": 450, "prices": 2_500})))
    async with serve(server) as url:
        how = [
            *("import", "--token-file", token_file, "--resource", "cards"),
            *("--resource", "prices", "--out", tmp_path / "out", "--base-url", url, "--json"),
        ]
        for pages in (1, 2):
            with running(*how) as process:
                await anyio.to_thread.run_sync(_read_pages, process, pages)
                os.kill(process.pid, signal.SIGKILL)
        last = await wbtrio(*how)
        assert last.returncode == 0, last.stderr
        for name in ("cards", "prices"):
            owed = server.catalogue.rows("seller-1", name)
            assert as_set(rows_in(tmp_path / "out", name)) == as_set(owed)
    assert server.refused == 0, "the budgets outlive the process"


def _read_pages(process: subprocess.Popen[bytes], pages: int) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        pages -= b'"type":"page"' in line
        if not pages:
            return


async def test_a_plan_says_pages_time_and_the_budget_that_decides(token_file: Path) -> None:
    done = await wbtrio(
        *("plan", "--token-file", token_file, "--resource", "cards", "--resource", "orders"),
        *("--rows", "cards=6100"),
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.decode().splitlines()
    assert lines[0] == "seller-1 (personal)"
    assert lines[1].startswith("  cards: 62 pages, 35 s; 1 request per 600 ms on a personal token")
    assert "ready at" in lines[1]
    assert "1 or more pages; 1 request per 3 h on a basic token" in lines[5]
    assert lines[-1].startswith("not ready before")


async def test_a_plan_for_machines_lists_each_moment(token_file: Path) -> None:
    write(token_file, PERSONAL)
    done = await wbtrio(
        *("plan", "--token-file", token_file, "--resource", "prices", "--resource", "quarantine"),
        *("--rows", "prices=25000", "--rows", "quarantine=0", "--json", "--latency", "0.1"),
    )
    prices, quarantine = json_lines(done.stdout)
    assert prices["sources_on_budget"] == quarantine["sources_on_budget"] == 2
    assert prices["requests_at_most"] == len(prices["pages_at"]) == 26
    assert quarantine["seconds"] == pytest.approx(0.1)


async def test_a_plan_knows_what_the_last_run_left(tmp_path: Path, token_file: Path) -> None:
    server = WbSimulator(Scenario(stock=Stock(rows={"prices": 2_500})))
    out = tmp_path / "out"
    how = ["--token-file", token_file, "--resource", "prices", "--out", out]
    async with serve(server) as url:
        first = await wbtrio("import", *how, "--base-url", url, "--max-wait", 1)
    assert first.returncode == 75
    done = await wbtrio("plan", *how)
    lines = done.stdout.decode().splitlines()
    assert lines[1].startswith("  prices: 3 pages, ")
    assert "first at" in lines[3], "the basic token's budget is used up"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-1, "no time"),
        (0, "no time"),
        (0.2, "1 s"),
        (37, "37 s"),
        (62, "1 min 2 s"),
        (10_800, "3 h"),
        (90_061, "1 d 1 h"),
    ],
)
async def test_times_are_told_in_words(seconds: float, words: str) -> None:
    assert in_words(seconds) == words
    assert numbers_of([], "--rows") == {}


async def test_waits_are_told_with_their_budget_and_moment() -> None:
    now = datetime.now(UTC)
    key = SourceKey("seller", "orders")
    later = now + timedelta(hours=30)
    waits = Forecast(key, None, later, None, "statistics.orders.list")
    assert told(waits) == f"budget statistics.orders.list, resumes {clock_time(later)}"
    assert told(Forecast(key, None, now, None, "x")) == ""
    near = Forecast(key, 3, now, now + timedelta(seconds=90), "x")
    assert told(near).startswith("3 pages, 1 min ")
    assert pace_in_words.__doc__
