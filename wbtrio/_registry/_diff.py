"""What WB's documents say otherwise than the registry. Pure; it decides nothing.

Limits are compared budget by budget, since WB's rows differ within some groups and the registry
takes the strictest of each kind.
"""

from __future__ import annotations

import difflib
from collections import Counter
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from .._tokens import TokenKind
from ._limits import format_limit, strictness
from ._match import path_shape

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .._bucket import Limit
    from . import Registry
    from ._model import Operation
    from ._openapi import SpecOperation

Aspect = Literal[
    "limit", "group", "cost", "host", "sandbox", "path", "kinds", "write", "new", "vanished"
]

Place = tuple[str, str]
"""Method, and path with its parameters named alike."""


class Difference(Struct, frozen=True, kw_only=True):
    """One thing that a document says otherwise than the registry.

    Attributes:
        aspect: What it is about.
        subject: Id of the budget (`limit`) or of the operation; method and path of a new one.
        here: What the registry says, in words.
        there: What the document says, in words.
        wider: The document allows more than the registry: apply it only if you trust it.
        kind: The token kind that a `limit` is of.
        budget: For a `group`: the budget of the others in it; empty: a limit of its own.
        document: Name of the document.
    """

    aspect: Aspect
    subject: str
    here: str
    there: str
    document: str
    wider: bool = False
    kind: TokenKind | None = None
    budget: str = ""


class Comparison:
    """A registry beside the methods of WB's documents."""

    def __init__(self, registry: Registry, specs: Iterable[SpecOperation]) -> None:
        """Pair operations and methods by HTTP method and path."""
        self.registry = registry
        self.specs: dict[Place, SpecOperation] = {}
        for spec in specs:
            self.specs.setdefault((spec.method, path_shape(spec.path)), spec)
        self.operations = {place_of(o): o for o in registry.operations.values()}
        self.pairs = [
            (self.operations[place], spec)
            for place, spec in self.specs.items()
            if place in self.operations
        ]

    def differences(self) -> list[Difference]:
        """All differences, limits first."""
        found = [*self._limits(), *self._groups()]
        sandboxes = {spec.document for spec in self.specs.values() if spec.sandbox_hosts}
        for operation, spec in self.pairs:
            found += _of_operation(operation, spec, tells_sandbox=spec.document in sandboxes)
        return found + self._new() + self._vanished()

    def published(self, budget: str) -> dict[TokenKind, Limit]:
        """The strictest published row of each kind over the budget's operations."""
        rows: dict[TokenKind, Limit] = {}
        for operation, spec in self.pairs:
            if operation.budget != budget:
                continue
            for kind, limit in spec.limits.items():
                rows[kind] = max(limit, rows.get(kind, limit), key=strictness)
        return rows

    def _limits(self) -> list[Difference]:
        found = []
        documents = {operation.budget: spec.document for operation, spec in self.pairs}
        admitted: dict[str, set[TokenKind]] = {}
        for operation in self.registry.operations.values():
            admitted.setdefault(operation.budget, set()).update(operation.kinds)
        for name, document in sorted(documents.items()):
            budget = self.registry.budgets[name]
            for kind, there in self.published(name).items():
                here = budget.limits.get(kind)
                if here is None or kind not in admitted[name] or here == there:
                    continue
                found.append(
                    Difference(
                        aspect="limit",
                        subject=name,
                        here=format_limit(here),
                        there=format_limit(there),
                        wider=strictness(there) < strictness(here),
                        kind=kind,
                        document=document,
                    )
                )
        return found

    def _groups(self) -> list[Difference]:
        found = []
        for members in self._by_group().values():
            usual, _ = Counter(o.budget for o, _ in members).most_common(1)[0]
            for operation, spec in members:
                if operation.budget != usual:
                    found.append(_group(operation, spec, usual))
        sharers = Counter(o.budget for o in self.registry.operations.values())
        for operation, spec in self.pairs:
            if spec.limits and not spec.group and sharers[operation.budget] > 1:
                found.append(_group(operation, spec, ""))
        return found

    def _by_group(self) -> dict[frozenset[str], list[tuple[Operation, SpecOperation]]]:
        groups: dict[frozenset[str], list[tuple[Operation, SpecOperation]]] = {}
        for operation, spec in self.pairs:
            if spec.group:
                groups.setdefault(spec.group, []).append((operation, spec))
        return groups

    def _new(self) -> list[Difference]:
        return [
            Difference(
                aspect="new",
                subject=f"{spec.method} {spec.path}",
                here="",
                there="; ".join(filter(None, [*spec.hosts[:1], spec.summary])),
                document=spec.document,
            )
            for place, spec in self.specs.items()
            if place not in self.operations
        ]

    def _vanished(self) -> list[Difference]:
        """Operations that their section's document lacks, but for those known to be going."""
        covered = self._covered()
        fresh = [spec for place, spec in self.specs.items() if place not in self.operations]
        found = []
        for place, operation in self.operations.items():
            known = operation.category in covered and not operation.deprecated
            if known and place not in self.specs:
                successor = _successor(operation, fresh)
                found.append(
                    Difference(
                        aspect="vanished",
                        subject=operation.id,
                        here=f"{operation.method} {operation.path}",
                        there=f"perhaps now {successor}" if successor else "",
                        document=covered[operation.category],
                    )
                )
        return found

    def _covered(self) -> dict[str, str]:
        """Each category that some document is chiefly about, and that document."""
        categories: dict[str, Counter[str]] = {}
        for operation, spec in self.pairs:
            categories.setdefault(spec.document, Counter())[operation.category] += 1
        return {count.most_common(1)[0][0]: document for document, count in categories.items()}


def place_of(operation: Operation) -> Place:
    """Where documents and the registry meet: method and shape of the path."""
    return operation.method, path_shape(operation.path)


def kinds_in_words(kinds: Iterable[TokenKind]) -> str:
    """Token kinds in WB's order."""
    return ", ".join(kind for kind in TokenKind if kind in set(kinds))


def _successor(operation: Operation, fresh: Iterable[SpecOperation]) -> str:
    """The new method most like a vanished operation: the same last segment, a like path."""
    end = operation.path.rpartition("/")[2]
    paths = {
        spec.path: f"{spec.method} {spec.path}"
        for spec in fresh
        if spec.method == operation.method and spec.path.rpartition("/")[2] == end
    }
    nearest = difflib.get_close_matches(operation.path, paths, n=1, cutoff=0.75)
    return paths[nearest[0]] if nearest else ""


def _group(operation: Operation, spec: SpecOperation, budget: str) -> Difference:
    return Difference(
        aspect="group",
        subject=operation.id,
        here=operation.budget,
        there=f"{budget} ({spec.group_text})" if budget else "a limit of its own",
        wider=not budget,
        budget=budget,
        document=spec.document,
    )


def _of_operation(
    operation: Operation, spec: SpecOperation, *, tells_sandbox: bool
) -> list[Difference]:
    """What a document says otherwise of one operation, its budget aside."""
    compared: dict[Aspect, tuple[str, str]] = {"path": (operation.path, spec.path)}
    if spec.hosts and spec.hosts[0] not in operation.hosts:
        compared["host"] = (operation.hosts[0], spec.hosts[0])
    if spec.limits:
        cost = spec.cost or ("4XX", 1)
        compared["cost"] = (f"4XX = {operation.error_cost}", f"{cost[0]} = {cost[1]}")
    if spec.kinds is not None:
        here = operation.kinds - {TokenKind.TEST}
        compared["kinds"] = (kinds_in_words(here), kinds_in_words(spec.kinds))
    if spec.write is not None:
        words = {True: "writes", False: "reads"}
        compared["write"] = (words[operation.write], words[spec.write])
    if tells_sandbox and operation.sandbox_host not in {None, *spec.sandbox_hosts}:
        compared["sandbox"] = (operation.sandbox_host or "", ", ".join(spec.sandbox_hosts))
    elif spec.sandbox_hosts and operation.sandbox_host is None:
        compared["sandbox"] = ("", spec.sandbox_hosts[0])
    return [
        Difference(
            aspect=aspect, subject=operation.id, here=here, there=there, document=spec.document
        )
        for aspect, (here, there) in compared.items()
        if here != there
    ]
