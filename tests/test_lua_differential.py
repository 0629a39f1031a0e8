"""Two implementations of the arithmetic, one answer: the pure functions and the Lua in Redis.

Random histories of several buckets run through both, and every integer must be equal after every
step. `--deep` runs a million steps instead of 20,000.
"""

from __future__ import annotations

from random import Random

import anyio
import pytest

from wbtrio import RedisStore
from wbtrio import _bucket as pure
from wbtrio._bucket import FULL, Bucket, Fence, Limit, Narrowing, State, Undo
from wbtrio.stores import AcquireRequest, RefundRequest

pytestmark = [pytest.mark.anyio, pytest.mark.real_io]

SECOND = 1_000_000
DAY = 86_400 * SECOND
STEPS = 400
BUCKETS = 3


class History:
    """One random history: what Redis holds, beside what the pure functions say it must hold."""

    def __init__(self, seed: int) -> None:
        self.random = random = Random(seed)
        self.now = random.choice([0, 1_796_000_000 * SECOND])
        periods = [SECOND, 60 * SECOND, 3_600 * SECOND, DAY]
        self.buckets = [
            Bucket(
                f"seller-{seed}",
                "personal",
                str(number),
                Limit(random.choice(periods), random.randint(1, 300), random.randint(1, 50)),
            )
            for number in range(BUCKETS)
        ]
        self.states = [FULL] * BUCKETS
        self.steps = 0
        self.grants: list[tuple[list[int], list[int], list[State]]] = []

    async def run(self, url: str) -> None:
        """Take every step on both sides, and compare."""
        steps = [self.acquire, self.acquire, self.narrow, self.narrow, self.refund]
        async with RedisStore(url, clock=lambda: self.now, timeout=10) as store:
            for _ in range(STEPS):
                self.steps += 1
                await self.random.choice(steps)(store)
                self.now += self.random.choice(
                    [0, 1, *(self.random.randint(0, most) for most in (999, SECOND, 2 * DAY))]
                )

    async def acquire(self, store: RedisStore) -> None:
        random = self.random
        chosen = random.sample(range(BUCKETS), random.choice([1, 1, 2, BUCKETS]))
        costs = [random.randint(1, self.buckets[at].limit.burst) for at in chosen]
        hints = [self.hint(at) for at in chosen]
        reply = await store.acquire(
            [
                AcquireRequest(self.buckets[at].key, self.buckets[at].limit, cost, hint)
                for at, cost, hint in zip(chosen, costs, hints, strict=True)
            ]
        )
        known = [pure.merge(self.states[at], hint) for at, hint in zip(chosen, hints, strict=True)]
        decisions = [
            pure.acquire(state, self.buckets[at].limit, self.now, cost)
            for state, at, cost in zip(known, chosen, costs, strict=True)
        ]
        granted = not any(decision.wait for decision in decisions)
        expected = [
            decision.state if granted else pure.forget(state, self.buckets[at].limit, self.now)
            for decision, state, at in zip(decisions, known, chosen, strict=True)
        ]
        assert (reply.granted, reply.now, list(reply.states)) == (granted, self.now, expected)
        for at, state in zip(chosen, expected, strict=True):
            self.states[at] = state
        if granted:
            self.grants.append((chosen, costs, expected))

    async def narrow(self, store: RedisStore) -> None:
        random = self.random
        at = random.randrange(BUCKETS)
        bucket, hint = self.buckets[at], self.hint(at)
        before = pure.merge(self.states[at], hint)
        assert before.full_at >= 0
        ticket = max(0, before.granted - random.randint(0, 9))
        by = Narrowing(
            charge=random.choice([0, 0, 9]),
            remaining=random.choice([-1, 0, random.randint(0, 60)]),
            fence=random.choice(
                [None, Fence(ticket, max(0, self.now - random.randint(0, SECOND)))]
            ),
            full_in=random.choice([0, random.randint(0, 100 * SECOND)]),
            hold=random.choice([0, random.randint(0, 100 * SECOND)]),
            slow_interval=random.choice([0, 0, random.randint(1, 7_200 * SECOND)]),
            burst_cut=random.choice([0, random.randint(0, 60)]),
            slow_for=random.randint(1, 2 * DAY),
            undo=random.choice([None, Undo(random.randint(1, 9), before.full_at, before.granted)]),
        )
        reply = await store.narrow(bucket.key, bucket.limit, by, hint)
        expected = pure.narrow(before, bucket.limit, self.now, by)
        assert reply == (self.now, before, expected)
        self.states[at] = expected

    async def refund(self, store: RedisStore) -> None:
        if not self.grants:
            return
        chosen, costs, after = self.random.choice(self.grants[-3:])
        requests = [
            RefundRequest(self.buckets[at].key, self.buckets[at].limit, cost, state)
            for at, cost, state in zip(chosen, costs, after, strict=True)
        ]
        reply = await store.refund(requests)
        expected = [
            pure.refund(self.states[at], one.limit, one.cost, one.after)
            for at, one in zip(chosen, requests, strict=True)
        ]
        changed = [self.states[at] != state for at, state in zip(chosen, expected, strict=True)]
        assert reply == (self.now, all(changed), tuple(expected))
        for at, state in zip(chosen, expected, strict=True):
            self.states[at] = state

    def hint(self, at: int) -> State:
        """What a process might send along: nothing, the truth, or something newer."""
        random, state = self.random, self.states[at]
        newer = State(
            state.full_at + random.randint(0, 5 * SECOND),
            state.not_before,
            state.granted + random.randint(0, 3),
            *state[3:],
        )
        return random.choice([FULL, FULL, state, newer])


async def test_lua_and_the_pure_functions_agree_on_every_integer_of_random_histories(
    redis_url: str, request: pytest.FixtureRequest
) -> None:
    backends = 2
    steps = 1_000_000 if request.config.getoption("--deep") else 20_000
    histories = -(-steps // (STEPS * backends))
    width = 50
    offset = 0 if request.node.callspec.params["anyio_backend"] == "trio" else histories
    taken = 0
    for start in range(0, histories, width):
        batch = [History(offset + seed) for seed in range(start, min(start + width, histories))]
        async with anyio.create_task_group() as tasks:
            for history in batch:
                tasks.start_soon(history.run, redis_url)
        taken += sum(history.steps for history in batch)
    assert taken * backends >= steps
