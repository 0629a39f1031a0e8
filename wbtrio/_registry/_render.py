"""Files that are made from the registry: the ids for type checkers, and a page of all budgets."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from .._tokens import TokenKind
from ._limits import format_limit

if TYPE_CHECKING:
    from . import Registry
    from ._model import Budget, Operation

_PUBLISHED = (TokenKind.PERSONAL, TokenKind.SERVICE, TokenKind.BASIC_SECRET, TokenKind.BASIC)

_IDS_HEAD = '''\
"""Ids of all shipped operations, for editors and type checkers. Made by `make registry`."""

from __future__ import annotations

from typing import Literal

OperationId = Literal[
'''

_TABLE_HEAD = "| budget | all but basic | basic | operations |\n| --- | --- | --- | --- |\n"

_PAGE_HEAD = """\
# All budgets

Made from `registry/*.toml` by `make registry`; edit those, not this page.
A budget is what WB counts: one operation, or a group that shares one counter. *All but basic* are
personal, service and basic tokens with a secret, for which WB publishes the same limits.
"4XX = 10" marks operations of which a refused request counts as ten.
"""


def operation_ids_module(registry: Registry) -> str:
    """Text of `wbtrio/_operation_ids.py`."""
    lines = (f'    "{name}",\n' for name in sorted(registry.operations))
    return f"{_IDS_HEAD}{''.join(lines)}]\n"


def budgets_page(registry: Registry) -> str:
    """Text of `docs/budgets.md`: every budget, its limits and its operations."""
    sharers = operations_by_budget(registry)
    sections: dict[str, list[str]] = {}
    for name, members in sharers.items():
        category, _ = Counter(o.category for o in members).most_common(1)[0]
        sections.setdefault(category, []).append(_row(registry.budgets[name], members))
    others = [budget for name, budget in sorted(registry.budgets.items()) if name not in sharers]
    sections = dict(sorted(sections.items()))
    sections["Sandbox and unknown paths"] = [_row(budget, []) for budget in others]
    return _PAGE_HEAD + "".join(
        f"\n## {title}\n\n{_TABLE_HEAD}{''.join(rows)}" for title, rows in sections.items()
    )


def operations_by_budget(registry: Registry) -> dict[str, list[Operation]]:
    """The operations that each budget counts in production; budgets sorted by id."""
    found: dict[str, list[Operation]] = {}
    for operation in registry.operations.values():
        found.setdefault(operation.budget, []).append(operation)
    return dict(sorted(found.items()))


def _row(budget: Budget, operations: list[Operation]) -> str:
    kinds = frozenset[TokenKind]().union(*(operation.kinds for operation in operations))
    full, basic = limits_in_words(budget, kinds or frozenset(TokenKind))
    listed = "<br>".join(_operation(operation) for operation in operations) or budget.about
    return f"| `{budget.id}` | {full} | {basic} | {listed} |\n"


def limits_in_words(budget: Budget, kinds: frozenset[TokenKind]) -> tuple[str, str]:
    """A budget's limits for all kinds but basic, and for basic; "-" for kinds not in `kinds`."""
    rows = {
        kind: format_limit(budget.limits[kind])
        for kind in _PUBLISHED
        if kind in budget.limits and kind in kinds
    }
    basic = rows.pop(TokenKind.BASIC, "-")
    if len(set(rows.values())) == 1:
        return next(iter(rows.values())), basic
    return "<br>".join(f"{kind}: {text}" for kind, text in rows.items()) or "-", basic


def _operation(operation: Operation) -> str:
    marks = []
    if operation.error_cost > 1:
        marks.append(f"4XX = {operation.error_cost}")
    if operation.write:
        marks.append("writes")
    if len(operation.kinds) < len(TokenKind):
        marks.append("only " + ", ".join(sorted(operation.kinds)))
    marks += [name for name in ("deprecated", "disabled") if getattr(operation, name)]
    note = f" ({'; '.join(marks)})" if marks else ""
    name = "" if operation.id == operation.budget else f"`{operation.id}` "
    return f"{name}{operation.method} `{operation.path}`{note}"
