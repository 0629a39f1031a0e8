"""Typed rows decode what WB writes, and whatever it leaves out or makes null."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.samples_of_rows import CARD, PAGES, PATHS_WITHOUT_PAGES, STATISTICS
from wbtrio import rows
from wbtrio._registry import default_registry
from wbtrio.rows import MOSCOW, ROWS, Row, decimal, moment

OPERATIONS = sorted(ROWS)
TYPES = sorted(set(ROWS.values()), key=lambda row: row.__name__)


def items_path(operation: str) -> str:
    pagination = default_registry().operation(operation).pagination
    if pagination is None:
        return PATHS_WITHOUT_PAGES[operation]
    return pagination.items or PATHS_WITHOUT_PAGES.get(operation, "")


def items(operation: str) -> list[dict[str, Any]]:
    page = PAGES[operation]
    for name in filter(None, items_path(operation).split(".")):
        page = page[name]
    assert isinstance(page, list)
    assert page
    return page


def with_news(value: object) -> object:
    """The value with a field that nobody knows in every object of it."""
    if isinstance(value, dict):
        news = {"fieldOfNextYear": {"a": [1]}}
        return news | {key: with_news(inner) for key, inner in value.items()}
    return [with_news(inner) for inner in value] if isinstance(value, list) else value


def is_same(decoded: object, written: object) -> bool:
    """Whether a row holds what was written, field by field, and nothing else."""
    if isinstance(decoded, Row):
        fields = {field.encode_name: field.name for field in msgspec.structs.fields(decoded)}
        assert isinstance(written, dict)
        assert set(written) <= set(fields)
        return all(
            is_same(getattr(decoded, name), written.get(key)) for key, name in fields.items()
        )
    if isinstance(decoded, tuple) and isinstance(written, list):
        return len(decoded) == len(written) and all(map(is_same, decoded, written))
    if isinstance(decoded, Decimal):
        return decoded == Decimal(str(written))
    return decoded == written


def test_every_typed_operation_is_in_the_registry_and_has_a_sample() -> None:
    known = {operation.id for operation in default_registry().operations.values()}
    assert set(ROWS) <= known
    assert set(PAGES) == set(ROWS)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_row_as_wb_writes_it_decodes_without_loss(operation: str) -> None:
    for written in items(operation):
        raw = json.dumps(with_news(written), ensure_ascii=False).encode()
        decoded = msgspec.json.decode(raw, type=ROWS[operation])
        assert is_same(decoded, written)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_sample_fills_every_field_of_its_row(operation: str) -> None:
    names: set[str] = set().union(*items(operation))
    fields = {field.encode_name for field in msgspec.structs.fields(ROWS[operation])}
    assert fields - names <= {"trashedAt"}


@pytest.mark.parametrize("row", TYPES)
def test_all_fields_but_the_key_may_be_null_or_missing(row: type[Row]) -> None:
    fields = msgspec.structs.fields(row)
    sample = next(items(operation)[0] for operation in OPERATIONS if ROWS[operation] is row)
    key = {field.encode_name: sample[field.encode_name] for field in fields if field.required}
    nulls = {field.encode_name: None for field in fields if not field.required}
    bare = msgspec.json.decode(json.dumps(key).encode(), type=row)
    assert msgspec.json.decode(json.dumps(key | nulls).encode(), type=row) == bare
    assert all(getattr(bare, field.name) is None for field in fields if not field.required)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_registrys_row_key_is_a_field_of_the_row(operation: str) -> None:
    pagination = default_registry().operation(operation).pagination
    fields = {field.encode_name for field in msgspec.structs.fields(ROWS[operation])}
    for name in pagination.row_key if pagination is not None else ():
        assert name.partition(".")[0] in fields


@pytest.mark.parametrize("row", TYPES)
def test_money_is_never_a_float(row: type[Row]) -> None:
    words = ("price", "sum", "amount", "fee", "pay", "penalty", "cpc")
    shares = ("percent", "_prc")
    for field in msgspec.structs.fields(row):
        is_money = any(word in field.name for word in words)
        if is_money and not field.name.endswith(shares):
            assert float not in get_args(field.type), field.name


@pytest.mark.parametrize("row", TYPES)
def test_every_field_is_documented(row: type[Row]) -> None:
    text = row.__doc__ or ""
    for field in msgspec.structs.fields(row):
        assert f"\n        {field.name}: " in text, f"{row.__name__}.{field.name}"


def test_wb_042_a_card_whose_updated_at_is_null_is_a_card() -> None:
    raw = json.dumps(CARD | {"updatedAt": None}).encode()
    assert msgspec.json.decode(raw, type=rows.Card).updated_at is None


def test_wb_039_an_unplanned_supply_has_its_order_for_a_key() -> None:
    raw = b'[{"supplyID": null, "preorderID": 34597755}, {"supplyID": 0, "preorderID": 5}]'
    first, second = msgspec.json.decode(raw, type=list[rows.FbwSupply])
    assert (first.supply_id, first.preorder_id) == (None, 34597755)
    assert (second.supply_id, second.preorder_id) == (0, 5)


def test_money_keeps_its_digits() -> None:
    raw = json.dumps(STATISTICS | {"saleID": "S1", "forPay": 0.1}).encode()
    sale = msgspec.json.decode(raw, type=rows.StatisticsSale)
    assert sale.for_pay is not None
    assert sale.for_pay * 3 == Decimal("0.3")


def test_a_row_cannot_be_changed() -> None:
    card = msgspec.json.decode(json.dumps(CARD).encode(), type=rows.Card)
    with pytest.raises(AttributeError):
        card.title = "other"  # type: ignore[misc]  # what is tested


# --- moments and decimals ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-08-04T18:08:31", datetime(2026, 8, 4, 18, 8, 31, tzinfo=MOSCOW)),
        ("2026-08-04", datetime(2026, 8, 4, tzinfo=MOSCOW)),
        ("2026-08-04T15:08:31Z", datetime(2026, 8, 4, 15, 8, 31, tzinfo=UTC)),
        ("2026-08-04T18:08:31+03:00", datetime(2026, 8, 4, 15, 8, 31, tzinfo=UTC)),
        ("2026-02-01T11:18:08.769513469Z", datetime(2026, 2, 1, 11, 18, 8, 769513, tzinfo=UTC)),
        ("0001-01-01T00:00:00", None),
        ("0001-01-01T00:00:00Z", None),
        ("", None),
        ("сегодня", None),
        (None, None),
    ],
)
def test_wbs_moments_are_read(text: str | None, expected: datetime | None) -> None:
    assert moment(text) == expected


@given(st.datetimes(min_value=datetime(2, 1, 1)))  # noqa: DTZ001 - WB's moments name no zone
def test_a_moment_without_a_zone_is_moscow_time(naive: datetime) -> None:
    found = moment(naive.isoformat())
    assert found is not None
    assert found.utcoffset() == timedelta(hours=3)
    assert found.replace(tzinfo=None) == naive


@given(st.text())
def test_no_text_breaks_the_reading_of_moments_and_decimals(text: str) -> None:
    found = moment(text)
    assert found is None or found.tzinfo is not None
    number = decimal(text)
    assert number is None or number.is_finite()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("11,2", Decimal("11.2")),
        ("0.07", Decimal("0.07")),
        ("48", Decimal(48)),
        ("-1,5", Decimal("-1.5")),
        ("1 250,5", Decimal("1250.5")),
        ("1\u00a0250", Decimal(1250)),
        ("-", None),
        ("", None),
        ("NaN", None),
        ("1,2,3", None),
        (None, None),
    ],
)
def test_tariffs_are_read_with_their_decimal_comma(
    text: str | None, expected: Decimal | None
) -> None:
    assert decimal(text) == expected
