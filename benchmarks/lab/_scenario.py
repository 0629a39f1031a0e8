"""What a scenario is: WB's counter, what we believe of it, the way there and what goes wrong."""

from __future__ import annotations

from msgspec import Struct

from wbtrio import Limit
from wbtrio.simulator import Foreign, Rule
from wbtrio.simulator.engine import HeaderStyle, Refill

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE


class Between(Struct, frozen=True):
    """Seconds, drawn evenly from these bounds for each request."""

    least: float
    most: float


class Incident(Struct, frozen=True):
    """WB refuses everything, whatever its counters say.

    Attributes:
        begins: Seconds.
        ends: Seconds.
    """

    begins: float
    ends: float


class Faults(Struct, frozen=True):
    """What goes wrong between the client, its store and WB.

    Attributes:
        lost: Share of replies that never come; the client gives up after `timeout`.
        timeout: Seconds.
        errors: Share of requests that are answered 400.
        error_cost: Requests that WB counts for each of them.
        evict_every: Seconds after which the store forgets everything, again and again; 0: never.
        clock_jumps: By how many seconds the store's clock is off from which second on.
        incident: When WB refuses everything.
    """

    lost: float = 0.0
    timeout: float = 10.0
    errors: float = 0.0
    error_cost: int = 1
    evict_every: float = 0.0
    clock_jumps: tuple[tuple[float, float], ...] = ()
    incident: Incident | None = None


class Scenario(Struct, frozen=True):
    """One world to play a strategy in.

    Attributes:
        name: On the command line and in the tables.
        says: What it is about, in one sentence.
        wb: What WB grants.
        registry: What the strategy believes that WB grants; None: the same.
        seconds: How long it lasts at most.
        jobs: Requests to bring home; None: as many as the time allows.
        workers: Tasks that send, over all processes; each sends its next request when it has the
            last reply.
        processes: Programs with a common store, if the strategy has one.
        operations: Buckets of the strategy's that are one counter of WB's.
        accounts: Sellers, each with counters of its own; workers take turns with them.
        refill: How WB's tokens come back.
        headers: What WB tells.
        foreign: Other programs on the counter.
        there: The way to WB.
        back: The way back, with the time in which the reply is made.
        store_latency: Seconds that a store call takes, each way.
        faults: What goes wrong.
    """

    name: str
    says: str
    wb: Rule = Rule(MINUTE, 300, 20)
    registry: Rule | None = None
    seconds: float = 600.0
    jobs: int | None = None
    workers: int = 30
    processes: int = 1
    operations: int = 1
    accounts: int = 1
    refill: Refill = "smooth"
    headers: HeaderStyle = "gateway"
    foreign: tuple[Foreign, ...] = ()
    there: Between = Between(0.05, 0.05)
    back: Between = Between(0.05, 0.05)
    store_latency: float = 0.0
    faults: Faults = Faults()

    @property
    def believed(self) -> Limit:
        """The registry's limit, as the strategies take it."""
        rule = self.wb if self.registry is None else self.registry
        return Limit(rule.period, rule.limit, rule.burst)
