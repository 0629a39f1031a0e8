"""Replies of the simulator's counters to made-up traffic, as a trace would have them."""

from __future__ import annotations

import heapq
from random import Random
from typing import TYPE_CHECKING

from msgspec import Struct

from wbtrio._calibration import Reply
from wbtrio._headers import parse_observed_rate_limit
from wbtrio.simulator.engine import Engine, HeaderStyle, Key, Refill, Rule, render_headers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wbtrio.simulator.foreign import Foreign

SECOND = 1_000_000
START = 1_760_000_000 * SECOND


class Traffic(Struct, frozen=True, kw_only=True):
    """Who asks what, and when.

    Attributes:
        operations: Names to choose from; the counter of each is the part before its dot.
        replies: How many.
        gap: µs between two requests of one worker, on average.
        latency: µs on the way, at most, to and fro.
        workers: How many ask, each one request at a time.
        pause: One request in so many is followed by a long pause; 0: none is.
        errors: Part of the requests that WB answers with a 400.
        patient: Whether a worker waits out the Retry of a 429.
    """

    operations: Sequence[str] = ("budget.list",)
    replies: int = 200
    gap: int = SECOND // 10
    latency: int = SECOND // 20
    workers: int = 1
    pause: int = 40
    errors: float = 0.0
    patient: bool = True


def replies_of(
    traffic: Traffic,
    rule: Rule,
    *,
    refill: Refill = "smooth",
    style: HeaderStyle = "gateway",
    error_cost: int = 1,
    foreign: Sequence[Foreign] = (),
    registry: Mapping[str, str] | None = None,
    seed: int = 0,
) -> list[Reply]:
    """What WB answers, in the order in which the requests were sent.

    Args:
        traffic: The requests.
        rule: What every counter allows.
        refill: How tokens come back.
        style: Which headers replies carry.
        error_cost: What a 400 costs.
        foreign: Strangers on the counters.
        registry: Bucket of each operation as our own registry has it; None: as it really is.
        seed: Of all that is random.
    """
    random = Random(seed)
    engine = Engine(refill=refill, foreign=foreign, seed=seed)
    found: list[tuple[int, Reply]] = []
    arrivals: list[tuple[int, int, int, str]] = []

    def send(at: int, worker: int) -> None:
        way = random.randint(0, traffic.latency)
        heapq.heappush(arrivals, (at + way, at, worker, random.choice(traffic.operations)))

    for worker in range(traffic.workers):
        send(random.randint(0, traffic.gap), worker)
    while len(found) < traffic.replies:
        arrival, sent, worker, operation = heapq.heappop(arrivals)
        key = Key("seller", "personal", operation.partition(".")[0])
        status = 429
        if engine.request(key, rule, arrival):
            status = 400 if random.random() < traffic.errors else 200
        reading = engine.reply(key, rule, status, arrival, error_cost=error_cost)
        headers = render_headers(style, status, reading)
        received = arrival + random.randint(0, traffic.latency)
        reply = reply_from(headers, sent, received, operation, status, registry)
        found.append((sent, reply))
        wait = random.randint(0, 2 * traffic.gap)
        if status == 429 and traffic.patient:
            wait += reply.retry or 0
        if traffic.pause and random.random() < 1 / traffic.pause:
            wait += random.randint(0, 2 * rule.window)
        send(received + wait, worker)
    return [reply for _, reply in sorted(found, key=lambda pair: pair[0])]


def reply_from(
    headers: Mapping[str, str],
    sent: int,
    received: int,
    operation: str,
    status: int,
    registry: Mapping[str, str] | None,
) -> Reply:
    """One reply with the headers read as a client reads them."""
    says = parse_observed_rate_limit(headers)
    own = operation.partition(".")[0]
    return Reply(
        sent=START + sent,
        received=START + received,
        operation=operation,
        bucket=own if registry is None else registry[operation],
        status=status,
        limit=says.limit,
        remaining=says.remaining,
        reset=says.reset,
        retry=says.retry,
    )
