"""Memory stays flat, however large WB's page is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parents[1]


def test_a_page_of_200_megabytes_is_imported_in_flat_memory(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.large_page", str(tmp_path)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=300,
    )
    found = msgspec.json.decode(done.stdout)
    assert found["rows"] == 100_000
    assert found["bytes"] > 200_000_000
    assert found["grown"] < 80, "MB; decoded at once, the page takes more than a gigabyte"
    with (tmp_path / "seller-1" / "finance_details.ndjson").open("rb") as file:
        assert sum(1 for _ in file) == 100_000
