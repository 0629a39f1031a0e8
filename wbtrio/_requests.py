"""What is asked of WB in one call, and the answer as it came."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

import httpx
import msgspec
from msgspec import Struct

from ._errors import CallerError, Undecodable
from ._headers import observed_headers
from ._replies import Meaning
from ._reply_text import excerpt_of
from ._sending import PermitReport

if TYPE_CHECKING:
    from ._registry import Operation
    from ._tokens import SellerToken

T = TypeVar("T")

Scalar = str | int | float | bool
QueryValue = Scalar | Sequence[Scalar] | None
Query = Mapping[str, QueryValue]


PATH_PARAMETER = re.compile(r"\{(\w+)\}")


class CallPolicy(Struct, frozen=True):
    """How patient a call is.

    Attributes:
        max_wait: Seconds that one call may wait for permits in all, >= 0.
        attempts: How often one call may be sent in all when WB answers 429, >= 1.
        network_retries: How often it may be repeated after a network failure or a 5xx, where
            that is safe, >= 0.
        fail_fast: Refuse at once where a wait would outlast the caller's own deadline.
    """

    max_wait: float = math.inf
    attempts: int = 5
    network_retries: int = 2
    fail_fast: bool = False

    def __post_init__(self) -> None:
        if not self.max_wait >= 0:
            raise CallerError(f"max_wait must be 0 or more seconds, got {self.max_wait}.")
        if self.attempts < 1 or self.network_retries < 0:
            raise CallerError(
                f"attempts must be positive and network_retries not negative, "
                f"got {self.attempts} and {self.network_retries}."
            )


class Answer(Struct, frozen=True):
    """A good reply of WB as it came.

    Attributes:
        operation: Id of the operation.
        account: Key of the seller's account.
        status: HTTP status, 200-299.
        headers: The reply's headers; names match in any case.
        body: The whole body, decompressed.
        permit: What the request cost, and why it waited.
        spool: Where the body was too large for memory: a file that holds it, and `body` is only
            its beginning. Only where a walk asked for it (`part_rows`).
    """

    operation: str
    account: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    permit: PermitReport
    spool: IO[bytes] | None = None

    @property
    def excerpt(self) -> str:
        """The beginning of the body, safe to print, at most 2,000 characters."""
        return excerpt_of(self.headers, self.body)

    def json(self) -> Any:
        """The body as plain Python objects; None where it is empty.

        Raises:
            Undecodable: The body is no JSON.
        """
        return self.decode(None)

    def decode(self, type_: type[T] | None) -> Any:
        """The body as a `type_`, straight from the bytes; unknown fields are left out.

        None gives plain Python objects, `bytes` the body as it is (files, archives). An empty
        body (204) gives None, or an empty list where `type_` is one.

        Raises:
            Undecodable: The body is no JSON, or has another shape; the message names the JSON
                path and what was met there.
        """
        if type_ is bytes:
            return self.body
        try:
            if not self.body.strip():
                return None if type_ is None else _nothing_as(type_)
            if type_ is None:
                return msgspec.json.decode(self.body)
            return msgspec.json.decode(self.body, type=type_)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise self.undecodable(str(error)) from error

    def undecodable(self, problem: str) -> Undecodable:
        """The error that says what is wrong with this body."""
        error = Undecodable(
            f"{self.operation} answered {self.status} with a body that does not fit: {problem}.",
            operation=self.operation,
            account=self.account,
            status=self.status,
            headers=observed_headers(self.headers),
            detail=problem,
            excerpt=self.excerpt,
        )
        error.meaning = Meaning.UNDECODABLE
        error.raw = self.body
        return error


def _nothing_as(type_: type[T]) -> Any:
    try:
        return msgspec.convert(None, type_)
    except msgspec.ValidationError:
        return msgspec.convert([], type_)


class Credentials:
    """One seller's token, and the service's secret that goes with it; never shown."""

    __slots__ = ("_secret", "_token", "seller")

    def __init__(self, token: str, seller: SellerToken, client_secret: str | None) -> None:
        self._token = token
        self._secret = client_secret
        self.seller = seller

    def has_token_of(self, other: Credentials) -> bool:
        """Whether both hold the same token, and not only tokens of one seller."""
        return self._token == other._token

    def headers(self) -> dict[str, str]:
        """The headers that authorize a request."""
        headers = {"Authorization": self._token}
        if self._secret is not None:
            headers["X-Client-Secret"] = self._secret
        return headers

    def __repr__(self) -> str:
        return f"<Credentials of {self.seller.account}>"


class Call(Struct, frozen=True):
    """What is asked of WB: an operation and its parameters.

    Attributes:
        operation: What the registry knows of the operation.
        url: Where it goes, path parameters filled in, without the query.
        params: Query parameters; a sequence repeats its name, None leaves it out.
        json: The body, anything msgspec can encode; None: no body.
        headers: More request headers. They cannot replace those that authorize.
    """

    operation: Operation
    url: str
    params: Query
    json: object = None
    headers: Mapping[str, str] = {}

    def request(self, credentials: Credentials, timeout: httpx.Timeout) -> httpx.Request:
        """A fresh request."""
        headers = httpx.Headers({"Accept": "application/json, */*;q=0.5"})
        headers["Accept-Encoding"] = "gzip, deflate"
        headers.update(self.headers)
        # Last, and by name in any case: a caller's header cannot stand in for the token.
        headers.update(credentials.headers())
        content = None
        if self.json is not None:
            content = msgspec.json.encode(self.json)
            headers["Content-Type"] = "application/json"
        return httpx.Request(
            self.operation.method,
            self.url,
            params=_query(self.params) or None,
            headers=headers,
            content=content,
            extensions={"timeout": timeout.as_dict()},
        )


def _query(params: Query) -> dict[str, Scalar | list[Scalar]]:
    return {
        name: value if isinstance(value, (str, int, float)) else list(value)
        for name, value in params.items()
        if value is not None
    }


def fill_path(operation: str, template: str, values: Mapping[str, str | int]) -> str:
    """Put path parameters into their places; what they hold cannot leave its segment.

    Raises:
        CallerError: A parameter is missing, unknown, empty, or `.` or `..`.
    """
    names = set(PATH_PARAMETER.findall(template))
    if names != set(values):
        raise CallerError(
            f"{operation} takes the path parameters {sorted(names)}, got {sorted(values)}."
        )
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            raise CallerError(f"Path parameter {name} of {operation} must be a str or an int.")
        if str(value) in {"", ".", ".."}:
            raise CallerError(f"Path parameter {name} of {operation} cannot be {value!r}.")
    return PATH_PARAMETER.sub(lambda match: quote(str(values[match[1]]), safe=""), template)
