"""Only downwards, to the letter of ADR 0066: `tokens = min(tokens, Remaining)` at each reply."""

from __future__ import annotations

from benchmarks.lab.strategies._base import Counting
from wbtrio import _bucket
from wbtrio._bucket import Narrowing, State
from wbtrio._headers import Observation


class Literal(Counting):
    """Narrows with each reply below the burst, and holds until `Reset` at `Remaining: 0`."""

    def _follow(self, state: State, observation: Observation, now: int) -> State:
        if observation.remaining is None or observation.remaining >= self.limit.burst:
            return state
        hold = (observation.reset or 0) if observation.remaining == 0 else 0
        by = Narrowing(remaining=observation.remaining, hold=hold)
        return _bucket.narrow(state, self.limit, now, by)
