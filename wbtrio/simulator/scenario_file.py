"""A scenario as one TOML file, to be edited by hand. Its keys are the fields of `Scenario`.

seed = 7
refill = "window"

[rules.content]
personal = "10 / 1 s, burst 3"

[[faults]]
kind = "server_error"
operation = "content.*"
probability = 0.02

[stock]
default_rows = 500
rows = { cards = 6100 }
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from wbtrio._errors import CallerError
from wbtrio._registry import parse_limit

from .scenario import Scenario


def load_scenario(path: Path) -> Scenario:
    """Read a scenario.

    Args:
        path: A TOML file. A rule may be written as in the registry, `"300 / 1 min, burst 20"`.

    Raises:
        CallerError: It cannot be read, is no TOML, or says what no scenario can say; the message
            names the key.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CallerError(f"{path} cannot be read as a scenario: {error}.") from error
    try:
        if isinstance(tables.get("rules"), Mapping):
            tables["rules"] = _rules(tables["rules"])
        return msgspec.convert(tables, Scenario)
    except (msgspec.ValidationError, ValueError) as error:
        raise CallerError(f"{path}: {error}.") from error


def _rules(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Rules written as limits of the registry's, as the numbers that they stand for."""
    return {
        budget: {kind: _rule(rule) for kind, rule in kinds.items()}
        if isinstance(kinds, Mapping)
        else kinds
        for budget, kinds in tables.items()
    }


def _rule(rule: Any) -> Any:
    if not isinstance(rule, str):
        return rule
    limit = parse_limit(rule)
    return {"period": limit.period, "limit": limit.limit, "burst": limit.burst}
