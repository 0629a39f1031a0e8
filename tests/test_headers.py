"""WB's headers are read field by field, in any spelling, and never raise."""

from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wbtrio._headers import Observation, observed_headers, parse_observed_rate_limit

SECOND = 1_000_000
NAMES = ("Limit", "Remaining", "Reset", "Retry")


@pytest.mark.parametrize("prefix", ["X-Ratelimit-", "X-RateLimit-", "x-ratelimit-", "X-RATELIMIT-"])
def test_wb_049_every_spelling_is_read(prefix: str) -> None:
    headers = dict(zip((prefix + name for name in NAMES), ("10", "0", "29", "2"), strict=True))
    assert parse_observed_rate_limit(headers) == Observation(10, 0, 29 * SECOND, 2 * SECOND)


def test_nothing_is_observed_where_nothing_is_said() -> None:
    assert parse_observed_rate_limit({"Content-Type": "application/json"}).is_empty


@pytest.mark.parametrize("name", NAMES)
def test_each_field_may_come_alone(name: str) -> None:
    observed = parse_observed_rate_limit({f"X-Ratelimit-{name}": "7"})
    known = [field for field in observed.__struct_fields__ if getattr(observed, field) is not None]
    assert known == [name.lower()]


def test_fractions_round_against_us() -> None:
    observed = parse_observed_rate_limit(
        {
            "X-Ratelimit-Remaining": "4.9",
            "X-Ratelimit-Reset": "0.0000001",
            "X-Ratelimit-Retry": " 1.5 ",
        }
    )
    assert observed == Observation(None, 4, 1, 1_500_000)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-1",
        "nan",
        "inf",
        "-inf",
        "1e999",
        "soon",
        "12 s",
        "0x10",
        "1_0",
        "1,5",
        "9" * 400,
        "\x00",
    ],
)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_credible_is_ignored_field_by_field_with_a_debug_line(
    name: str, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="wbtrio")
    others = {f"X-Ratelimit-{other}": "3" for other in NAMES if other != name}
    observed = parse_observed_rate_limit({f"X-Ratelimit-{name}": text, **others})
    assert getattr(observed, name.lower()) is None
    assert sum(getattr(observed, other.lower()) is not None for other in NAMES) == 3
    assert [record.levelname for record in caplog.records] == ["DEBUG"]


@pytest.mark.parametrize("name", ["Reset", "Retry"])
def test_waits_beyond_31_days_are_absurd(name: str) -> None:
    longest = 31 * 86_400
    field = name.lower()
    at_most = parse_observed_rate_limit({f"X-Ratelimit-{name}": str(longest)})
    assert getattr(at_most, field) == longest * SECOND
    beyond = parse_observed_rate_limit({f"X-Ratelimit-{name}": str(longest + 1)})
    assert getattr(beyond, field) is None


def test_a_limit_of_zero_and_a_million_million_tokens_are_absurd() -> None:
    assert parse_observed_rate_limit({"X-Ratelimit-Limit": "0"}).is_empty
    assert parse_observed_rate_limit({"X-Ratelimit-Remaining": "1000000000000"}).is_empty


def test_wb_063_retry_comes_before_retry_after_and_that_before_reset() -> None:
    headers = {"X-Ratelimit-Reset": "30", "Retry-After": "20", "X-Ratelimit-Retry": "10"}
    assert parse_observed_rate_limit(headers).retry_or_reset == 10 * SECOND
    del headers["X-Ratelimit-Retry"]
    assert parse_observed_rate_limit(headers).retry_or_reset == 20 * SECOND
    del headers["Retry-After"]
    assert parse_observed_rate_limit(headers).retry_or_reset == 30 * SECOND


def test_a_retry_after_date_is_read_by_the_replys_own_date() -> None:
    headers = {
        "Retry-After": "Tue, 01 Dec 2026 10:00:30 GMT",
        "Date": "Tue, 01 Dec 2026 10:00:00 GMT",
    }
    assert parse_observed_rate_limit(headers, unix_now=0).retry == 30 * SECOND


def test_a_retry_after_date_without_a_date_needs_the_caller_s_clock() -> None:
    headers = {"Retry-After": "Thu, 01 Jan 1970 00:01:00 GMT"}
    assert parse_observed_rate_limit(headers).retry is None
    assert parse_observed_rate_limit(headers, unix_now=15).retry == 45 * SECOND
    assert parse_observed_rate_limit(headers, unix_now=100).retry == 0


@given(st.dictionaries(st.text(max_size=30), st.text(max_size=80)), st.floats() | st.none())
def test_no_headers_raise(headers: dict[str, str], unix_now: float | None) -> None:
    spelled = {
        f"X-Ratelimit-{name}": text for name, text in zip(NAMES, headers.values(), strict=False)
    }
    for given_headers in (headers, spelled, {"retry-after": next(iter(headers.values()), "")}):
        observed = parse_observed_rate_limit(given_headers, unix_now=unix_now)
        values = [getattr(observed, field) for field in observed.__struct_fields__]
        assert all(value is None or (type(value) is int and value >= 0) for value in values)


def test_only_rate_limit_headers_are_kept_for_errors() -> None:
    headers = {"X-RateLimit-Retry": "5", "Authorization": "secret", "Retry-After": "5"}
    assert observed_headers(headers) == {"x-ratelimit-retry": "5", "retry-after": "5"}
