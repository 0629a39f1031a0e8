"""What the documentation shows, runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^```python(?P<marks>[^\n]*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#|mailto:)(?P<target>[^)#\s]+)[^)]*\)")
README_EXAMPLE_LINES = 25


class Example(NamedTuple):
    """A block of Python on a page; `notest` after `python` marks one that needs the real world."""

    page: Path
    line: int
    code: str
    runs: bool

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def examples_of(page: Path) -> list[Example]:
    text = page.read_text(encoding="utf-8")
    return [
        Example(page, text[: block.start()].count("\n") + 2, block["code"], not block["marks"])
        for block in FENCE.finditer(text)
    ]


EXAMPLES = [example for page in PAGES for example in examples_of(page)]


def run(code: str, folder: Path) -> str:
    """What the code prints, run as a file of its own in a folder that has nothing else in it."""
    script = folder / "example.py"
    script.write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", script.name],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("example", [one for one in EXAMPLES if one.runs], ids=str)
def test_every_example_runs_as_it_stands(example: Example, tmp_path: Path) -> None:
    assert run(example.code, tmp_path)


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_every_example_imports_what_exists(example: Example, tmp_path: Path) -> None:
    imports = re.findall(r"^(?:from wbtrio.*|import wbtrio.*)$", example.code, re.MULTILINE)
    assert run("\n".join([*imports, "print('imported')"]), tmp_path) == "imported\n"


def test_the_readme_example_is_short_and_earns_no_refusal(tmp_path: Path) -> None:
    example = examples_of(ROOT / "README.md")[0]
    lines = [line for line in example.code.splitlines() if line.strip()]
    assert len(lines) <= README_EXAMPLE_LINES
    printed = run(example.code, tmp_path)
    assert re.search(r"^anna: [1-9]\d* rows of content\.cards\.list$", printed, re.MULTILINE)
    assert printed.endswith("0 requests were refused\n")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_no_link_within_the_project_is_broken(page: Path) -> None:
    targets = {link["target"] for link in LINK.finditer(page.read_text(encoding="utf-8"))}
    missing = {target for target in targets if not (page.parent / target).exists()}
    assert not missing
