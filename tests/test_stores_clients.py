"""Buckets over other libraries' clients: a real cluster, a real fail-over, and their faults."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import anyio
import anyio.lowlevel
import coredis
import pytest
import redis.asyncio
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from tests.support.proxy import Proxy
from tests.support.redis_clients import Library, open_client, open_cluster, open_primary
from tests.support.redis_groups import RedisCluster, Watched
from tests.support.redis_server import RedisServer
from tests.support.stores import a_bucket
from wbtrio import (
    CallerError,
    StoreError,
    StoreProtocolError,
    StoreTimeout,
    StoreUnavailable,
    WbRateLimiter,
)
from wbtrio._bucket import FULL
from wbtrio.stores import AcquireRequest, ClientStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Options

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.real_io,
    # coredis leaves streams of its own memory behind, of connections that it has closed.
    pytest.mark.filterwarnings("ignore:Unclosed <MemoryObject:ResourceWarning"),
]

BUCKET = a_bucket(interval=3600, burst=20)
"""Refills nothing while a test runs: every token is accounted for."""
LONGEST_CALL = 2.0
"""Seconds: the timeout of a call, and much room."""

LONGEST_FAIL_OVER = 20.0

PAIRS = [("trio", "coredis"), ("asyncio", "coredis"), ("asyncio", "redis")]


@pytest.fixture(params=PAIRS, ids="-".join)
def pair(request: pytest.FixtureRequest) -> tuple[str, Library]:
    """A loop, and a library that runs on it: redis-py knows asyncio only."""
    loop, library = request.param
    return loop, library


@pytest.fixture
def anyio_backend(pair: tuple[str, Library]) -> tuple[str, Options]:
    return pair[0], {}


@pytest.fixture
def library(pair: tuple[str, Library]) -> Library:
    return pair[1]


@pytest.fixture(autouse=True)
def collect_what_clients_leave() -> Iterator[None]:
    """So that it is laid at their door, not at that of a later test."""
    yield
    gc.collect()


@pytest.fixture(scope="module")
def cluster() -> Iterator[RedisCluster]:
    with RedisCluster() as started:
        yield started


@pytest.fixture
def server() -> Iterator[RedisServer]:
    with RedisServer() as started:
        yield started


def ask(key: str = BUCKET.key) -> list[AcquireRequest]:
    return [AcquireRequest(key, BUCKET.limit, 1, FULL)]


async def test_accounts_lie_on_different_nodes_and_all_of_one_account_on_one(
    library: Library, cluster: RedisCluster
) -> None:
    for node in cluster.nodes:
        node.client.flushall()
    accounts = [f"{library}-{number}" for number in range(24)]
    async with open_cluster(library, cluster.nodes[0].port) as client:
        limiter = WbRateLimiter(ClientStore(client))
        for account in accounts:
            buckets = [a_bucket(budget, account=account) for budget in ("orders", "stocks")]
            await limiter.acquire(*buckets)
            slots = {cluster.slot_of(bucket.key) for bucket in buckets}
            assert len(slots) == 1
    sizes = [node.client.dbsize() for node in cluster.nodes]
    assert sum(sizes) == 2 * len(accounts)
    assert all(sizes)


async def test_a_slot_that_moved_is_followed_and_its_bucket_goes_on(
    library: Library, cluster: RedisCluster, anyio_backend: tuple[str, Options]
) -> None:
    bucket = a_bucket(account=f"moving-{anyio_backend[0]}-{library}", interval=3600, burst=20)
    async with open_cluster(library, cluster.nodes[0].port) as client:
        store = ClientStore(client)
        first = await store.acquire(ask(bucket.key))
        home = cluster.owner_of(bucket.key)
        target = next(node for node in cluster.nodes if node is not home)
        cluster.move(bucket.key, target)
        second = await store.acquire(ask(bucket.key))
    assert [reply.states[0].granted for reply in (first, second)] == [1, 2]
    assert target.client.exists(bucket.key) == 1
    assert cluster.owner_of(bucket.key) is target


async def test_a_lost_node_is_told_for_its_accounts_and_others_go_on(library: Library) -> None:
    with RedisCluster() as cluster:
        accounts = [f"seller-{number}" for number in range(12)]
        buckets = [a_bucket(account=account, interval=3600) for account in accounts]
        lost, kept = cluster.nodes[1], cluster.nodes[0]
        on_lost = next(one for one in buckets if cluster.owner_of(one.key) is lost)
        on_kept = next(one for one in buckets if cluster.owner_of(one.key) is kept)
        async with open_cluster(library, kept.port) as client:
            store = ClientStore(client)
            await store.acquire(ask(on_lost.key))
            lost.kill()
            with anyio.fail_after(LONGEST_CALL), pytest.raises(StoreError):
                await store.acquire(ask(on_lost.key))
            assert (await store.acquire(ask(on_kept.key))).granted


async def test_a_limiter_keeps_its_count_through_a_fail_over(library: Library) -> None:
    with Watched() as group:
        async with open_primary(library, group.sentinel_port, group.SERVICE) as client:
            store = ClientStore(client)
            limiter = WbRateLimiter(store)
            for _ in range(5):
                await limiter.acquire(BUCKET)
            group.fail_over()
            for _ in range(5):
                with anyio.fail_after(LONGEST_CALL):
                    await limiter.acquire(BUCKET)
            await returned(store)
            await limiter.acquire(BUCKET)
            known, stored = await limiter.peek(BUCKET), await store.peek([BUCKET.key])
        lost = limiter.statistics().total.lost_replies
        # What the replica had not heard of yet, the hints of the last acquire told it.
        assert stored.states == known.states
        assert 11 <= known.states[0].granted <= 11 + lost
        assert group.replica.client.exists(BUCKET.key) == 1


async def returned(store: ClientStore) -> None:
    """Try until a call comes through after a fail-over."""
    with anyio.fail_after(LONGEST_FAIL_OVER):
        while True:
            try:
                await store.peek([BUCKET.key])
            except StoreError:
                await anyio.lowlevel.checkpoint()
            else:
                return


async def test_an_acquire_whose_reply_is_lost_is_not_sent_again(
    library: Library, server: RedisServer
) -> None:
    with Proxy(server.port) as proxy:
        async with open_client(library, proxy.port) as client:
            store = ClientStore(client)
            await store.acquire(ask())
            proxy.mode = "lose"
            with anyio.fail_after(LONGEST_CALL), pytest.raises(StoreError) as caught:
                await store.acquire(ask())
            proxy.mode = "pass"
            assert caught.value.may_have_run
    value = server.client.get(BUCKET.key)
    assert str(value).endswith(" 2")


async def test_a_server_that_hangs_is_told_in_time(library: Library, server: RedisServer) -> None:
    async with open_client(library, server.port) as client:
        store = ClientStore(client, timeout=0.2)
        await store.acquire(ask())
        server.pause()
        try:
            with anyio.fail_after(LONGEST_CALL), pytest.raises(StoreTimeout) as caught:
                await store.acquire(ask())
        finally:
            server.resume()
        assert caught.value.may_have_run


async def test_a_server_that_is_gone_is_told(library: Library, server: RedisServer) -> None:
    async with open_client(library, server.port) as client:
        store = ClientStore(client)
        await store.acquire(ask())
        server.kill()
        with anyio.fail_after(LONGEST_CALL), pytest.raises(StoreUnavailable):
            await store.acquire(ask())


async def test_a_refusal_is_told_in_the_servers_words_with_what_to_do(
    library: Library, server: RedisServer
) -> None:
    async with open_client(library, server.port) as client:
        store = ClientStore(client)
        server.client.lpush(BUCKET.key, "x")
        with pytest.raises(StoreProtocolError, match=r"WRONGTYPE.*database of its own"):
            await store.acquire(ask())
        server.client.replicaof("127.0.0.1", "1")
        with pytest.raises(StoreProtocolError, match=r"READONLY.*use the primary"):
            await store.acquire(ask("wbtrio:{other}:personal:orders"))


async def test_flushed_scripts_are_sent_again_and_no_step_runs_twice(
    library: Library, server: RedisServer
) -> None:
    async with open_client(library, server.port) as client, ClientStore(client) as store:
        await store.acquire(ask())
        server.client.script_flush()
        assert (await store.acquire(ask())).states[0].granted == 2


async def test_a_scope_that_is_cancelled_under_way_gets_its_grant(
    library: Library, server: RedisServer
) -> None:
    with Proxy(server.port) as proxy:
        async with open_client(library, proxy.port) as client:
            store = ClientStore(client, timeout=5)
            await store.acquire(ask())
            granted: list[int] = []
            proxy.mode = "hold"
            before = proxy.replies

            async def acquire(scope: anyio.CancelScope) -> None:
                with scope:
                    reply = await store.acquire(ask())
                    granted.append(reply.states[0].granted)

            scope = anyio.CancelScope()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(acquire, scope)
                await anyio.to_thread.run_sync(proxy.wait_for_replies, before + 1)
                scope.cancel()
                proxy.mode = "pass"
    assert granted == [2]


def repeating_clients() -> list[object]:
    sentinel = redis.asyncio.Sentinel([("127.0.0.1", 1)])
    return [
        redis.asyncio.Redis(),
        redis.asyncio.Redis(retry=Retry(NoBackoff(), 2)),
        redis.asyncio.RedisCluster("127.0.0.1", 1),
        sentinel.master_for("budgets", retry_on_timeout=True),
        sentinel.master_for("budgets", retry=Retry(NoBackoff(), 1)),
    ]


def test_a_client_of_redis_py_that_would_send_an_acquire_twice_is_refused() -> None:
    for client in repeating_clients():
        with pytest.raises(CallerError, match=r"Retry\(NoBackoff\(\), 0\)"):
            ClientStore(client)  # type: ignore[arg-type]


async def test_a_client_of_coredis_that_would_send_an_acquire_twice_is_refused(
    server: RedisServer, cluster: RedisCluster
) -> None:
    one, other = (
        coredis.Redis("127.0.0.1", server.port),
        coredis.RedisCluster("127.0.0.1", cluster.nodes[0].port),
    )
    async with one, other:
        for client in (one, other):
            with pytest.raises(CallerError, match=r"NoRetryPolicy\(\)"):
                ClientStore(client)


async def test_a_client_of_another_library_is_refused(server: RedisServer) -> None:
    with pytest.raises(CallerError, match=r"RedisStore\(url\)"):
        ClientStore(server.client)
