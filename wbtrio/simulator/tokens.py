"""WB tokens as the simulator mints and reads them. Signatures are made up and never checked."""

from __future__ import annotations

import binascii
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import UTC, datetime
from typing import Literal
from uuid import NAMESPACE_URL, uuid5

from msgspec import Struct

Kind = Literal["personal", "service", "basic_secret", "basic", "test"]
"""What WB calls the type of a token; `basic_secret` is a basic one with a service secret."""

FAR_FUTURE = datetime(2099, 1, 1, tzinfo=UTC)

SCOPE_BITS = {
    "content": 1,
    "analytics": 2,
    "prices": 3,
    "marketplace": 4,
    "statistics": 5,
    "promotion": 6,
    "feedbacks": 7,
    "chat": 9,
    "supplies": 10,
    "returns": 11,
    "documents": 12,
    "finance": 13,
    "users": 16,
}
"""Where WB's mask `s` keeps each category of methods."""

READ_ONLY_BIT = 30
_ACC = {"basic": 1, "basic_secret": 1, "test": 2, "personal": 3, "service": 4}


class Claims(Struct, frozen=True):
    """What WB's gateway reads in a token.

    Attributes:
        account: What WB counts by: the seller, for a service token the seller and the service.
        sid: The seller.
        kind: The type of the token.
        expires: Unix seconds.
        mask: The claim `s`.
    """

    account: str
    sid: str
    kind: Kind
    expires: float
    mask: int

    def allows(self, scope: str | None) -> bool:
        """Whether the token is good for a category; None is open to every token."""
        if scope is None or self.kind == "test":
            return True
        return bool(self.mask >> SCOPE_BITS[scope] & 1)

    @property
    def read_only(self) -> bool:
        """Whether every write is refused."""
        return bool(self.mask >> READ_ONLY_BIT & 1)


class NotAToken(ValueError):
    """The text of an Authorization header that WB calls a malformed token."""


def make_token(
    sid: str = "seller-1",
    kind: Kind = "personal",
    *,
    expires: datetime = FAR_FUTURE,
    scopes: frozenset[str] | set[str] | None = None,
    read_only: bool = False,
    service: str = "service-1",
    serial: int = 1,
) -> str:
    """Mint a token that the simulator accepts, and that any reader of WB tokens can decode.

    Args:
        sid: The seller; WB's are UUIDs, any name without blanks will do here.
        kind: `basic_secret` mints a basic token: the secret goes into another header.
        expires: An aware datetime.
        scopes: Names of categories, keys of `SCOPE_BITS`; None: all of them.
        read_only: Whether WB refuses writes with it.
        service: The service's id, in service tokens only.
        serial: Tokens of one seller with different serials differ, as after a rotation.

    Raises:
        KeyError: A scope that WB does not have.
    """
    mask = sum(1 << SCOPE_BITS[scope] for scope in (SCOPE_BITS if scopes is None else scopes))
    claims: dict[str, str | int | bool] = {
        "acc": _ACC[kind],
        "ent": 1,
        "exp": int(expires.timestamp()),
        "id": str(uuid5(NAMESPACE_URL, f"{sid}/{kind}/{serial}")),
        "iid": 1,
        "oid": 1,
        "s": 0 if kind == "test" else mask | read_only << READ_ONLY_BIT,
        "sid": sid,
        "t": kind == "test",
        "uid": 1,
    }
    if kind == "personal":
        claims["for"] = "self"
    elif kind == "service":
        claims["for"] = f"asid:{service}"
    header = {"alg": "ES256", "kid": "20260101v1", "typ": "JWT"}
    return f"{_encode(header)}.{_encode(claims)}.{_sign(serial)}"


def read_token(text: str, *, has_secret: bool = False) -> Claims:
    """Read an Authorization header as WB's gateway does, with or without `Bearer`.

    Raises:
        NotAToken: It is no JWT, or names no seller.
    """
    parts = text.removeprefix("Bearer ").strip().split(".")
    if len(parts) != 3:
        raise NotAToken("token contains an invalid number of segments")
    try:
        claims = json.loads(urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
        sid = str(claims["sid"])
        kind, audience = _kind_of(claims, has_secret=has_secret)
        mask, expires = int(claims.get("s", 0)), float(claims.get("exp", 0))
    except (binascii.Error, ValueError, TypeError, KeyError, AttributeError) as fault:
        raise NotAToken("could not base64 decode claims") from fault
    account = f"{sid}+service:{audience.removeprefix('asid:')}" if kind == "service" else sid
    return Claims(account=account, sid=sid, kind=kind, expires=expires, mask=mask)


def _kind_of(claims: dict[str, object], *, has_secret: bool) -> tuple[Kind, str]:
    acc, audience = claims.get("acc"), str(claims.get("for", ""))
    if acc == 2 or claims.get("t") is True:
        return "test", audience
    if acc == 3:
        return "personal", audience
    if acc == 4:
        return "service", audience
    return ("basic_secret" if has_secret else "basic"), audience


def _encode(part: object) -> str:
    return urlsafe_b64encode(json.dumps(part, separators=(",", ":")).encode()).decode().rstrip("=")


def _sign(serial: int) -> str:
    return urlsafe_b64encode(serial.to_bytes(64, "big")).decode().rstrip("=")
