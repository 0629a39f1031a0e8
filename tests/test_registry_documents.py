"""WB's OpenAPI documents: read in all their forms, compared, and turned into a patch."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from tests.support.wb_documents import GOODS, ORDERS, REGISTRY, ROW, ROWS, RUSSIAN, document
from wbtrio._bucket import MICROSECONDS, Limit
from wbtrio._errors import RegistryError
from wbtrio._registry import Registry, default_registry
from wbtrio._registry._diff import Comparison, Difference
from wbtrio._registry._openapi import EVERY_KIND, SpecOperation, read_document
from wbtrio._registry._patch import Editor, Patcher
from wbtrio._registry._source import read_layers
from wbtrio._tokens import TokenKind

MINUTE = 60 * MICROSECONDS


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A registry that agrees with the document."""
    path = tmp_path / "registry"
    path.mkdir()
    (path / "shop.toml").write_text(REGISTRY, encoding="utf-8")
    return path


def compare(folder: Path, changed: object) -> Comparison:
    return Comparison(Registry.load(folder), read_document(changed, "shop.json"))


def patched(folder: Path, comparison: Comparison) -> Editor:
    return Patcher(read_layers([folder], None), comparison).patch(comparison.differences())


def told(differences: list[Difference]) -> set[tuple[str, str, str, str]]:
    return {(d.aspect, d.subject, d.here, d.there) for d in differences}


def as_table(block: dict[str, Any]) -> str:
    """The Markdown that WB prints for a block of limits."""
    columns = [key for key in ("type", "period", "limit", "burst") if key in block["limits"][0]]
    lines = [f"| {' | '.join(column.title() for column in columns)} |", "|---" * len(columns) + "|"]
    lines += [f"| {' | '.join(row[column] for column in columns)} |" for row in block["limits"]]
    table = "\n".join(lines)
    return f"""Words. <div class='description_limit'>
        {block["scope"]}\n\n{table}\n\n{block.get("note", "")}</div>"""


# Reading


def test_a_row_of_each_kind_is_read() -> None:
    goods = read_document(document(), "shop.json")[0]
    assert (goods.method, goods.path, goods.hosts) == (
        "GET",
        "/api/v2/goods",
        ("shop-api.example",),
    )
    assert goods.limits[TokenKind.SERVICE] == Limit(6 * MICROSECONDS, 10, 5)
    assert goods.limits[TokenKind.BASIC] == Limit(60 * MINUTE, 4, 1)
    assert goods.cost == ("4XX", 10)
    assert goods.summary == "Goods"


def test_a_row_without_a_kind_is_for_all_kinds() -> None:
    orders = read_document(document(), "shop.json")[2]
    assert orders.limits == dict.fromkeys(EVERY_KIND, Limit(MINUTE, 300, 20))
    assert (orders.group, orders.cost) == (frozenset(), None)


def test_a_limit_in_words_has_burst_1() -> None:
    passes = read_document(document(), "shop.json")[3]
    assert passes.limits == dict.fromkeys(EVERY_KIND, Limit(10 * MINUTE, 1, 1))


@pytest.mark.parametrize("block", [GOODS, ORDERS])
def test_the_table_in_the_description_says_the_same_as_the_block(block: dict[str, Any]) -> None:
    with_block: Any = document()
    with_block["paths"] = {"/x": {"get": {"x-wb-rate-limits": block}}}
    with_table: Any = {"paths": {"/x": {"get": {"description": as_table(block)}}}}
    (one,), (other,) = read_document(with_block, "a"), read_document(with_table, "a")
    assert one.limits == other.limits
    assert (one.group, one.cost) == (other.group, other.cost)
    assert one.limits


def test_russian_tables_are_read() -> None:
    found = read_document(yaml.safe_load(RUSSIAN), "shop.yaml")
    goods, change, passes = found
    assert goods.limits[TokenKind.BASIC_SECRET] == Limit(6 * MICROSECONDS, 10, 5)
    assert goods.limits[TokenKind.BASIC] == Limit(60 * MINUTE, 4, 1)
    assert goods.cost == ("4XX", 10)
    assert change.limits == dict.fromkeys(EVERY_KIND, Limit(MINUTE, 2, 3))
    assert change.cost == ("409", 10)
    assert goods.group == change.group == frozenset({"товары"})
    assert passes.limits == dict.fromkeys(EVERY_KIND, Limit(10 * MINUTE, 1, 1))
    assert [spec.write for spec in found] == [False, True, True]


@pytest.mark.parametrize("other", [None, [], "text", {}, {"paths": []}, {"swagger": "2.0"}])
def test_what_is_no_openapi_document_is_refused(other: object) -> None:
    with pytest.raises(RegistryError, match=r"shop\.json: this is no OpenAPI document"):
        read_document(other, "shop.json")


@pytest.mark.parametrize(
    "limits", [5, [], {}, {"limits": 3}, {"limits": [{"period": "soon"}]}, {"scope": 7}]
)
def test_limits_that_cannot_be_read_are_none(limits: object) -> None:
    odd = {"paths": {"/x": {"get": {"x-wb-rate-limits": limits, "servers": [5, {}]}}}}
    (spec,) = read_document(odd, "shop.json")
    assert (spec.limits, spec.hosts) == ({}, ())


# Comparing


def test_a_registry_that_agrees_differs_in_nothing(folder: Path) -> None:
    assert compare(folder, document()).differences() == []


def test_parameters_of_another_name_are_a_difference_of_the_path_alone(folder: Path) -> None:
    changed: Any = document()
    changed["paths"]["/api/v1/orders/{id}"] = changed["paths"].pop("/api/v1/orders/{orderId}")
    assert told(compare(folder, changed).differences()) == {
        ("path", "shop.orders.get", "/api/v1/orders/{orderId}", "/api/v1/orders/{id}")
    }


def test_a_limit_is_compared_kind_by_kind_and_told_which_way_it_moves(folder: Path) -> None:
    changed: Any = document()
    for method in changed["paths"]["/api/v2/goods"].values():
        method["x-wb-rate-limits"] = {
            **GOODS,
            "limits": [
                {"type": "Personal", **ROW, "burst": "6 requests"},
                {"type": "Base", **ROW, "period": "24 h"},
            ],
        }
    found = compare(folder, changed).differences()
    assert {(d.kind, d.here, d.there, d.wider) for d in found} == {
        (TokenKind.PERSONAL, "10 / 6 s, burst 5", "10 / 6 s, burst 6", True),
        (TokenKind.BASIC, "4 / 1 h, burst 1", "10 / 24 h, burst 5", False),
    }
    assert {(d.aspect, d.subject) for d in found} == {("limit", "goods")}


def test_rows_that_differ_within_a_group_count_by_the_strictest(folder: Path) -> None:
    changed: Any = document()
    changed["paths"]["/api/v2/goods"]["get"]["x-wb-rate-limits"] = {
        **GOODS,
        "limits": [{"period": "1 s", "limit": "100 requests", "burst": "100 requests"}],
    }
    assert compare(folder, changed).differences() == []


@pytest.mark.parametrize(
    ("path", "method", "change", "expected"),
    [
        (
            "/api/v2/goods",
            "get",
            {"servers": [{"url": "https://goods-api.example/v9"}]},
            ("host", "shop.goods.list", "shop-api.example", "goods-api.example"),
        ),
        (
            "/api/v2/goods",
            "post",
            {"x-readonly-method": True},
            ("write", "shop.goods.update", "writes", "reads"),
        ),
        (
            "/api/v2/goods",
            "get",
            {"x-wb-rate-limits": {**GOODS, "note": ""}},
            ("cost", "shop.goods.list", "4XX = 10", "4XX = 1"),
        ),
        (
            "/api/v1/orders/{orderId}",
            "get",
            {"x-token-types": ["personal", "base-with-secret"]},
            (
                "kinds",
                "shop.orders.get",
                "personal, service, basic_secret, basic",
                "personal, basic_secret",
            ),
        ),
        (
            "/api/v1/orders/{orderId}",
            "get",
            {
                "servers": [
                    {"url": "https://shop-api.example"},
                    {"url": "https://shop-api-sandbox.example"},
                ]
            },
            ("sandbox", "shop.orders.get", "", "shop-api-sandbox.example"),
        ),
        (
            "/api/v1/orders/{orderId}",
            "get",
            {"x-wb-rate-limits": {**ORDERS, "scope": GOODS["scope"]}},
            ("group", "shop.orders.get", "shop.orders.get", "goods (for all methods in the Goods"),
        ),
        (
            "/api/v2/goods",
            "post",
            {"x-wb-rate-limits": {**GOODS, "scope": "Request limit per one seller account:"}},
            ("group", "shop.goods.update", "goods", "a limit of its own"),
        ),
    ],
)
def test_one_change_of_a_document_is_one_difference_and_its_patch_settles_it(
    folder: Path,
    path: str,
    method: str,
    change: dict[str, object],
    expected: tuple[str, str, str, str],
) -> None:
    changed: Any = document()
    changed["paths"][path][method].update(change)
    comparison = compare(folder, changed)
    (found,) = (d for d in comparison.differences() if d.aspect != "limit")
    assert (found.aspect, found.subject, found.here) == expected[:3]
    assert found.there.startswith(expected[3])

    write(folder, patched(folder, comparison))
    write(folder, patched(folder, compare(folder, changed)))
    assert compare(folder, changed).differences() == []


def write(folder: Path, editor: Editor) -> None:
    for name, text in editor.texts().items():
        assert Path(name).parent == folder
        Path(name).write_text(text, encoding="utf-8")


def test_a_new_operation_is_written_down_for_a_person_to_name(folder: Path) -> None:
    changed: Any = document()
    changed["paths"]["/api/v2/goods/archive"] = {"get": changed["paths"]["/api/v2/goods"]["get"]}
    changed["paths"]["/api/v1/orders/{orderId}/9"] = {
        "put": changed["paths"]["/api/v1/orders/{orderId}"]["get"]
    }
    comparison = compare(folder, changed)
    assert {(d.aspect, d.subject) for d in comparison.differences()} == {
        ("new", "GET /api/v2/goods/archive"),
        ("new", "PUT /api/v1/orders/{orderId}/9"),
    }
    write(folder, patched(folder, comparison))
    registry = Registry.load(folder)
    assert registry.operation("shop.archive.get").budget == "goods"
    assert registry.operation("shop.archive.get").error_cost == 10
    added = registry.operation("shop.x9.set")
    assert registry.budgets[added.budget].limit_for(TokenKind.BASIC) == Limit(MINUTE, 300, 20)
    assert compare(folder, changed).differences() == []


def test_a_vanished_operation_is_told_with_its_likely_successor(folder: Path) -> None:
    changed: Any = document()
    changed["paths"]["/api/v4/goods"] = {"get": changed["paths"]["/api/v2/goods"].pop("get")}
    comparison = compare(folder, changed)
    vanished, new = sorted(comparison.differences(), key=lambda d: d.aspect, reverse=True)
    assert (vanished.aspect, vanished.subject) == ("vanished", "shop.goods.list")
    assert vanished.there == "perhaps now GET /api/v4/goods"
    assert (new.aspect, new.subject) == ("new", "GET /api/v4/goods")
    write(folder, patched(folder, comparison))
    assert Registry.load(folder).operation("shop.goods.list").deprecated
    assert compare(folder, changed).differences() == []


def test_only_sections_that_a_document_is_about_can_lack_operations() -> None:
    registry = default_registry()
    specs: list[SpecOperation] = read_document(document(), "shop.json")
    paired = {operation.category for operation, _ in Comparison(registry, specs).pairs}
    found = Comparison(registry, specs).differences()
    vanished = {registry.operations[d.subject].category for d in found if d.aspect == "vanished"}
    assert vanished == paired == {"orders_fbs"}


# Patching


def test_a_patch_is_a_unified_diff_that_keeps_comments_and_order(folder: Path) -> None:
    changed: Any = document()
    for method in changed["paths"]["/api/v2/goods"].values():
        method["x-wb-rate-limits"] = {**GOODS, "limits": [{"type": "Base", **ROW}]}
    patch = patched(folder, compare(folder, changed)).unified()
    assert patch.splitlines()[:2] == ["--- a/registry/shop.toml", "+++ b/registry/shop.toml"]
    assert [line for line in patch.splitlines()[2:] if line[:1] in "+-"] == [
        '-full = "10 / 6 s, burst 5"',
        '-basic = "4 / 1 h, burst 1"',
        '+all = "10 / 6 s, burst 5"',
    ]
    before = (folder / "shop.toml").read_text()
    (folder.parent / "x.patch").write_text(patch)
    subprocess.run(["git", "apply", "-p1", "x.patch"], cwd=folder.parent, check=True)
    after = (folder / "shop.toml").read_text()
    assert "# The list that everybody reads." in after
    assert after == before.replace(
        'full = "10 / 6 s, burst 5"\nbasic = "4 / 1 h, burst 1"', 'all = "10 / 6 s, burst 5"'
    )


def test_comparing_and_patching_change_no_file(folder: Path) -> None:
    changed: Any = document()
    changed["paths"].pop("/api/v3/passes")
    before = (folder / "shop.toml").read_bytes()
    assert patched(folder, compare(folder, changed)).unified()
    assert (folder / "shop.toml").read_bytes() == before


def test_a_cost_of_other_statuses_is_left_to_a_person(folder: Path) -> None:
    changed: Any = document()
    changed["paths"]["/api/v2/goods"]["get"]["x-wb-rate-limits"] = {
        **GOODS,
        "note": "One request with 409 response codes is counted as 5 requests",
    }
    comparison = compare(folder, changed)
    assert told(comparison.differences()) == {
        ("cost", "shop.goods.list", "4XX = 10", "409 = 5"),
    }
    assert patched(folder, comparison).unified() == ""


def test_a_new_operation_with_rows_for_some_kinds_is_for_those_kinds(folder: Path) -> None:
    changed: Any = document()
    changed["paths"]["/api/v2/daily"] = {
        "get": {
            **changed["paths"]["/api/v1/orders/{orderId}"]["get"],
            "x-wb-rate-limits": {**ORDERS, "limits": ROWS[:2]},
        }
    }
    comparison = compare(folder, changed)
    write(folder, patched(folder, comparison))
    added = Registry.load(folder).operation("shop.daily.get")
    assert added.kinds == {TokenKind.PERSONAL, TokenKind.SERVICE}
    assert compare(folder, changed).differences() == []


def test_an_operation_that_leaves_its_group_keeps_the_rows_that_are_not_stated(
    folder: Path,
) -> None:
    changed: Any = document()
    changed["paths"]["/api/v2/goods"]["post"]["x-wb-rate-limits"] = {
        **ORDERS,
        "limits": ROWS[:2],
        "note": GOODS["note"],
    }
    write(folder, patched(folder, compare(folder, changed)))
    registry = Registry.load(folder)
    assert registry.operation("shop.goods.update").budget == "shop.goods.update"
    limits = registry.budgets["shop.goods.update"]
    assert limits.limit_for(TokenKind.BASIC) == Limit(60 * MINUTE, 4, 1)


def test_a_list_of_hosts_over_several_lines_is_replaced_as_a_whole(folder: Path) -> None:
    text = REGISTRY.replace(
        'http = "POST /api/v3/passes"', 'http = "POST /api/v3/passes"\nhost = [\n  "shop",\n]'
    )
    (folder / "shop.toml").write_text(text, encoding="utf-8")
    changed: Any = document()
    servers = [{"url": "https://pass-api.example"}]
    changed["paths"]["/api/v3/passes"]["post"]["servers"] = servers
    write(folder, patched(folder, compare(folder, changed)))
    assert Registry.load(folder).operation("shop.pass.create").hosts == ("pass-api.example",)
