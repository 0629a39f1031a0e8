"""When each page of an import can be sent: the buckets' own arithmetic, run ahead. Pure."""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from .. import _bucket
from .._bucket import FULL, MICROSECONDS, Bucket, State
from .._errors import CallerError
from .._tasks import FIRST_LOOK

if TYPE_CHECKING:
    from .._registry import Operation, Pagination, Registry
    from .._tokens import SellerToken
    from ._checkpoint import SourceKey

MOST_MOMENTS = 1_000
"""Moments that an entry lists; the requests after them are planned, but not listed."""
MOST_REQUESTS = 1_000_000
"""They are planned one by one, a million in a second or two."""


class Requests(NamedTuple):
    """How many requests a list takes.

    Attributes:
        least: At least so many.
        most: At most so many; None: WB alone knows.
    """

    least: int
    most: int | None


class Leg(Struct, frozen=True):
    """Requests of one demand that are alike.

    Attributes:
        bucket: Who pays for them.
        requests: How many.
        pause: µs between the reply before and each of them, whatever the bucket says.
    """

    bucket: Bucket
    requests: int
    pause: int = 0


class Demand(Struct, frozen=True):
    """What one source of one seller asks for, one request after another.

    Attributes:
        key: Which source of which seller.
        legs: Its requests, in order.
        requests: How sure their number is.
        not_before: µs of the store's clock before which it asks for nothing.
    """

    key: SourceKey
    legs: tuple[Leg, ...]
    requests: Requests
    not_before: int = 0


class PlanEntry(Struct, frozen=True):
    """One source of one seller in a plan. All moments are µs of the store's clock.

    Attributes:
        key: Which source of which seller.
        requests: How many requests there are, and how sure that is.
        moments: When each can be sent; the first 1,000 of them.
        ready_at: When the last reply is due; with an open number of requests, not before this.
        bucket: The bucket that it waits for longest; None: it asks for nothing.
        shared_by: Sources that draw on that bucket, this one included.
    """

    key: SourceKey
    requests: Requests
    moments: tuple[int, ...]
    ready_at: int
    bucket: Bucket | None
    shared_by: int


class Plan(Struct, frozen=True):
    """When an import will be ready.

    Attributes:
        now: µs of the store's clock at which it was made.
        entries: One for each demand, in the order given.
    """

    now: int
    entries: tuple[PlanEntry, ...]

    @property
    def ready_at(self) -> int:
        """When all of it is."""
        return max((entry.ready_at for entry in self.entries), default=self.now)


def plan(
    demands: Sequence[Demand], states: Mapping[str, State], now: int, *, latency: int = 0
) -> Plan:
    """Run the buckets ahead: sources that share one take turns, as they do in the limiter.

    Args:
        demands: What is asked for. One that asks for nothing is ready at once.
        states: The buckets' present states by key; those that are missing are full.
        now: µs of the store's clock.
        latency: µs from a request to its reply.

    Raises:
        CallerError: More than a million requests.
    """
    if sum(leg.requests for demand in demands for leg in demand.legs) > MOST_REQUESTS:
        raise CallerError(f"A plan of more than {MOST_REQUESTS:,} requests is none.")
    buckets: dict[str, State] = {}
    runs = [_Run(demand, now) for demand in demands]
    turns = itertools.count()
    queue = [(run.asks_at, next(turns), run) for run in runs if run.bucket is not None]
    heapq.heapify(queue)
    while queue:
        asks_at, _, run = heapq.heappop(queue)
        if run.bucket is None:
            continue
        key, limit = run.bucket.key, run.bucket.limit
        state = buckets.get(key) or states.get(key, FULL)
        # In the order of asking, which is the order in which the limiter's queue grants.
        sent_at = asks_at + _bucket.wait(state, limit, asks_at)
        buckets[key] = _bucket.acquire(state, limit, sent_at).state
        run.send(sent_at, latency)
        if run.bucket is not None:
            heapq.heappush(queue, (run.asks_at, next(turns), run))
    sharers = Counter(key for demand in demands for key in {leg.bucket.key for leg in demand.legs})
    return Plan(now, tuple(run.entry(sharers) for run in runs))


class _Run:
    """One demand on its way.

    Attributes:
        bucket: Whom it asks next; None: it has all that it asked for.
        asks_at: When.
    """

    def __init__(self, demand: Demand, now: int) -> None:
        self._demand = demand
        self._pending = itertools.chain.from_iterable(
            itertools.repeat(leg, leg.requests) for leg in demand.legs
        )
        self._moments: list[int] = []
        self._waited: Counter[Bucket] = Counter()
        self.asks_at = self._ready_at = max(now, demand.not_before) if demand.legs else now
        self.bucket: Bucket | None = None
        self._turn()

    def send(self, at: int, latency: int) -> None:
        """The request is sent at this moment."""
        if len(self._moments) < MOST_MOMENTS:
            self._moments.append(at)
        if self.bucket is not None:
            self._waited[self.bucket] += at - self.asks_at
        self.asks_at = self._ready_at = at + latency
        self._turn()

    def entry(self, sharers: Mapping[str, int]) -> PlanEntry:
        """What came of it."""
        first = self._demand.legs[0].bucket if self._demand.legs else None
        longest = max(self._waited, key=self._waited.__getitem__, default=None)
        decides = longest if longest is not None and self._waited[longest] else first
        return PlanEntry(
            key=self._demand.key,
            requests=self._demand.requests,
            moments=tuple(self._moments),
            ready_at=self._ready_at,
            bucket=decides,
            shared_by=1 if decides is None else sharers[decides.key],
        )

    def _turn(self) -> None:
        leg = next(self._pending, None)
        self.bucket = None if leg is None else leg.bucket
        self.asks_at += 0 if leg is None else leg.pause


def requests_for(pagination: Pagination, *, rows: int | None, windows: int = 1) -> Requests:
    """How many pages bring so many rows.

    Args:
        pagination: How the list is walked.
        rows: How many it has; None: not known.
        windows: Walks that it takes, each over a span of its own.
    """
    walks = windows
    for values in pagination.passes.values():
        walks *= len(values)
    if pagination.scheme in {"none", "task"}:
        return Requests(walks, walks)
    size = pagination.page_size
    if rows is None or not size:
        return Requests(walks, None)
    # A list that states its total ends with its last row; any other with a page that is short.
    ends_with_total = "total_reached" in pagination.end
    full = -(-rows // size) if ends_with_total else rows // size + 1
    return Requests(max(walks, full), max(walks, full + walks - 1))


def legs_of(
    operation: Operation, registry: Registry, seller: SellerToken, requests: int, *, sandbox: bool
) -> tuple[Leg, ...]:
    """The requests of a list, with the budgets that pay for them.

    A report that WB makes in the background takes three requests at least, on three budgets:
    create, one look at its state, download.

    Args:
        operation: The list.
        registry: Knows the budgets.
        seller: Whose they are.
        requests: How many walks or pages.
        sandbox: Whether the sandbox is asked.
    """

    def bucket(one: Operation) -> Bucket:
        return registry.bucket_for(one, account=seller.account, kind=seller.kind, sandbox=sandbox)

    how = operation.pagination
    if how is None or how.scheme != "task":
        return (Leg(bucket(operation), requests),)
    look = Leg(bucket(registry.operation(how.status)), 1, pause=round(FIRST_LOOK * MICROSECONDS))
    download = Leg(bucket(registry.operation(how.download)), 1)
    return (Leg(bucket(operation), 1), look, download) * requests
