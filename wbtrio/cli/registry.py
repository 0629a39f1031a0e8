"""`wbtrio registry`: look into the registry, check it, and compare it with WB's own documents."""

from __future__ import annotations

import difflib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import cyclopts
from cyclopts import Parameter
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from wbtrio._errors import CallerError, RegistryError
from wbtrio._registry import Registry, format_limit, shipped_folder
from wbtrio._registry._diff import Comparison, kinds_in_words
from wbtrio._registry._openapi import read_document
from wbtrio._registry._patch import Patcher
from wbtrio._registry._source import read_layers
from wbtrio._tokens import TokenKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wbtrio._bucket import Limit
    from wbtrio._registry import Operation
    from wbtrio._registry._diff import Difference
    from wbtrio._registry._openapi import SpecOperation

registry_app = cyclopts.App(name="registry", help="Look into WB's operations and their budgets.")

Folders = Annotated[tuple[Path, ...], Parameter(name="--registry", negative="")]

REQUESTS = 1_000
"""How many requests the tables state the time for."""

_PIPE_WIDTH = 160
_SPEC_SUFFIXES = {".json", ".yaml", ".yml"}
_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


@registry_app.command(name="list")
def list_operations(
    *,
    category: str | None = None,
    kind: TokenKind = TokenKind.PERSONAL,
    registry: Folders = (),
) -> int:
    """Print a table: operation, budget, limit, and the time that 1,000 requests take.

    Exit status: 0, or 2 for a faulty registry or an unknown category.

    Parameters
    ----------
    category
        Only operations of this section, such as `items`, or of this first part of the id, such as
        `content`.
    kind
        Kind of the token whose limits are shown.
    registry
        Folder laid over the shipped files; may be repeated.
    """
    try:
        loaded = _load(registry)
        chosen = _of_category(loaded, category)
    except CallerError as error:
        return _complain(error)
    table = Table("operation", "budget", f"limit ({kind})", f"{REQUESTS:,} requests")
    for operation in chosen:
        limit = loaded.budgets[operation.budget].limit_for(kind)
        admitted = kind in operation.kinds
        table.add_row(
            operation.id,
            "" if operation.budget == operation.id else operation.budget,
            format_limit(limit) if admitted else "refused by WB",
            time_for(REQUESTS, limit) if admitted else "",
        )
    _console().print(table)
    return 0


@registry_app.command
def show(operation: str, *, registry: Folders = ()) -> int:
    """Print all that is known of one operation.

    Exit status: 0, or 2 for a faulty registry or an unknown operation.

    Parameters
    ----------
    operation
        Its id, such as `content.cards.list`.
    registry
        Folder laid over the shipped files; may be repeated.
    """
    try:
        loaded = _load(registry)
        found = loaded.operation(operation)
    except CallerError as error:
        return _complain(error)
    console = _console()
    facts = Table.grid(padding=(0, 2))
    for name, value in _facts(loaded, found):
        facts.add_row(f"[bold]{name}[/]", escape(value))
    console.print(facts)
    limits = Table("token", "limit", "interval", f"{REQUESTS:,} requests")
    for kind in TokenKind:
        limit = loaded.budgets[found.budget].limit_for(kind)
        note = "" if kind in found.kinds else " (refused by WB)"
        limits.add_row(
            f"{kind}{note}",
            format_limit(limit),
            f"{limit.interval / 1e6:g} s",
            time_for(REQUESTS, limit),
        )
    console.print(limits)
    return 0


@registry_app.command
def check(folder: Path | None = None, *, alone: bool = False) -> int:
    """Load a registry and say what is wrong with it: file, line, table and key.

    Exit status: 0 whole, 1 faulty.

    Parameters
    ----------
    folder
        Folder laid over the shipped files; none: the shipped files.
    alone
        The folder is a whole registry, not a change to the shipped one.
    """
    try:
        if folder is not None and alone:
            loaded = Registry.load(folder)
        else:
            loaded = _load(() if folder is None else (folder,))
    except RegistryError as error:
        return _complain(error, status=1)
    operations, budgets = len(loaded.operations), len(loaded.budgets)
    _console().print(f"{operations} operations, {budgets} budgets: nothing wrong.")
    return 0


@registry_app.command
def diff(*spec: Path, patch: bool = False, registry: Path | None = None) -> int:
    """Compare WB's OpenAPI documents with the registry; change nothing.

    Compared are limits, groups, error costs, hosts, paths, token kinds, reading or writing, new
    operations, and operations that the document of their section lacks.

    Exit status: 0 nothing differs, 1 something does, 2 a document or the registry is unreadable.

    Parameters
    ----------
    spec
        Documents of WB, JSON or YAML, English or Russian, or folders of them.
    patch
        Print a unified diff of the TOML files instead, to read and to apply with `patch -p1`
        above the folder. Lines of the report that need a person's decision are not in it.
    registry
        Folder of a whole registry; default: the shipped one.
    """
    folder = registry or shipped_folder()
    try:
        comparison = Comparison(Registry.load(folder), _documents(spec))
        differences = comparison.differences()
        editor = Patcher(read_layers([folder], None), comparison).patch(differences)
    except CallerError as error:
        return _complain(error)
    if patch:
        sys.stdout.write(editor.unified())
    else:
        _report(differences, len(comparison.pairs))
    return 1 if differences else 0


def time_for(requests: int, limit: Limit) -> str:
    """How long so many requests take from a full bucket: "at once", "3 min 16 s", "41 d 16 h"."""
    seconds = max(0, requests - limit.burst) * limit.interval / 1e6
    if not seconds:
        return "at once"
    parts = []
    rest = max(1, round(seconds))
    for unit, size in _UNITS:
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2])


def _load(folders: tuple[Path, ...]) -> Registry:
    return Registry.load(shipped_folder(), *folders)


def _of_category(registry: Registry, category: str | None) -> list[Operation]:
    operations = registry.operations.values()
    if category is None:
        return list(operations)
    chosen = [o for o in operations if category in {o.category, o.id.partition(".")[0]}]
    if not chosen:
        known = {o.category for o in operations} | {o.id.partition(".")[0] for o in operations}
        nearest = difflib.get_close_matches(category, known, n=2) or sorted(known)
        raise CallerError(
            f"There is no category {category!r}.", advice=f"Try {', '.join(nearest)}."
        )
    return chosen


def _facts(registry: Registry, operation: Operation) -> Iterator[tuple[str, str]]:
    """Names and values of what `show` prints, the limits aside."""
    yield "operation", operation.id
    yield "request", f"{operation.method} {operation.path}"
    yield "host", ", ".join(operation.hosts)
    yield (
        "sandbox",
        " ".join(filter(None, [operation.sandbox_host or "none", operation.sandbox_budget])),
    )
    sharers = [o for o in registry.operations.values() if o.budget == operation.budget]
    with_others = f", shared by {len(sharers)} operations" if len(sharers) > 1 else ""
    yield "budget", f"{operation.budget}{with_others}"
    yield "a 4XX counts as", f"{operation.error_cost}"
    yield "token category", operation.scope or "any"
    yield "token kinds", kinds_in_words(operation.kinds)
    yield "effect", "writes" if operation.write else "reads"
    yield "safe to repeat", "yes" if operation.repeatable else "no"
    for name in ("deprecated", "disabled"):
        if getattr(operation, name):
            yield "state", name
    if operation.alternative:
        yield "use instead", operation.alternative
    if (pages := operation.pagination) is not None:
        size = f", {pages.page_size:,} at most" if pages.page_size else ""
        yield "pages", f"{pages.scheme}, parameters in the {pages.params}{size}"
        yield "rows", pages.items or "the reply itself"
        yield "ends with", ", ".join(pages.end) or "one reply"


def _documents(paths: Iterable[Path]) -> list[SpecOperation]:
    """All methods of all documents.

    Raises:
        RegistryError: A document cannot be read.
    """
    found: list[SpecOperation] = []
    files = [file for path in paths for file in _files(path)]
    if not files:
        raise CallerError("There is no document to compare with.", advice="Name files or folders.")
    for file in files:
        try:
            text = file.read_text(encoding="utf-8")
            found += read_document(_parse(text), str(file))
        except (OSError, ValueError) as error:
            reason = str(error).partition("\n")[0]
            raise RegistryError(f"cannot be read: {reason}", file=str(file)) from error
    return found


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return sorted(file for file in path.iterdir() if file.suffix.lower() in _SPEC_SUFFIXES)


def _parse(text: str) -> object:
    """A document as JSON or YAML. YAML would do for both, a hundred times slower.

    Raises:
        ValueError: It is neither.
        CallerError: It is YAML, and PyYAML is not installed.
    """
    if text.lstrip().startswith("{"):
        return json.loads(text)
    try:
        import yaml  # type: ignore[import-untyped]
    except ImportError as error:
        raise CallerError(
            "Reading YAML needs PyYAML.", advice="Install wbtrio[cli], or give JSON documents."
        ) from error
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.load(text, Loader=loader)  # noqa: S506 - both loaders are safe ones
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def _report(differences: list[Difference], compared: int) -> None:
    console = _console()
    if differences:
        table = Table()
        for heading in ("about", "budget or operation", "registry", "document", ""):
            table.add_column(heading, overflow="fold")
        for difference in differences:
            subject = difference.subject + (f" ({difference.kind})" if difference.kind else "")
            table.add_row(
                difference.aspect,
                escape(subject),
                escape(difference.here),
                escape(difference.there),
                "[yellow]wider[/]" if difference.wider else "",
            )
        console.print(table)
    console.print(f"{compared} operations compared, {len(differences)} differences.")


def _console() -> Console:
    """Standard output; wide enough for whole ids where it is no terminal."""
    return Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH)


def _complain(error: CallerError, *, status: int = 2) -> int:
    sys.stderr.write(f"{error}\n")
    return status
