"""The rules of the house that a machine can check: who may import whom, what is pure, how large."""

from __future__ import annotations

import ast
import os
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "wbtrio"

LAYERS = (
    ("_errors", "_operation_ids"),
    (
        *("_bucket", "_guards", "_headers", "_reconcile", "_replies", "_reply_text"),
        *("_statistics", "_tokens"),
    ),
    (
        *("_registry", "_refusals", "_json_rows", "_positions", "observability", "rows"),
        "_calibration",
    ),
    ("_loop",),
    ("stores",),
    ("_lane", "_ledger", "_limiter", "_permit", "_settling", "_store_clock"),
    ("_sending", "_transport"),
    (
        *("_ahead", "_calls", "_client", "_fan_out", "_pages", "_pagination", "_requests"),
        *("_scope", "_spool", "_tasks"),
    ),
    ("importer",),
    ("testing", "cli"),
)
"""From the ground up: a module may import from its own layer and from those above in this list."""

LAYER_OF = {name: number for number, names in enumerate(LAYERS) for name in names}
PURE = {
    *("_calibration", "_json_rows"),
    *("_bucket", "_headers", "_replies", "_reply_text", "_tokens"),
    *("_guards", "_positions", "_reconcile", "_refusals", "_registry", "_statistics"),
}
READS_FILES = {"_registry"}
IMPURE_MODULES = {
    *("trio", "anyio", "asyncio", "sniffio", "httpx", "httpx2", "httpcore", "redis", "hiredis"),
    *("time", "random", "secrets", "socket", "select", "ssl", "threading", "subprocess"),
    *("os", "sys", "io", "pathlib", "shutil", "tempfile", "concurrent", "multiprocessing"),
}
FILE_MODULES = {"os", "io", "pathlib", "importlib"}
CLOCK_CALL = re.compile(r"\b(date|datetime)\.(now|today|utcnow)\(")

SIMULATOR_MAY_NOT_USE = {"_bucket", "stores", "_limiter", "_transport", "_client", "_scope"}

LONGEST_MODULE = 400
LONGEST_FUNCTION = 40
TEXT_FILES = {".py", ".toml", ".md", ".lua", ".yml", ".yaml", ".json", ".jsonl", ".cfg", ".txt", ""}
INDEX_HOSTS = tuple("".join(parts) for parts in (("pypi", ".org"), ("pythonhosted", ".org")))


def modules_of(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def dotted_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_for_types_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def import_statements(node: ast.AST, *, with_types: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif with_types or not is_for_types_only(child):
            yield from import_statements(child, with_types=with_types)


def imports_of(path: Path, *, with_types: bool = True) -> set[str]:
    """Full dotted names of all that a module imports, relative imports resolved."""
    name = dotted_name(path)
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found: set[str] = set()
    for statement in import_statements(tree_of(path), with_types=with_types):
        if isinstance(statement, ast.Import):
            found.update(alias.name for alias in statement.names)
            continue
        source = statement.module or ""
        if statement.level:
            steps = package.split(".")
            base = ".".join(steps[: len(steps) - statement.level + 1])
            source = f"{base}.{source}".rstrip(".")
        found.update(f"{source}.{alias.name}" for alias in statement.names)
    return found


def parts_used(path: Path, *, with_types: bool = True) -> set[str]:
    """The parts of wbtrio (`_bucket`, `stores`, ...) that a module imports from."""
    inside = (
        name for name in imports_of(path, with_types=with_types) if name.startswith("wbtrio.")
    )
    return {name.split(".")[1] for name in inside}


def part_of(path: Path) -> str:
    return dotted_name(path).partition(".")[2].partition(".")[0]


LAYERED = [path for path in modules_of("wbtrio") if part_of(path) not in {"", "__main__"}]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_every_part_of_the_package_has_its_layer() -> None:
    unplaced = {part_of(path) for path in LAYERED} - set(LAYER_OF) - {"simulator"}
    assert not unplaced, f"give {sorted(unplaced)} a place in LAYERS, and in docs/design.md"


@pytest.mark.parametrize("path", LAYERED, ids=name_of)
def test_imports_point_one_way(path: Path) -> None:
    if part_of(path) == "simulator":
        forbidden = parts_used(path) & SIMULATOR_MAY_NOT_USE
    else:
        own = LAYER_OF.get(part_of(path), len(LAYERS))
        forbidden = {part for part in parts_used(path) if LAYER_OF.get(part, own) > own}
        if own < LAYER_OF["testing"]:
            forbidden |= parts_used(path) & {"simulator"}
    assert not forbidden, f"{name_of(path)} must not import {sorted(forbidden)}"


def test_no_two_modules_import_each_other() -> None:
    modules = {dotted_name(path): path for path in modules_of("wbtrio")}
    graph = {
        name: {
            target
            for imported in imports_of(path, with_types=False)
            for target in (imported, imported.rpartition(".")[0])
            if target in modules and target != name and not name.startswith(f"{target}.")
        }
        for name, path in modules.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as cycle:
        pytest.fail(f"import cycle: {' -> '.join(cycle.args[1])}", pytrace=False)


@pytest.mark.parametrize("path", [p for p in LAYERED if part_of(p) in PURE], ids=name_of)
def test_pure_modules_know_no_clock_and_no_outside_world(path: Path) -> None:
    allowed = FILE_MODULES if part_of(path) in READS_FILES else set()
    used = {name.split(".")[0] for name in imports_of(path, with_types=False)}
    assert not used & (IMPURE_MODULES - allowed)
    clocks = [
        ast.unparse(node)
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and CLOCK_CALL.search(ast.unparse(node))
    ]
    assert not clocks, f"{name_of(path)} reads a clock: {clocks}"


@pytest.mark.parametrize("path", modules_of("wbtrio") + modules_of("tests/support"), ids=name_of)
def test_modules_fit_on_few_screens(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").count("\n")
    assert lines <= LONGEST_MODULE, f"{name_of(path)}: {lines} lines; split it by what it does"


@pytest.mark.parametrize("path", modules_of("wbtrio"), ids=name_of)
def test_functions_fit_on_one_screen(path: Path) -> None:
    too_long = {
        node.name: lines_of_code(node)
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and lines_of_code(node) > LONGEST_FUNCTION
    }
    assert not too_long


def lines_of_code(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of the body, its docstring aside."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body and body[-1].end_lineno else 0


@pytest.mark.parametrize("path", modules_of("tests"), ids=name_of)
def test_tests_neither_sleep_in_real_time_nor_skip(path: Path) -> None:
    called = {
        ast.unparse(node) for node in ast.walk(tree_of(path)) if isinstance(node, ast.Attribute)
    }
    forbidden = {
        f"{owner}.{name}"
        for owner, names in {
            "time": ("sleep",),
            "asyncio": ("sleep",),
            "pytest": ("skip", "xfail", "importorskip"),
            "pytest.mark": ("skip", "skipif", "xfail", "flaky"),
        }.items()
        for name in names
    }
    assert not called & forbidden


@pytest.mark.parametrize("path", sorted((ROOT / "tests").rglob("test_*.py")), ids=name_of)
def test_every_test_can_fail(path: Path) -> None:
    toothless = [function.name for function in flat_tests(path) if not can_fail(function)]
    assert not toothless, f"{name_of(path)}: no assertion in {toothless}"


@pytest.mark.parametrize("path", sorted((ROOT / "tests").rglob("test_*.py")), ids=name_of)
def test_tests_are_flat_functions(path: Path) -> None:
    assert not [
        node.name
        for node in tree_of(path).body
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test")
    ]


def flat_tests(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in tree_of(path).body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                if name.startswith("test_"):
                    yield node


def can_fail(function: ast.AST) -> bool:
    """Whether a test asserts, expects an error, or calls a function that is named as a check."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assert):
            return True
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called in {"pytest.raises", "pytest.fail", "pytest.warns"}:
                return True
            if re.search(r"(^|[._])(assert|check|expect|run_state_machine)", called):
                return True
    return False


LUA_FILES = sorted((PACKAGE / "stores" / "lua").glob("*.lua"))


def test_there_are_scripts_to_check() -> None:
    assert LUA_FILES


@pytest.mark.parametrize("path", LUA_FILES, ids=name_of)
def test_every_script_states_its_keys_arguments_units_and_reply(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    header = "\n".join(line for line in lines if line.startswith("--"))
    missing = [word for word in ("KEYS", "ARGV", "µs", "Returns") if word not in header]
    assert not missing, f"{name_of(path)}: the header does not state {missing}"


def test_no_file_names_a_package_index() -> None:
    naming = [
        name_of(path)
        for path in project_files()
        if any(host in path.read_text(encoding="utf-8", errors="replace") for host in INDEX_HOSTS)
    ]
    assert not naming, f"installing is the user's set-up, not ours: {naming}"


def project_files() -> Iterator[Path]:
    """Every text file that a person wrote; folders that tools make are left out."""
    made = {"site", "build", "dist", "__pycache__", "node_modules"}
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in made and not name.startswith(".")]
        for name in files:
            path = Path(folder, name)
            if path.suffix in TEXT_FILES:
                yield path
