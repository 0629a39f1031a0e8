"""What a token's own claims forbid, told before anything is sent. Pure.

A request that WB would refuse for its token still costs a request, ten on some operations, and
says less clearly why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._errors import TokenError, TokenExpired, TokenNotAllowed
from ._tokens import TokenKind

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from ._registry import Operation
    from ._tokens import SellerToken


def refusal(
    token: SellerToken, operation: Operation, *, now: datetime, sandbox: bool = False
) -> TokenError | None:
    """Why WB would refuse this token for this operation; None if nothing in it says so.

    In the sandbox only expiry, the read-only mark and a plain token's categories count: WB's
    restrictions by kind are about production, and test tokens have no categories there (field
    case WB-019).

    Args:
        token: The claims.
        operation: What is to be called.
        now: An aware datetime, to hold the expiry against.
        sandbox: Whether the request goes to one of WB's sandbox hosts.
    """
    try:
        token.check_usable(now)
    except TokenExpired as expired:
        return expired
    if token.is_test and not sandbox:
        return TokenNotAllowed(
            f"A test token cannot call {operation.id} on WB's production hosts.",
            advice="Use the sandbox, or a token that is not a test token.",
        )
    if operation.scope is not None and operation.scope not in token.scopes:
        return TokenNotAllowed(
            f"{operation.id} needs the token category {operation.scope};"
            f" this token has {_listed(token.scopes)}.",
            advice="Issue a token with that category in the seller's portal.",
        )
    if operation.write and token.read_only:
        return TokenNotAllowed(
            f"{operation.id} changes data, and this token is read-only.",
            advice="Issue a token with the access level 'Read and write'.",
        )
    if not sandbox and token.kind not in operation.kinds:
        return _kind_refusal(token.kind, operation)
    return None


def _kind_refusal(kind: TokenKind, operation: Operation) -> TokenNotAllowed:
    advice = f"Use a token of the kind {_listed(operation.kinds, last='or')}"
    if kind is TokenKind.BASIC and TokenKind.BASIC_SECRET in operation.kinds:
        advice += ", or give this token's service secret (`client_secret`)"
    if operation.alternative is not None:
        advice += f"; or call {operation.alternative} instead"
    return TokenNotAllowed(
        f"WB does not admit tokens of the kind {kind} to {operation.id}.", advice=f"{advice}."
    )


def _listed(values: Iterable[str], *, last: str = "and") -> str:
    *front, end = sorted(values) or ["none"]
    return f"{', '.join(front)} {last} {end}" if front else end
