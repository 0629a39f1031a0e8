"""Sinks: what was committed stays, and nothing else does, whatever ends the process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.importing import TODAY, as_set, run_import, simulator
from tests.support.reading import READ
from wbtrio import CallerError
from wbtrio.importer import (
    Checkpoint,
    DuckdbSink,
    FileSink,
    NdjsonSink,
    ParquetSink,
    SourceKey,
)
from wbtrio.importer._sinks import file_name
from wbtrio.importer.parquet import table_of

pytestmark = pytest.mark.anyio

KEY = SourceKey("seller-1", "cards")
OTHER = SourceKey("seller-2", "cards")
FIRST = Checkpoint(until=TODAY, cursor={"id": 2}, rows=2, pages=1)
SECOND = Checkpoint(until=TODAY, cursor={"id": 3}, rows=3, pages=2)

SINKS: dict[str, Any] = {"ndjson": NdjsonSink, "parquet": ParquetSink, "duckdb": DuckdbSink}


each_sink = pytest.mark.parametrize("kind", sorted(SINKS))


def sink_of(kind: str, folder: Path) -> Any:
    sink: FileSink = SINKS[kind](folder, threads=False)
    return sink


@each_sink
async def test_what_was_committed_is_there_and_what_was_only_written_is_not(
    kind: str, tmp_path: Path
) -> None:
    async with sink_of(kind, tmp_path) as sink:
        assert await sink.open(KEY) is None
        await sink.write(KEY, [{"id": 1}, {"id": 2}])
        await sink.commit(KEY, FIRST)
        await sink.write(KEY, [{"id": 99}])
    async with sink_of(kind, tmp_path) as sink:
        assert await sink.open(KEY) == FIRST
        assert sink.checkpoint_of(KEY) == FIRST
        await sink.write(KEY, [{"id": 3}])
        await sink.commit(KEY, SECOND)
    assert READ[kind](tmp_path, KEY) == [{"id": 1}, {"id": 2}, {"id": 3}]


@each_sink
async def test_opening_again_drops_what_was_not_committed(kind: str, tmp_path: Path) -> None:
    async with sink_of(kind, tmp_path) as sink:
        await sink.open(KEY)
        await sink.write(KEY, [{"id": 1}, {"id": 2}])
        await sink.commit(KEY, FIRST)
        await sink.write(KEY, [{"id": 98}])
        assert await sink.open(KEY) == FIRST
        await sink.write(KEY, [{"id": 3}])
        await sink.commit(KEY, SECOND)
    assert READ[kind](tmp_path, KEY) == [{"id": 1}, {"id": 2}, {"id": 3}]


@each_sink
async def test_a_restart_forgets_one_source_and_no_other(kind: str, tmp_path: Path) -> None:
    async with sink_of(kind, tmp_path) as sink:
        for key in (KEY, OTHER):
            await sink.open(key)
            await sink.write(key, [{"id": 1}, {"id": 2}])
            await sink.commit(key, FIRST)
        await sink.restart(KEY)
        await sink.write(KEY, [{"id": 7}])
        await sink.commit(KEY, SECOND)
    async with sink_of(kind, tmp_path) as sink:
        assert await sink.open(OTHER) == FIRST
    assert READ[kind](tmp_path, KEY) == [{"id": 7}]
    assert READ[kind](tmp_path, OTHER) == [{"id": 1}, {"id": 2}]


@each_sink
async def test_a_restart_that_is_not_followed_by_a_commit_leaves_no_checkpoint_without_rows(
    kind: str, tmp_path: Path
) -> None:
    async with sink_of(kind, tmp_path) as sink:
        await sink.open(KEY)
        await sink.write(KEY, [{"id": 1}, {"id": 2}])
        await sink.commit(KEY, FIRST)
        await sink.restart(KEY)
    async with sink_of(kind, tmp_path) as sink:
        assert await sink.open(KEY) is None
    assert READ[kind](tmp_path, KEY) == []


@each_sink
async def test_one_process_at_a_time_imports_into_a_folder(kind: str, tmp_path: Path) -> None:
    async with sink_of(kind, tmp_path):
        with pytest.raises(CallerError, match="Another process"):
            sink_of(kind, tmp_path)
    async with sink_of(kind, tmp_path):
        pass


@each_sink
async def test_whole_imports_arrive_in_each_kind_of_file(kind: str, tmp_path: Path) -> None:
    server = simulator(rows={"finance_details": 150, "cards": 230, "claims": 40})
    names = ["finance_details", "cards", "claims"]
    async with sink_of(kind, tmp_path) as sink:
        summary = await run_import(server, tmp_path, names, sink=sink)
    assert summary.exit_code == 0
    for name in names:
        found = READ[kind](tmp_path, SourceKey("seller-1", name))
        if kind == "parquet":
            # A table has all columns in all rows.
            assert len(found) == len(server.catalogue.rows("seller-1", name))
        elif name != "finance_details":
            assert as_set(found) == as_set(server.catalogue.rows("seller-1", name))


@pytest.mark.real_io
@each_sink
async def test_files_are_written_by_threads_so_that_the_loop_goes_on(
    kind: str, tmp_path: Path
) -> None:
    async with SINKS[kind](tmp_path) as sink:
        for key in (KEY, OTHER):
            await sink.open(key)
        async with anyio.create_task_group() as tasks:
            for key in (KEY, OTHER):
                tasks.start_soon(_write_and_commit, sink, key)
    assert len(READ[kind](tmp_path, KEY)) == len(READ[kind](tmp_path, OTHER)) == 500


async def _write_and_commit(sink: Any, key: SourceKey) -> None:
    for number in range(10):
        await sink.write(key, [{"id": number * 50 + row} for row in range(50)])
        await sink.commit(key, FIRST)


async def test_a_broken_checkpoint_is_told_with_its_file(tmp_path: Path) -> None:
    async with NdjsonSink(tmp_path, threads=False) as sink:
        await sink.open(KEY)
        (tmp_path / "seller-1" / "cards.checkpoint.json").write_text("{}")
        with pytest.raises(CallerError, match=r"cards\.checkpoint\.json is no checkpoint"):
            await sink.open(KEY)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([{"a": 1}, {"b": "x"}], [{"a": 1, "b": None}, {"a": None, "b": "x"}]),
        ([{"a": 1}, {"a": "x"}], [{"a": "1"}, {"a": '"x"'}]),
        ([{"a": None}], [{"a": None}]),
        ([{"a": {"b": [1]}}], [{"a": {"b": [1]}}]),
        ([{"a": 2**80}], [{"a": str(2**80)}]),
    ],
)
async def test_columns_of_any_values_fit_into_a_table(rows: list[Any], expected: list[Any]) -> None:
    assert table_of(rows).to_pylist() == expected


@given(text=st.text(min_size=1, max_size=20))
def test_any_name_is_one_file_of_its_own_folder(text: str) -> None:
    name = file_name(text)
    assert "/" not in name
    assert "\\" not in name
    assert not name.startswith(".")
    assert (name == file_name(f"{text}x")) is False
