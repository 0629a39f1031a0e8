"""What is wrong with a registry file is said with file, line, table, key and a way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from wbtrio._errors import RegistryError
from wbtrio._registry import Registry, shipped_folder

GOOD = """\
[hosts.shop]
production = "shop-api.example"

[budgets.shared]
all = "300 / 1 min, burst 20"

[operations."shop.goods.list"]
http = "GET /goods"
host = "shop"
budget = "shared"

[operations."shop.goods.get"]
http = "GET /goods/{id}"
host = "shop"
limits.full = "1 / 1 min, burst 10"
limits.basic = "1 / 3 h, burst 1"
"""


def refusal(folder: Path, text: str, name: str = "shop.toml") -> RegistryError:
    (folder / name).write_text(text, encoding="utf-8")
    with pytest.raises(RegistryError) as caught:
        Registry.load(folder)
    return caught.value


def test_the_example_that_the_tests_break_is_whole(tmp_path: Path) -> None:
    (tmp_path / "shop.toml").write_text(GOOD)
    assert sorted(Registry.load(tmp_path).operations) == ["shop.goods.get", "shop.goods.list"]


@pytest.mark.parametrize(
    ("old", "new", "line", "table", "key", "words"),
    [
        pytest.param(
            'budget = "shared"',
            'budjet = "shared"',
            10,
            "operations.shop.goods.list",
            "budjet",
            ["unknown key 'budjet'", "Did you mean budget"],
            id="unknown key of an operation",
        ),
        pytest.param(
            "[budgets.shared]\nall",
            "[budgets.shared]\nal",
            5,
            "budgets.shared",
            "al",
            ["unknown key 'al'", "Did you mean all"],
            id="unknown key of a budget",
        ),
        pytest.param(
            "limits.basic",
            "limits.bassic",
            16,
            "operations.shop.goods.get",
            "limits.bassic",
            ["unknown key 'bassic'", "Did you mean basic"],
            id="unknown token kind",
        ),
        pytest.param(
            "[hosts.shop]\nproduction",
            "[hosts.shop]\nprodaction",
            2,
            "hosts.shop",
            "prodaction",
            ["unknown key 'prodaction'", "Did you mean production"],
            id="unknown key of a host",
        ),
        pytest.param(
            "[budgets.shared]",
            "[budget.shared]",
            4,
            None,
            "budget",
            ["unknown key 'budget'", "Did you mean budgets"],
            id="unknown table",
        ),
        pytest.param(
            'budget = "shared"',
            'budget = "shered"',
            10,
            "operations.shop.goods.list",
            "budget",
            ["unknown budget 'shered'", "Did you mean shared"],
            id="unknown budget",
        ),
        pytest.param(
            'host = "shop"\nbudget',
            'host = "shpo"\nbudget',
            9,
            "operations.shop.goods.list",
            "host",
            ["unknown host 'shpo'", "Did you mean shop"],
            id="unknown host",
        ),
        pytest.param(
            'limits.basic = "1 / 3 h, burst 1"\n',
            "",
            15,
            "operations.shop.goods.get",
            "limits",
            ["no limit for token kind basic", "`kinds`"],
            id="kind without limit",
        ),
        pytest.param(
            "300 / 1 min, burst 20",
            "300 / 1 min, burst 0",
            5,
            "budgets.shared",
            "all",
            ["the burst of", "is 0"],
            id="burst 0",
        ),
        pytest.param(
            "1 / 3 h, burst 1",
            "1 / 0 h, burst 1",
            16,
            "operations.shop.goods.get",
            "limits.basic",
            ["the period of", "is 0"],
            id="period 0",
        ),
        pytest.param(
            "300 / 1 min",
            "0 / 1 min",
            5,
            "budgets.shared",
            "all",
            ["the limit of", "is 0"],
            id="limit 0",
        ),
        pytest.param(
            "300 / 1 min, burst 20",
            "300 per minute",
            5,
            "budgets.shared",
            "all",
            ["'300 per minute' is not a limit", "300 / 1 min, burst 20"],
            id="a limit in another form",
        ),
        pytest.param(
            '"300 / 1 min, burst 20"',
            "300",
            5,
            "budgets.shared",
            "all",
            ["expected `str | null`, got `int`"],
            id="a limit that is a number",
        ),
        pytest.param(
            "GET /goods/{id}",
            "GET /goods/{id",
            13,
            "operations.shop.goods.get",
            "http",
            ["path parameter '{id' is malformed"],
            id="a brace that is not closed",
        ),
        pytest.param(
            "GET /goods/{id}",
            "GET /goods/x{id}",
            13,
            "operations.shop.goods.get",
            "http",
            ["path parameter 'x{id}' is malformed"],
            id="a parameter that is part of a segment",
        ),
        pytest.param(
            "GET /goods/{id}",
            "GET /goods/{id}/{id}",
            13,
            "operations.shop.goods.get",
            "http",
            ["path parameter {id} occurs twice"],
            id="a parameter twice",
        ),
        pytest.param(
            "GET /goods/{id}",
            "GET /goods?x=1",
            13,
            "operations.shop.goods.get",
            "http",
            ["is no path template"],
            id="a path with a query",
        ),
        pytest.param(
            "GET /goods/{id}",
            "FETCH /goods",
            13,
            "operations.shop.goods.get",
            "http",
            ["no method and path", "GET /api/v3/orders"],
            id="an unknown method",
        ),
        pytest.param(
            "GET /goods/{id}",
            "GET /goods",
            8,
            "operations.shop.goods.list",
            "http",
            ["GET shop-api.example/goods is operation 'shop.goods.get' already"],
            id="two operations at one place",
        ),
        pytest.param(
            'http = "GET /goods"\n',
            "",
            7,
            "operations.shop.goods.list",
            None,
            ["the key `http` is missing", "Did you mean shop.goods.get"],
            id="an operation without a path",
        ),
        pytest.param(
            'budget = "shared"',
            'budget = "shared"\nlimits.all = "1 / 1 s, burst 1"',
            10,
            "operations.shop.goods.list",
            "budget",
            ["either a `budget`", "or `limits` of its own"],
            id="a shared and an own budget",
        ),
        pytest.param(
            'budget = "shared"\n',
            "",
            7,
            "operations.shop.goods.list",
            None,
            ["either a `budget`", "or `limits` of its own"],
            id="no budget at all",
        ),
        pytest.param(
            "[budgets.shared]",
            '[budgets.spare]\nall = "1 / 1 s, burst 1"\n\n[budgets.shared]',
            4,
            "budgets.spare",
            None,
            ["no operation uses budget 'spare'", "Did you mean shared"],
            id="a budget that nothing uses",
        ),
        pytest.param(
            "[budgets.shared]",
            '[budgets."shop.goods.list"]\nall = "1 / 1 s, burst 1"\n\n[budgets.shared]',
            4,
            "budgets.shop.goods.list",
            None,
            ["has no budget of its own", "Change [budgets.shared]"],
            id="a change to a budget that an operation does not own",
        ),
        pytest.param(
            'budget = "shared"',
            'budget = "shared"\nerror_cost = 0',
            11,
            "operations.shop.goods.list",
            "error_cost",
            ["must be at least 1"],
            id="an error cost of 0",
        ),
        pytest.param(
            'budget = "shared"',
            'budget = "shared"\nkinds = ["personal", "basik"]',
            11,
            "operations.shop.goods.list",
            "kinds",
            ["unknown kinds 'basik'", "Did you mean basic"],
            id="an unknown kind",
        ),
        pytest.param(
            'budget = "shared"',
            'budget = "shared"\nscope = "contend"',
            11,
            "operations.shop.goods.list",
            "scope",
            ["unknown scope 'contend'", "Did you mean content"],
            id="an unknown scope",
        ),
        pytest.param(
            'budget = "shared"',
            'budget = "shared"\npagination.scheme = "offsett"',
            11,
            "operations.shop.goods.list",
            "pagination.scheme",
            ["unknown pagination scheme 'offsett'", "Did you mean offset"],
            id="an unknown pagination scheme",
        ),
        pytest.param(
            'budget = "shared"',
            'budget = "shared"\n\n[operations."shop.goods.list".pagination]\n'
            'scheme = "offset"\nend = ["short_pages"]',
            14,
            "operations.shop.goods.list",
            "pagination.end",
            ["unknown end 'short_pages'", "Did you mean short_page"],
            id="an unknown end rule",
        ),
        pytest.param(
            'budget = "shared"',
            'budget = "shared"\n\n[operations."shop.goods.list".pagination]\n'
            'scheme = "offset"\npagesize = 100',
            14,
            "operations.shop.goods.list",
            "pagination.pagesize",
            ["unknown key 'pagesize'", "Did you mean page_size"],
            id="an unknown key of the pagination",
        ),
        pytest.param(
            'budget = "shared"',
            'budget = "shared"\npagination = { scheme = "task", download = "shop.goods.list" }',
            11,
            "operations.shop.goods.list",
            "pagination.download",
            ["one path parameter, the task's id"],
            id="a download whose path takes no task",
        ),
        pytest.param(
            'budget = "shared"',
            'budget = "shared"\npagination = { scheme = "task", status = "shop.good.get" }',
            11,
            "operations.shop.goods.list",
            "pagination.status",
            ["unknown operation 'shop.good.get'", "Did you mean shop.goods.get"],
            id="a status operation that is not there",
        ),
        pytest.param(
            'budget = "shared"',
            'budget = "shared"\nalternative = "shop.goods.gett"',
            11,
            "operations.shop.goods.list",
            "alternative",
            ["unknown operation 'shop.goods.gett'", "Did you mean shop.goods.get"],
            id="an alternative that is not there",
        ),
        pytest.param(
            'budget = "shared"',
            'budget = "shared"\nsandbox_budget = "shared"',
            11,
            "operations.shop.goods.list",
            "sandbox_budget",
            ["a sandbox budget but no sandbox host"],
            id="a sandbox budget without a sandbox",
        ),
        pytest.param(
            'operations."shop.goods.list"]',
            "operations.shop.goods.list]",
            7,
            "operations.shop",
            None,
            ["needs quotes", '[operations."shop.noun.verb"]'],
            id="an id without quotes",
        ),
        pytest.param(
            'operations."shop.goods.list"]',
            'operations."Shop Goods"]',
            7,
            "operations.Shop Goods",
            None,
            ["'Shop Goods' is no operation id"],
            id="an id of another form",
        ),
        pytest.param(
            'operations."shop.goods.list"]',
            'operations."shop.goods.get"]',
            12,
            None,
            None,
            ["not valid TOML", "Cannot declare"],
            id="an id twice in one file",
        ),
        pytest.param(
            'host = "shop"\nbudget',
            'host = "shop\nbudget',
            9,
            None,
            None,
            ["not valid TOML"],
            id="a string that does not end",
        ),
    ],
)
def test_a_fault_is_told_with_its_place_and_the_way_out(
    tmp_path: Path,
    old: str,
    new: str,
    line: int,
    table: str | None,
    key: str | None,
    words: list[str],
) -> None:
    assert old in GOOD
    error = refusal(tmp_path, GOOD.replace(old, new, 1))
    file = str(tmp_path / "shop.toml")
    assert (error.file, error.line, error.table, error.key) == (file, line, table, key)
    assert str(error).startswith(f"{file}:{line}")
    for word in words:
        assert word in str(error)


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
