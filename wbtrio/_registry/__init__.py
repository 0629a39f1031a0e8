"""The registry: which operations WB has, and which budget each of them is charged to.

`registry/*.toml` is edited by hand, since widening a budget is a reviewed decision; this package
reads and checks those files and answers, for a request, which bucket pays for it.
"""

from __future__ import annotations

import difflib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from .._bucket import MICROSECONDS, Bucket, Limit
from .._errors import UnknownOperation
from ._limits import format_limit, parse_limit
from ._load import UNKNOWN_BUDGET, build
from ._match import Matcher, plain_host
from ._model import Budget, EndRule, Operation, Pagination, Scalar, Scheme
from ._source import read_layers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .._tokens import TokenKind

__all__ = [
    "Budget",
    "EndRule",
    "Operation",
    "Pagination",
    "Registry",
    "Scalar",
    "Scheme",
    "default_registry",
    "format_limit",
    "parse_limit",
    "shipped_folder",
]

_STRICTEST = Limit(period=3_600 * MICROSECONDS, limit=1, burst=1)


class Registry:
    """Operations and budgets, loaded and checked. Immutable.

    Attributes:
        operations: All operations by id, sorted by id.
        budgets: All budgets by id: groups', operations' own, the sandbox's.
    """

    def __init__(
        self,
        operations: Mapping[str, Operation],
        budgets: Mapping[str, Budget],
        hosts: Mapping[str, str],
    ) -> None:
        """Use `Registry.load`. `hosts`: each production host and its sandbox host, or ""."""
        self.operations = operations
        self.budgets = budgets
        self._sandbox_hosts = {sandbox for sandbox in hosts.values() if sandbox}
        self._hosts = {*hosts, *self._sandbox_hosts}
        places = []
        for operation in operations.values():
            for host in operation.hosts:
                places.append((operation, host))
                if operation.sandbox_host and (sandbox := hosts.get(host)):
                    places.append((operation, sandbox))
            if operation.sandbox_host:
                places.append((operation, operation.sandbox_host))
        self._matcher = Matcher(places)

    @classmethod
    def load(cls, *folders: Path, overrides: Mapping[str, object] | None = None) -> Registry:
        """Read and check registry folders.

        Args:
            folders: Folders of `*.toml` files. A table of a later folder changes the keys that it
                names in the table of an earlier one. None given: the shipped files.
            overrides: Tables as a dict, laid over all folders, such as
                `{"budgets": {"prices": {"share": 0.5}}}`: use half of that budget.

        Raises:
            RegistryError: A file cannot be read or is wrong; the error names file, line, table
                and key.
        """
        operations, budgets, hosts = build(read_layers(folders or [shipped_folder()], overrides))
        return cls(operations, budgets, hosts)

    def operation(self, operation_id: str) -> Operation:
        """The operation of that id.

        Raises:
            UnknownOperation: There is none; the error names those most like it.
        """
        operation = self.operations.get(operation_id)
        if operation is None:
            nearest = difflib.get_close_matches(operation_id, self.operations, n=3)
            raise UnknownOperation(operation_id, nearest=tuple(nearest))
        return operation

    def match(self, method: str, host: str, path: str) -> Operation | None:
        """The operation that a request is for, or None if the registry knows none such.

        Args:
            method: HTTP method, any case.
            host: Host of the request, any case; a port is ignored. An operation is found on its
                production hosts and on its sandbox host.
            path: Raw path, percent-encoded as it is sent (a decoded `%2F` would read as two
                segments); a query and one trailing slash are ignored. A path parameter stands
                for one segment, which is neither empty nor `.` or `..`.
        """
        return self._matcher.match(method, host, path)

    def knows_host(self, host: str) -> bool:
        """Whether this is a host of WB's API, production or sandbox."""
        return plain_host(host) in self._hosts

    def is_sandbox_host(self, host: str) -> bool:
        """Whether this is a host of WB's sandbox."""
        return plain_host(host) in self._sandbox_hosts

    def bucket_for(
        self,
        operation: Operation,
        *,
        account: str,
        kind: TokenKind,
        host: str = "",
        sandbox: bool = False,
    ) -> Bucket:
        """The bucket that one request is charged to.

        Args:
            operation: What is called.
            account: Key of the seller's account.
            kind: Kind of its token; one that WB does not admit gets the strictest row.
            host: Host of the request; "": the operation's first. It matters only for an
                operation that each host counts for itself.
            sandbox: The request goes to the sandbox, which counts all of a section together.
        """
        in_sandbox = sandbox and operation.sandbox_budget is not None
        name = operation.sandbox_budget if in_sandbox else operation.budget
        budget = self.budgets[name or operation.budget]
        key = budget.id
        if operation.per_host:
            key += f"@{plain_host(host or operation.hosts[0])}"
        elif sandbox and not in_sandbox:
            key += "@sandbox"
        return Bucket(account, kind.value, key, budget.limit_for(kind))

    def default_bucket(self, host: str, account: str, kind: TokenKind) -> Bucket:
        """The bucket of a path that the registry does not know: strict, one per host."""
        budget = self.budgets.get(UNKNOWN_BUDGET)
        limit = budget.limit_for(kind) if budget else _STRICTEST
        return Bucket(account, kind.value, f"{UNKNOWN_BUDGET}@{plain_host(host)}", limit)


def shipped_folder() -> Path:
    """Where the registry that comes with wbtrio is: in the wheel, or at the top of a checkout."""
    packaged = Path(__file__).parents[1] / "_data" / "registry"
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "registry"


@cache
def default_registry() -> Registry:
    """The registry that comes with wbtrio; read once per process."""
    return Registry.load()
