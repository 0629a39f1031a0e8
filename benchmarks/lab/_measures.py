"""What a run is judged by, against a clairvoyant who spends each token the moment it is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from benchmarks.lab._scenario import SECOND, Scenario

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.lab._world import World


class Figures(Struct, frozen=True):
    """One strategy in one scenario.

    Attributes:
        requests: That reached WB.
        refused: 429s earned.
        utilisation: Share of what WB granted, less what strangers took, that was spent.
        makespan: Time taken, in units of the time in which a clairvoyant gets as much.
        wait_p99: Seconds from wanting to being admitted; one in a hundred waits longer.
        starved: Seconds, the longest such wait, also of those that still wait at the end.
        store_calls: Per request.
        strangers_refused: 429s that other programs earned.
        done: Requests answered otherwise than with a 429.
    """

    requests: int
    refused: int
    utilisation: float
    makespan: float
    wait_p99: float
    starved: float
    store_calls: float
    strangers_refused: int
    done: int

    @property
    def share_refused(self) -> float:
        """429s per request."""
        return self.refused / self.requests if self.requests else 0.0


def granted_by(scenario: Scenario, span: int) -> int:
    """Tokens that WB grants one counter within so many µs, to someone who takes each at once."""
    rule = scenario.wb
    if scenario.refill == "smooth":
        return rule.burst + span * rule.limit // rule.period
    return rule.burst * (1 + span // rule.window)


def fastest(scenario: Scenario, tokens: int) -> int:
    """µs in which a clairvoyant gets so many tokens of one counter."""
    rule = scenario.wb
    if scenario.refill == "smooth":
        return max(0, -(-(tokens - rule.burst) * rule.period // rule.limit))
    return max(0, -(-tokens // rule.burst) - 1) * rule.window


def measure(
    scenario: Scenario, world: World, waits: Sequence[int], store_calls: int, end: int
) -> Figures:
    """The figures of one run.

    Args:
        scenario: What was played.
        world: What WB saw.
        waits: µs that each request waited until it was admitted.
        store_calls: Of all processes.
        end: µs at which it ended.
    """
    arrivals = world.arrivals
    refused = sum(1 for arrival in arrivals if arrival.status == 429)
    last = max((one.at for one in arrivals if one.status != 429), default=0)
    spent = left = foreign_refused = 0
    optimum = taken = 1
    for tally in world.engine.tallies.values():
        ours = tally.admitted + tally.charged
        spent += ours
        span = (end if scenario.jobs is None else tally.last) - tally.first
        left += granted_by(scenario, span) - tally.foreign - lost_to_incident(scenario)
        foreign_refused += tally.foreign_refused
        best = fastest(scenario, ours + tally.foreign)
        if best > optimum:
            optimum, taken = best, last - tally.first
    ordered = sorted(waits)
    return Figures(
        requests=len(arrivals),
        refused=refused,
        utilisation=spent / left if left > 0 else 0.0,
        makespan=taken / optimum,
        wait_p99=ordered[len(ordered) * 99 // 100] / SECOND if ordered else 0.0,
        starved=ordered[-1] / SECOND if ordered else 0.0,
        store_calls=store_calls / len(arrivals) if arrivals else 0.0,
        strangers_refused=foreign_refused,
        done=len(arrivals) - refused,
    )


def lost_to_incident(scenario: Scenario) -> int:
    """Tokens that nobody can spend, because the counter is full while WB refuses all."""
    incident = scenario.faults.incident
    if incident is None:
        return 0
    span = round((incident.ends - incident.begins) * SECOND)
    rule = scenario.wb
    return max(0, span * rule.limit // rule.period - rule.burst)
