"""Files that are made from the registry are in step with it."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from wbtrio import _operation_ids
from wbtrio._registry import default_registry
from wbtrio._registry._render import budgets_page, operation_ids_module

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("wbtrio/_operation_ids.py", operation_ids_module(default_registry())),
        ("docs/budgets.md", budgets_page(default_registry())),
    ],
)
def test_a_file_made_from_the_registry_is_in_step(name: str, text: str) -> None:
    made = (ROOT / name).read_text(encoding="utf-8")
    assert made == text, f"run `make registry`: {name} is behind registry/*.toml"


def test_the_literal_names_each_operation_once() -> None:
    ids = get_args(_operation_ids.OperationId)
    assert len(ids) == len(set(ids))
    assert set(ids) == set(default_registry().operations)


def test_the_page_of_budgets_names_every_budget_and_operation() -> None:
    page = budgets_page(default_registry())
    for name in default_registry().budgets:
        assert f"| `{name}` |" in page
    for operation in default_registry().operations.values():
        assert f"{operation.method} `{operation.path}`" in page
