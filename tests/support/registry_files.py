"""A small whole registry file, and what a broken one is refused with."""

from __future__ import annotations

from pathlib import Path

import pytest

from wbtrio._errors import RegistryError
from wbtrio._registry import Registry

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
    """What `Registry.load` raises with this file in the folder."""
    (folder / name).write_text(text, encoding="utf-8")
    with pytest.raises(RegistryError) as caught:
        Registry.load(folder)
    return caught.value


def assert_told(
    folder: Path,
    change: tuple[str, str],
    place: tuple[int, str | None, str | None],
    words: list[str],
) -> None:
    """GOOD with one change is refused at a line, table and key, in these words."""
    old, new = change
    assert old in GOOD
    error = refusal(folder, GOOD.replace(old, new, 1))
    file = str(folder / "shop.toml")
    assert (error.file, (error.line, error.table, error.key)) == (file, place)
    assert str(error).startswith(f"{file}:{place[0]}")
    for word in words:
        assert word in str(error)
