"""What a call asks for: path parameters keep to their segment, parameters reach the wire."""

from __future__ import annotations

import doctest
from urllib.parse import unquote

import httpx
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import wbtrio._positions
from wbtrio import CallerError, decode_token, default_registry
from wbtrio._requests import Call, Credentials, Query, fill_path
from wbtrio.simulator import make_token

TEMPLATE = "/api/v3/supplies/{supplyId}/orders/{orderId}"
TOKEN = make_token("seller-1")
text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)


def request_of(call: Call) -> httpx.Request:
    credentials = Credentials(TOKEN, decode_token(TOKEN), None)
    return call.request(credentials, httpx.Timeout(5))


@given(one=text, two=st.integers())
def test_a_path_parameter_arrives_as_it_is_in_its_own_segment(one: str, two: int) -> None:
    assume(one not in {".", ".."})
    path = fill_path("x", TEMPLATE, {"supplyId": one, "orderId": two})
    sent = httpx.URL(f"https://marketplace-api.wildberries.ru{path}").raw_path.decode("ascii")
    segments = sent.split("/")
    assert len(segments) == len(TEMPLATE.split("/"))
    assert (unquote(segments[4]), unquote(segments[6])) == (one, str(two))
    assert "?" not in sent


@given(names=st.sets(st.sampled_from(["supplyId", "orderId", "other"])))
def test_exactly_the_paths_own_parameters_are_taken(names: set[str]) -> None:
    values: dict[str, str | int] = dict.fromkeys(names, 1)
    if names == {"supplyId", "orderId"}:
        assert fill_path("x", TEMPLATE, values) == "/api/v3/supplies/1/orders/1"
    else:
        with pytest.raises(CallerError, match="path parameters"):
            fill_path("x", TEMPLATE, values)


def test_query_parameters_repeat_for_sequences_and_none_leaves_one_out() -> None:
    operation = default_registry().operation("fbs.orders.list")
    params: Query = {"limit": 5, "flag": True, "ids": [1, 2], "none": None, "name": "a b"}
    request = request_of(Call(operation, "https://marketplace-api.wildberries.ru/x", params))
    assert request.url.query == b"limit=5&flag=true&ids=1&ids=2&name=a+b"
    assert request.content == b""
    assert "Content-Type" not in request.headers


def test_no_parameters_leave_no_question_mark() -> None:
    operation = default_registry().operation("fbs.orders.list")
    request = request_of(Call(operation, "https://marketplace-api.wildberries.ru/x", {}))
    assert str(request.url) == "https://marketplace-api.wildberries.ru/x"


def test_credentials_show_no_secret() -> None:
    shown = repr(Credentials(TOKEN, decode_token(TOKEN), "hush"))
    assert shown == "<Credentials of seller-1>"


def test_the_examples_of_paths_into_json_are_true() -> None:
    results = doctest.testmod(wbtrio._positions)
    assert results.attempted > 0
    assert results.failed == 0
