"""Store calls per request over a whole import, against the simulator, in virtual time.

What the literal rule alone would have called is counted beside the run, on the same replies: each
that states less than the burst, and each 429. It is counted, not played: the run itself goes by
both rules.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import trio
from trio.testing import MockClock

from benchmarks._measure import Figures, Job, contender
from benchmarks._stores import CountingStore
from tests.support.importing import TODAY, virtual_now
from wbtrio import WbApiClient, WbRateLimiter
from wbtrio._bucket import Bucket
from wbtrio._headers import Observation
from wbtrio._permit import Settlement
from wbtrio._reconcile import Grant, is_at_capacity
from wbtrio._settling import Settling
from wbtrio.importer import RESOURCES, NdjsonSink, import_all
from wbtrio.simulator import Latency, Scenario, Stock, WbSimulator, make_token

PATIENCE = 1e9
"""Seconds: waits of days take no time here."""
LATENCY = Latency(before=0.05, after=0.05)
ROWS_PER_CALL = 2
"""Rows of each list for each call that the job asks for: 4,000 calls give lists of 8,000 rows."""


class LiteralRule(Settling):
    """Settles as ever, and counts beside its work what the literal rule would call the store for.

    Attributes:
        would_narrow: Replies after which it would.
    """

    would_narrow = 0

    async def settle_reply(
        self,
        bucket: Bucket,
        observation: Observation,
        *,
        refused: bool,
        grant: Grant | None = None,
        charge: int = 0,
        error_cost: int = 1,
        sent_at: int = 0,
        round_trip: int = 0,
    ) -> Settlement:
        """Count, then settle as ever."""
        stated = observation.remaining
        is_below = stated is not None and not is_at_capacity(stated, bucket.limit)
        self.would_narrow += refused or is_below
        return await super().settle_reply(
            bucket,
            observation,
            refused=refused,
            grant=grant,
            charge=charge,
            error_cost=error_cost,
            sent_at=sent_at,
            round_trip=round_trip,
        )


async def import_whole(folder: Path, rows: int) -> Figures:
    """Import every list of two sellers over a month, and count."""
    simulator = WbSimulator(Scenario(latency=LATENCY, stock=Stock(default_rows=rows)))
    store = CountingStore()
    limiter = WbRateLimiter(store)
    literal = LiteralRule(limiter._ledger, "retry")  # noqa: SLF001  # beside what it measures
    limiter._settling = literal  # noqa: SLF001
    tokens = [make_token(name) for name in ("first", "second")]
    transport = httpx.ASGITransport(simulator)
    client = WbApiClient(transport=transport, limiter=limiter, max_wait=PATIENCE)
    async with client as wb, NdjsonSink(folder, threads=False) as sink:
        since = TODAY - timedelta(days=30)
        await import_all(
            wb, tokens, list(RESOURCES), sink, since=since, until=TODAY, now=virtual_now
        )
    total = limiter.statistics().total
    return Figures(
        values={
            "requests": total.settled,
            "refused": simulator.refused,
            "both_rules": store.calls / total.granted,
            "literal_rule": (store.calls - store.narrowings + literal.would_narrow) / total.granted,
            "acquires": (store.calls - store.narrowings) / total.granted,
        }
    )


def measure(job: Job) -> Figures:
    """One import in a folder that is gone afterwards."""
    with TemporaryDirectory(prefix="wbtrio-bench-") as folder:
        clock = MockClock(autojump_threshold=0)
        rows = max(1, job.calls * ROWS_PER_CALL)
        return trio.run(import_whole, Path(folder), rows, clock=clock)


if __name__ == "__main__":
    contender(blocking=measure)
