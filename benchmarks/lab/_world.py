"""WB and the way to it: the simulator's counters, latency, and what goes wrong there."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

import anyio

from benchmarks.lab._scenario import SECOND, Between, Scenario
from wbtrio.simulator.engine import Engine, Key, render_headers

KIND = "personal"
BUDGET = "budget"


class Reply(NamedTuple):
    """What the client gets."""

    status: int
    headers: dict[str, str]


class Arrival(NamedTuple):
    """One request as WB saw it; moments in µs, `remaining` is what its reply says or would say."""

    sent: int
    at: int
    account: str
    status: int
    remaining: int


class LostReply(Exception):
    """The client gave up waiting; WB has counted the request all the same."""


def clock() -> int:
    """µs of virtual time."""
    return round(anyio.current_time() * SECOND)


class World:
    """WB as one scenario has it.

    Attributes:
        arrivals: All that came, in order.
    """

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self.arrivals: list[Arrival] = []
        self.engine = Engine(refill=scenario.refill, foreign=scenario.foreign, seed=seed)
        self._scenario = scenario
        self._random = Random(f"{seed}/{scenario.name}")

    async def send(self, account: str) -> Reply:
        """One request, there and back.

        Raises:
            LostReply: No reply came in time.
        """
        scenario, sent = self._scenario, clock()
        await anyio.sleep(self._draw(scenario.there))
        reply = self._answer(account, sent)
        is_lost = scenario.faults.lost > 0 and self._random.random() < scenario.faults.lost
        await anyio.sleep(scenario.faults.timeout if is_lost else self._draw(scenario.back))
        if is_lost:
            raise LostReply
        return reply

    def _answer(self, account: str, sent: int) -> Reply:
        scenario, now = self._scenario, clock()
        faults, key = scenario.faults, Key(account, KIND, BUDGET)
        incident = faults.incident
        if incident is not None and incident.begins <= now / SECOND < incident.ends:
            self.arrivals.append(Arrival(sent, now, account, 429, 0))
            return Reply(429, {})
        status = 200 if self.engine.request(key, scenario.wb, now) else 429
        if status == 200 and faults.errors and self._random.random() < faults.errors:
            status = 400
        reading = self.engine.reply(key, scenario.wb, status, now, error_cost=faults.error_cost)
        self.arrivals.append(Arrival(sent, now, account, status, reading.remaining))
        return Reply(status, render_headers(scenario.headers, status, reading))

    def _draw(self, span: Between) -> float:
        if span.least == span.most:
            return span.least
        return self._random.uniform(span.least, span.most)
