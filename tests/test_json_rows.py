"""Rows cut out of a document that comes in chunks, against decoding it at once."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wbtrio._json_rows import RowSplitter
from wbtrio._positions import get_path

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=12,
)


def split(document: bytes, path: str, size: int) -> tuple[list[Any], Any]:
    splitter = RowSplitter(path)
    texts: list[bytes] = []
    for start in range(0, len(document), size):
        texts += splitter.feed(document[start : start + size])
    return [msgspec.json.decode(text) for text in texts], splitter.rest()


@given(rows=st.lists(JSON, max_size=6), size=st.integers(1, 40), indent=st.sampled_from([-1, 0, 2]))
def test_any_list_is_cut_into_its_rows_wherever_the_chunks_end(
    rows: list[Any], size: int, indent: int
) -> None:
    document = msgspec.json.format(msgspec.json.encode(rows), indent=indent)
    found, rest = split(document, "", size)
    assert found == rows
    assert msgspec.json.decode(rest) == []


@given(
    rows=st.lists(JSON, max_size=4),
    before=st.dictionaries(st.text(max_size=4).filter(lambda name: name != "data"), JSON),
    after=JSON,
    size=st.integers(1, 40),
)
def test_what_stands_around_the_rows_stays_a_document(
    rows: list[Any], before: dict[str, Any], after: Any, size: int
) -> None:
    whole = {**before, "data": {"first": after, "orders": rows, "last": after}}
    found, rest = split(msgspec.json.encode(whole), "data.orders", size)
    assert found == rows
    assert msgspec.json.decode(rest) == {
        **before,
        "data": {"first": after, "orders": [], "last": after},
    }


@pytest.mark.parametrize("document", [{"data": None}, {"orders": [1]}, {"data": {}}, [1], 5, None])
def test_a_document_without_the_list_is_all_rest(document: Any) -> None:
    text = msgspec.json.encode(document)
    found, rest = split(text, "data.orders", 3)
    assert found == []
    assert rest == text
    assert get_path(msgspec.json.decode(rest), "data.orders") is None


@given(cut=st.integers(1, 60))
def test_a_document_that_breaks_off_leaves_no_valid_rest(cut: int) -> None:
    document = b'{"cards": [{"a": "]}"}, {"b": [1, 2]}], "cursor": {"total": 2}}'[:-cut]
    splitter = RowSplitter("cards")
    splitter.feed(document)
    with pytest.raises(msgspec.DecodeError):
        msgspec.json.decode(splitter.rest())
