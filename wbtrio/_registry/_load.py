"""From tables to a `Registry`: every reference resolved, every contradiction refused."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from .._tokens import TokenKind
from ._limits import parse_limit, scale_limit
from ._match import path_shape
from ._model import Budget, Operation
from ._source import (
    BudgetTable,
    HostTable,
    OperationTable,
    RowsTable,
    Table,
    Tables,
    merge_rows,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .._bucket import Limit
    from .._tokens import Scope

_HTTP = re.compile(r"(?P<method>GET|POST|PUT|PATCH|DELETE) (?P<path>/\S*)")
_OPERATION_ID = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+")
_PARAMETER = re.compile(r"\{[A-Za-z_][A-Za-z0-9_]*\}")
UNKNOWN_BUDGET = "unknown"
"""Budget of the paths of WB's hosts that the registry does not know, one counter per host."""

FULL = (TokenKind.PERSONAL, TokenKind.SERVICE, TokenKind.BASIC_SECRET)
"""Kinds for which WB publishes the same row everywhere."""


def build(tables: Tables) -> tuple[dict[str, Operation], dict[str, Budget], dict[str, str]]:
    """Operations by id, budgets by id, and each known host's sandbox ("" for a sandbox itself).

    Raises:
        RegistryError: Two tables contradict each other, or one refers to nothing.
    """
    hosts = {name: table.convert(HostTable) for name, table in tables["hosts"].items()}
    written = tables["operations"]
    _check_names(tables)
    operations = {name: _operation(table, hosts) for name, table in sorted(written.items())}
    budgets = _budgets(tables)
    for operation in operations.values():
        _check_budgets(operation, written[operation.id], budgets)
        _check_references(operation, written[operation.id], operations)
    _check_unique(operations.values(), written)
    _check_use(tables, operations)
    return operations, budgets, _known_hosts(hosts.values(), operations.values())


def _check_names(tables: Tables) -> None:
    """Every table is written out somewhere: a change to a misspelt name would do nothing."""
    written = tables["operations"]
    for name, table in written.items():
        if not _OPERATION_ID.fullmatch(name):
            raise table.error(
                f"{name!r} is no operation id",
                advice="Write category.noun.verb in small letters, digits and underscores.",
            )
        if "http" not in table.values:
            whole = [other for other in written if "http" in written[other].values]
            raise table.error("the key `http` is missing", advice=_nearest(name, whole))
    rows = set(RowsTable.__struct_fields__)
    for name, table in tables["budgets"].items():
        if name not in written and not rows & set(table.values):
            others = [*tables["budgets"], *written]
            others.remove(name)
            raise table.error(
                f"budget {name!r} has no limit for any token kind", advice=_nearest(name, others)
            )


def _check_use(tables: Tables, operations: Mapping[str, Operation]) -> None:
    """Every budget is used: one with a misspelt name would narrow nothing."""
    used = {UNKNOWN_BUDGET}
    for operation in operations.values():
        used.update({operation.budget, operation.sandbox_budget or operation.budget})
    for name, table in tables["budgets"].items():
        if name in used:
            continue
        if name in operations:
            shared = operations[name].budget
            raise table.error(
                f"operation {name!r} has no budget of its own: it shares {shared!r}",
                advice=f"Change [budgets.{shared}].",
            )
        raise table.error(f"no operation uses budget {name!r}", advice=_nearest(name, used))


def _nearest(name: str, known: Iterable[str]) -> str:
    nearest = difflib.get_close_matches(name, list(known), n=2)
    return f"Did you mean {' or '.join(nearest)}?" if nearest else ""


def _operation(table: Table, hosts: Mapping[str, HostTable]) -> Operation:
    raw = table.convert(OperationTable)
    method, path = _method_and_path(raw.http, table)
    production, sandbox, scope = _hosts(raw, table, hosts)
    if (raw.budget is None) == (raw.limits is None):
        raise table.error(
            "an operation has either a `budget` that it shares or `limits` of its own",
            key="budget" if raw.budget else None,
        )
    if raw.error_cost < 1:
        raise table.error("must be at least 1", key="error_cost")
    write = raw.write if raw.write is not None else method != "GET"
    return Operation(
        id=table.name,
        category=table.category,
        scope=raw.scope or scope,
        method=method,
        path=path,
        hosts=production,
        sandbox_host=sandbox,
        budget=raw.budget or table.name,
        error_cost=raw.error_cost,
        sandbox_budget=raw.sandbox_budget,
        kinds=frozenset(raw.kinds if raw.kinds is not None else TokenKind),
        write=write,
        repeatable=raw.repeatable if raw.repeatable is not None else not write,
        deprecated=raw.deprecated,
        disabled=raw.disabled,
        alternative=raw.alternative,
        pagination=raw.pagination,
        per_host=raw.per_host,
    )


def _method_and_path(http: str, table: Table) -> tuple[str, str]:
    match = _HTTP.fullmatch(http)
    if match is None:
        raise table.error(
            f"{http!r} is no method and path",
            key="http",
            advice='Write it as "GET /api/v3/orders".',
        )
    path = match["path"]
    names = []
    for part in path.split("/")[1:]:
        if "{" in part or "}" in part:
            if not _PARAMETER.fullmatch(part):
                raise table.error(f"path parameter {part!r} is malformed", key="http")
            names.append(part)
        elif not part or re.search(r"[?#%]", part):
            raise table.error(f"{path!r} is no path template", key="http")
    for name in names:
        if names.count(name) > 1:
            raise table.error(f"path parameter {name} occurs twice", key="http")
    return match["method"], path


def _hosts(
    raw: OperationTable, table: Table, hosts: Mapping[str, HostTable]
) -> tuple[tuple[str, ...], str | None, Scope | None]:
    names = [raw.host] if isinstance(raw.host, str) else raw.host or []
    if not names:
        raise table.error("the key `host` is missing, and the file's [defaults] name none")
    found = []
    for name in names:
        if name not in hosts and "." not in name:
            raise table.error(
                f"unknown host {name!r}",
                key="host",
                advice=_nearest(name, hosts),
            )
        found.append(hosts.get(name) or HostTable(production=name.lower()))
    first = found[0]
    sandbox = raw.sandbox_host
    if sandbox is None and raw.sandbox_budget is not None:
        sandbox = first.sandbox
        if sandbox is None:
            raise table.error("there is a sandbox budget but no sandbox host", key="sandbox_budget")
    scope = first.scope if len(found) == 1 else None
    return tuple(host.production for host in found), sandbox or None, scope


def _budgets(tables: Tables) -> dict[str, Budget]:
    budgets = {}
    for name, table in tables["budgets"].items():
        if name not in tables["operations"]:
            budgets[name] = _budget(table, table.convert(BudgetTable), ())
    for name, table in tables["operations"].items():
        own = table.values.get("limits")
        if not isinstance(own, dict):
            continue
        budgets[name] = _budget(table, table.convert_rows(own), ("limits",))
        if change := tables["budgets"].get(name):
            rows = merge_rows(own, change.values)
            merged = Table("budgets", name, rows, change.origins, change.source)
            budgets[name] = _budget(merged, merged.convert(BudgetTable), ())
    return budgets


def _budget(table: Table, rows: RowsTable, prefix: tuple[str, ...]) -> Budget:
    about = rows.about if isinstance(rows, BudgetTable) else ""
    share = rows.share if isinstance(rows, BudgetTable) else 1.0
    if not 0 < share <= 1:
        raise table.error(f"must be above 0 and at most 1, not {share}", key="share")
    limits: dict[TokenKind, Limit] = {}
    for key, kinds in (
        ("all", tuple(TokenKind)),
        ("full", FULL),
        *((kind.value, (kind,)) for kind in TokenKind),
    ):
        text = getattr(rows, key)
        if text is None:
            continue
        try:
            limit = parse_limit(text)
        except ValueError as error:
            raise table.error(str(error), key=".".join((*prefix, key))) from None
        limits.update(dict.fromkeys(kinds, scale_limit(limit, share)))
    if not limits:
        raise table.error(f"budget {table.name!r} has no limit for any token kind")
    if TokenKind.TEST not in limits and TokenKind.BASIC in limits:
        limits[TokenKind.TEST] = limits[TokenKind.BASIC]
    return Budget(id=table.name, limits=limits, about=about, share=share)


def _check_budgets(operation: Operation, table: Table, budgets: Mapping[str, Budget]) -> None:
    for key, name in (("budget", operation.budget), ("sandbox_budget", operation.sandbox_budget)):
        if name is None:
            continue
        if name not in budgets:
            raise table.error(
                f"unknown budget {name!r}",
                key=key,
                advice=_nearest(name, budgets),
            )
        missing = sorted(operation.kinds - set(budgets[name].limits) - {TokenKind.TEST})
        if missing:
            raise table.error(
                f"budget {name!r} has no limit for token kind {', '.join(missing)}",
                key=key if key in table.values else "limits",
                advice="Add a row, or name the kinds that WB admits in `kinds`.",
            )


def _check_references(
    operation: Operation, table: Table, operations: Mapping[str, Operation]
) -> None:
    pages = operation.pagination
    references = {"alternative": operation.alternative}
    if pages is not None:
        references["pagination.status"] = pages.status or None
        references["pagination.download"] = pages.download or None
    for key, name in references.items():
        if name is None:
            continue
        if name not in operations:
            raise table.error(
                f"unknown operation {name!r}",
                key=key,
                advice=_nearest(name, operations),
            )
    if pages is not None and pages.scheme == "task":
        target = operations.get(pages.download)
        if target is None or len(target.path_parameters) != 1:
            raise table.error(
                "a task's download must name an operation with one path parameter, the task's id",
                key="pagination.download" if target else "pagination",
            )


def _check_unique(operations: Iterable[Operation], tables: Mapping[str, Table]) -> None:
    seen: dict[tuple[str, str, str], str] = {}
    for operation in operations:
        for host in {
            *operation.hosts,
            *([operation.sandbox_host] if operation.sandbox_host else []),
        }:
            place = (operation.method, host, path_shape(operation.path))
            other = seen.setdefault(place, operation.id)
            if other != operation.id:
                raise tables[operation.id].error(
                    f"{operation.method} {host}{operation.path} is operation {other!r} already",
                    key="http",
                )


def _known_hosts(hosts: Iterable[HostTable], operations: Iterable[Operation]) -> dict[str, str]:
    known: dict[str, str] = {}
    for host in hosts:
        known[host.production] = host.sandbox or ""
    for operation in operations:
        for name in operation.hosts:
            known.setdefault(name, operation.sandbox_host or "")
    return known
