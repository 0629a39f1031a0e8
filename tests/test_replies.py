"""What WB's replies mean: the field cases' own bodies, both gateways, backends, and garbage."""

from __future__ import annotations

import codecs
import json
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wbtrio._errors import (
    BadRequest,
    Conflict,
    Maintenance,
    MethodDisabled,
    MethodGone,
    RateLimited,
    TokenKindNotAllowed,
    Unauthorized,
    Undecodable,
    WbError,
    WrongPath,
)
from wbtrio._replies import (
    ERRORS,
    SCANNED_AT_MOST,
    UNTOLD_WAIT,
    Meaning,
    Reply,
    error_from,
    read_reply,
)
from wbtrio._reply_text import clean, excerpt_of

SELLER = "3fa0b2c4-1d5e-4f6a-8b7c-9d0e1f2a3b4c"
API_PAGE = "https://dev.wildberries.ru/openapi/api-information"
JSON = {"Content-Type": "application/json"}
NEW_429 = {
    "status": 429,
    "statusText": "Too Many Requests",
    "title": "Too Many Requests",
    "detail": (
        "rate limit exceeded, retry after the period specified in the X-RateLimit-Retry header"
    ),
    "requestId": "9d3c02cc698f8b041c661a7c28bed293",
    "origin": "ag-finance",
    "timestamp": "2026-10-05T15:22:15Z",
}


def read(status: int, body: object, headers: dict[str, str] | None = None, **options: Any) -> Reply:
    raw = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
    return read_reply(status, JSON if headers is None else headers, raw, **options)


def old_gateway(status: int, title: str, detail: str, origin: str) -> dict[str, object]:
    return {
        "title": title,
        "detail": detail,
        "code": "461a0b83d6bd 2950e93b5fda",
        "requestId": "0123456789abcdef0123456789abcdef",
        "origin": f"s2s-api-auth-{origin}",
        "status": status,
        "statusText": httpx.codes.get_reason_phrase(status),
        "timestamp": "2026-02-05T07:55:02Z",
    }


def error(reply: Reply, **headers: str) -> WbError:
    return error_from(reply, operation="some.list", account=SELLER, headers=headers)


# --- field cases ---------------------------------------------------------------------------


def test_wb_001_an_old_gateways_429_is_rate_limited_whatever_its_code_begins_with() -> None:
    detail = f"Limited by global limiter, per seller {SELLER}; See {API_PAGE}"
    reply = read(429, old_gateway(429, "too many requests", detail, "stat"))
    assert reply.meaning is Meaning.RATE_LIMITED
    assert reply.detail == detail
    assert reply.link == API_PAGE
    assert reply.origin == "s2s-api-auth-stat"
    assert reply.request_id == "0123456789abcdef0123456789abcdef"


def test_wb_003_a_new_gateways_429_keeps_its_headers_and_its_hours() -> None:
    reply = read(429, NEW_429)
    headers = {"x-ratelimit-retry": "18236", "x-ratelimit-remaining": "0"}
    raised = error_from(reply, operation="finance.list", account=SELLER, headers=headers)
    assert isinstance(raised, RateLimited)
    assert raised.retry_after == 18236
    assert (raised.status, raised.origin, raised.headers) == (429, "ag-finance", headers)
    assert raised.request_id == NEW_429["requestId"]


def test_wb_004_retry_decides_how_long_a_429_lasts() -> None:
    reply = read(429, {"title": "too many requests", "detail": "Limited by global limiter"})
    raised = error(reply, **{"x-ratelimit-reset": "900", "x-ratelimit-retry": "564"})
    assert isinstance(raised, RateLimited)
    assert raised.retry_after == 564


@pytest.mark.parametrize("title", ["Not Found", ""])
@pytest.mark.parametrize("status_field", [404, None])
def test_wb_008_and_wb_009_a_removed_method_is_gone_with_a_link(
    title: str, status_field: int | None
) -> None:
    link = "https://dev.wildberries.ru/release-notes?id=494"
    body = {
        "status": status_field,
        "title": title,
        "detail": f"This method is deprecated. Link: {link}",
        "origin": "ag-statistics",
    }
    reply = read(404, body)
    assert (reply.meaning, reply.link) == (Meaning.METHOD_DEPRECATED, link)
    raised = error(reply)
    assert isinstance(raised, MethodGone)
    assert raised.link == link


@pytest.mark.parametrize(
    "body",
    [
        {
            "detail": f"Please consult the {API_PAGE}",
            "origin": "ag-contentanalytics",
            "status": 404,
            "statusText": "Not Found",
            "title": "path not found",
        },
        {"title": "path not found", "origin": "ag-contentanalytics"},
        {"title": "Path Not Found"},
        {"detail": "path not found"},
        {"origin": "s2s-api-auth-stat", "detail": "other words in another year"},
        b"404 page not found",
        b'{"title":"path not found","det',
        b"<html><head><title>404 Not Found</title></head></html>",
        b"",
    ],
)
def test_wb_008_and_wb_018_a_routers_404_is_a_wrong_path(body: object) -> None:
    assert read(404, body).meaning is Meaning.WRONG_PATH


@pytest.mark.parametrize("body", [b" \n", b"\t<html></html>", {"origin": "AG-Supplies"}])
def test_a_404_without_words_is_a_routers(body: object) -> None:
    assert read(404, body).meaning is Meaning.WRONG_PATH


def test_wb_018_a_wrong_path_names_the_gateway_that_answered() -> None:
    raised = error(read(404, {"title": "path not found", "origin": "ag-contentanalytics"}))
    assert isinstance(raised, WrongPath)
    assert "ag-contentanalytics" in str(raised)
    assert "host" in str(raised)


def test_wb_016_a_429_means_the_same_from_both_gateways() -> None:
    old = old_gateway(429, "too many requests", f"limited by {SELLER}", "adv")
    assert read(429, old).meaning is read(429, NEW_429 | {"origin": "ag-advert"}).meaning
    assert read(429, old).meaning is Meaning.RATE_LIMITED


@pytest.mark.parametrize(
    "body",
    [
        {
            "detail": "base token without secret is not allowed for this path",
            "origin": "s2sauth-ca",
        },
        {
            "status": 403,
            "statusText": "Forbidden",
            "title": "Forbidden",
            "detail": "token does not satisfy additional requirements",
            "requestId": "5",
            "origin": "ag-contentanalytics",
            "timestamp": "2026-10-05T15:15:53Z",
        },
        {"detail": "base token is not allowed", "origin": "s2s-finance"},
        {"title": "Forbidden", "detail": "new words", "origin": "ag-marketplace"},
        b"token does not satisfy additional requirements",
    ],
)
def test_wb_017_a_gateways_403_refuses_the_tokens_kind(body: object) -> None:
    reply = read(403, body)
    assert reply.meaning is Meaning.TOKEN_KIND_REFUSED
    assert isinstance(error(reply), TokenKindNotAllowed)


def test_wb_065_the_refusal_of_a_kind_names_the_alternative() -> None:
    reply = read(403, {"detail": "token does not satisfy additional requirements"})
    raised = error_from(
        reply, operation="a", account=SELLER, headers={}, alternative="analytics.remains.report"
    )
    assert "or call analytics.remains.report instead" in str(raised)
    assert "personal or service token" in str(error(reply))
    other = error_from(
        read(400, {}), operation="a", account=SELLER, headers={}, alternative="never.mind"
    )
    assert "never.mind" not in str(other)


@pytest.mark.parametrize(
    "body",
    [
        {"code": "AccessDenied", "message": "Access denied"},
        {"title": "Authorization error", "detail": "Authorization error", "origin": "analytics"},
        {"title": "access denied", "detail": "abac: access denied", "origin": "dimension-penalty"},
        {"data": None, "error": True, "errorText": "Нет доступа", "additionalErrors": None},
        b"",
    ],
)
def test_a_backends_403_is_about_the_account(body: object) -> None:
    reply = read(403, body)
    assert reply.meaning is Meaning.FORBIDDEN
    assert "rights" in str(error(reply))


@pytest.mark.parametrize(
    ("detail", "meaning"),
    [
        ("token scope not allowed", Meaning.SCOPE_NOT_ALLOWED),  # WB-019
        ("token expired; Manage tokens at https://seller.wildberries.ru/x", Meaning.TOKEN_EXPIRED),
        ("invalid API access token: token is expired", Meaning.TOKEN_EXPIRED),
        (
            "token problem; token is malformed: could not base64 decode signature: illegal"
            " base64 data at input byte 84",
            Meaning.TOKEN_MALFORMED,
        ),
        ("invalid API access token: empty main token", Meaning.UNAUTHORIZED),  # WB-036
        ("token withdrawn", Meaning.UNAUTHORIZED),
    ],
)
def test_wb_019_wb_020_and_wb_036_the_401s_are_told_apart(detail: str, meaning: Meaning) -> None:
    for title in ("unauthorized", "Unauthorized"):
        reply = read(401, old_gateway(401, title, detail, "chatx"))
        assert reply.meaning is meaning
        assert isinstance(error(reply), Unauthorized)


def test_wb_020_an_expired_token_keeps_the_link_to_the_portal() -> None:
    page = "https://seller.wildberries.ru/supplier-settings/access-to-api"
    detail = f"token expired; Manage tokens at {page}"
    assert read(401, old_gateway(401, "unauthorized", detail, "supplies")).link == page


def test_wb_022_a_body_without_a_status_is_read_like_any_other() -> None:
    body = {
        "title": "Invalid request body",
        "detail": "code=400, message=Invalid request body validate: invalid start day",
        "requestId": SELLER,
        "origin": "analytics-open-api",
    }
    reply = read(400, body, {"x-ratelimit-limit": "3", "x-ratelimit-remaining": "2"})
    assert reply.meaning is Meaning.BAD_REQUEST
    assert (reply.title, reply.detail) == (body["title"], body["detail"])
    assert (reply.request_id, reply.origin) == (SELLER, "analytics-open-api")
    assert isinstance(error(reply), BadRequest)


def test_wb_023_a_page_of_megabytes_is_good_without_being_parsed() -> None:
    # Invalid in the middle, which only a look at all of it would show.
    page = b'[{"rrd_id": 1}' + b"!" * SCANNED_AT_MOST
    assert read(200, page + b"]\n").meaning is Meaning.OK
    assert read(200, page).meaning is Meaning.UNDECODABLE
    assert read(200, b" " * 100 + page + b"]" + b" " * 100).meaning is Meaning.OK


@pytest.mark.parametrize("headers", [{}, {"Content-Type": "text/plain"}])
def test_wb_027_a_plain_text_429_is_rate_limited(headers: dict[str, str]) -> None:
    reply = read(429, b"Limited by global limiter, per seller", headers)
    assert reply.meaning is Meaning.RATE_LIMITED
    assert reply.excerpt == "Limited by global limiter, per seller"
    raised = error(reply)
    assert isinstance(raised, RateLimited)
    assert raised.retry_after == UNTOLD_WAIT


def test_wb_030_a_missing_path_is_never_blamed_on_the_token() -> None:
    body = old_gateway(404, "path not found", f"Please consult the {API_PAGE}", "stat")
    message = str(error(read(404, body)))
    assert "the method was removed, or the host is wrong" in message
    assert "token" not in message
    assert "categor" not in message


@pytest.mark.parametrize("status", [400, 406, 422, 451])
def test_wb_034_refused_parameters_are_a_bad_request(status: int) -> None:
    reply = read(status, {"errorText": "Unprocessable entity"})
    assert reply.meaning is Meaning.BAD_REQUEST
    assert reply.detail == "Unprocessable entity"


def test_wb_035_a_disabled_method_is_not_a_removed_one() -> None:
    link = "https://dev.wildberries.ru/release-notes?id=570"
    body = {
        "status": 404,
        "title": "Not Found",
        "detail": f"This method is temporarily disabled. Link: {link}",
        "origin": "ag-supplies",
    }
    reply = read(404, body)
    assert (reply.meaning, reply.link) == (Meaning.METHOD_DISABLED, link)
    assert isinstance(error(reply), MethodDisabled)


@pytest.mark.parametrize("status", [429, 500, 502, 503])
@pytest.mark.parametrize(
    "body",
    [
        {"errors": ["Технический перерыв до 16:00"]},
        {"message": "Ведутся технические работы"},
        {"errorText": "ТЕХНИЧЕСКИЕ РАБОТЫ"},
        {"detail": "Service is under maintenance"},
        "Проводятся плановые технические работы",
        "Технический перерыв до 16:00".encode(),
        "Технический перерыв до 16:00".encode("windows-1251"),
        "<html><body><h1>Профилактические работы</h1></body></html>".encode(),
    ],
)
def test_wb_038_maintenance_is_no_used_up_budget(status: int, body: object) -> None:
    reply = read(status, body)
    assert reply.meaning is Meaning.MAINTENANCE
    assert isinstance(error(reply), Maintenance)


@pytest.mark.parametrize(
    "body",
    [
        {"errors": ["(api-new) too many requests"]},
        {"code": 429, "message": ""},
        b"",
        b"<html>busy</html>",
        ["too many requests"],
        b"null",
    ],
)
def test_wb_038_every_other_429_is_rate_limited(body: object) -> None:
    assert read(429, body).meaning is Meaning.RATE_LIMITED


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("proxy: unauthorized", Meaning.UNAUTHORIZED),
        ("(api-new) can't decode supplier key", Meaning.TOKEN_MALFORMED),
    ],
)
def test_wb_038_a_401_may_be_plain_text(text: str, meaning: Meaning) -> None:
    reply = read(401, text.encode(), {"content-type": "text/plain; charset=utf-8"})
    assert (reply.meaning, reply.detail, reply.excerpt) == (meaning, None, text)


def test_maintenance_in_a_refusal_of_parameters_is_still_a_bad_request() -> None:
    assert read(400, {"errorText": "Технический перерыв"}).meaning is Meaning.BAD_REQUEST


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"<!DOCTYPE html><html></html>", {"Content-Type": "text/html; charset=utf-8"}),
        (b"\n <html lang='ru'></html>", JSON),
        (b"[]", {"Content-Type": "text/html"}),
        (b"[]", {"Content-Type": "Text/HTML"}),
        (b"<html></html>", {}),
    ],
)
def test_wb_039_html_on_a_200_is_never_an_empty_page(body: bytes, headers: dict[str, str]) -> None:
    reply = read(200, body, headers)
    assert reply.meaning is Meaning.UNDECODABLE
    assert isinstance(error(reply), Undecodable)


@pytest.mark.parametrize("body", [b"", b"null", b"{}"])
def test_wb_045_a_204_is_empty(body: bytes) -> None:
    assert read(204, body, {}).meaning is Meaning.EMPTY


def test_wb_036_and_wb_049_headers_match_in_any_case() -> None:
    for name in ("content-type", "Content-Type", "CONTENT-TYPE"):
        assert read(200, b"plain", {name: "image/png"}).meaning is Meaning.OK
        for mapping in ({name: "text/html"}, httpx.Headers({name: "text/html"})):
            assert read_reply(200, mapping, b"{}").meaning is Meaning.UNDECODABLE


# --- good replies --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b"[]",
        b' \r\n{"a": 1}\n',
        b"null",
        b"true",
        b"12.5",
        b'"ok"',
        b" " * 100 + b"[]" + b" " * 100,
        b'{"data": null, "error": false, "errorText": ""}',
        b'{"rows": [{"error": true}]}',
        b'{"error": "true"}',
    ],
)
@pytest.mark.parametrize("content_type", ["application/json", "text/plain", "plain/text", ""])
def test_json_is_good_under_any_textual_content_type(body: bytes, content_type: str) -> None:
    assert read(200, body, {"content-type": content_type}).meaning is Meaning.OK


@pytest.mark.parametrize(
    "content_type",
    ["application/zip", "image/svg+xml", "application/pdf", "text/csv", "application/octet-stream"],
)
def test_files_are_good_as_they_are(content_type: str) -> None:
    assert read(200, b"PK\x03\x04", {"content-type": content_type}).meaning is Meaning.OK


@pytest.mark.parametrize(
    "body",
    [
        b'{"cards": [{"nmID": 1}',
        b'[{"a": 1},',
        b"[}",
        b"ok",
        b'"cut',
        b"tru",
        b"[1] x",
        b"\xff\xfe[\x00]\x00",
    ],
)
def test_what_is_cut_or_no_json_is_undecodable(body: bytes) -> None:
    assert read(200, body).meaning is Meaning.UNDECODABLE


@pytest.mark.parametrize("body", [b"", b" \n"])
def test_an_empty_200_is_undecodable_only_where_json_is_due(body: bytes) -> None:
    assert read(200, body).meaning is Meaning.UNDECODABLE
    assert read(200, body, json_due=False).meaning is Meaning.EMPTY


def test_error_true_on_a_200_is_a_bad_request_in_wbs_own_words() -> None:
    body = {
        "data": None,
        "error": True,
        "errorText": "Неверный формат",
        "additionalErrors": {"nmID": "нет такого"},
    }
    for status in (200, 208):
        reply = read(status, body)
        assert reply.meaning is Meaning.BAD_REQUEST
        assert reply.detail == 'Неверный формат; {"nmID":"нет такого"}'


@pytest.mark.parametrize("status", [100, 301, 302, 304, 307, 0, -5, 600, 999])
def test_what_wb_never_sends_is_undecodable(status: int) -> None:
    assert read(status, b"").meaning is Meaning.UNDECODABLE


# --- other refusals ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "meaning"),
    [
        (402, Meaning.PAYMENT_REQUIRED),
        (405, Meaning.WRONG_PATH),
        (408, Meaning.SERVER_ERROR),
        (409, Meaning.CONFLICT),
        (410, Meaning.METHOD_DEPRECATED),
        (413, Meaning.TOO_LARGE),
        (418, Meaning.BAD_REQUEST),
        (498, Meaning.FORBIDDEN),
        (499, Meaning.SERVER_ERROR),
        (500, Meaning.SERVER_ERROR),
        (504, Meaning.SERVER_ERROR),
    ],
)
@pytest.mark.parametrize(
    "body", [b"", {"detail": "token expired; path not found; method is deprecated"}, b"\x00\xff"]
)
def test_a_status_that_decides_is_not_overruled_by_words(
    status: int, meaning: Meaning, body: object
) -> None:
    assert read(status, body).meaning is meaning


@pytest.mark.parametrize(
    "body",
    [
        {"message": "Not found"},
        {"code": "NotFound", "message": ""},
        {"title": "Not Found", "detail": "not found", "origin": "api-statistics"},
        {"message": "Не найдено"},
        "Не найдено".encode(),
        [{"code": "NotFound"}],
    ],
)
def test_a_backends_404_is_about_an_entity_not_about_the_path(body: object) -> None:
    reply = read(404, body)
    assert reply.meaning is Meaning.NOT_FOUND
    raised = error(reply)
    assert isinstance(raised, BadRequest)
    assert "ids" in str(raised)


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({"message": "Access denied", "code": "AccessDenied"}, "Access denied"),
        ({"error": "Неверный dateFrom"}, "Неверный dateFrom"),
        ({"errors": ["one", "two"]}, "one; two"),
        ({"errors": [{"code": 1}]}, '[{"code":1}]'),
        (["one", {"field": "two"}], 'one; {"field":"two"}'),
        ("Request body can not be decoded", "Request body can not be decoded"),
        ({"detail": {}, "title": "IncorrectRequest"}, None),
        ({"detail": {"orders": [5]}}, '{"orders":[5]}'),
        ({"detail": "same", "message": "same"}, "same"),
        ({"message": "no", "data": {"orders": [1]}}, 'no; {"orders":[1]}'),
        ({"detail": 10**30}, str(10**30)),
        (7, None),
        (None, None),
    ],
)
def test_wbs_words_are_found_wherever_it_puts_them(body: object, detail: str | None) -> None:
    assert read(400, body).detail == detail


@pytest.mark.parametrize("name", ["requestId", "request_id"])
def test_the_request_id_is_found_in_the_body_before_the_header(name: str) -> None:
    headers = {"X-Request-Id": "from-header"}
    assert read(400, {name: "from-body"}, headers).request_id == "from-body"
    assert read(400, {}, headers).request_id == "from-header"
    assert read(200, {}, headers).request_id == "from-header"


def test_a_link_of_wb_goes_before_a_strangers() -> None:
    detail = "cannot load https://wb.ru.example.com/a.jpg, see https://dev.wildberries.ru/x."
    assert read(400, {"detail": detail}).link == "https://dev.wildberries.ru/x"
    assert read(400, {"detail": "see (https://example.com/a)."}).link == "https://example.com/a"
    assert read(400, {"detail": "see nothing"}).link is None


# --- texts ---------------------------------------------------------------------------------


@pytest.mark.parametrize("charset", ["utf-8", "windows-1251", "utf-16", "utf-8-sig", "koi8-r"])
def test_the_words_are_read_in_the_charset_they_are_in(charset: str) -> None:
    raw = json.dumps({"message": "Ошибка запроса"}, ensure_ascii=False).encode(charset)
    headers = {"content-type": f"application/json; charset={charset}"}
    assert read(400, raw, headers).detail == "Ошибка запроса"


@pytest.mark.parametrize("declared", ["utf-8", "us-ascii", "no-such-charset", "hex", "idna"])
@pytest.mark.parametrize("real", ["utf-8", "windows-1251"])
def test_a_wrong_charset_in_the_header_does_no_harm(declared: str, real: str) -> None:
    raw = json.dumps({"message": "Ошибка"}, ensure_ascii=False).encode(real)
    headers = {"content-type": f"application/json; charset={declared}"}
    assert read(400, raw, headers).detail == "Ошибка"


def test_texts_are_one_harmless_line() -> None:
    nasty = "a\x1b[31mred\r\nFAKE LOG LINE\x07\u202egnp\u2028.\x9b1m"
    reply = read(400, {"detail": nasty, "title": nasty, "origin": nasty, "requestId": nasty})
    for text in (reply.detail, reply.title, reply.origin, reply.request_id, reply.excerpt):
        assert text is not None
        assert text.isprintable(), text
        assert "FAKE LOG LINE" in text
    raw = excerpt_of({}, nasty.encode())
    assert raw.isprintable()


def test_a_token_that_wb_quotes_is_not_repeated() -> None:
    quoted = "eyJhbGciOiJFUzI1NiJ9.eyJzaWQiOiJ4In0.c2lnbmF0dXJl"
    for body in ({"detail": f"bad token {quoted}!"}, f"bad token {quoted}!".encode()):
        reply = read(400, body)
        for text in (repr(reply), str(error(reply)), error(reply).excerpt):
            assert "eyJ" not in text
            assert "c2lnbmF0dXJl" not in text
        assert "bad token <token>!" in reply.excerpt


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_cleaned_text_is_short_and_on_one_line(text: str) -> None:
    shown = clean(text * 50)
    assert len(shown) <= 2_000
    assert len(shown.splitlines()) <= 1
    assert not any(character < " " or "\x7f" <= character <= "\x9f" for character in shown)
    assert clean(shown) == shown


@given(st.integers(-1, 1_000), st.binary(max_size=300), st.sampled_from(["", "text/html", "x"]))
def test_no_bytes_raise_an_exception(status: int, body: bytes, content_type: str) -> None:
    reply = read_reply(status, {"content-type": content_type}, body)
    assert isinstance(reply.meaning, Meaning)
    assert len(reply.excerpt) <= 2_000


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(
    st.sampled_from([200, 400, 401, 403, 404, 429, 503]),
    st.dictionaries(
        st.sampled_from(
            ["title", "detail", "code", "origin", "errors", "error", "data", "requestId", "status"]
        ),
        json_values,
    ),
)
def test_no_json_raises_an_exception(status: int, body: dict[str, Any]) -> None:
    reply = read(status, json.dumps(body).encode("utf-8", "surrogatepass"))
    if reply.meaning in ERRORS:
        raised = error(reply)
        assert raised.status == status
        assert raised.advice


GARBAGE = {
    "spaces": b" " * 10_000_000,
    "brackets": b"[" * 10_000_000,
    "quotes": b'"' * 10_000_000,
    "links": b"https://" * 1_250_000,
    "tokens": b"eyJ" * 3_000_000,
    "cyrillic": "я".encode("windows-1251") * 10_000_000,
    "bom": codecs.BOM_UTF16_LE * 5_000_000,
    "tags": b"<html" * 2_000_000,
    "deprecated": b"method " * 1_400_000,
}


@pytest.mark.parametrize("body", GARBAGE.values(), ids=GARBAGE.keys())
@pytest.mark.parametrize("status", [200, 404, 429, 500])
def test_ten_megabytes_of_garbage_are_an_error_with_a_short_excerpt(
    status: int, body: bytes
) -> None:
    reply = read(status, body)
    assert reply.meaning in {
        Meaning.UNDECODABLE,
        Meaning.WRONG_PATH,
        Meaning.NOT_FOUND,
        Meaning.RATE_LIMITED,
        Meaning.SERVER_ERROR,
    }
    assert len(reply.excerpt) <= 2_000
    assert len(str(error(reply))) <= 5_000


def test_a_body_is_not_looked_into_beyond_64_kib() -> None:
    late = b'{"detail": "' + b"x" * 65_536 + b'", "error": true}'
    assert read(400, late).detail is None
    assert read(200, late).meaning is Meaning.OK


# --- errors --------------------------------------------------------------------------------


def test_every_meaning_but_the_good_ones_has_an_error() -> None:
    assert set(ERRORS) == set(Meaning) - {Meaning.OK, Meaning.EMPTY}


@pytest.mark.parametrize("meaning", ERRORS)
def test_an_error_carries_all_that_is_known(meaning: Meaning) -> None:
    reply = Reply(
        status=418,
        meaning=meaning,
        detail="WB's words",
        request_id="r-1",
        origin="ag-x",
        link="https://dev.wildberries.ru/y",
        excerpt="body",
    )
    raised = error_from(
        reply, operation="a.b.c", account=SELLER, headers={"x-ratelimit-limit": "3"}
    )
    assert type(raised) is ERRORS[meaning]
    assert (raised.operation, raised.account, raised.status) == ("a.b.c", SELLER, 418)
    assert (raised.request_id, raised.origin, raised.detail) == ("r-1", "ag-x", "WB's words")
    assert (raised.link, raised.excerpt) == ("https://dev.wildberries.ru/y", "body")
    assert raised.headers == {"x-ratelimit-limit": "3"}
    assert raised.advice.endswith(".")
    assert "WB's words" in str(raised)
    assert "a.b.c" in str(raised)


@pytest.mark.parametrize("meaning", [Meaning.OK, Meaning.EMPTY])
def test_a_good_reply_is_no_error(meaning: Meaning) -> None:
    with pytest.raises(ValueError, match="no error"):
        error(Reply(status=200, meaning=meaning))


def test_the_callers_retry_after_goes_before_the_headers() -> None:
    reply = read(429, NEW_429)
    raised = error_from(
        reply,
        operation="a",
        account=SELLER,
        headers={"x-ratelimit-retry": "5"},
        retry_after=0.0,
    )
    assert isinstance(raised, RateLimited)
    assert raised.retry_after == 0


@pytest.mark.parametrize("detail", ["no", "no.", "no!", "no?", " no. "])
def test_the_advice_begins_a_sentence_of_its_own(detail: str) -> None:
    said = detail.strip().rstrip(".") if detail.strip()[-1] == "." else detail.strip()
    end = "" if said[-1] in "!?" else "."
    assert f"WB refuses the request: {said}{end} Mend" in str(error(read(400, {"detail": detail})))


def test_a_conflict_keeps_the_ids_that_wb_names() -> None:
    body = {"code": "StatusMismatch", "message": "Wrong status", "data": {"orders": [13833711]}}
    raised = error(read(409, body))
    assert isinstance(raised, Conflict)
    assert "13833711" in str(raised)
