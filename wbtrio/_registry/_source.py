"""Reading registry files: TOML to tables that remember where each of their keys stands."""

from __future__ import annotations

import difflib
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar, get_args

import msgspec
from msgspec import Struct

from .._errors import RegistryError
from .._tokens import Scope, TokenKind
from ._model import EndRule, Pagination, Scheme

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

T = TypeVar("T")
Section = Literal["hosts", "budgets", "operations"]
Values = dict[str, object]

_AT = re.compile(r" - at `(?P<path>[^`]*)`.*", re.DOTALL)
_UNKNOWN_FIELD = re.compile(r"Object contains unknown field `(?P<name>[^`]*)`")
_BAD_ENUM = re.compile(r"Invalid enum value '(?P<name>.*)'")
_TOML_LINE = re.compile(r" ?\(at line (?P<line>\d+), column \d+\)")


class RowsTable(Struct, forbid_unknown_fields=True, kw_only=True):
    """Limits by token kind. `all` is every kind; `full` is all but `basic` and `test`."""

    all: str | None = None
    full: str | None = None
    personal: str | None = None
    service: str | None = None
    basic_secret: str | None = None
    basic: str | None = None
    test: str | None = None


class BudgetTable(RowsTable, forbid_unknown_fields=True, kw_only=True):
    """A budget that several operations share, or a change to any budget of an earlier folder."""

    about: str = ""
    share: float = 1.0


class HostTable(Struct, forbid_unknown_fields=True, kw_only=True):
    """A short name for a WB host, its sandbox, and the token category that it asks for."""

    production: str
    sandbox: str | None = None
    scope: Scope | None = None


class DefaultsTable(Struct, forbid_unknown_fields=True, kw_only=True):
    """What the operations of a file have in common unless they say otherwise."""

    host: str | list[str] | None = None
    error_cost: int | None = None


class OperationTable(Struct, forbid_unknown_fields=True, kw_only=True):
    """An operation as it is written; `_build` turns it into an `Operation`."""

    http: str = ""
    host: str | list[str] | None = None
    scope: Scope | None = None
    budget: str | None = None
    limits: RowsTable | None = None
    error_cost: int = 1
    sandbox_budget: str | None = None
    sandbox_host: str | None = None
    kinds: list[TokenKind] | None = None
    write: bool | None = None
    repeatable: bool | None = None
    deprecated: bool = False
    disabled: bool = False
    alternative: str | None = None
    per_host: bool = False
    pagination: Pagination | None = None


class FileTable(Struct, forbid_unknown_fields=True, kw_only=True):
    """The top level of a registry file."""

    defaults: DefaultsTable | None = None
    hosts: dict[str, Values] = {}
    budgets: dict[str, Values] = {}
    operations: dict[str, Values] = {}


_TABLES: dict[Section, type[Struct]] = {
    "hosts": HostTable,
    "budgets": BudgetTable,
    "operations": OperationTable,
}
_NESTED: dict[str, type[Struct]] = {
    "limits": RowsTable,
    "pagination": Pagination,
    "defaults": DefaultsTable,
}
_CHOICES: dict[str, tuple[str, ...]] = {
    "scheme": get_args(Scheme),
    "end": get_args(EndRule),
    "scope": tuple(Scope),
    "kinds": tuple(TokenKind),
}


class Source(Struct, frozen=True):
    """Where tables come from: a file, or the overrides of `Registry.load`.

    Attributes:
        name: Path of the file as given, or `overrides`.
        text: The file's text; empty for overrides, which have no lines.
    """

    name: str
    text: str = ""

    @property
    def category(self) -> str:
        """Category of the operations that are written here: the file's name."""
        return Path(self.name).stem

    def error(
        self, problem: str, *, table: tuple[str, ...] = (), key: str | None = None, advice: str = ""
    ) -> RegistryError:
        """A `RegistryError` at the line of `key` in `table`, or at the table's own line."""
        line = self._line(table, key)
        return RegistryError(
            problem,
            file=self.name,
            line=line,
            table=".".join(table) or None,
            key=key,
            advice=advice,
        )

    def _line(self, table: tuple[str, ...], key: str | None) -> int | None:
        wanted = (*table, *key.split(".")) if key else table
        best: tuple[int, int] | None = None
        for number, path in positions(self.text):
            if path[: len(wanted)] == wanted or wanted[: len(path)] == path:
                match = (min(len(path), len(wanted)), -number)
                best = match if best is None else max(best, match)
        return -best[1] if best else None


def positions(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """(line, dotted path) of every table header and key that starts a line."""
    header: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if stripped.startswith("["):
            path = _path_of(stripped)
            if path:
                header = path
                yield number, path
        elif "=" in stripped and not stripped.startswith("#"):
            path = _path_of(stripped.partition("=")[0] + "= 0")
            if path:
                yield number, (*header, *path)


def _path_of(line: str) -> tuple[str, ...]:
    try:
        tree: object = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return ()
    path = []
    while isinstance(tree, dict) and tree:
        key, tree = next(iter(tree.items()))
        path.append(key)
    return tuple(path)


class Table(Struct):
    """The values of one table, merged over all folders, each key with the source it came from."""

    section: Section
    name: str
    values: Values
    origins: dict[str, Source]
    source: Source
    category: str = ""

    @property
    def path(self) -> tuple[str, str]:
        """The table's place in a file."""
        return (self.section, self.name)

    def error(self, problem: str, *, key: str | None = None, advice: str = "") -> RegistryError:
        """A `RegistryError` that points at the file that gave `key` its value."""
        source = self.origins.get(key.partition(".")[0], self.source) if key else self.source
        return source.error(problem, table=self.path, key=key, advice=advice)

    def convert(self, to: type[T]) -> T:
        """The merged values as a struct; each part was checked when it was read."""
        return msgspec.convert(self.values, to)

    def convert_rows(self, rows: Values) -> RowsTable:
        """The limits of an operation as a struct."""
        return msgspec.convert(rows, RowsTable)

    def update(self, values: Values, source: Source) -> None:
        """Lay a later folder's values over this table's; limits are merged kind by kind."""
        if self.section == "budgets":
            self.values = merge_rows(self.values, values)
        else:
            old, new = self.values.get("limits"), values.get("limits")
            if isinstance(old, dict) and isinstance(new, dict):
                values = {**values, "limits": merge_rows(old, new)}
            self.values = {**self.values, **values}
        self.origins.update(dict.fromkeys(values, source))
        self.source = source


Tables = dict[Section, dict[str, Table]]


def merge_rows(old: Mapping[str, object], new: Mapping[str, object]) -> Values:
    """Rows of limits where a later row for several kinds replaces earlier ones for each of them."""
    covered: dict[str, tuple[str, ...]] = {
        "all": tuple(RowsTable.__struct_fields__),
        "full": ("personal", "service", "basic_secret"),
    }
    replaced = {kind for key in new for kind in covered.get(key, ())}
    return {**{k: v for k, v in old.items() if k not in replaced}, **new}


def read_layers(folders: Iterable[Path], overrides: Mapping[str, object] | None) -> Tables:
    """All tables of all folders, later ones over earlier ones, `overrides` last.

    Raises:
        RegistryError: A folder or file cannot be read, or one of its tables is malformed.
    """
    tables: Tables = {"hosts": {}, "budgets": {}, "operations": {}}
    for folder in folders:
        layer = [(source, _parse(source)) for source in _read_folder(folder)]
        _add_layer(tables, layer)
    if overrides:
        _add_layer(tables, [(Source("overrides"), dict(overrides))])
    return tables


def _read_folder(folder: Path) -> list[Source]:
    if not folder.is_dir():
        raise RegistryError("there is no such folder", file=str(folder))
    files = sorted(folder.glob("*.toml"))
    if not files:
        raise RegistryError("the folder holds no *.toml file", file=str(folder))
    sources = []
    for file in files:
        try:
            sources.append(Source(str(file), file.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError) as error:
            raise RegistryError(f"cannot be read: {error}", file=str(file)) from error
    return sources


def _parse(source: Source) -> Values:
    try:
        return tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        at = _TOML_LINE.search(message)
        raise RegistryError(
            f"not valid TOML: {_TOML_LINE.sub('', message)}",
            file=source.name,
            line=int(at["line"]) if at else len(source.text.splitlines()),
        ) from None


def _add_layer(tables: Tables, layer: list[tuple[Source, Values]]) -> None:
    seen: dict[tuple[str, str], Source] = {}
    for source, document in layer:
        file = _convert(document, FileTable, source, ())
        defaults = document.get("defaults", {})
        for section in _TABLES:
            written: dict[str, Values] = getattr(file, section)
            for name, values in written.items():
                if other := seen.get((section, name)):
                    raise source.error(
                        f"{section[:-1]} {name!r} is also in {other.name}", table=(section, name)
                    )
                seen[section, name] = source
                _check_table(values, section, name, source)
                if section == "operations" and "http" in values and isinstance(defaults, dict):
                    values = {**defaults, **values}
                _add_table(tables[section], section, name, values, source)


def _add_table(
    tables: dict[str, Table],
    section: Section,
    name: str,
    values: Values,
    source: Source,
) -> None:
    if known := tables.get(name):
        known.update(values, source)
    else:
        origins = dict.fromkeys(values, source)
        tables[name] = Table(section, name, dict(values), origins, source, source.category)


def _check_table(values: Values, section: Section, name: str, source: Source) -> None:
    if section == "operations" and values and all(isinstance(v, dict) for v in values.values()):
        known = OperationTable.__struct_fields__
        if not any(key in known for key in values):
            raise source.error(
                "an operation's id holds dots, so it needs quotes",
                table=(section, name),
                advice=f'Write [operations."{name}.noun.verb"].',
            )
    _convert(values, _TABLES[section], source, (section, name))


def _convert(values: Values, to: type[T], source: Source, table: tuple[str, ...]) -> T:
    """Like `msgspec.convert`, but a failure is a `RegistryError` at the line of the culprit."""
    try:
        return msgspec.convert(values, to)
    except msgspec.ValidationError as error:
        message = str(error)
        at = _AT.search(message)
        path = at["path"].removeprefix("$").lstrip(".") if at else ""
        keys = [key for key in re.split(r"[.\[\]]+", path) if key and key != "..."]
        problem, nearest = _explain(_AT.sub("", message), keys, to)
        if unknown := _UNKNOWN_FIELD.match(message):
            keys.append(unknown["name"])
        raise source.error(
            problem,
            table=table,
            key=".".join(key for key in keys if not key.isdigit()) or None,
            advice=f"Did you mean {' or '.join(nearest)}?" if nearest else "",
        ) from None


def _explain(problem: str, keys: list[str], to: type) -> tuple[str, list[str]]:
    """The problem in the file's words, and the nearest right spellings."""
    if unknown := _UNKNOWN_FIELD.match(problem):
        struct = _NESTED.get(keys[-1], to) if keys else to
        known: tuple[str, ...] = getattr(struct, "__struct_fields__", ())
        nearest = difflib.get_close_matches(unknown["name"], known, n=2)
        return f"unknown key {unknown['name']!r}", nearest
    if wrong := _BAD_ENUM.match(problem):
        key = next((key for key in reversed(keys) if key in _CHOICES), "")
        choices = _CHOICES.get(key, ())
        nearest = difflib.get_close_matches(wrong["name"], choices, n=2)
        label = "pagination scheme" if key == "scheme" else key
        return f"unknown {label} {wrong['name']!r}; it is one of {', '.join(choices)}", nearest
    return problem[0].lower() + problem[1:], []
