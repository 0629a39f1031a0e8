"""A registry that contradicts itself is told with file, line, table, key and the way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.registry_files import GOOD, assert_told, refusal
from wbtrio._errors import RegistryError
from wbtrio._registry import Registry, shipped_folder


def test_the_example_that_the_tests_break_is_whole(tmp_path: Path) -> None:
    (tmp_path / "shop.toml").write_text(GOOD)
    assert sorted(Registry.load(tmp_path).operations) == ["shop.goods.get", "shop.goods.list"]


@pytest.mark.parametrize(
    ("change", "place", "words"),
    [
        pytest.param(
            ('budget = "shared"', 'budget = "shered"'),
            (10, "operations.shop.goods.list", "budget"),
            ["unknown budget 'shered'", "Did you mean shared"],
            id="unknown budget",
        ),
        pytest.param(
            ('host = "shop"\nbudget', 'host = "shpo"\nbudget'),
            (9, "operations.shop.goods.list", "host"),
            ["unknown host 'shpo'", "Did you mean shop"],
            id="unknown host",
        ),
        pytest.param(
            ("GET /goods/{id}", "GET /goods/{id"),
            (13, "operations.shop.goods.get", "http"),
            ["path parameter '{id' is malformed"],
            id="a brace that is not closed",
        ),
        pytest.param(
            ("GET /goods/{id}", "GET /goods/x{id}"),
            (13, "operations.shop.goods.get", "http"),
            ["path parameter 'x{id}' is malformed"],
            id="a parameter that is part of a segment",
        ),
        pytest.param(
            ("GET /goods/{id}", "GET /goods/{id}/{id}"),
            (13, "operations.shop.goods.get", "http"),
            ["path parameter {id} occurs twice"],
            id="a parameter twice",
        ),
        pytest.param(
            ("GET /goods/{id}", "GET /goods?x=1"),
            (13, "operations.shop.goods.get", "http"),
            ["is no path template"],
            id="a path with a query",
        ),
        pytest.param(
            ("GET /goods/{id}", "FETCH /goods"),
            (13, "operations.shop.goods.get", "http"),
            ["no method and path", "GET /api/v3/orders"],
            id="an unknown method",
        ),
        pytest.param(
            ("GET /goods/{id}", "GET /goods"),
            (8, "operations.shop.goods.list", "http"),
            ["GET shop-api.example/goods is operation 'shop.goods.get' already"],
            id="two operations at one place",
        ),
        pytest.param(
            ('http = "GET /goods"\n', ""),
            (7, "operations.shop.goods.list", None),
            ["the key `http` is missing", "Did you mean shop.goods.get"],
            id="an operation without a path",
        ),
        pytest.param(
            ('budget = "shared"', 'budget = "shared"\nlimits.all = "1 / 1 s, burst 1"'),
            (10, "operations.shop.goods.list", "budget"),
            ["either a `budget`", "or `limits` of its own"],
            id="a shared and an own budget",
        ),
        pytest.param(
            ('budget = "shared"\n', ""),
            (7, "operations.shop.goods.list", None),
            ["either a `budget`", "or `limits` of its own"],
            id="no budget at all",
        ),
        pytest.param(
            ("[budgets.shared]", '[budgets.spare]\nall = "1 / 1 s, burst 1"\n\n[budgets.shared]'),
            (4, "budgets.spare", None),
            ["no operation uses budget 'spare'", "Did you mean shared"],
            id="a budget that nothing uses",
        ),
        pytest.param(
            (
                "[budgets.shared]",
                '[budgets."shop.goods.list"]\nall = "1 / 1 s, burst 1"\n\n[budgets.shared]',
            ),
            (4, "budgets.shop.goods.list", None),
            ["has no budget of its own", "Change [budgets.shared]"],
            id="a change to a budget that an operation does not own",
        ),
        pytest.param(
            (
                'budget = "shared"',
                'budget = "shared"\npagination = { scheme = "task", download = "shop.goods.list" }',
            ),
            (11, "operations.shop.goods.list", "pagination.download"),
            ["one path parameter, the task's id"],
            id="a download whose path takes no task",
        ),
        pytest.param(
            (
                'budget = "shared"',
                'budget = "shared"\npagination = { scheme = "task", status = "shop.good.get" }',
            ),
            (11, "operations.shop.goods.list", "pagination.status"),
            ["unknown operation 'shop.good.get'", "Did you mean shop.goods.get"],
            id="a status operation that is not there",
        ),
        pytest.param(
            ('budget = "shared"', 'budget = "shared"\nalternative = "shop.goods.gett"'),
            (11, "operations.shop.goods.list", "alternative"),
            ["unknown operation 'shop.goods.gett'", "Did you mean shop.goods.get"],
            id="an alternative that is not there",
        ),
        pytest.param(
            ('budget = "shared"', 'budget = "shared"\nsandbox_budget = "shared"'),
            (11, "operations.shop.goods.list", "sandbox_budget"),
            ["a sandbox budget but no sandbox host"],
            id="a sandbox budget without a sandbox",
        ),
    ],
)
def test_a_contradiction_is_told_with_its_place_and_the_way_out(
    tmp_path: Path,
    change: tuple[str, str],
    place: tuple[int, str | None, str | None],
    words: list[str],
) -> None:
    assert_told(tmp_path, change, place, words)


def test_an_id_in_two_files_names_both(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(GOOD)
    error = refusal(tmp_path, '\n[operations."shop.goods.list"]\nhttp = "GET /x"\n', "b.toml")
    assert error.file == str(tmp_path / "b.toml")
    assert error.line == 2
    assert str(tmp_path / "a.toml") in str(error)


def test_a_fault_of_a_later_folder_is_told_at_the_later_file(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
    (first / "shop.toml").write_text(GOOD)
    (second / "mine.toml").write_text('# mine\n[budgets.shared]\nall = "1 / 1 d, burst 1"\n')
    with pytest.raises(RegistryError) as caught:
        Registry.load(first, second)
    assert (caught.value.file, caught.value.line) == (str(second / "mine.toml"), 3)


def test_a_missing_or_empty_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match="no such folder"):
        Registry.load(tmp_path / "nowhere")
    with pytest.raises(RegistryError, match=r"no \*\.toml file"):
        Registry.load(tmp_path)


def test_a_file_that_is_not_utf8_is_told(tmp_path: Path) -> None:
    (tmp_path / "shop.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(RegistryError, match="cannot be read"):
        Registry.load(tmp_path)


@pytest.mark.parametrize(
    "overrides",
    [
        {"budgets": 5},
        {"budgets": {"prices": 5}},
        {"budget": {}},
        {"defaults": 3},
        {"operations": {"content.cards.list": {"limits": {"basic": 7}}}},
    ],
)
def test_overrides_of_another_shape_are_refused(overrides: dict[str, object]) -> None:
    with pytest.raises(RegistryError) as caught:
        Registry.load(shipped_folder(), overrides=overrides)
    assert caught.value.file == "overrides"
