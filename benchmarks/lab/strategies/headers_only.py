"""No bucket: whether to send follows from the last reply alone; ADR 0066's fourth option."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio

from benchmarks.lab._scenario import SECOND
from benchmarks.lab.strategies._base import Plain, Setting, now
from wbtrio._headers import parse_observed_rate_limit


class HeadersOnly(Plain):
    """Send while the last reply left something; at zero wait as long as it says, or a second."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._held_until: dict[str, int] = {}

    async def acquire(self, account: str, operation: str) -> Any:
        """Wait for the moment that the last reply named."""
        key = await super().acquire(account, operation)
        while (wait := self._held_until.get(key, 0) - now()) > 0:
            await anyio.sleep(wait / SECOND)
        return key

    async def settle(self, ticket: Any, status: int, headers: Mapping[str, str]) -> None:
        """Only the last reply counts."""
        observation = parse_observed_rate_limit(headers)
        if status == 429 or observation.remaining == 0:
            stated = observation.retry_or_reset
            self._held_until[ticket] = now() + (SECOND if stated is None else stated)
        else:
            self._held_until.pop(ticket, None)

    def pause(self, headers: Mapping[str, str], refusals: int) -> float:
        """None: all wait for the moment that was named."""
        return 0.0
