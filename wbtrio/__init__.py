"""wbtrio: the Wildberries seller API under structured concurrency, inside every budget.

    async with WbApiClient() as wb, wb.account(token) as seller:
        async for page in seller.pages("content.cards.list"):
            print(len(page.items))

What is named in `__all__` is the public surface; modules with a leading underscore are not.
"""

from __future__ import annotations

import msgspec

from ._bucket import Bucket, Limit
from ._client import WbApiClient
from ._errors import (
    BadRequest,
    CallerError,
    Conflict,
    CostExceedsBurst,
    CursorStuck,
    Maintenance,
    MethodDisabled,
    MethodGone,
    NetworkError,
    PaymentRequired,
    RateLimited,
    RegistryError,
    ServerError,
    StoreError,
    StoreProtocolError,
    StoreTimeout,
    StoreUnavailable,
    StoreUrlError,
    TokenError,
    TokenExpired,
    TokenKindNotAllowed,
    TokenMalformed,
    TokenNotAllowed,
    Unauthorized,
    Undecodable,
    UnknownOperation,
    WbError,
    WbTrioError,
    WrongPath,
)
from ._headers import Observation, parse_observed_rate_limit
from ._lane import Cause
from ._limiter import WbRateLimiter
from ._operation_ids import OperationId
from ._pages import Items, Page, Pages
from ._permit import Permit, Settlement
from ._reconcile import Reason
from ._registry import (
    Budget,
    Operation,
    Pagination,
    Registry,
    default_registry,
    shipped_folder,
)
from ._replies import Meaning, Reply, read_reply
from ._requests import Answer
from ._scope import AccountScope, CallOptions, ListOptions
from ._sending import PermitReport, Sending
from ._statistics import BucketStatistics, LimiterStatistics
from ._tokens import Scope, SellerToken, TokenKind, decode_token
from ._transport import RateLimitTransport
from .stores import MemoryStore, RedisStore, Store

__all__ = [
    "AccountScope",
    "Answer",
    "BadRequest",
    "Bucket",
    "BucketStatistics",
    "Budget",
    "CallOptions",
    "CallerError",
    "Cause",
    "Conflict",
    "CostExceedsBurst",
    "CursorStuck",
    "Items",
    "Limit",
    "LimiterStatistics",
    "ListOptions",
    "Maintenance",
    "Meaning",
    "MemoryStore",
    "MethodDisabled",
    "MethodGone",
    "NetworkError",
    "Observation",
    "Operation",
    "OperationId",
    "Page",
    "Pages",
    "Pagination",
    "PaymentRequired",
    "Permit",
    "PermitReport",
    "RateLimitTransport",
    "RateLimited",
    "Reason",
    "RedisStore",
    "Registry",
    "RegistryError",
    "Reply",
    "Scope",
    "SellerToken",
    "Sending",
    "ServerError",
    "Settlement",
    "Store",
    "StoreError",
    "StoreProtocolError",
    "StoreTimeout",
    "StoreUnavailable",
    "StoreUrlError",
    "TokenError",
    "TokenExpired",
    "TokenKind",
    "TokenKindNotAllowed",
    "TokenMalformed",
    "TokenNotAllowed",
    "Unauthorized",
    "Undecodable",
    "UnknownOperation",
    "WbApiClient",
    "WbError",
    "WbRateLimiter",
    "WbTrioError",
    "WrongPath",
    "decode_token",
    "default_registry",
    "parse_observed_rate_limit",
    "read_reply",
    "shipped_folder",
]

# msgspec reads annotations in the module that a struct names, on first use: before it moves.
msgspec.json.Decoder(Pagination)
for _name in __all__:
    # Tracebacks, pickles and docs then say `wbtrio.RateLimited`, which is where users find it.
    globals()[_name].__module__ = __name__
del _name
