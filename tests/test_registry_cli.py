"""`wbtrio registry` as a person types it: what it prints, and its exit status."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.wb_documents import REGISTRY, RUSSIAN, document
from wbtrio._bucket import Limit
from wbtrio._registry import default_registry
from wbtrio.cli.registry import registry_app, time_for


def run(*arguments: str | Path) -> int:
    """Exit status of a command."""
    with pytest.raises(SystemExit) as caught:
        registry_app([str(argument) for argument in arguments])
    assert isinstance(caught.value.code, int)
    return caught.value.code


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "registry"
    path.mkdir()
    (path / "shop.toml").write_text(REGISTRY, encoding="utf-8")
    return path


def test_list_shows_every_operation_with_its_limit(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("list") == 0
    printed = capsys.readouterr().out
    for name in default_registry().operations:
        assert name in printed
    (line,) = (line for line in printed.splitlines() if " statistics.sales.list " in line)
    assert "1 / 1 min, burst 1" in line
    assert "16 h 39 min" in line


def test_list_shows_what_a_basic_token_makes_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("list", "--category", "reports", "--kind", "basic") == 0
    printed = capsys.readouterr().out
    assert "content.cards.list" not in printed
    (line,) = (line for line in printed.splitlines() if " statistics.sales.list " in line)
    assert "1 / 2 h, burst 1" in line
    assert "83 d 6 h" in line


def test_list_says_which_operations_refuse_the_kind(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("list", "--category", "finance", "--kind", "basic") == 0
    (line,) = (
        line for line in capsys.readouterr().out.splitlines() if " finance.acquiring.list " in line
    )
    assert "refused by WB" in line


def test_an_unknown_category_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("list", "--category", "contnet") == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "content" in captured.err


def test_show_tells_all_of_an_operation(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("show", "analytics.wb_stocks.list") == 0
    printed = capsys.readouterr().out
    for words in (
        "POST /api/analytics/v1/stocks-report/wb-warehouses",
        "seller-analytics-api.wildberries.ru",
        "personal, service, basic_secret",
        "reports.warehouse_remains.create",
        "basic (refused by WB)",
        "250,000",
    ):
        assert words in printed


def test_show_of_an_unknown_operation_names_the_nearest(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run("show", "content.card.list") == 2
    assert "content.cards.list" in capsys.readouterr().err


def test_check_of_the_shipped_registry_finds_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check") == 0
    assert "309 operations" in capsys.readouterr().out


def test_check_tells_file_and_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", folder, "--alone") == 0
    (folder / "shop.toml").write_text(REGISTRY.replace("burst 5", "burst 0"))
    assert run("check", folder, "--alone") == 1
    captured = capsys.readouterr()
    assert f"{folder}/shop.toml:10 [budgets.goods] full: " in captured.err


def test_check_lays_a_folder_over_the_shipped_registry(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.toml").write_text("[budgets.prices]\nshare = 0.5\n")
    assert run("check", tmp_path) == 0
    (tmp_path / "mine.toml").write_text("[budgets.price]\nshare = 0.5\n")
    assert run("check", tmp_path) == 1
    assert "mine.toml:1" in capsys.readouterr().err


def test_diff_is_0_while_nothing_differs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = folder.parent / "shop.json"
    spec.write_text(json.dumps(document()))
    assert run("diff", spec, "--registry", folder) == 0
    assert "4 operations compared, 0 differences." in capsys.readouterr().out
    assert run("diff", spec, "--registry", folder, "--patch") == 0
    assert capsys.readouterr().out == ""


def test_diff_is_1_and_prints_each_difference(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed: Any = document()
    changed["paths"]["/api/v1/orders/{orderId}"]["get"]["x-wb-rate-limits"]["limits"] = [
        {"period": "1 min", "limit": "500 requests", "burst": "20 requests"}
    ]
    spec = folder.parent / "shop.json"
    spec.write_text(json.dumps(changed))
    assert run("diff", spec, "--registry", folder) == 1
    printed = capsys.readouterr().out
    assert "shop.orders.get (personal)" in printed
    assert "500 / 1 min, burst 20" in printed
    assert "wider" in printed
    assert run("diff", spec, "--registry", folder, "--patch") == 1
    assert '+limits.all = "500 / 1 min, burst 20"' in capsys.readouterr().out.splitlines()


def test_diff_reads_yaml_and_whole_folders(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    specs = folder.parent / "specs"
    specs.mkdir()
    (specs / "shop.yaml").write_text(RUSSIAN, encoding="utf-8")
    (specs / "notes.txt").write_text("no document")
    assert run("diff", specs, "--registry", folder) == 1
    printed = capsys.readouterr().out
    assert "3 operations compared" in printed
    assert "2 / 1 min, burst 3" in printed


@pytest.mark.parametrize("text", ["", "{", "a: [", "just words", "[1, 2]"])
def test_an_unreadable_document_is_told_by_name(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "broken.yaml"
    spec.write_text(text)
    assert run("diff", spec) == 2
    captured = capsys.readouterr()
    assert str(spec) in captured.err
    assert captured.out == ""


def test_diff_without_documents_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("diff") == 2
    assert run("diff", tmp_path) == 2
    assert run("diff", tmp_path / "nowhere.json") == 2
    assert "nowhere.json" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("limit", "requests", "words"),
    [
        (Limit(60_000_000, 300, 20), 20, "at once"),
        (Limit(60_000_000, 300, 20), 1_000, "3 min 16 s"),
        (Limit(3_600_000_000, 1, 1), 1_000, "41 d 15 h"),
        (Limit(1_000_000, 10, 1), 2, "1 s"),
    ],
)
def test_times_are_those_of_a_full_bucket(limit: Limit, requests: int, words: str) -> None:
    assert time_for(requests, limit) == words
