"""Finding the operation of a request. Pure; built once, then read by every request."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ._model import Operation

_TEMPLATE = "{}"


class _Node:
    """The operations whose paths begin alike."""

    __slots__ = ("operation", "static", "template")

    def __init__(self) -> None:
        self.static: dict[str, _Node] = {}
        self.template: _Node | None = None
        self.operation: Operation | None = None

    def descend(self, part: str) -> _Node:
        if not part.startswith("{"):
            return self.static.setdefault(part, _Node())
        if self.template is None:
            self.template = _Node()
        return self.template


def path_shape(path: str) -> str:
    """The path with all its parameters named alike: two operations of one shape are one."""
    return "/".join(_TEMPLATE if part.startswith("{") else part for part in path.split("/"))


def plain_host(host: str) -> str:
    """The host as the registry spells it: lower case, no port, no trailing dot."""
    return host.partition(":")[0].rstrip(".").lower()


class Matcher:
    """Operations by (method, host), then by path segments: a static segment before a template."""

    def __init__(self, operations: Iterable[tuple[Operation, str]]) -> None:
        """Index operations under the hosts that they are paired with."""
        self._static: dict[tuple[str, str, str], Operation] = {}
        self._roots: dict[tuple[str, str], _Node] = {}
        for operation, host in operations:
            if not operation.path_parameters:
                self._static[operation.method, host, operation.path] = operation
            node = self._roots.setdefault((operation.method, host), _Node())
            for part in _segments(operation.path):
                node = node.descend(part)
            node.operation = operation

    def match(self, method: str, host: str, path: str) -> Operation | None:
        """The operation of a request, or None. See `Registry.match`."""
        operation = self._static.get((method, host, path))
        if operation is not None:
            return operation
        root = self._roots.get((method, host))
        if root is None:
            root = self._roots.get((method.upper(), plain_host(host)))
            if root is None:
                return None
        if "?" in path:
            path = path.partition("?")[0]
        parts = _segments(path)
        if "%" in path:
            parts = [unquote(part) for part in parts]
        return _walk(root, parts, 0)


def _segments(path: str) -> list[str]:
    parts = path.split("/")
    if len(parts) > 2 and not parts[-1]:
        parts.pop()
    return parts[1:] if not parts[0] else parts


def _walk(node: _Node, parts: list[str], index: int) -> Operation | None:
    if index == len(parts):
        return node.operation
    part = parts[index]
    child = node.static.get(part)
    if child is not None:
        found = _walk(child, parts, index + 1)
        if found is not None:
            return found
    if node.template is None or not part or part in {".", ".."}:
        return None
    return _walk(node.template, parts, index + 1)
