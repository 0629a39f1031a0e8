"""WB's gateways, which stand before its services: who gets in, and what they say if not. Pure.

There are two, and they word things differently (field cases WB-001, WB-003, WB-008, WB-017,
WB-019, WB-020, WB-036): an old one, which signs as `s2s-api-auth-...`, and a new one, which signs
as `ag-...`. What they turn away is not counted, and carries no rate-limit headers.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec import Struct

from .replies import Answer, json_answer
from .tokens import Claims, NotAToken, read_token

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .routes import Match

RELEASE_NOTES = "https://dev.wildberries.ru/release-notes?id="
TOKENS_PAGE = "https://seller.wildberries.ru/supplier-settings/access-to-api"
API_PAGE = "https://dev.wildberries.ru/openapi/api-information"

_STATUS_TEXTS = {
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    429: "Too Many Requests",
    500: "Internal Server Error",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
}
_OLD_ORIGINS = {
    "advert": "adv",
    "buyer-chat": "chatx",
    "content": "content",
    "discounts-prices": "dp",
    "marketplace": "marketplace",
    "seller-analytics": "ca",
    "statistics": "stat",
    "supplies": "supplies",
}
_NEW_ORIGINS = {"seller-analytics": "contentanalytics"}


class Gate(Struct, frozen=True):
    """Which gateway answers for a host, at which moment.

    Attributes:
        host: WB's host, such as `statistics-api.wildberries.ru`.
        old: Whether it is the old gateway.
        moment: When it answers.
        request_id: The request's id.
    """

    host: str
    old: bool
    moment: datetime
    request_id: str

    @property
    def origin(self) -> str:
        """How it signs."""
        name = self.host.partition("-api")[0].removesuffix("-sandbox")
        if self.old:
            return f"s2s-api-auth-{_OLD_ORIGINS.get(name, name)}"
        return f"ag-{_NEW_ORIGINS.get(name, name)}"

    def refuse(self, status: int, title: str, detail: str) -> Answer:
        """A refusal in the form of this gateway."""
        body: dict[str, str | int] = {
            "status": status,
            "statusText": _STATUS_TEXTS.get(status, ""),
            "title": title,
            "detail": detail,
            "requestId": self.request_id,
            "origin": self.origin,
            "timestamp": self.moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        if self.old:
            body["code"] = f"461a0b83d6bd {self.request_id[:12]}"
        return json_answer(body, status)

    def too_many_requests(self, account: str) -> Answer:
        """The 429 of a used-up budget."""
        if self.old:
            detail = f"Limited by global limiter, per seller {account}; See {API_PAGE}"
            return self.refuse(429, "too many requests", detail)
        detail = (
            "rate limit exceeded, retry after the period specified in the X-RateLimit-Retry header"
        )
        return self.refuse(429, "Too Many Requests", detail)

    def no_token(self) -> Answer:
        """A request without a token."""
        return self.refuse(401, "Unauthorized", "invalid API access token: empty main token")

    def malformed_token(self, why: str) -> Answer:
        """A token that is none."""
        return self.refuse(401, "unauthorized", f"token problem; token is malformed: {why}")

    def expired_token(self) -> Answer:
        """A token beyond its 180 days."""
        return self.refuse(401, "unauthorized", f"token expired; Manage tokens at {TOKENS_PAGE}")

    def scope_not_allowed(self) -> Answer:
        """A token without the method's category; also a test token outside the sandbox."""
        return self.refuse(401, "unauthorized", "token scope not allowed")

    def kind_not_allowed(self, kind: str) -> Answer:
        """A token of a kind that the method does not serve."""
        if self.old and kind == "basic":
            detail = "base token without secret is not allowed for this path"
            return json_answer({"detail": detail, "origin": "s2sauth-ca"}, 403)
        return self.refuse(403, "Forbidden", "token does not satisfy additional requirements")

    def path_not_found(self) -> Answer:
        """A path that the host does not have, or no longer."""
        return self.refuse(404, "path not found", f"Please consult the {API_PAGE}")

    def deprecated(self) -> Answer:
        """A method that was removed."""
        detail = f"This method is deprecated. Link: {RELEASE_NOTES}494"
        return self.refuse(404, "Not Found", detail)

    def disabled(self) -> Answer:
        """A method that is switched off for a time."""
        detail = f"This method is temporarily disabled. Link: {RELEASE_NOTES}570"
        return self.refuse(404, "Not Found", detail)


class TurnedAway(Exception):
    """The gateway lets a request not through.

    Attributes:
        answer: Its reply.
        claims: Who asked; None without a readable token.
    """

    def __init__(self, answer: Answer, claims: Claims | None = None) -> None:
        super().__init__(f"status {answer.status}")
        self.answer = answer
        self.claims = claims


def admit(
    headers: Mapping[str, str], match: Match, gate: Gate, *, deprecated_gone: bool = False
) -> Claims:
    """Who asks, if the gateway lets him through to the method.

    Args:
        headers: The request's, names in lower case.
        match: The method.
        gate: The gateway before it.
        deprecated_gone: Whether methods with an announced end are gone.

    Raises:
        TurnedAway: The method is switched off or gone, or the token is none, has expired, or
            lacks the category or the kind; a read-only token may not write, and a test token may
            not leave the sandbox (field case WB-019).
    """
    route = match.route
    if route.disabled:
        raise TurnedAway(gate.disabled())
    if route.deprecated and deprecated_gone:
        raise TurnedAway(gate.deprecated())
    text = headers.get("authorization", "")
    if not text.removeprefix("Bearer").strip():
        raise TurnedAway(gate.no_token())
    try:
        claims = read_token(text, has_secret="x-client-secret" in headers)
    except NotAToken as fault:
        raise TurnedAway(gate.malformed_token(str(fault))) from fault
    if claims.expires <= gate.moment.timestamp():
        raise TurnedAway(gate.expired_token(), claims)
    strayed = claims.kind == "test" and not match.in_sandbox
    if strayed or not claims.allows(route.scope) or (claims.read_only and route.write):
        raise TurnedAway(gate.scope_not_allowed(), claims)
    if claims.kind not in route.kinds and not match.in_sandbox:
        raise TurnedAway(gate.kind_not_allowed(claims.kind), claims)
    return claims
