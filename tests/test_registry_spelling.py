"""A misspelt or malformed registry file is told with its place and the right spelling."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.registry_files import assert_told


@pytest.mark.parametrize(
    ("change", "place", "words"),
    [
        pytest.param(
            ('budget = "shared"', 'budjet = "shared"'),
            (10, "operations.shop.goods.list", "budjet"),
            ["unknown key 'budjet'", "Did you mean budget"],
            id="unknown key of an operation",
        ),
        pytest.param(
            ("[budgets.shared]\nall", "[budgets.shared]\nal"),
            (5, "budgets.shared", "al"),
            ["unknown key 'al'", "Did you mean all"],
            id="unknown key of a budget",
        ),
        pytest.param(
            ("limits.basic", "limits.bassic"),
            (16, "operations.shop.goods.get", "limits.bassic"),
            ["unknown key 'bassic'", "Did you mean basic"],
            id="unknown token kind",
        ),
        pytest.param(
            ("[hosts.shop]\nproduction", "[hosts.shop]\nprodaction"),
            (2, "hosts.shop", "prodaction"),
            ["unknown key 'prodaction'", "Did you mean production"],
            id="unknown key of a host",
        ),
        pytest.param(
            ("[budgets.shared]", "[budget.shared]"),
            (4, None, "budget"),
            ["unknown key 'budget'", "Did you mean budgets"],
            id="unknown table",
        ),
        pytest.param(
            ('limits.basic = "1 / 3 h, burst 1"\n', ""),
            (15, "operations.shop.goods.get", "limits"),
            ["no limit for token kind basic", "`kinds`"],
            id="kind without limit",
        ),
        pytest.param(
            ("300 / 1 min, burst 20", "300 / 1 min, burst 0"),
            (5, "budgets.shared", "all"),
            ["the burst of", "is 0"],
            id="burst 0",
        ),
        pytest.param(
            ("1 / 3 h, burst 1", "1 / 0 h, burst 1"),
            (16, "operations.shop.goods.get", "limits.basic"),
            ["the period of", "is 0"],
            id="period 0",
        ),
        pytest.param(
            ("300 / 1 min", "0 / 1 min"),
            (5, "budgets.shared", "all"),
            ["the limit of", "is 0"],
            id="limit 0",
        ),
        pytest.param(
            ("300 / 1 min, burst 20", "300 per minute"),
            (5, "budgets.shared", "all"),
            ["'300 per minute' is not a limit", "300 / 1 min, burst 20"],
            id="a limit in another form",
        ),
        pytest.param(
            ('"300 / 1 min, burst 20"', "300"),
            (5, "budgets.shared", "all"),
            ["expected `str | null`, got `int`"],
            id="a limit that is a number",
        ),
        pytest.param(
            ('budget = "shared"', 'budget = "shared"\nerror_cost = 0'),
            (11, "operations.shop.goods.list", "error_cost"),
            ["must be at least 1"],
            id="an error cost of 0",
        ),
        pytest.param(
            ('budget = "shared"', 'budget = "shared"\nkinds = ["personal", "basik"]'),
            (11, "operations.shop.goods.list", "kinds"),
            ["unknown kinds 'basik'", "Did you mean basic"],
            id="an unknown kind",
        ),
        pytest.param(
            ('budget = "shared"', 'budget = "shared"\nscope = "contend"'),
            (11, "operations.shop.goods.list", "scope"),
            ["unknown scope 'contend'", "Did you mean content"],
            id="an unknown scope",
        ),
        pytest.param(
            ('budget = "shared"', 'budget = "shared"\npagination.scheme = "offsett"'),
            (11, "operations.shop.goods.list", "pagination.scheme"),
            ["unknown pagination scheme 'offsett'", "Did you mean offset"],
            id="an unknown pagination scheme",
        ),
        pytest.param(
            (
                'budget = "shared"',
                'budget = "shared"\n\n[operations."shop.goods.list".pagination]\n'
                'scheme = "offset"\nend = ["short_pages"]',
            ),
            (14, "operations.shop.goods.list", "pagination.end"),
            ["unknown end 'short_pages'", "Did you mean short_page"],
            id="an unknown end rule",
        ),
        pytest.param(
            (
                'budget = "shared"',
                'budget = "shared"\n\n[operations."shop.goods.list".pagination]\n'
                'scheme = "offset"\npagesize = 100',
            ),
            (14, "operations.shop.goods.list", "pagination.pagesize"),
            ["unknown key 'pagesize'", "Did you mean page_size"],
            id="an unknown key of the pagination",
        ),
        pytest.param(
            ('operations."shop.goods.list"]', "operations.shop.goods.list]"),
            (7, "operations.shop", None),
            ["needs quotes", '[operations."shop.noun.verb"]'],
            id="an id without quotes",
        ),
        pytest.param(
            ('operations."shop.goods.list"]', 'operations."Shop Goods"]'),
            (7, "operations.Shop Goods", None),
            ["'Shop Goods' is no operation id"],
            id="an id of another form",
        ),
        pytest.param(
            ('operations."shop.goods.list"]', 'operations."shop.goods.get"]'),
            (12, None, None),
            ["not valid TOML", "Cannot declare"],
            id="an id twice in one file",
        ),
        pytest.param(
            ('host = "shop"\nbudget', 'host = "shop\nbudget'),
            (9, None, None),
            ["not valid TOML"],
            id="a string that does not end",
        ),
    ],
)
def test_a_misspelling_is_told_with_its_place_and_the_nearest_right_one(
    tmp_path: Path,
    change: tuple[str, str],
    place: tuple[int, str | None, str | None],
    words: list[str],
) -> None:
    assert_told(tmp_path, change, place, words)
