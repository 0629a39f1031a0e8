"""Every error that wbtrio raises, by whose fault it is.

WbTrioError
|-- CallerError                 the program that calls wbtrio can mend it
|   |-- RegistryError           a registry file is wrong: file, line, table, key
|   |-- UnknownOperation        no such operation; the nearest ids are named
|   |-- CostExceedsBurst        a cost that no full bucket could ever grant
|   |-- TokenError              the WB token cannot be used
|   |   |-- TokenMalformed      not a WB token
|   |   |-- TokenExpired        its `exp` has passed, or WB said so
|   |   |-- TokenNotAllowed     the token's categories, kind or read-only mark forbid the call
|   |-- StoreUrlError           a store URL that no store understands
|-- WbError                     WB answered, and the answer is no
|   |-- RateLimited             a budget is used up; `resume_at` says until when
|   |-- Maintenance             WB is down for maintenance
|   |-- MethodGone              a removed method
|   |-- MethodDisabled          a method that WB switched off for a time
|   |-- WrongPath               WB knows no such path on that host
|   |-- Unauthorized            WB refused the token
|   |-- TokenKindNotAllowed     WB refuses tokens of this kind here
|   |-- PaymentRequired         the seller has no subscription for this method
|   |-- BadRequest              WB refused the parameters (400, 406, 413, 422, 451, ...)
|   |-- Conflict                409
|   |-- ServerError             5xx
|   |-- Undecodable             a reply that is not what the operation promises
|   |-- CursorStuck             a page walk that does not advance
|-- NetworkError                no reply from WB at all
|-- StoreError                  the store of the buckets is at fault
    |-- StoreUnavailable        nobody answers at the store's address
    |-- StoreTimeout            no answer in time; whether the call ran is unknown
    |-- StoreProtocolError      whatever answers there is not a Redis that can serve us
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "BadRequest",
    "CallerError",
    "Conflict",
    "CostExceedsBurst",
    "CursorStuck",
    "Maintenance",
    "MethodDisabled",
    "MethodGone",
    "NetworkError",
    "PaymentRequired",
    "RateLimited",
    "RegistryError",
    "ServerError",
    "StoreError",
    "StoreProtocolError",
    "StoreTimeout",
    "StoreUnavailable",
    "StoreUrlError",
    "TokenError",
    "TokenExpired",
    "TokenKindNotAllowed",
    "TokenMalformed",
    "TokenNotAllowed",
    "Unauthorized",
    "Undecodable",
    "UnknownOperation",
    "WbError",
    "WbTrioError",
    "WrongPath",
]

MAX_EXCERPT = 2_000


class WbTrioError(Exception):
    """The root of all errors of wbtrio.

    Attributes:
        advice: One sentence that says what to do next; empty where there is nothing to say.
    """

    def __init__(self, message: str, *, advice: str = "") -> None:
        super().__init__(f"{message} {advice}".strip())
        self.message = message
        self.advice = advice


class CallerError(WbTrioError):
    """The calling program, its settings or its token are at fault; nothing was sent."""


class RegistryError(CallerError):
    """A registry file is wrong.

    Attributes:
        file: Path of the file as it was given.
        line: 1-based line, or None where the fault has no single line.
        table: TOML table that holds the fault, such as `operations.prices.goods.list`.
        key: Key within the table, or None.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: str,
        line: int | None = None,
        table: str | None = None,
        key: str | None = None,
        advice: str = "",
    ) -> None:
        where = file if line is None else f"{file}:{line}"
        if table:
            where += f" [{table}]"
        if key:
            where += f" {key}"
        super().__init__(f"{where}: {problem}", advice=advice)
        self.file = file
        self.line = line
        self.table = table
        self.key = key


class UnknownOperation(CallerError):
    """No operation of that id is in the registry.

    Attributes:
        operation: The id that was asked for.
        nearest: Known ids that look like it, best first; may be empty.
    """

    def __init__(self, operation: str, *, nearest: tuple[str, ...] = ()) -> None:
        advice = f"Did you mean {', '.join(nearest)}?" if nearest else ""
        super().__init__(f"The registry has no operation {operation!r}.", advice=advice)
        self.operation = operation
        self.nearest = nearest


class CostExceedsBurst(CallerError):
    """A cost above the bucket's burst: even a full bucket could never grant it.

    Attributes:
        bucket: Key of the bucket.
        cost: Tokens asked for.
        burst: Tokens that a full bucket holds.
    """

    def __init__(self, *, bucket: str, cost: int, burst: int) -> None:
        super().__init__(
            f"A cost of {cost} can never be granted by {bucket}, whose burst is {burst}.",
            advice=f"Ask for at most {burst} at a time.",
        )
        self.bucket = bucket
        self.cost = cost
        self.burst = burst


class TokenError(CallerError):
    """The WB token cannot be used as it is. No part of the token is ever shown."""


class TokenMalformed(TokenError):
    """The text given is no WB token (a JWT with the claims `sid`, `acc`, `exp`, `s`)."""


class TokenExpired(TokenError):
    """The token's `exp` has passed.

    Attributes:
        expired_at: When it expired (UTC), or None where WB said so without a date.
    """

    def __init__(self, message: str, *, expired_at: datetime | None = None) -> None:
        super().__init__(message, advice="Issue a new token in the seller's portal.")
        self.expired_at = expired_at


class TokenNotAllowed(TokenError):
    """The token's own claims forbid the call; it was refused before anything was sent."""


class StoreUrlError(CallerError):
    """A store URL that wbtrio cannot use. Passwords in it are never shown."""


class WbError(WbTrioError):
    """WB answered, and the answer is not the data that was asked for.

    Attributes:
        operation: Id of the operation, or `METHOD /path` for a path the registry does not know.
        account: Key of the seller's account (the token's `sid`), never the token.
        status: HTTP status of the reply, or None where nothing was sent.
        request_id: WB's own id of the request, for its support; None if WB gave none.
        origin: Which of WB's gateways or services answered; None if WB did not say.
        headers: The rate-limit headers as they were observed, lower-case names.
        detail: WB's own words, None if it had none.
        link: A link that WB put into its reply, None if there was none.
        excerpt: The beginning of the raw body, at most 2,000 characters.
        meaning: One of the values of `wbtrio.Meaning`; None where no reply of WB's decided.
    """

    default_advice = ""
    meaning: str | None = None

    def __init__(
        self,
        message: str,
        *,
        operation: str = "",
        account: str = "",
        status: int | None = None,
        request_id: str | None = None,
        origin: str | None = None,
        headers: Mapping[str, str] | None = None,
        detail: str | None = None,
        link: str | None = None,
        excerpt: str = "",
        advice: str | None = None,
    ) -> None:
        super().__init__(message, advice=self.default_advice if advice is None else advice)
        self.operation = operation
        self.account = account
        self.status = status
        self.request_id = request_id
        self.origin = origin
        self.headers = dict(headers or {})
        self.detail = detail
        self.link = link
        self.excerpt = excerpt[:MAX_EXCERPT]


class RateLimited(WbError):
    """A budget is used up for longer than the caller wants to wait.

    Raised either before anything was sent (`status` is None: the bucket knows that WB would
    refuse) or after a 429 of WB (`status` is 429).

    Attributes:
        retry_after: Seconds from the moment of raising until the budget admits a request.
        resume_at: The same as a moment in UTC; add nothing to it, it is already safe.
        bucket: Key of the bucket that decided.
        cause: Why the bucket refuses: one of the values of `wbtrio.Cause`.
    """

    def __init__(
        self,
        message: str,
        *,
        retry_after: float,
        bucket: str = "",
        cause: str = "",
        resume_at: datetime | None = None,
        operation: str = "",
        account: str = "",
        status: int | None = None,
        request_id: str | None = None,
        origin: str | None = None,
        headers: Mapping[str, str] | None = None,
        detail: str | None = None,
        link: str | None = None,
        excerpt: str = "",
    ) -> None:
        self.retry_after = retry_after
        self.resume_at = resume_at or datetime.now(UTC) + timedelta(seconds=retry_after)
        self.bucket = bucket
        self.cause = cause
        super().__init__(
            message,
            operation=operation,
            account=account,
            status=status,
            request_id=request_id,
            origin=origin,
            headers=headers,
            detail=detail,
            link=link,
            excerpt=excerpt,
            advice=f"Call again at {self.resume_at:%Y-%m-%d %H:%M:%S} UTC, or allow more max_wait.",
        )


class Maintenance(WbError):
    """WB says that it is down for maintenance; its budgets are not to blame."""

    default_advice = "Try again when WB's maintenance is over."


class MethodGone(WbError):
    """WB removed this method for good; `link` leads to its release notes."""

    default_advice = "Move to the method that WB's release notes name, and update the registry."


class MethodDisabled(WbError):
    """WB switched this method off for a time; `link` leads to its release notes."""

    default_advice = "Wait until WB's release notes say that the method is back."


class WrongPath(WbError):
    """WB knows no such path on that host: the method was removed, or the host is wrong."""

    default_advice = "Check the operation's host and path in the registry: a method may be gone."


class Unauthorized(WbError):
    """WB refused the token (401), or the account may not do that (a backend's 403)."""

    default_advice = "Check the token's categories and expiry in the seller's portal."


class TokenKindNotAllowed(WbError):
    """WB refuses tokens of this kind for this method (403)."""

    default_advice = "Use a personal or service token, or the alternative named, if any."


class PaymentRequired(WbError):
    """WB asks for a paid subscription (402)."""

    default_advice = "The seller has to subscribe to this service in WB's portal."


class BadRequest(WbError):
    """WB refused the request's parameters."""

    default_advice = "Mend the request; the same one will be refused again."


class Conflict(WbError):
    """WB refused a change that conflicts with the present state (409)."""

    default_advice = "Read the present state, then decide again."


class ServerError(WbError):
    """WB failed (5xx)."""

    default_advice = "Try again later; if it lasts, give WB's support the request id."


class Undecodable(WbError):
    """WB's reply is not what the operation promises (HTML, broken JSON); `raw` is all of it."""

    default_advice = "Look at the excerpt; if WB changed the shape, pass another `type`."
    raw: bytes = b""


class CursorStuck(WbError):
    """WB returned a full page with the cursor that it was asked with: the walk would not end."""

    default_advice = "Try again later; if it lasts, report the cursor to WB's support."


class NetworkError(WbTrioError):
    """No reply came from WB.

    Attributes:
        operation: Id of the operation.
        account: Key of the account.
        sent: False when the request surely never reached WB: its permit was refunded.
    """

    def __init__(self, message: str, *, operation: str, account: str, sent: bool) -> None:
        advice = (
            "WB may have acted on it; repeat only what is safe to repeat."
            if sent
            else "The request was never sent; it is safe to call again."
        )
        super().__init__(message, advice=advice)
        self.operation = operation
        self.account = account
        self.sent = sent


class StoreError(WbTrioError):
    """The store of the buckets is at fault, not WB and not the caller.

    Attributes:
        may_have_run: Whether the call may have taken effect all the same (its reply was lost).
            Such an acquire is never replayed: at most its own tokens are lost.
    """

    def __init__(self, message: str, *, advice: str = "", may_have_run: bool = False) -> None:
        super().__init__(message, advice=advice)
        self.may_have_run = may_have_run


class StoreUnavailable(StoreError):
    """Nobody answers at the store's address, or the connection broke."""


class StoreTimeout(StoreError):
    """The store did not answer in time; whether the call took effect is unknown."""


class StoreProtocolError(StoreError):
    """Whatever answers at the address is no Redis, or refuses a command that we need."""
