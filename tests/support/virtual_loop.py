"""An asyncio loop in virtual time: when nothing is ready, the next timer is now.

The twin of trio's `MockClock(autojump_threshold=0)`, for code that runs in one process. Sockets
and threads of the real world have no part in virtual time: tests that use them are marked
`real_io`.
"""

from __future__ import annotations

import asyncio
import selectors

LONGEST_IDLE = 30.0
"""Real seconds after which a loop with no timer and no event is taken for a deadlock."""


class Deadlock(RuntimeError):
    """Every task waits for something that no timer will bring."""


class _JumpingSelector(selectors.DefaultSelector):
    """A selector that never waits for a timer, but moves the clock to it."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready:
            return ready
        if timeout is None:
            return self._wait_for_other_threads()
        if timeout > 0:
            self.now += timeout
        return ready

    def _wait_for_other_threads(self) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(LONGEST_IDLE)
        if not ready:
            raise Deadlock("no timer is set and nothing happened for 30 real seconds")
        return ready


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop whose `time()` starts at 0 and jumps from timer to timer."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        """Virtual seconds since the loop was made."""
        return self._jumping.now
