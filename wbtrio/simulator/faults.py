"""What goes wrong between a client and WB: delays, losses, and replies that are none. Pure."""

from __future__ import annotations

from enum import StrEnum
from fnmatch import fnmatchcase
from random import Random
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Sequence


class FaultKind(StrEnum):
    """One way in which a request can go wrong.

    Those before `bare_429` happen before WB counts the request, or on the way to it.
    """

    REFUSED = "refused"
    """No connection: not a byte is sent."""
    LOST_BEFORE = "lost_before"
    """The request is lost on its way: WB never counts it."""
    WRONG_PATH = "wrong_path"
    DEPRECATED = "deprecated"
    DISABLED = "disabled"
    KIND_REFUSED = "kind_refused"
    TOKEN_EXPIRED = "token_expired"  # noqa: S105 - a fault's name
    SCOPE_REFUSED = "scope_refused"
    BARE_429 = "bare_429"
    """A 429 without any rate-limit header, not counted."""
    MAINTENANCE_429 = "maintenance_429"
    MAINTENANCE_503 = "maintenance_503"
    LOST_AFTER = "lost_after"
    """WB counts and answers, and the reply is lost."""
    SERVER_ERROR = "server_error"
    BAD_GATEWAY = "bad_gateway"
    TIMEOUT = "timeout"
    HTML = "html"
    """A page of HTML with status 200, counted."""
    TRUNCATED = "truncated"
    """Half of the JSON, counted."""
    EMPTY = "empty"
    """Nothing where JSON is due, with status 200, counted."""


UNCOUNTED = frozenset(
    {
        FaultKind.REFUSED,
        FaultKind.LOST_BEFORE,
        FaultKind.WRONG_PATH,
        FaultKind.DEPRECATED,
        FaultKind.DISABLED,
        FaultKind.KIND_REFUSED,
        FaultKind.TOKEN_EXPIRED,
        FaultKind.SCOPE_REFUSED,
        FaultKind.BARE_429,
        FaultKind.MAINTENANCE_429,
        FaultKind.MAINTENANCE_503,
    }
)
"""Faults of requests that never reach a counter; their replies carry no rate-limit headers."""


class Fault(Struct, frozen=True, forbid_unknown_fields=True):
    """A rule of what goes wrong.

    Attributes:
        kind: What happens.
        operation: Id of the operations it strikes; `*` and `?` match as in file names.
        account: Only this account's requests; None: any.
        skip: So many matching requests pass first.
        times: So many are struck, then never again; None: no end.
        probability: Of striking a request that is due, from 0 to 1; seeded.
    """

    kind: FaultKind
    operation: str = "*"
    account: str | None = None
    skip: int = 0
    times: int | None = None
    probability: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.probability <= 1 or self.skip < 0:
            raise ValueError(f"not a possible fault: {self}")


class FaultPlan:
    """Decides for each request whether something goes wrong; the first rule that strikes wins."""

    def __init__(self, faults: Sequence[Fault], seed: int) -> None:
        self._faults = tuple(faults)
        self._seen = [0] * len(self._faults)
        self._struck = [0] * len(self._faults)
        self._random = Random(f"faults/{seed}")

    def strike(self, operation: str, account: str) -> FaultKind | None:
        """What happens to this request, or None."""
        struck = None
        for number, fault in enumerate(self._faults):
            if not fnmatchcase(operation, fault.operation):
                continue
            if fault.account not in (None, account):
                continue
            self._seen[number] += 1
            if struck is None and self._is_due(number, fault):
                self._struck[number] += 1
                struck = fault.kind
        return struck

    def _is_due(self, number: int, fault: Fault) -> bool:
        if self._seen[number] <= fault.skip:
            return False
        if fault.times is not None and self._struck[number] >= fault.times:
            return False
        return fault.probability >= 1 or self._random.random() < fault.probability


class Latency(Struct, frozen=True, forbid_unknown_fields=True):
    """How long a request takes.

    Attributes:
        before: Seconds until WB counts it.
        after: Seconds from then until the reply arrives.
        jitter: From 0 to 1: each part is drawn from `part * (1 - jitter)` to
            `part * (1 + jitter)`, so that replies can overtake each other.
    """

    before: float = 0.0
    after: float = 0.0
    jitter: float = 0.0

    def __post_init__(self) -> None:
        if min(self.before, self.after) < 0 or not 0 <= self.jitter <= 1:
            raise ValueError(f"not a possible latency: {self}")

    def draw(self, random: Random) -> tuple[float, float]:
        """The two parts for one request, in seconds."""
        if not self.jitter:
            return self.before, self.after
        low, high = 1 - self.jitter, 1 + self.jitter
        return self.before * random.uniform(low, high), self.after * random.uniform(low, high)
