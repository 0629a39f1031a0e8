"""A misspelt operation is caught by type checkers, and by the registry at run time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
from wbtrio import AccountScope

async def use(seller: AccountScope) -> None:
    await seller.call("{operation}")
    async for page in seller.pages("{operation}"):
        print(page.number)
"""


@pytest.mark.parametrize(
    ("operation", "errors"), [("content.cards.list", 0), ("content.card.list", 2)]
)
def test_mypy_knows_every_operations_id(operation: str, errors: int, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(operation=operation), encoding="utf-8")
    cache = Path(__file__).parents[1] / ".mypy_cache"
    command = [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={cache}", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.count(": error:") == errors, done.stdout[-2_000:]
