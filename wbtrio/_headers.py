"""WB's rate-limit headers -> one observation. Pure, and never an exception."""

from __future__ import annotations

import logging
import math
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from msgspec import Struct

from ._bucket import MICROSECONDS

if TYPE_CHECKING:
    from collections.abc import Mapping

logger = logging.getLogger("wbtrio")

RATE_LIMIT_HEADERS = (
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "x-ratelimit-retry",
    "retry-after",
)
LONGEST_WAIT = 31 * 24 * 3600.0
"""Seconds; WB's longest published window is a day, the longest Retry seen 86,367 s."""
MOST_TOKENS = 1_000_000


class Observation(Struct, frozen=True):
    """What one reply says of WB's counter; None: the reply does not say, or not credibly.

    Attributes:
        limit: Tokens of WB's full bucket: its burst, never the requests per period (field case
            WB-007).
        remaining: Whole tokens left after this request.
        reset: µs until WB's bucket is full again.
        retry: µs until WB admits a request again: `X-Ratelimit-Retry`, else `Retry-After`.
    """

    limit: int | None = None
    remaining: int | None = None
    reset: int | None = None
    retry: int | None = None

    @property
    def is_empty(self) -> bool:
        """Whether the reply says nothing at all of WB's counter."""
        return self == NOTHING_OBSERVED

    @property
    def retry_or_reset(self) -> int | None:
        """µs until WB surely admits a request: Retry, then Retry-After, then Reset (WB-063)."""
        return self.reset if self.retry is None else self.retry


NOTHING_OBSERVED = Observation()


def parse_observed_rate_limit(
    headers: Mapping[str, str], *, unix_now: float | None = None
) -> Observation:
    """Read WB's counter from a reply's headers.

    Names match in any case, so `X-Ratelimit-*`, `X-RateLimit-*` and HTTP/2's lower case are one
    (field case WB-049). Fractions are accepted: seconds round up, tokens round down. What is
    negative, not a finite number or absurd (a wait beyond 31 days) is ignored field by field,
    with a debug log.

    Args:
        headers: The reply's headers.
        unix_now: Seconds since the epoch, to read a `Retry-After` date by; the reply's own
            `Date` is preferred. Without either, such a date is ignored.
    """
    found = {name.lower(): text for name, text in headers.items() if len(name) <= 24}
    retry = _wait(found, "x-ratelimit-retry")
    if retry is None:
        retry = _retry_after(found, unix_now)
    return Observation(
        limit=_count(found, "x-ratelimit-limit", at_least=1),
        remaining=_count(found, "x-ratelimit-remaining", at_least=0),
        reset=_wait(found, "x-ratelimit-reset"),
        retry=retry,
    )


def observed_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Just the rate-limit headers of a reply, lower-case names, for errors and traces."""
    return {
        name: text
        for name, text in ((name.lower(), text) for name, text in headers.items())
        if name in RATE_LIMIT_HEADERS
    }


def _number(found: Mapping[str, str], name: str) -> float | None:
    text = found.get(name)
    if text is None:
        return None
    try:
        value = float(text) if len(text) <= 32 and "_" not in text else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0:
        _ignore(name, text)
        return None
    return value


def _count(found: Mapping[str, str], name: str, *, at_least: int) -> int | None:
    value = _number(found, name)
    if value is None:
        return None
    if not at_least <= value <= MOST_TOKENS:
        _ignore(name, found[name])
        return None
    return math.floor(value)


def _wait(found: Mapping[str, str], name: str) -> int | None:
    value = _number(found, name)
    if value is None:
        return None
    return _credible_wait(value, name, found[name])


def _credible_wait(seconds: float, name: str, text: str) -> int | None:
    if seconds > LONGEST_WAIT:
        _ignore(name, text)
        return None
    return math.ceil(seconds * MICROSECONDS)


def _retry_after(found: Mapping[str, str], unix_now: float | None) -> int | None:
    text = found.get("retry-after")
    if text is None:
        return None
    until = _http_date(text)
    if until is None:
        return _wait(found, "retry-after")
    now = _http_date(found.get("date", ""))
    if now is None:
        now = unix_now
    if now is None:
        _ignore("retry-after", text)
        return None
    return _credible_wait(max(0.0, until - now), "retry-after", text)


def _http_date(text: str) -> float | None:
    if len(text) > 64 or "," not in text:
        return None
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


def _ignore(name: str, text: str) -> None:
    logger.debug("ignored the header %s: %.64r is not credible", name, text)
