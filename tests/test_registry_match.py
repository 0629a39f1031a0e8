"""A request finds its own operation and no other."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wbtrio._registry import Operation, default_registry
from wbtrio._registry._limits import format_limit, parse_limit, scale_limit
from wbtrio._tokens import TokenKind

REGISTRY = default_registry()
OPERATIONS = list(REGISTRY.operations.values())
CONTENT = "content-api.wildberries.ru"
MARKETPLACE = "marketplace-api.wildberries.ru"

# Values of path parameters: whatever a caller could give, as a client would have to encode it.
# A value that spells a static sibling (`new` under /orders/{id}) is a request for that sibling.
values = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12).filter(
    lambda value: value not in {".", ".."}
)


def siblings(operation: Operation) -> set[str]:
    """Static segments that stand where this operation's path has a parameter."""
    mine = operation.path.split("/")
    found: set[str] = set()
    for other in OPERATIONS:
        theirs = other.path.split("/")
        if len(theirs) == len(mine):
            found.update(t for t, m in zip(theirs, mine, strict=True) if m.startswith("{"))
    return found


def fill(operation: Operation, data: st.DataObject) -> str:
    static = siblings(operation)
    path = operation.path
    for name in operation.path_parameters:
        value = data.draw(values.filter(lambda value: value not in static), label=name)
        path = path.replace(f"{{{name}}}", quote(value, safe=""))
    return path


def found(method: str, host: str, path: str) -> str | None:
    operation = REGISTRY.match(method, host, path)
    return None if operation is None else operation.id


@given(operation=st.sampled_from(OPERATIONS), data=st.data())
def test_every_operation_matches_itself_with_any_parameters_on_each_of_its_hosts(
    operation: Operation, data: st.DataObject
) -> None:
    path = fill(operation, data)
    hosts = [*operation.hosts, *([operation.sandbox_host] if operation.sandbox_host else [])]
    for host in hosts:
        assert found(operation.method, host, path) == operation.id
        assert found(operation.method, host, path + "/") == operation.id


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_every_operation_matches_itself_by_its_template(operation: Operation) -> None:
    assert found(operation.method, operation.hosts[0], operation.path) == operation.id


@given(operation=st.sampled_from(OPERATIONS), data=st.data())
def test_no_operation_answers_on_a_foreign_host(operation: Operation, data: st.DataObject) -> None:
    other = data.draw(st.sampled_from(sorted({o.hosts[0] for o in OPERATIONS})))
    match = REGISTRY.match(operation.method, other, fill(operation, data))
    assert match is None or other in match.hosts


@given(
    operation=st.sampled_from(OPERATIONS),
    data=st.data(),
    extra=st.sampled_from(["/x", "//x", "x", "/../x"]),
)
def test_a_longer_path_is_no_longer_the_operation(
    operation: Operation, data: st.DataObject, extra: str
) -> None:
    match = REGISTRY.match(operation.method, operation.hosts[0], fill(operation, data) + extra)
    if match is not None and match.id == operation.id:
        # Text glued to a last parameter is just another value of it.
        assert extra == "x"
        assert operation.path.endswith("}")


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", "/api/v3/orders", "fbs.orders.list"),
        ("GET", "/api/v3/orders/new", "fbs.orders.new"),
        ("GET", "/api/v3/supplies/orders/reshipment", "fbs.reshipments.list"),
        ("GET", "/api/v3/supplies/orders", "fbs.supplies.get"),
        ("GET", "/api/v3/supplies/WB-GI-1/trbx", "fbs.boxes.list"),
        ("GET", "/api/v3/supplies/orders/trbx", "fbs.boxes.list"),
        ("POST", "/api/v3/supplies/WB-GI-1/trbx/stickers", "fbs.box_stickers.get"),
        ("DELETE", "/api/v3/orders/1/meta", "fbs.meta.delete"),
        ("PUT", "/api/v3/orders/1/meta/gtin", "fbs.gtin.set"),
        ("PUT", "/api/v3/orders/1/meta/unheard", None),
        ("GET", "/api/v3/orders/1", None),
        ("GET", "/api/v3/supplies//trbx", None),
        ("GET", "/api/v3/supplies/../trbx", None),
        ("GET", "/api/v3/supplies/%2E%2E/trbx", None),
        ("GET", "/api/v3/Orders", None),
        ("GET", "", None),
        ("GET", "/", None),
    ],
)
def test_a_static_path_comes_before_a_template(
    method: str, path: str, expected: str | None
) -> None:
    assert found(method, MARKETPLACE, path) == expected


@pytest.mark.parametrize(
    ("method", "host", "path"),
    [
        ("get", MARKETPLACE, "/api/v3/orders/new"),
        ("GET", "Marketplace-API.Wildberries.ru", "/api/v3/orders/new"),
        ("GET", f"{MARKETPLACE}:443", "/api/v3/orders/new"),
        ("GET", f"{MARKETPLACE}.", "/api/v3/orders/new"),
        ("GET", MARKETPLACE, "/api/v3/orders/new/"),
        ("GET", MARKETPLACE, "/api/v3/orders/new?next=0"),
        ("GET", MARKETPLACE, "/api/v3/orders/%6Eew"),
        ("GET", MARKETPLACE, "/api/v3/%6frders/new"),
        ("GET", "marketplace-api-sandbox.wildberries.ru", "/api/v3/orders/new"),
    ],
)
def test_spellings_of_one_request_find_one_operation(method: str, host: str, path: str) -> None:
    assert found(method, host, path) == "fbs.orders.new"


def test_an_encoded_slash_does_not_make_two_segments_of_a_parameter() -> None:
    assert found("DELETE", CONTENT, "/content/v2/tag/a%2Fb") == "content.tags.delete"
    assert found("DELETE", CONTENT, "/content/v2/tag/a/b") is None


def test_ping_is_found_on_all_its_hosts_and_their_sandboxes() -> None:
    ping = REGISTRY.operation("general.ping")
    for host in (*ping.hosts, "content-api-sandbox.wildberries.ru"):
        assert found("GET", host, "/ping") == "general.ping"
    assert found("GET", "feedbacks-api-sandbox.wildberries.ru", "/ping") == "general.ping"
    assert found("GET", "advert-media-api.wildberries.ru", "/ping") is None


def test_an_operation_outside_the_sandbox_is_not_found_there() -> None:
    assert not REGISTRY.operation("fbs.archive.list").sandbox_host
    path = "/api/marketplace/v3/fbs/orders/archive"
    assert found("GET", MARKETPLACE, path) == "fbs.archive.list"
    assert found("GET", "marketplace-api-sandbox.wildberries.ru", path) is None


@pytest.mark.parametrize(
    ("host", "known", "sandbox"),
    [
        (CONTENT, True, False),
        ("CONTENT-API.wildberries.ru:443", True, False),
        ("content-api-sandbox.wildberries.ru", True, True),
        ("statistics-api-sandbox.wildberries.ru", True, True),
        ("dev.wildberries.ru", False, False),
        ("wildberries.ru", False, False),
        ("content-api.wildberries.ru.example", False, False),
        ("", False, False),
    ],
)
def test_wbs_hosts_are_told_from_others(host: str, known: bool, sandbox: bool) -> None:
    assert REGISTRY.knows_host(host) is known
    assert REGISTRY.is_sandbox_host(host) is sandbox


@given(
    limit=st.integers(1, 10_000),
    period=st.integers(1, 100_000),
    unit=st.sampled_from(["s", "min", "h"]),
    burst=st.integers(1, 10_000),
)
def test_limits_are_read_as_they_are_written(
    limit: int, period: int, unit: str, burst: int
) -> None:
    read = parse_limit(f"{limit} / {period} {unit}, burst {burst}")
    assert parse_limit(format_limit(read)) == read
    assert (read.limit, read.burst) == (limit, burst)
    assert read.interval * limit >= read.period


@given(
    share=st.floats(0.01, 1),
    budget=st.sampled_from(sorted(REGISTRY.budgets)),
    kind=st.sampled_from(TokenKind),
)
def test_a_share_never_allows_more_than_its_part(
    share: float, budget: str, kind: TokenKind
) -> None:
    whole = REGISTRY.budgets[budget].limit_for(kind)
    part = scale_limit(whole, share)
    assert part.limit == whole.limit
    assert part.period * share >= whole.period * (1 - 1e-12)
    assert part.burst == 1 or part.burst <= share * whole.burst
