"""Which method of WB's a request is for, and what WB allows of it: read from the registry once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from msgspec import Struct

from .engine import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wbtrio._registry import Operation, Registry

KINDS = ("personal", "service", "basic_secret", "basic", "test")


class Counting(Struct, frozen=True):
    """One counter that requests are charged to.

    Attributes:
        budget: Its name.
        rules: What it allows, by token kind.
    """

    budget: str
    rules: Mapping[str, Rule]


class Route(Struct, frozen=True):
    """One method of WB's.

    Attributes:
        id: The registry's name of the operation.
        method: HTTP method.
        path: Path template.
        pattern: The same as a regular expression of the decoded path.
        hosts: Production hosts.
        sandbox_hosts: Sandbox hosts; none: the method has no sandbox.
        scope: Token category that it needs; None: any.
        kinds: Token kinds that it serves.
        write: Whether a read-only token is refused.
        deprecated: WB announced its end.
        disabled: WB answers that it is switched off.
        error_cost: Requests that a 4XX counts as.
        counting: What production requests are charged to.
        sandbox_counting: What sandbox requests are charged to.
        per_host: Each host counts for itself.
    """

    id: str
    method: str
    path: str
    pattern: re.Pattern[str]
    hosts: frozenset[str]
    sandbox_hosts: frozenset[str]
    scope: str | None
    kinds: frozenset[str]
    write: bool
    deprecated: bool
    disabled: bool
    error_cost: int
    counting: Counting
    sandbox_counting: Counting
    per_host: bool


class Match(Struct, frozen=True):
    """A request's method of WB's, where it was asked for, and with which path parameters."""

    route: Route
    host: str
    params: Mapping[str, str]

    @property
    def in_sandbox(self) -> bool:
        """Whether a sandbox host was asked."""
        return self.host in self.route.sandbox_hosts

    def counter(self, kind: str) -> tuple[str, Rule]:
        """Name and rule of the counter that a request with that kind of token is charged to."""
        counting = self.route.sandbox_counting if self.in_sandbox else self.route.counting
        budget = f"{counting.budget}@{self.host}" if self.route.per_host else counting.budget
        return budget, counting.rules[kind]


class Routes:
    """All methods of WB's, by path, the fixed paths before the templates.

    Args:
        registry: Where they and their limits are read from.
        rules: Other rules for single budgets, by budget and token kind: a WB that differs from
            the registry.

    Raises:
        ValueError: A rule is for a budget that the registry does not have.
    """

    def __init__(
        self, registry: Registry, rules: Mapping[str, Mapping[str, Rule]] | None = None
    ) -> None:
        self._rules = rules or {}
        unknown = self._rules.keys() - registry.budgets.keys()
        if unknown:
            raise ValueError(f"no such budget: {', '.join(sorted(unknown))}")
        routes = [self._route(registry, item) for item in registry.operations.values()]
        routes.sort(key=lambda route: (route.path.count("{"), route.path))
        self._routes = routes
        self.hosts = frozenset().union(*(route.hosts | route.sandbox_hosts for route in routes))

    def find(self, method: str, host: str, raw_path: str) -> Match | None:
        """The method that a request is for, or None.

        Args:
            method: HTTP method.
            host: A host of WB's, or any other: then the path alone decides.
            raw_path: The path as sent, percent-encoded.
        """
        path = raw_path.partition("?")[0]
        for route in self._candidates(method, host):
            found = route.pattern.fullmatch(path)
            if found is not None:
                place = host if host in self.hosts else min(route.hosts)
                names = re.findall(r"\{([^{}]*)\}", route.path)
                params = dict(zip(names, map(unquote, found.groups()), strict=True))
                return Match(route, place, params)
        return None

    def _candidates(self, method: str, host: str) -> Iterable[Route]:
        known = host in self.hosts
        for route in self._routes:
            here = not known or host in route.hosts or host in route.sandbox_hosts
            if here and route.method == method:
                yield route

    def _route(self, registry: Registry, operation: Operation) -> Route:
        counting = self._counting(registry, operation.budget)
        sandbox_counting = counting
        if operation.sandbox_budget is not None:
            sandbox_counting = self._counting(registry, operation.sandbox_budget)
        elif operation.sandbox_host is not None:
            sandbox_counting = Counting(f"{counting.budget}@sandbox", counting.rules)
        sandbox_host = operation.sandbox_host
        return Route(
            id=operation.id,
            method=operation.method,
            path=operation.path,
            pattern=_pattern(operation.path),
            hosts=frozenset(operation.hosts),
            sandbox_hosts=frozenset() if sandbox_host is None else frozenset({sandbox_host}),
            scope=None if operation.scope is None else operation.scope.value,
            kinds=frozenset(kind.value for kind in operation.kinds),
            write=operation.write,
            deprecated=operation.deprecated,
            disabled=operation.disabled,
            error_cost=operation.error_cost,
            counting=counting,
            sandbox_counting=sandbox_counting,
            per_host=operation.per_host,
        )

    def _counting(self, registry: Registry, budget: str) -> Counting:
        known = {kind.value: limit for kind, limit in registry.budgets[budget].limits.items()}
        strictest = max(known.values(), key=lambda limit: limit.period / limit.limit)
        rules = {}
        for kind in KINDS:
            limit = known.get(kind, strictest)
            rules[kind] = Rule(limit.period, limit.limit, limit.burst)
        return Counting(budget, {**rules, **self._rules.get(budget, {})})


def _pattern(path: str) -> re.Pattern[str]:
    parts = ("([^/]+)" if part.startswith("{") else re.escape(part) for part in path.split("/"))
    return re.compile("/".join(parts) + "/?")
