"""A rate that grows with success and shrinks with refusals, as AWS's adaptive retry mode has it.

Follows the published behaviour: idle until the first refusal; then a token bucket whose rate is cut
to 0.7 of what was measured, and grows along a cubic back to where it was cut, and beyond.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio

from benchmarks.lab._scenario import SECOND
from benchmarks.lab.strategies._base import Plain, Setting, now

CUT = 0.7
SCALE = 0.4
SMOOTHING = 0.8
SLOWEST = 0.5
LONGEST = 20.0
"""Requests a second, and seconds."""


class Adaptive(Plain):
    """One rate for all of a process, whatever the registry says."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._turn = anyio.Lock()
        self._is_on = False
        self._measured = self._tokens = self._peak = 0.0
        self._rate = SLOWEST
        self._filled_at = self._cut_at = self._flat_for = 0.0
        self._half_second = 0
        self._sent = 0

    async def acquire(self, account: str, operation: str) -> Any:
        """Wait for a token of the rate that is thought to be right."""
        key = await super().acquire(account, operation)
        async with self._turn:
            while self._is_on and (wait := self._fill()) > 0:
                await anyio.sleep(wait)
            self._tokens -= 1
        return key

    async def settle(self, ticket: Any, status: int, headers: Mapping[str, str]) -> None:
        """Measure, then cut or grow."""
        moment = now() / SECOND
        self._measure(moment)
        if status == 429:
            rate = min(self._measured, self._rate) if self._is_on else self._measured
            self._peak, self._cut_at, self._is_on = rate, moment, True
            self._flat_for = (rate * (1 - CUT) / SCALE) ** (1 / 3)
            wanted = rate * CUT
        else:
            since = moment - self._cut_at - self._flat_for
            wanted = SCALE * since**3 + self._peak
        self._fill()
        self._rate = max(min(wanted, 2 * self._measured), SLOWEST)
        self._tokens = min(self._tokens, max(self._rate, 1.0))

    def pause(self, headers: Mapping[str, str], refusals: int) -> float:
        """Exponential, at random."""
        return self._random.random() * min(LONGEST, 2.0 ** min(refusals - 1, 16))

    def _fill(self) -> float:
        moment = now() / SECOND
        room = max(self._rate, 1.0)
        self._tokens = min(room, self._tokens + (moment - self._filled_at) * self._rate)
        self._filled_at = moment
        # A rest that floats leave is no reason to wait.
        missing = 1 - self._tokens
        return missing / self._rate if missing > 1e-9 else 0.0

    def _measure(self, moment: float) -> None:
        self._sent += 1
        half_second = int(moment * 2)
        if half_second > self._half_second:
            rate = self._sent / ((half_second - self._half_second) / 2)
            self._measured = rate * SMOOTHING + self._measured * (1 - SMOOTHING)
            self._half_second, self._sent = half_second, 0
