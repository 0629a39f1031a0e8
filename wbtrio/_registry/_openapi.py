"""WB's own OpenAPI documents: what they say of each method's limits, group, cost and place.

English documents carry their limits twice, in a block `x-wb-rate-limits` and as a Markdown table in
`description`; Russian ones have the table alone. Pure: takes a parsed document.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec import Struct

from .._bucket import MICROSECONDS, Limit
from .._errors import RegistryError
from .._tokens import TokenKind

if TYPE_CHECKING:
    from collections.abc import Iterator

_METHODS = ("get", "post", "put", "patch", "delete")

_UNIT = {"s": 1, "sec": 1, "сек": 1, "с": 1, "min": 60, "мин": 60, "h": 3_600, "ч": 3_600}
_DURATION = re.compile(r"(\d+)\s*(min|мин|sec|сек|s|с|h|ч)", re.IGNORECASE)
_PROSE = re.compile(
    r"(?P<limit>\d+)\s+(?:requests?|запрос\w*)\s+(?:every|per|в|за)\s+(?P<period>\d+)\s+"
    r"(?P<unit>\w+)",
    re.IGNORECASE,
)
_COST = re.compile(
    r"(?:with|ответа)\s+(?P<status>\dXX|\d{3}).{0,40}?(?P<cost>\d+)\s+(?:requests|запрос)",
    re.IGNORECASE,
)
_SANDBOX = re.compile(r"in sandbox|в песочнице|в тестовом контуре", re.IGNORECASE)
_BLOCK = re.compile(r"class=[\"']description_limit[\"']>(?P<text>.*?)</div>", re.DOTALL)
_SCOPE = re.compile(
    r"(?:request limit per one seller account|лимит запросов на один аккаунт продавца)"
    r"(?P<group>.*)",
    re.IGNORECASE,
)
_GLUE = frozenset(
    {
        *("a", "all", "category", "for", "in", "managing", "method", "methods", "of", "the"),
        *("все", "всех", "для", "категории", "методов", "методы", "модели", "на"),
        *("following", "следующих"),
    }
)
"""Words in which WB's texts for one and the same group differ."""

_COLUMNS = {
    "type": "type",
    "тип": "type",
    "period": "period",
    "период": "period",
    "limit": "limit",
    "лимит": "limit",
    "burst": "burst",
    "всплеск": "burst",
}
_KINDS = {
    "personal": TokenKind.PERSONAL,
    "персональный": TokenKind.PERSONAL,
    "service": TokenKind.SERVICE,
    "сервисный": TokenKind.SERVICE,
    "base with secret": TokenKind.BASIC_SECRET,
    "base-with-secret": TokenKind.BASIC_SECRET,
    "базовый с секретом": TokenKind.BASIC_SECRET,
    "base": TokenKind.BASIC,
    "базовый": TokenKind.BASIC,
    "test": TokenKind.TEST,
    "тестовый": TokenKind.TEST,
}
EVERY_KIND = (
    TokenKind.PERSONAL,
    TokenKind.SERVICE,
    TokenKind.BASIC_SECRET,
    TokenKind.BASIC,
)
"""Kinds that a row without a kind is for."""


class SpecOperation(Struct, frozen=True, kw_only=True):
    """What one document says of one method.

    Attributes:
        document: Name of the document.
        method: Upper case.
        path: Template, as WB writes it.
        hosts: Production hosts.
        sandbox_hosts: Sandbox hosts; empty: none, or the document lists none at all.
        limits: Published limit by kind; empty: the document states none that can be read.
        group: Words that name the group which shares the limit; empty: the method has its own.
        group_text: The same as WB puts it.
        cost: Status or class of statuses and the requests that such a reply counts as, or None.
        sandbox: A limit of the sandbox is stated.
        kinds: Kinds that WB admits, or None where it names none.
        write: It changes something, by WB's mark; None: not marked.
        summary: WB's title.
    """

    document: str
    method: str
    path: str
    hosts: tuple[str, ...]
    sandbox_hosts: tuple[str, ...]
    limits: Mapping[TokenKind, Limit]
    group: frozenset[str]
    group_text: str
    cost: tuple[str, int] | None
    sandbox: bool
    kinds: frozenset[TokenKind] | None
    write: bool | None
    summary: str


def read_document(document: object, name: str) -> list[SpecOperation]:
    """All methods of a parsed OpenAPI document.

    Raises:
        RegistryError: This is no OpenAPI document.
    """
    paths = document.get("paths") if isinstance(document, Mapping) else None
    if not isinstance(document, Mapping) or not isinstance(paths, Mapping):
        raise RegistryError("this is no OpenAPI document: it has no `paths`", file=name)
    found = []
    for path, item in paths.items():
        for method in _METHODS:
            body = item.get(method) if isinstance(item, Mapping) else None
            if isinstance(body, Mapping):
                servers = body.get("servers") or item.get("servers") or document.get("servers")
                found.append(_operation(name, method, path, body, _list(servers)))
    return found


def _operation(
    name: str, method: str, path: str, body: Mapping[str, object], servers: list[object]
) -> SpecOperation:
    hosts = [urlsplit(_text(server, "url")).hostname or "" for server in servers]
    limits, prose = _limits(body)
    group = _group(prose)
    kinds = [_KINDS.get(str(kind)) for kind in _list(body.get("x-token-types"))]
    readonly = body.get("x-readonly-method")
    cost = _COST.search(prose)
    return SpecOperation(
        document=name,
        method=method.upper(),
        path=path,
        hosts=tuple(host for host in hosts if host and "sandbox" not in host),
        sandbox_hosts=tuple(host for host in hosts if "sandbox" in host),
        limits=limits,
        group=frozenset(re.findall(r"\w+", group.lower())) - _GLUE,
        group_text=group,
        cost=(cost["status"].upper(), int(cost["cost"])) if cost else None,
        sandbox=_SANDBOX.search(prose) is not None,
        kinds=frozenset(kind for kind in kinds if kind) or None,
        write=None if readonly is None else not readonly,
        summary=str(body.get("summary", "")).partition("{{")[0].strip(),
    )


def _limits(body: Mapping[str, object]) -> tuple[dict[TokenKind, Limit], str]:
    """Limits by kind, and the prose around them."""
    block = body.get("x-wb-rate-limits")
    if isinstance(block, Mapping):
        parts = [_text(block, key) for key in ("scope", "raw", "note")]
        rows = [row for row in _list(block.get("limits")) if isinstance(row, Mapping)]
        prose = "\n".join(filter(None, parts))
    else:
        description = _text(body, "description")
        parts = [match["text"] for match in _BLOCK.finditer(description)]
        text = re.sub(r"<[^>]+>", "", "\n".join(parts))
        rows = list(_table_rows(text))
        prose = "\n".join(line for line in text.splitlines() if not line.strip().startswith("|"))
    limits: dict[TokenKind, Limit] = {}
    for row in rows:
        limits.update(_row(row))
    return limits or _prose_limit(prose), prose


def _table_rows(text: str) -> Iterator[Mapping[str, str]]:
    """Rows of the Markdown tables that have a period and a limit."""
    columns: list[str] = []
    for line in text.splitlines():
        if not line.strip().startswith("|"):
            columns = []
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not columns:
            columns = [_COLUMNS.get(cell.lower().partition(" ")[0], "") for cell in cells]
        elif {"period", "limit"} <= set(columns) and not set("".join(cells)) <= set("-: "):
            yield dict(zip(columns, cells, strict=False))


def _row(row: Mapping[str, object]) -> dict[TokenKind, Limit]:
    numbers = {key: re.search(r"\d+", str(row.get(key, ""))) for key in ("limit", "burst")}
    period = _duration(str(row.get("period", "")))
    limit, burst = numbers["limit"], numbers["burst"]
    if not period or limit is None or burst is None:
        return {}
    name = str(row.get("type", "")).strip().lower()
    kinds = EVERY_KIND if not name else tuple(filter(None, [_KINDS.get(name)]))
    return dict.fromkeys(kinds, Limit(period, int(limit[0]), int(burst[0])))


def _prose_limit(prose: str) -> dict[TokenKind, Limit]:
    """A limit in words, such as "3 requests every 30 seconds"; 1 is a safe burst."""
    match = _PROSE.search(prose)
    period = _duration(f"{match['period']} {match['unit']}") if match else 0
    if match is None or not period:
        return {}
    return dict.fromkeys(EVERY_KIND, Limit(period, int(match["limit"]), 1))


def _duration(text: str) -> int:
    """µs of "1 min", "24 h", "1 ч 30 мин"; 0 if it is none."""
    parts = _DURATION.findall(text)
    return sum(int(number) * _UNIT[unit.lower()[:3]] for number, unit in parts) * MICROSECONDS


def _group(prose: str) -> str:
    """WB's words for the group; "" for a limit of the method's own."""
    lines = [line.strip() for line in prose.splitlines()]
    for number, line in enumerate(lines):
        match = _SCOPE.search(line)
        if match is None:
            continue
        words = [match["group"].strip(" :")]
        for more in lines[number + 1 :]:
            if not more or re.search(r"4XX|409|sandbox|exception|исключение", more, re.IGNORECASE):
                if more:
                    break
                continue
            words.append(more)
        return " ".join(filter(None, words))
    return ""


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, list) else []


def _text(value: object, key: str) -> str:
    found = value.get(key) if isinstance(value, Mapping) else None
    return found if isinstance(found, str) else ""
