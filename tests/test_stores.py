"""What every store of buckets promises, tried on each; and what only Redis has to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import anyio
import pytest

from tests.support.redis_clients import Library, open_client
from tests.support.redis_server import RedisServer
from wbtrio import MemoryStore, RedisStore, StoreError
from wbtrio._bucket import FULL, Bucket, Fence, Limit, Narrowing, State
from wbtrio.stores import AcquireRequest, ClientStore, RefundRequest, Store

pytestmark = [pytest.mark.anyio, pytest.mark.real_io]

SECOND = 1_000_000
NOW = 1_796_000_000 * SECOND
LIMIT = Limit(60 * SECOND, 60, 5)
KEYS = [Bucket("seller", "personal", budget, LIMIT).key for budget in ("orders", "sales", "cards")]

Opener = Callable[[Callable[[], int]], AbstractAsyncContextManager[Store]]


@pytest.fixture(params=["memory", "redis", "redis-unix", "client"])
def open_store(
    request: pytest.FixtureRequest, anyio_backend_name: str, redis_server: RedisServer
) -> Opener:
    """Opens a store of each kind on a clock of the test's own."""

    @asynccontextmanager
    async def open_it(clock: Callable[[], int]) -> AsyncIterator[Store]:
        if request.param == "memory":
            yield MemoryStore(clock=clock)
            return
        if request.param == "client":
            library: Library = "coredis" if anyio_backend_name == "trio" else "redis"
            redis_server.reset()
            async with open_client(library, redis_server.port) as client:
                yield ClientStore(client, clock=clock, timeout=5)
            return
        name = "redis_url" if request.param == "redis" else "redis_unix_url"
        async with RedisStore(request.getfixturevalue(name), clock=clock, timeout=5) as store:
            yield store

    return open_it


class Clock:
    """µs that only the test moves."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> int:
        return self.now


def ask(key: str, cost: int = 1, hint: State = FULL) -> AcquireRequest:
    return AcquireRequest(key, LIMIT, cost, hint)


async def test_a_full_bucket_grants_its_burst_and_then_one_token_an_interval(
    open_store: Opener,
) -> None:
    clock = Clock()
    async with open_store(clock) as store:
        granted = [(await store.acquire([ask(KEYS[0])])).granted for _ in range(6)]
        assert granted == [True] * 5 + [False]
        clock.now += SECOND - 1
        assert not (await store.acquire([ask(KEYS[0])])).granted
        clock.now += 1
        reply = await store.acquire([ask(KEYS[0])])
        assert reply == (True, clock.now, (State(clock.now + 5 * SECOND, 0, 6),))


async def test_several_buckets_grant_all_or_nothing(open_store: Opener) -> None:
    async with open_store(Clock()) as store:
        await store.acquire([ask(KEYS[1], cost=5)])
        refused = await store.acquire([ask(KEYS[0], cost=2), ask(KEYS[1]), ask(KEYS[2])])
        assert not refused.granted
        assert [state.granted for state in refused.states] == [0, 5, 0]
        granted = await store.acquire([ask(KEYS[0], cost=2), ask(KEYS[2])])
        assert granted.granted
        assert [state.granted for state in granted.states] == [2, 1]


async def test_a_hint_makes_the_store_know_what_it_lost(open_store: Opener) -> None:
    hint = State(NOW + 5 * SECOND, NOW + 9 * SECOND, 17)
    async with open_store(Clock()) as store:
        reply = await store.acquire([ask(KEYS[0], hint=hint)])
        assert reply == (False, NOW, (hint,))
        assert await store.peek([KEYS[0]]) == (NOW, (hint,))


async def test_a_narrowing_says_what_was_and_what_is(open_store: Opener) -> None:
    clock = Clock()
    async with open_store(clock) as store:
        first = await store.acquire([ask(KEYS[0])])
        await store.acquire([ask(KEYS[0])])
        clock.now += 100_000
        by = Narrowing(remaining=2, fence=Fence(first.states[0].granted, first.now), hold=SECOND)
        reply = await store.narrow(KEYS[0], LIMIT, by, FULL)
        assert reply.before == State(NOW + 2 * SECOND, 0, 2)
        assert reply.state == State(NOW + 4 * SECOND, clock.now + SECOND, 2)
        assert (await store.narrow(KEYS[0], LIMIT, by, FULL)).state == reply.state


async def test_a_refund_undoes_a_grant_unless_something_happened_since(open_store: Opener) -> None:
    async with open_store(Clock()) as store:
        first = await store.acquire([ask(KEYS[0], cost=2), ask(KEYS[1], cost=2)])
        await store.acquire([ask(KEYS[1])])
        requests = [
            RefundRequest(key, LIMIT, 2, after)
            for key, after in zip(KEYS, first.states, strict=False)
        ]
        reply = await store.refund(requests)
        assert not reply.refunded
        assert reply.states == (State(NOW, 0, 0), State(NOW + 3 * SECOND, 0, 3))
        last = await store.acquire([ask(KEYS[2])])
        assert (await store.refund([RefundRequest(KEYS[2], LIMIT, 1, last.states[0])])).refunded


async def test_a_slower_pace_is_kept_beside_the_bucket(open_store: Opener) -> None:
    clock = Clock()
    slow = Narrowing(slow_interval=60 * SECOND, burst_cut=4, slow_for=3_600 * SECOND)
    async with open_store(clock) as store:
        await store.narrow(KEYS[0], LIMIT, slow, FULL)
        assert (await store.acquire([ask(KEYS[0])])).granted
        clock.now += 59 * SECOND
        assert not (await store.acquire([ask(KEYS[0])])).granted
        clock.now += SECOND
        assert (await store.acquire([ask(KEYS[0])])).granted
        clock.now += 3_600 * SECOND
        reply = await store.acquire([ask(KEYS[0])])
        assert reply.granted
        assert reply.states[0].slow_until == 0


async def test_peeking_changes_nothing_and_an_absent_bucket_is_full(open_store: Opener) -> None:
    async with open_store(Clock()) as store:
        await store.acquire([ask(KEYS[0])])
        first = await store.peek(KEYS)
        assert first == await store.peek(KEYS)
        assert first.states == (State(NOW + SECOND, 0, 1), FULL, FULL)


async def test_a_store_can_be_used_again_after_it_was_closed(open_store: Opener) -> None:
    async with open_store(Clock()) as store:
        await store.acquire([ask(KEYS[0])])
        await store.aclose()
        assert (await store.acquire([ask(KEYS[0])])).states[0].granted == 2


async def test_concurrent_tasks_never_take_more_than_is_there(open_store: Opener) -> None:
    granted: list[bool] = []

    async def take(store: Store) -> None:
        reply = await store.acquire([ask(KEYS[0])])
        granted.append(reply.granted)

    async with open_store(Clock()) as store, anyio.create_task_group() as tasks:
        for _ in range(40):
            tasks.start_soon(take, store)
    assert (len(granted), sum(granted)) == (40, LIMIT.burst)


async def test_the_servers_own_clock_counts_and_keys_expire_when_they_change_no_answer(
    redis_server: RedisServer, redis_url: str
) -> None:
    key = KEYS[0]
    async with RedisStore(redis_url, timeout=5) as store:
        reply = await store.acquire([ask(key, cost=3)])
    seconds, part = redis_server.client.time()
    assert abs(seconds * SECOND + part - reply.now) < 60 * SECOND
    left = redis_server.client.pttl(key)
    assert 0 < left <= 3_000
    text = redis_server.client.get(key)
    assert text == f"{reply.now + 3 * SECOND} 0 3"
    assert redis_server.client.keys() == ["wbtrio:{seller}:personal:orders"]


async def test_a_slower_pace_keeps_its_key_until_it_is_forgotten_and_full(
    redis_server: RedisServer, redis_url: str
) -> None:
    slow = Narrowing(slow_interval=60 * SECOND, burst_cut=4, slow_for=3_600 * SECOND)
    async with RedisStore(redis_url, timeout=5) as store:
        await store.narrow(KEYS[0], LIMIT, slow, FULL)
    left = redis_server.client.pttl(KEYS[0])
    assert 3_603_000 < left <= 3_604_000


async def test_a_refused_acquire_writes_nothing(redis_server: RedisServer, redis_url: str) -> None:
    async with RedisStore(redis_url, timeout=5) as store:
        await store.acquire([ask(KEYS[0], cost=5)])
        redis_server.client.config_resetstat()
        assert not (await store.acquire([ask(KEYS[0])])).granted
    calls = redis_server.calls()
    assert (calls["evalsha"], calls["set"]) == (1, 0)


async def test_each_step_is_one_command_once_the_store_is_open(
    redis_server: RedisServer, redis_url: str
) -> None:
    async with RedisStore(redis_url, timeout=5) as store:
        redis_server.client.config_resetstat()
        reply = await store.acquire([ask(KEYS[0])])
        await store.narrow(KEYS[0], LIMIT, Narrowing(hold=1), FULL)
        await store.refund([RefundRequest(KEYS[0], LIMIT, 1, reply.states[0])])
        await store.peek(KEYS)
        calls = redis_server.calls()
    assert (calls["evalsha"], calls["eval"]) == (4, 0)


async def test_flushed_scripts_are_sent_again_and_no_step_runs_twice(
    redis_server: RedisServer, redis_url: str
) -> None:
    async with RedisStore(redis_url, timeout=5) as store:
        redis_server.client.script_flush()
        reply = await store.acquire([ask(KEYS[0])])
        assert reply.states[0].granted == 1
        redis_server.client.script_flush()
        await store.narrow(KEYS[0], LIMIT, Narrowing(charge=1), FULL)
        assert (await store.peek([KEYS[0]])).states[0].full_at == reply.states[0].full_at + SECOND


@pytest.mark.parametrize("value", ["hello", "1 2", "1 2 3 4", "-1 0 0", "1.5 0 0"])
async def test_a_value_that_is_no_bucket_is_told_and_left_alone(
    redis_server: RedisServer, redis_url: str, value: str
) -> None:
    redis_server.client.set(KEYS[0], value)
    async with RedisStore(redis_url, timeout=5) as store:
        with pytest.raises(StoreError, match="no bucket of wbtrio"):
            await store.acquire([ask(KEYS[0])])
        assert (await store.acquire([ask(KEYS[1])])).granted
    assert redis_server.client.get(KEYS[0]) == value


async def test_a_key_of_another_type_is_told(redis_server: RedisServer, redis_url: str) -> None:
    redis_server.client.lpush(KEYS[0], "x")
    async with RedisStore(redis_url, timeout=5) as store:
        with pytest.raises(StoreError, match="WRONGTYPE"):
            await store.narrow(KEYS[0], LIMIT, Narrowing(hold=1), FULL)
