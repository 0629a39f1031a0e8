"""`python -m wbtrio._registry`: write the files that are made from the registry, in a checkout."""

from __future__ import annotations

from pathlib import Path

from . import default_registry
from ._render import budgets_page, operation_ids_module

ROOT = Path(__file__).parents[2]


def main() -> None:
    """Write `wbtrio/_operation_ids.py` and `docs/budgets.md`."""
    registry = default_registry()
    for name, text in {
        "wbtrio/_operation_ids.py": operation_ids_module(registry),
        "docs/budgets.md": budgets_page(registry),
    }.items():
        (ROOT / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
