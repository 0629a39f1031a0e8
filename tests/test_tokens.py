"""Claims of WB tokens, and what they forbid before anything is sent."""

from __future__ import annotations

import json
import logging
from base64 import urlsafe_b64encode
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wbtrio._errors import TokenExpired, TokenMalformed, TokenNotAllowed
from wbtrio._refusals import refusal
from wbtrio._registry import Operation
from wbtrio._tokens import LONGEST_TOKEN, SCOPE_BITS, Scope, SellerToken, TokenKind, decode_token

SID = "3fa0b2c4-1d5e-4f6a-8b7c-9d0e1f2a3b4c"
NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
EXP = int(NOW.timestamp()) + 3600
GOOD: dict[str, Any] = {
    "acc": 3,
    "ent": 1,
    "exp": EXP,
    "for": "self",
    "id": "01890c5a-0000-7000-8000-000000000001",
    "oid": 12345,
    "s": 1 << 1 | 1 << 5,
    "sid": SID,
    "t": False,
    "uid": 7,
}


def part(value: object) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return urlsafe_b64encode(raw).decode().rstrip("=")


def token(**claims: Any) -> str:
    """A token with GOOD claims but for those given; `...` leaves a claim out."""
    payload = {key: value for key, value in (GOOD | claims).items() if value is not ...}
    return f"{part({'alg': 'ES256', 'typ': 'JWT'})}.{part(payload)}.c2lnbmF0dXJl"


def operation(**fields: Any) -> Operation:
    plain: dict[str, Any] = {
        "id": "content.cards.list",
        "category": "content",
        "scope": Scope.CONTENT,
        "method": "POST",
        "path": "/content/v2/get/cards/list",
        "hosts": ("content-api.wildberries.ru",),
        "sandbox_host": "content-api-sandbox.wildberries.ru",
        "budget": "content.cards",
        "error_cost": 1,
        "sandbox_budget": None,
        "kinds": frozenset(TokenKind),
        "write": False,
        "repeatable": True,
        "deprecated": False,
        "disabled": False,
        "alternative": None,
        "pagination": None,
        "per_host": False,
    }
    return Operation(**(plain | fields))


# --- decoding ------------------------------------------------------------------------------


def test_a_personal_token_gives_its_seller_expiry_and_categories() -> None:
    assert decode_token(token()) == SellerToken(
        account=SID,
        sid=SID,
        kind=TokenKind.PERSONAL,
        token_id=GOOD["id"],
        expires_at=NOW + timedelta(hours=1),
        scopes=frozenset({Scope.CONTENT, Scope.STATISTICS}),
    )


@pytest.mark.parametrize("prefix", ["Bearer ", "bearer ", "BEARER  ", " \t", "Bearer\t"])
def test_a_bearer_prefix_and_white_space_are_dropped(prefix: str) -> None:
    assert decode_token(f"{prefix}{token()}\n") == decode_token(token())


@pytest.mark.parametrize(
    ("claims", "kind"),
    [
        ({"acc": 1, "for": ...}, TokenKind.BASIC),
        ({"acc": 2, "for": ..., "t": True}, TokenKind.TEST),
        ({"acc": 2, "for": ..., "t": ...}, TokenKind.TEST),
        ({"acc": 3}, TokenKind.PERSONAL),
        ({"acc": 3, "for": ...}, TokenKind.PERSONAL),
        ({"acc": 4, "for": "asid:erp-7"}, TokenKind.SERVICE),
        ({"acc": "4", "for": "asid:erp-7"}, TokenKind.SERVICE),
        ({"acc": 3.0}, TokenKind.PERSONAL),
        ({"t": 1}, TokenKind.TEST),
        ({"t": "true"}, TokenKind.TEST),
        ({"t": "True"}, TokenKind.TEST),
        ({"t": 0}, TokenKind.PERSONAL),
    ],
)
def test_the_kind_follows_acc_for_and_t(claims: dict[str, Any], kind: TokenKind) -> None:
    assert decode_token(token(**claims)).kind is kind


@pytest.mark.parametrize(
    "claims",
    [
        {"acc": ...},
        {"acc": 9},
        {"acc": True},
        {"acc": "three"},
        {"acc": None},
        {"acc": [3]},
        {"acc": 3, "for": "asid:erp"},
        {"acc": 1, "for": "self"},
        {"acc": 4, "for": ...},
        {"acc": 4, "for": "asid:"},
        {"acc": 4, "for": "asid:{x}"},
        {"acc": 4, "for": 5},
    ],
)
def test_an_unknown_kind_counts_as_basic_with_a_warning(
    claims: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="wbtrio"):
        seller = decode_token(token(**claims), has_secret=True)
    assert (seller.kind, seller.account) == (TokenKind.BASIC, SID)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "unknown kind" in caplog.text


def test_wb_002_a_secret_turns_basic_into_basic_secret_and_nothing_else() -> None:
    basic = token(acc=1, **{"for": ...})
    assert decode_token(basic).kind is TokenKind.BASIC
    assert decode_token(basic, has_secret=True).kind is TokenKind.BASIC_SECRET
    assert decode_token(token(), has_secret=True).kind is TokenKind.PERSONAL


def test_a_service_token_is_counted_by_seller_and_service() -> None:
    seller = decode_token(token(acc=4, **{"for": "asid:erp-7"}))
    assert seller.account == f"{SID}+service:erp-7"
    assert (seller.sid, seller.service_id) == (SID, "erp-7")


def test_a_rotated_token_keeps_its_account() -> None:
    rotated = decode_token(token(id="01890c5a-0000-7000-8000-000000000002", exp=EXP + 10**7))
    assert rotated.account == decode_token(token()).account
    assert rotated != decode_token(token())


def test_wb_046_the_mask_gives_categories_and_bit_30_read_only() -> None:
    mask = sum(1 << bit for bit in (1, 2, 3, 5, 6, 7, 30))
    seller = decode_token(token(s=mask))
    assert seller.read_only
    assert seller.scopes == {
        Scope.CONTENT,
        Scope.ANALYTICS,
        Scope.PRICES,
        Scope.STATISTICS,
        Scope.PROMOTION,
        Scope.FEEDBACKS,
    }


@given(st.frozensets(st.sampled_from(Scope)), st.booleans(), st.integers(17, 29))
def test_the_mask_is_read_bit_by_bit(
    scopes: frozenset[Scope], read_only: bool, unknown_bit: int
) -> None:
    mask = sum(1 << SCOPE_BITS[scope] for scope in scopes) | read_only << 30 | 1 << unknown_bit
    seller = decode_token(token(s=mask))
    assert (seller.scopes, seller.read_only) == (scopes, read_only)


@pytest.mark.parametrize("mask", [..., None, -1, "all", True, [], 1.5])
def test_an_unreadable_mask_leaves_the_judgement_to_wb(
    mask: object, caplog: pytest.LogCaptureFixture
) -> None:
    seller = decode_token(token(s=mask))
    assert (seller.scopes, seller.read_only) == (frozenset(Scope), False)
    assert "mask" in caplog.text


def test_numbers_may_be_texts() -> None:
    texts = token(acc="3", exp=str(EXP), s=str(GOOD["s"]))
    assert decode_token(texts) == decode_token(token())


@pytest.mark.parametrize("exp", [10**12, 10**15, 1e30, 10**40, "9" * 40])
def test_an_expiry_beyond_the_calendar_is_as_good_as_never(exp: object) -> None:
    seller = decode_token(token(exp=exp))
    assert seller.expires_at is None
    seller.check_usable(datetime.max.replace(tzinfo=UTC))


@pytest.mark.parametrize("exp", [-1, 0, -(10**40), "-5"])
def test_an_expiry_of_long_ago_is_expired(exp: object) -> None:
    with pytest.raises(TokenExpired):
        decode_token(token(exp=exp)).check_usable(NOW)


@pytest.mark.parametrize("exp", [..., None, True, "soon", {}])
def test_a_token_without_a_readable_expiry_is_usable(
    exp: object, caplog: pytest.LogCaptureFixture
) -> None:
    seller = decode_token(token(exp=exp))
    assert seller.expires_at is None
    seller.check_usable(NOW)
    assert "expiry" in caplog.text


def test_a_token_expires_exactly_at_exp() -> None:
    seller = decode_token(token())
    expiry = NOW + timedelta(hours=1)
    seller.check_usable(expiry - timedelta(microseconds=1))
    with pytest.raises(TokenExpired, match="2026-12-01 13:00:00 UTC") as caught:
        seller.check_usable(expiry)
    assert caught.value.expired_at == expiry
    assert "Issue a new token" in str(caught.value)


def test_a_seller_id_has_64_characters_at_most() -> None:
    assert decode_token(token(sid="s" * 64)).sid == "s" * 64
    with pytest.raises(TokenMalformed):
        decode_token(token(sid="s" * 65))


@pytest.mark.parametrize("prefix", ["Basic ", "Tokens ", "Secret ", "Bearer: "])
def test_no_prefix_but_bearer_is_dropped(prefix: str) -> None:
    with pytest.raises(TokenMalformed):
        decode_token(prefix + token())


# --- what is no token ----------------------------------------------------------------------

MALFORMED = {
    "empty": "",
    "blank": "  \n",
    "only a prefix": "Bearer ",
    "one part": "sekret",
    "two parts": "sekret.sekret",
    "four parts": token() + ".sekret",
    "no claims": "sekret..sekret",
    "no signature": token().rpartition(".")[0] + ".",
    "two tokens": f"{token()} {token()}",
    "line break inside": token()[:40] + "\n" + token()[40:],
    "not base64": "sekret.s.sekret",
    "not json": f"sekret.{part(b'sekret')}.sekret",
    "not utf-8": f"sekret.{part(bytes(range(128, 200)))}.sekret",
    "a list": f"sekret.{part(['sekret'])}.sekret",
    "a text": f"sekret.{part('sekret')}.sekret",
    "null": f"sekret.{part(None)}.sekret",
    "deep": f"sekret.{part(b'[' * 9_000)}.sekret",
    "russian letters": "сек.рет.ный",
    "lone surrogate": "\ud800.\ud800.\ud800",
    "no sid": token(sid=...),
    "null sid": token(sid=None),
    "empty sid": token(sid=""),
    "numeric sid": token(sid=77),
    "sid with braces": token(sid="sekret}{"),
    "sid with colon": token(sid="sekret:x"),
    "sid with line break": token(sid="sekret\n"),
    "long sid": token(sid="s" * 65),
    "too long": "sekret" * 10_000,
}


@pytest.mark.parametrize("raw", MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_token_is_named_without_showing_it(raw: str) -> None:
    with pytest.raises(TokenMalformed) as caught:
        decode_token(raw)
    error: BaseException | None = caught.value
    assert "no usable WB token" in str(error)
    assert "portal" in str(error)
    while error is not None:
        assert "sekret" not in repr(error)
        assert not hasattr(error, "object"), "a decoding error carries the whole input"
        error = error.__context__


@pytest.mark.parametrize("raw", [None, b"a.b.c", 7])
def test_what_is_no_text_is_malformed_too(raw: Any) -> None:
    with pytest.raises(TokenMalformed, match="not text"):
        decode_token(raw)


def test_a_megabyte_is_refused_by_its_length_alone() -> None:
    # Without the bound these would be decoded; the deep one would exhaust the parser's stack.
    for claims in (b"[" * 700_000, json.dumps(GOOD | {"x": "y" * 700_000}).encode()):
        with pytest.raises(TokenMalformed, match=f"{LONGEST_TOKEN:,}"):
            decode_token(f"h.{part(claims)}.s")


@given(st.text() | st.text(alphabet="aAzZ09-_.= ").map("Bearer {}".format))
def test_no_text_raises_anything_but_token_malformed(raw: str) -> None:
    with pytest.raises(TokenMalformed):
        decode_token(raw)


@given(st.binary(max_size=200))
def test_no_payload_raises_anything_but_token_malformed(payload: bytes) -> None:
    with pytest.raises(TokenMalformed):
        decode_token(f"h.{part(payload)}.s")


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**50), 10**50)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@given(
    st.fixed_dictionaries(
        {"sid": st.just(SID) | json_values},
        optional=dict.fromkeys(("acc", "exp", "for", "id", "s", "t"), json_values),
    ),
    st.booleans(),
)
def test_odd_claims_give_a_token_or_token_malformed(
    claims: dict[str, Any], has_secret: bool
) -> None:
    raw = f"h.{part(claims)}.s"
    try:
        seller = decode_token(raw, has_secret=has_secret)
    except TokenMalformed:
        assert claims["sid"] != SID
    else:
        assert seller.sid == claims["sid"]
        assert seller.account.startswith(seller.sid)
        assert raw not in repr(seller)


# --- refusals ------------------------------------------------------------------------------


def test_a_token_that_allows_the_call_is_not_refused() -> None:
    assert refusal(decode_token(token()), operation(), now=NOW) is None


def test_wb_020_an_expired_token_is_refused_before_anything_is_sent() -> None:
    error = refusal(decode_token(token(exp=EXP - 7200)), operation(), now=NOW)
    assert isinstance(error, TokenExpired)
    assert error.expired_at == NOW - timedelta(hours=1)


def test_a_missing_category_is_refused_by_name() -> None:
    error = refusal(decode_token(token(s=1 << 5)), operation(), now=NOW)
    assert isinstance(error, TokenNotAllowed)
    assert "needs the token category content; this token has statistics" in str(error)


def test_a_token_without_any_category_says_so() -> None:
    error = refusal(decode_token(token(s=0)), operation(), now=NOW)
    assert "this token has none" in str(error)


def test_any_token_may_call_what_needs_no_category() -> None:
    assert refusal(decode_token(token(s=0)), operation(scope=None), now=NOW) is None


def test_wb_046_a_read_only_token_reads_but_does_not_write() -> None:
    seller = decode_token(token(s=1 << 1 | 1 << 30))
    assert refusal(seller, operation(), now=NOW) is None
    error = refusal(seller, operation(write=True), now=NOW)
    assert isinstance(error, TokenNotAllowed)
    assert "read-only" in str(error)


def test_wb_065_a_refused_kind_names_the_kinds_and_the_alternative() -> None:
    restricted = operation(
        kinds=frozenset({TokenKind.PERSONAL, TokenKind.SERVICE, TokenKind.BASIC_SECRET}),
        alternative="analytics.remains.report",
    )
    basic = token(acc=1, **{"for": ...})
    error = refusal(decode_token(basic), restricted, now=NOW)
    assert isinstance(error, TokenNotAllowed)
    assert "Use a token of the kind basic_secret, personal or service" in str(error)
    assert "client_secret" in str(error)
    assert "analytics.remains.report" in str(error)
    assert refusal(decode_token(basic, has_secret=True), restricted, now=NOW) is None


def test_a_secret_is_not_suggested_where_it_would_not_help() -> None:
    personal_only = operation(kinds=frozenset({TokenKind.PERSONAL}))
    error = refusal(decode_token(token(acc=1, **{"for": ...})), personal_only, now=NOW)
    assert "secret" not in str(error)


def test_wb_019_a_test_token_is_for_the_sandbox_and_has_all_categories_there() -> None:
    seller = decode_token(token(acc=2, t=True, s=0, **{"for": ...}))
    assert seller.is_test
    error = refusal(seller, operation(scope=Scope.CHAT), now=NOW)
    assert isinstance(error, TokenNotAllowed)
    assert "sandbox" in str(error)
    restricted = operation(scope=Scope.CHAT, kinds=frozenset({TokenKind.PERSONAL}))
    assert refusal(seller, restricted, now=NOW, sandbox=True) is None


def test_an_expired_test_token_is_refused_in_the_sandbox_too() -> None:
    seller = decode_token(token(acc=2, t=True, s=0, exp=1, **{"for": ...}))
    assert isinstance(refusal(seller, operation(), now=NOW, sandbox=True), TokenExpired)
