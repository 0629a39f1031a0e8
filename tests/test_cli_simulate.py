"""`wbtrio simulate`: scenario files, and a WB that other programs can ask."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from wbtrio import CallerError
from wbtrio.simulator import FaultKind, Motion, Rule
from wbtrio.simulator.scenario_file import load_scenario

ROOT = Path(__file__).resolve().parents[1]
SCENARIO = """
seed = 7
refill = "window"
headers = "full"

[rules."content.cards.list"]
personal = "2 / 1 h, burst 2"
basic = { period = 5000000, limit = 1, burst = 1 }

[[faults]]
kind = "disabled"
operation = "prices.*"

[latency]
after = 0.01

[stock]
rows = { cards = 250 }

[[stock.motions]]
resource = "cards"
every = 3600
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "scenario.toml"
    file.write_text(text)
    return file


def test_a_scenario_file_says_all_that_a_scenario_can(tmp_path: Path) -> None:
    scenario = load_scenario(written(tmp_path, SCENARIO))
    assert (scenario.seed, scenario.refill, scenario.headers) == (7, "window", "full")
    assert scenario.rules["content.cards.list"] == {
        "personal": Rule(3_600_000_000, 2, 2),
        "basic": Rule(5_000_000, 1, 1),
    }
    assert scenario.faults[0].kind is FaultKind.DISABLED
    assert scenario.stock.rows == {"cards": 250}
    assert scenario.stock.motions == (Motion("cards", every=3600),)


def test_an_empty_scenario_is_the_default_one(tmp_path: Path) -> None:
    assert load_scenario(written(tmp_path, "")).stock.default_rows > 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("seed = ", "cannot be read"),
        ("sead = 1", "sead"),
        ("seed = 'x'", r"\$\.seed"),
        ("[rules.content]\npersonal = 'often'", "often"),
        ("[rules]\ncontent = 3", r"\$\.rules"),
        ("[[faults]]\nkind = 'nothing'", "nothing"),
        ("[latency]\nafter = -1", "latency"),
        ("[stock]\nrow = {}", "row"),
    ],
)
def test_a_faulty_scenario_is_refused_with_its_key(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(CallerError, match=words) as refused:
        load_scenario(written(tmp_path, text))
    assert "scenario.toml" in str(refused.value)


def test_the_scenario_in_the_documentation_can_be_served(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "importing.md").read_text(encoding="utf-8")
    example = page.partition("```toml\n")[2].partition("```")[0]
    scenario = load_scenario(written(tmp_path, example))
    assert scenario.stock.rows == {"cards": 6100}
    assert scenario.foreign[0].every == 2.0


def test_a_missing_scenario_is_told(tmp_path: Path) -> None:
    with pytest.raises(CallerError, match="cannot be read"):
        load_scenario(tmp_path / "none.toml")


COMMAND = [sys.executable, "-c", "from wbtrio.cli import main; main()"]


async def ask(url: str, token: str, count: int) -> list[int]:
    """As a client in any other language would: a token, a path, WB's host."""
    headers = {"Authorization": token, "X-Wb-Host": "content-api.wildberries.ru"}
    body: dict[str, Any] = {"settings": {"cursor": {"limit": 100}}}
    async with httpx.AsyncClient(base_url=url, headers=headers) as http:
        return [
            (await http.post("/content/v2/get/cards/list", json=body)).status_code
            for _ in range(count)
        ]


@pytest.mark.anyio
@pytest.mark.real_io
async def test_it_serves_counts_and_says_what_it_counted(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    command = [
        *(*COMMAND, "simulate", "--scenario", written(tmp_path, SCENARIO), "--port", "0"),
        *("--token-file", tokens),
    ]
    async with await anyio.open_process(list(map(str, command)), stderr=None) as process:
        assert process.stdout is not None
        first = await process.stdout.receive()
        url = first.decode().split()[-1]
        token = (await anyio.Path(tokens).read_text()).split()[0]
        assert await ask(url, token, 3) == [200, 200, 429]
        process.send_signal(signal.SIGINT)
        rest = b"".join([part async for part in process.stdout])
        assert await process.wait() == 0
    words = rest.decode().split()
    assert "anna" in words
    assert "content.cards.list" in words


@pytest.mark.anyio
@pytest.mark.real_io
async def test_it_ends_by_itself_after_its_time(tmp_path: Path) -> None:
    done = await anyio.run_process(
        [*COMMAND, "simulate", "--port", "0", "--duration", "0.1", "--backend", "asyncio"]
    )
    assert b"Nobody asked" in done.stdout


@pytest.mark.anyio
@pytest.mark.real_io
async def test_a_faulty_scenario_ends_the_command_with_two(tmp_path: Path) -> None:
    done = await anyio.run_process(
        [*COMMAND, "simulate", "--scenario", str(written(tmp_path, "sead = 1"))], check=False
    )
    assert done.returncode == 2
    assert b"sead" in done.stderr
