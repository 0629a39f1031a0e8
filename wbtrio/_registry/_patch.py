"""Differences as a unified diff of the TOML files, for a person to read and apply.

Only whole lines are changed, so comments and order stay as they were written. What has no sure
place in a file (a group that no budget stands for yet, a cost of other statuses than 4XX) stays a
line of the report.
"""

from __future__ import annotations

import difflib
import json
import re
from collections import Counter
from typing import TYPE_CHECKING

from .._tokens import TokenKind
from ._diff import Comparison, Difference
from ._limits import format_limit
from ._openapi import EVERY_KIND
from ._source import Tables, positions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .._bucket import Limit
    from ._model import Operation
    from ._openapi import SpecOperation

ROW_KEYS = ("all", "full", *EVERY_KIND)
_FULL = (TokenKind.PERSONAL, TokenKind.SERVICE, TokenKind.BASIC_SECRET)
_VERBS = {"GET": "get", "POST": "create", "PUT": "set", "PATCH": "update", "DELETE": "delete"}
_UNKNOWN_LIMIT = "1 / 1 h, burst 1"


class Editor:
    """Texts of registry files, changed line by line."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """Start from texts by file name."""
        self._before = dict(texts)
        self._lines = {name: text.splitlines() for name, text in texts.items()}

    def unified(self) -> str:
        """The changes so far as a unified diff, for above the folder; empty: none."""
        parts: list[str] = []
        for name, lines in sorted(self._lines.items()):
            old = self._before[name].splitlines()
            short = "/".join(name.split("/")[-2:])
            parts += difflib.unified_diff(old, lines, f"a/{short}", f"b/{short}", lineterm="")
        return "\n".join(parts) + "\n" if parts else ""

    def texts(self) -> dict[str, str]:
        """The changed texts by file name."""
        return {name: "\n".join(lines) + "\n" for name, lines in self._lines.items()}

    def set(self, file: str, table: tuple[str, ...], key: str, value: str) -> None:
        """Give a key of a table a value (TOML text), in its line or in a new one."""
        lines = self._lines[file]
        found = self._lines_of(file, table, (key,))
        if found:
            first = last = found[0]
            if lines[first].rstrip().endswith("["):
                last = next(n for n in range(first, len(lines)) if lines[n].startswith("]"))
            lines[first : last + 1] = [f"{key} = {value}"]
        else:
            lines.insert(self._end_of(file, table), f"{key} = {value}")

    def remove(self, file: str, table: tuple[str, ...], keys: Iterable[str]) -> int:
        """Remove keys of a table; where the first of them was, or where a new key would go."""
        found = self._lines_of(file, table, keys)
        for number in reversed(found):
            del self._lines[file][number]
        return found[0] if found else self._end_of(file, table)

    def insert(self, file: str, number: int, lines: Iterable[str]) -> None:
        """Insert lines before the line of that number, counted from 0."""
        self._lines[file][number:number] = lines

    def append(self, file: str, lines: Iterable[str]) -> None:
        """Add lines to the end of a file, after an empty one."""
        self._lines[file] += ["", *lines]

    def drop(self, file: str, table: tuple[str, ...]) -> None:
        """Remove a table's own block: its header and its keys. Comments above it stay."""
        lines = self._lines[file]
        places = positions("\n".join(lines))
        start = next(n for n, path in places if path == table) - 1
        end = self._end_of(file, table)
        while end < len(lines) and not lines[end].strip():
            end += 1
        del lines[start:end]

    def _lines_of(self, file: str, table: tuple[str, ...], keys: Iterable[str]) -> list[int]:
        wanted = {(*table, *key.split(".")) for key in keys}
        places = positions("\n".join(self._lines[file]))
        return [number - 1 for number, path in places if path in wanted]

    def _end_of(self, file: str, table: tuple[str, ...]) -> int:
        """Number of the line after the last key of a table's own block."""
        lines = self._lines[file]
        inside, end = False, len(lines)
        for number, path in positions("\n".join(lines)):
            if lines[number - 1].lstrip().startswith("["):
                inside = path == table
            if inside:
                end = number
        return end


class Patcher:
    """Turns the differences of one comparison into edits."""

    def __init__(self, tables: Tables, comparison: Comparison) -> None:
        """Edit the files that `tables` were read from."""
        self._tables = tables
        self._comparison = comparison
        sources = {t.source.name: t.source.text for ts in tables.values() for t in ts.values()}
        self._editor = Editor({name: text for name, text in sources.items() if text})
        self._specs = {
            comparison.operations[place].id: spec
            for place, spec in comparison.specs.items()
            if place in comparison.operations
        }
        self._members = Counter(o.budget for o in comparison.registry.operations.values())
        self._made: set[str] = set()

    def patch(self, differences: Iterable[Difference]) -> Editor:
        """All differences that have a sure place, as edits."""
        seen: set[str] = set()
        for difference in differences:
            match difference.aspect:
                case "limit" if difference.subject not in seen:
                    seen.add(difference.subject)
                    self._limits(difference.subject)
                case "new":
                    self._add(difference)
                case "group":
                    self._regroup(difference)
                case "limit":
                    pass
                case _:
                    self._change(difference)
        return self._editor

    def _limits(self, budget: str) -> None:
        rows = {**self._comparison.registry.budgets[budget].limits}
        rows.update(self._comparison.published(budget))
        shared = self._tables["budgets"].get(budget)
        table = shared or self._tables["operations"][budget]
        prefix = "" if shared else "limits."
        keys = [prefix + key for key in ROW_KEYS]
        file = table.source.name
        number = self._editor.remove(file, table.path, keys)
        self._editor.insert(file, number, row_lines(rows, prefix))

    def _regroup(self, difference: Difference) -> None:
        """Charge an operation to the budget of its group, or to one of its own."""
        spec = self._specs[difference.subject]
        table = self._tables["operations"][difference.subject]
        file, path = table.source.name, table.path
        if difference.budget:
            if difference.budget not in self._tables["budgets"]:
                return
            self._editor.remove(file, path, [f"limits.{key}" for key in ROW_KEYS])
            self._editor.set(file, path, "budget", json.dumps(difference.budget))
        else:
            rows = {**self._comparison.registry.budgets[difference.here].limits, **spec.limits}
            number = self._editor.remove(file, path, ["budget"])
            self._editor.insert(file, number, row_lines(rows, "limits."))
        self._members[difference.here] -= 1
        emptied = self._tables["budgets"].get(difference.here)
        if emptied is not None and not self._members[difference.here]:
            self._editor.drop(emptied.source.name, emptied.path)

    def _change(self, difference: Difference) -> None:
        table = self._tables["operations"][difference.subject]
        spec = self._specs.get(difference.subject)
        for key, value in self._values(difference, spec).items():
            self._editor.set(table.source.name, table.path, key, value)

    def _values(self, difference: Difference, spec: SpecOperation | None) -> dict[str, str]:
        """New values of an operation's keys; none where a person has to decide."""
        if spec is None:
            return {"deprecated": "true"} if difference.aspect == "vanished" else {}
        match difference.aspect:
            case "cost" if spec.cost is None or spec.cost[0] == "4XX":
                return {"error_cost": str(spec.cost[1] if spec.cost else 1)}
            case "host":
                return {"host": json.dumps(self._host(spec.hosts[0]))}
            case "sandbox":
                return {"sandbox_host": json.dumps("".join(spec.sandbox_hosts[:1]))}
            case "path":
                return {"http": json.dumps(f"{spec.method} {spec.path}")}
            case "kinds" if spec.kinds:
                return {"kinds": _kinds(spec.kinds)}
            case "write":
                return {"write": "true" if spec.write else "false"}
        return {}

    def _add(self, difference: Difference) -> None:
        """Write a new operation down, under an id for a person to better."""
        spec = next(
            spec
            for spec in self._comparison.specs.values()
            if f"{spec.method} {spec.path}" == difference.subject
        )
        section = [o for o, s in self._comparison.pairs if s.document == spec.document]
        if not section or not spec.hosts:
            return
        with_row = spec.limits.keys() if spec.limits and not spec.group else EVERY_KIND
        kinds = spec.kinds or (with_row if len(with_row) < len(EVERY_KIND) else None)
        neighbour = max(section, key=lambda o: _likeness(o.path, spec.path))
        file = self._tables["operations"][neighbour.id].source.name
        self._editor.append(
            file,
            [
                f"# New: {spec.summary or 'no title'}. Choose a better id before it is used.",
                f'[operations."{self._new_id(neighbour, spec)}"]',
                f"http = {json.dumps(difference.subject)}",
                f"host = {json.dumps(self._host(spec.hosts[0]))}",
                *self._budget_lines(spec),
                f"error_cost = {spec.cost[1] if spec.cost and spec.cost[0] == '4XX' else 1}",
                *([f"kinds = {_kinds(kinds)}"] if kinds else []),
                *([] if spec.write is None else [f"write = {json.dumps(spec.write)}"]),
            ],
        )

    def _budget_lines(self, spec: SpecOperation) -> list[str]:
        mates = Counter(
            operation.budget
            for operation, other in self._comparison.pairs
            if spec.group and other.group == spec.group
        )
        if mates:
            return [f"budget = {json.dumps(mates.most_common(1)[0][0])}"]
        if spec.limits:
            return row_lines(spec.limits, "limits.")
        return [f"limits.all = {json.dumps(_UNKNOWN_LIMIT)}  # WB publishes none"]

    def _new_id(self, neighbour: Operation, spec: SpecOperation) -> str:
        prefix = neighbour.id.partition(".")[0]
        static = [part for part in spec.path.split("/") if part and not part.startswith("{")]
        noun = re.sub(r"[^a-z0-9]+", "_", static[-1].lower()).strip("_") if static else "x"
        noun = noun if noun[:1].isalpha() else f"x{noun}"
        stem = name = f"{prefix}.{noun}.{_VERBS[spec.method]}"
        taken = self._made | set(self._comparison.registry.operations)
        number = 2
        while name in taken:
            name, number = f"{stem}_{number}", number + 1
        self._made.add(name)
        return name

    def _host(self, host: str) -> str:
        for name, table in self._tables["hosts"].items():
            if table.values.get("production") == host:
                return name
        return host


def row_lines(limits: Mapping[TokenKind, Limit], prefix: str) -> list[str]:
    """Lines of a budget's limits, in the fewest rows that say the same; test rows aside."""
    rows = {kind: format_limit(limits[kind]) for kind in EVERY_KIND if kind in limits}
    if len(rows) == len(EVERY_KIND) and len(set(rows.values())) == 1:
        return [f"{prefix}all = {json.dumps(rows[TokenKind.BASIC])}"]
    lines = []
    full = {rows.get(kind) for kind in _FULL}
    if len(full) == 1 and (text := full.pop()) is not None:
        lines.append(f"{prefix}full = {json.dumps(text)}")
        rows = {kind: text for kind, text in rows.items() if kind not in _FULL}
    return lines + [f"{prefix}{kind} = {json.dumps(text)}" for kind, text in rows.items()]


def _kinds(kinds: Iterable[TokenKind]) -> str:
    return json.dumps([kind for kind in TokenKind if kind in set(kinds)])


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other).ratio()
