"""WB tokens -> what their claims say. Pure; the signature is not verified.

A WB token is a JWT. Only WB holds the means to verify it, so a decoded token is no proof of
anything: it tells which seller's budgets a request will spend and what WB is going to allow.
The raw text never enters a struct, an error or a log of this module.
"""

from __future__ import annotations

import binascii
import logging
import re
from base64 import urlsafe_b64decode
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from ._errors import TokenExpired, TokenMalformed

if TYPE_CHECKING:
    from collections.abc import Mapping

logger = logging.getLogger("wbtrio")

LONGEST_TOKEN = 16_384
"""Characters; WB's tokens have under 1,000, and no server takes a longer header."""

_PART = re.compile(r"[A-Za-z0-9_-]+={0,2}", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)
_INTEGER = re.compile(r"[+-]?[0-9]{1,40}", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_READ_ONLY_BIT = 30


class TokenKind(StrEnum):
    """What WB calls the type of a token: it decides which row of a budget's limits applies."""

    PERSONAL = "personal"
    SERVICE = "service"
    BASIC_SECRET = "basic_secret"  # noqa: S105 - a kind's name
    BASIC = "basic"
    TEST = "test"


class Scope(StrEnum):
    """The categories of methods that a token may be issued for."""

    CONTENT = "content"
    ANALYTICS = "analytics"
    PRICES = "prices"
    MARKETPLACE = "marketplace"
    STATISTICS = "statistics"
    PROMOTION = "promotion"
    FEEDBACKS = "feedbacks"
    CHAT = "chat"
    SUPPLIES = "supplies"
    RETURNS = "returns"
    DOCUMENTS = "documents"
    FINANCE = "finance"
    USERS = "users"


SCOPE_BITS: Mapping[Scope, int] = {
    Scope.CONTENT: 1,
    Scope.ANALYTICS: 2,
    Scope.PRICES: 3,
    Scope.MARKETPLACE: 4,
    Scope.STATISTICS: 5,
    Scope.PROMOTION: 6,
    Scope.FEEDBACKS: 7,
    Scope.CHAT: 9,
    Scope.SUPPLIES: 10,
    Scope.RETURNS: 11,
    Scope.DOCUMENTS: 12,
    Scope.FINANCE: 13,
    Scope.USERS: 16,
}
"""Positions in the mask `s`. Bit 8 was a category that is gone, 14 and 15 are undocumented."""


class SellerToken(Struct, frozen=True, kw_only=True):
    """The claims of one WB token; never its text.

    Attributes:
        account: Key of the account whose budgets the token spends: the seller's `sid`, for a
            service token `<sid>+service:<service id>`. Tokens rotate, this key stays.
        sid: The seller's id.
        kind: The token kind; unknown combinations of claims count as basic, the strictest.
        service_id: Id of the service that the token was issued for; None for other kinds.
        token_id: WB's id of this token, to find it in the seller's portal; not a secret.
        expires_at: When it expires (UTC), or None where the token does not say credibly.
        scopes: The categories that WB will let it use. A test token whose mask is 0 may use
            them all, on the sandbox hosts (field case WB-019); so may a token without a mask,
            since then only WB can tell.
        read_only: Whether WB refuses every write with it.
    """

    account: str
    sid: str
    kind: TokenKind
    service_id: str | None = None
    token_id: str | None = None
    expires_at: datetime | None = None
    scopes: frozenset[Scope] = frozenset()
    read_only: bool = False

    @property
    def is_test(self) -> bool:
        """Whether it is a test token: valid on the sandbox hosts only."""
        return self.kind is TokenKind.TEST

    def check_usable(self, now: datetime) -> None:
        """Raise TokenExpired if the token has expired at `now` (an aware datetime)."""
        if self.expires_at is not None and now >= self.expires_at:
            raise TokenExpired(
                f"The token of account {self.account} expired at"
                f" {self.expires_at:%Y-%m-%d %H:%M:%S} UTC.",
                expired_at=self.expires_at,
            )


def decode_token(raw: str, *, has_secret: bool = False) -> SellerToken:
    """Read the claims of a WB token, without verifying its signature.

    Expiry is not looked at here: see `SellerToken.check_usable`. Claims that WB has never been
    seen to send (an unknown `acc`, a mask that is no number) are logged as a warning and read in
    the cautious way: the basic kind, no date, no local refusal by category.

    Args:
        raw: The token as WB issued it; a `Bearer ` in front and white space around are dropped.
        has_secret: Whether requests will carry the service secret (`X-Client-Secret`), which
            makes a basic token `basic_secret`. A setting: nothing in the token tells it.

    Raises:
        TokenMalformed: The text is no JWT with a seller id in it. No part of it is shown.
    """
    claims = _claims(_bare(raw))
    sid = _name(claims.get("sid"))
    if sid is None:
        raise _malformed("it names no seller (claim `sid`)")
    kind, service_id = _kind(claims, has_secret=has_secret)
    scopes, read_only = _permissions(claims.get("s"), is_test=kind is TokenKind.TEST)
    return SellerToken(
        account=f"{sid}+service:{service_id}" if service_id else sid,
        sid=sid,
        kind=kind,
        service_id=service_id,
        token_id=_name(claims.get("id")),
        expires_at=_moment(claims.get("exp")),
        scopes=scopes,
        read_only=read_only,
    )


def bare_token(raw: str) -> str:
    """The token without white space around and without a `Bearer ` in front."""
    text = raw.strip()
    if text[:6].lower() == "bearer" and text[6:7].isspace():
        text = text[7:].lstrip()
    return text


def _malformed(problem: str) -> TokenMalformed:
    return TokenMalformed(
        f"This is no usable WB token: {problem}.",
        advice="Copy the whole token from the seller's portal again.",
    )


def _bare(raw: object) -> str:
    if not isinstance(raw, str):
        raise _malformed(f"it is {type(raw).__name__}, not text")
    # An upper bound before any work, so that a mistaken megabyte costs nothing.
    if len(raw) > LONGEST_TOKEN:
        raise _malformed(f"it has more than {LONGEST_TOKEN:,} characters")
    text = bare_token(raw)
    if not text:
        raise _malformed("it is empty")
    return text


def _claims(text: str) -> dict[str, object]:
    parts = text.split(".")
    if len(parts) != 3:
        raise _malformed("it has not the three parts of a JWT")
    if not all(_PART.fullmatch(part) for part in parts):
        raise _malformed("it holds characters that no JWT has")
    claims = _json_object(parts[1])
    # Raised here and not where the parser failed: its exception may quote the token.
    if claims is None:
        raise _malformed("its claims are no JSON object")
    return claims


def _json_object(part: str) -> dict[str, object] | None:
    bare = part.rstrip("=")
    try:
        claims = msgspec.json.decode(urlsafe_b64decode(bare + "=" * (-len(bare) % 4)))
    except (binascii.Error, msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return claims if isinstance(claims, dict) else None


def _name(value: object) -> str | None:
    # It becomes part of a store's key, within a {hash tag}: no braces, colons or spaces.
    return value if isinstance(value, str) and _NAME.fullmatch(value) else None


def _integer(value: object) -> int | None:
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and _INTEGER.fullmatch(value):
        return int(value)
    return None


def _kind(claims: Mapping[str, object], *, has_secret: bool) -> tuple[TokenKind, str | None]:
    """The kind and, of a service token, the service's id."""
    acc = None if isinstance(claims.get("acc"), bool) else _integer(claims.get("acc"))
    if acc == 2 or _is_true(claims.get("t")):
        return TokenKind.TEST, None
    audience = claims.get("for")
    if acc == 1 and not audience:
        return (TokenKind.BASIC_SECRET if has_secret else TokenKind.BASIC), None
    if acc == 3 and audience in (None, "", "self"):
        return TokenKind.PERSONAL, None
    if acc == 4 and isinstance(audience, str) and audience.startswith("asid:"):
        service_id = _name(audience.removeprefix("asid:"))
        if service_id is not None:
            return TokenKind.SERVICE, service_id
    logger.warning(
        "the token of seller %s is of an unknown kind (acc=%s): counted as basic, the strictest;"
        " if WB lists it as another, its claims have changed",
        _name(claims.get("sid")),
        acc,
    )
    return TokenKind.BASIC, None


def _is_true(value: object) -> bool:
    return value is True or value == 1 or (isinstance(value, str) and value.lower() == "true")


def _permissions(value: object, *, is_test: bool) -> tuple[frozenset[Scope], bool]:
    mask = None if isinstance(value, bool) else _integer(value)
    if mask is None or mask < 0:
        logger.warning("a token without a readable mask of categories: WB alone will judge it")
        return frozenset(Scope), False
    read_only = bool(mask >> _READ_ONLY_BIT & 1)
    if is_test and mask == 0:
        return frozenset(Scope), read_only
    return frozenset(scope for scope, bit in SCOPE_BITS.items() if mask >> bit & 1), read_only


def _moment(value: object) -> datetime | None:
    seconds = None if isinstance(value, bool) else value
    if not isinstance(seconds, float):
        seconds = _integer(seconds)
    if seconds is None:
        logger.warning("a token without a readable expiry: WB alone will judge it")
        return None
    try:
        return _EPOCH + timedelta(seconds=seconds)
    except OverflowError:
        # Beyond the calendar: as good as never.
        return None if seconds > 0 else _EPOCH
