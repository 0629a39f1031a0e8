"""SIGKILL at a hundred random points of an import: nothing is lost, and nothing comes twice."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 300.0
"""Seconds after which the children are taken for stuck."""


def killed_imports(kind: str, folder: Path, seed: str, kills: int) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.killed_imports", kind, folder, seed, str(kills)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=LONGEST,
    )
    return msgspec.json.decode(done.stdout)


@pytest.mark.parametrize(("kind", "kills"), [("ndjson", 100), ("parquet", 20), ("duckdb", 20)])
def test_an_import_killed_anywhere_and_run_again_has_exactly_the_rows_of_wb(
    kind: str, kills: int, tmp_path: Path
) -> None:
    found = killed_imports(kind, tmp_path, "2026", kills)
    assert found["points"] == kills
    assert found["lines"] > 10 * kills, "the points are spread over the whole of the run"
    assert found["wrong"] == []
