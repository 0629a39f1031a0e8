"""`wbtrio demo` as a person runs it: in a process of its own, over real HTTP."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.support.redis_server import free_port

ROWS = {"anna": 14_666, "boris": 14_666, "clara": 14_666, "dmitri": 12_333}
"""Rows of a quick demo; the basic token gets one page of prices and waits for the next."""


def wbtrio(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line, with plain output."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "wbtrio", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"PATH": "", "NO_COLOR": "1"},
    )


def table(output: str) -> dict[str, list[str]]:
    """The cells of the final table, by their first."""
    rows = [line.split("│")[1:-1] for line in output.splitlines() if line.startswith("│")]
    return {cells[0].split()[0]: [cell.strip() for cell in cells[1:]] for cells in rows}


@pytest.mark.parametrize("backend", ["trio", "asyncio"])
def test_four_sellers_are_imported_without_one_429(backend: str) -> None:
    done = wbtrio("demo", "--quick", "--backend", backend)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = table(done.stdout)
    assert {name: int(rows[name][1].replace(",", "")) for name in ROWS} == ROWS
    assert [rows[name][2] for name in (*ROWS, "all")] == ["0"] * 5
    assert re.fullmatch(r"resumes at \d\d:\d\d", rows["dmitri"][-1])
    calls, skipped = float(rows["all"][5]), rows["all"][6]
    assert 1.0 <= calls <= 1.3
    assert re.fullmatch(r"\d+ of \d+", skipped)


def test_two_processes_share_the_budgets_on_redis(redis_url: str) -> None:
    done = wbtrio("demo", "--quick", "--redis", redis_url, "--processes", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = table(done.stdout)
    assert rows["anna"][1] == f"{2 * (166 + 1_666 + 5_000 + 500):,}"
    assert rows["all"][2] == "0"


def test_processes_without_redis_are_refused_with_what_to_do() -> None:
    done = wbtrio("demo", "--processes", "2")
    assert done.returncode == 2
    assert "Add --redis redis://localhost:6379/0." in done.stderr


def test_a_redis_that_is_not_there_is_told_with_what_to_do() -> None:
    done = wbtrio("demo", "--redis", f"redis://127.0.0.1:{free_port()}/0")
    assert done.returncode == 3
    assert "Start the server, or check the store's URL." in done.stderr
    assert "Traceback" not in done.stderr


def test_a_url_that_is_no_redis_is_told_with_what_to_do() -> None:
    done = wbtrio("demo", "--redis", "localhost")
    assert done.returncode == 2
    assert "Use redis://host:6379/0" in done.stderr


def test_help_names_every_command_and_the_exit_codes() -> None:
    done = wbtrio("--help")
    assert done.returncode == 0
    assert {"demo", "registry", "token"} <= set(done.stdout.split())
    assert "130 interrupted" in done.stdout
