"""The bucket follows `Remaining` up and down: the second option of ADR 0066."""

from __future__ import annotations

from benchmarks.lab.strategies._base import Counting
from wbtrio._bucket import State
from wbtrio._headers import Observation


class TwoWay(Counting):
    """After each reply the bucket's level is what WB says."""

    def _follow(self, state: State, observation: Observation, now: int) -> State:
        if observation.remaining is None:
            return state
        missing = self.limit.burst - min(observation.remaining, self.limit.burst)
        return state._replace(full_at=now + missing * self.limit.interval)
