"""One socket for all tasks: replies in order whatever is cancelled, and faults told in words."""

from __future__ import annotations

import logging
from pathlib import Path

import anyio
import anyio.abc
import pytest

from tests.support.cancellation import Attempt, cancel_at_every_checkpoint
from tests.support.redis_server import RedisServer, free_port
from wbtrio import (
    RedisStore,
    StoreError,
    StoreProtocolError,
    StoreTimeout,
    StoreUnavailable,
    StoreUrlError,
)
from wbtrio._bucket import FULL, Bucket, Limit, Narrowing
from wbtrio.stores import AcquireReply, AcquireRequest, RefundRequest
from wbtrio.stores._connection import _parse

pytestmark = [pytest.mark.anyio, pytest.mark.real_io]

LIMIT = Limit(3_600_000_000, 1, 500)
SECRET = "s3cret-password"


def key(budget: str) -> str:
    return Bucket("seller", "personal", budget, LIMIT).key


async def take(store: RedisStore, budget: str = "orders") -> AcquireReply:
    return await store.acquire([AcquireRequest(key(budget), LIMIT, 1, FULL)])


async def test_each_of_many_tasks_gets_the_reply_to_its_own_command(redis_url: str) -> None:
    wrong: list[str] = []

    async def work(store: RedisStore, number: int) -> None:
        for count in range(1, 21):
            reply = await take(store, f"budget-{number}")
            if reply.states[0].granted != count:
                wrong.append(f"task {number} got {reply.states[0].granted} for {count}")

    async with RedisStore(redis_url, timeout=5) as store, anyio.create_task_group() as tasks:
        for number in range(50):
            tasks.start_soon(work, store, number)
    assert wrong == []


async def test_the_commands_of_one_tick_leave_in_few_writes(
    redis_server: RedisServer, redis_url: str
) -> None:
    async with RedisStore(redis_url, timeout=5) as store:
        before = redis_server.client.info("stats")["total_reads_processed"]
        async with anyio.create_task_group() as tasks:
            for number in range(64):
                tasks.start_soon(take, store, f"budget-{number}")
        reads = redis_server.client.info("stats")["total_reads_processed"] - before
    assert reads < 16


async def test_a_call_cancelled_anywhere_is_refunded_or_delivered_and_replies_stay_in_order(
    redis_server: RedisServer, redis_url: str
) -> None:
    async with RedisStore(redis_url, timeout=5) as store:

        async def make() -> AcquireReply:
            return await take(store)

        async def check(attempt: Attempt[AcquireReply]) -> None:
            spent = int((redis_server.client.get(key("orders")) or "0 0 0").split()[2])
            delivered = attempt.result is not None and attempt.result.granted
            assert spent == int(delivered)
            assert (await take(store, "other")).states[0].granted == 1
            redis_server.client.flushdb()

        assert await cancel_at_every_checkpoint(make, check) >= 1


async def test_a_timeout_ends_every_call_under_way_and_the_next_one_connects_anew() -> None:
    with RedisServer() as server:
        async with RedisStore(server.url, timeout=0.1, connect_timeout=5) as store:
            server.pause()
            errors: list[StoreError] = []

            async def fail(number: int) -> None:
                try:
                    await take(store, str(number))
                except StoreError as error:
                    errors.append(error)

            async with anyio.create_task_group() as tasks:
                for number in range(5):
                    tasks.start_soon(fail, number)
            server.resume()
            assert {type(error) for error in errors} == {StoreTimeout}
            assert all(error.may_have_run for error in errors)
            assert (await take(store, "fresh")).granted


async def test_the_store_connects_again_after_the_server_was_restarted() -> None:
    with RedisServer() as server:
        async with RedisStore(server.url, timeout=5) as store:
            await take(store)
            server.kill()
            with pytest.raises(StoreUnavailable):
                await take(store)
            server.restart()
            await store.open()
            assert (await take(store)).granted


async def test_while_a_server_is_away_calls_fail_at_once_without_trying_it_each_time() -> None:
    store = RedisStore(f"redis://127.0.0.1:{free_port()}/0")
    with pytest.raises(StoreUnavailable, match="Nobody answers") as first:
        await take(store)
    with pytest.raises(StoreUnavailable, match="not tried again yet") as second:
        await take(store)
    assert not first.value.may_have_run
    assert second.value.__cause__ is first.value


async def test_an_unreachable_server_is_told_at_the_start() -> None:
    port = free_port()
    with pytest.raises(StoreUnavailable, match=f"127.0.0.1:{port}.*Start the server"):
        async with RedisStore(f"redis://127.0.0.1:{port}/0"):
            pytest.fail("it opened")


async def test_a_server_that_is_no_redis_is_told_at_the_start() -> None:
    async def answer(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            await stream.receive()
            await stream.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(listener.serve, answer)
        port = listener.extra(anyio.abc.SocketAttribute.local_port)  # noqa: S610  # no Django
        with pytest.raises(StoreProtocolError, match="does not speak Redis"):
            await RedisStore(f"redis://127.0.0.1:{port}/0").open()
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize("url", ["", "localhost", "http://localhost", "redis//x", "ftp://h/0"])
async def test_a_url_that_is_none_is_told_before_anything_is_sent(url: str) -> None:
    with pytest.raises(StoreUrlError, match="no Redis URL"):
        RedisStore(url)


@pytest.mark.parametrize("url", ["redis://localhost/first", "rediss://localhost/0/1", "unix://"])
async def test_a_url_whose_database_or_socket_is_none_does_not_fall_back_to_a_default(
    url: str,
) -> None:
    with pytest.raises(StoreUrlError):
        RedisStore(url)


@pytest.mark.parametrize(
    ("url", "database"),
    [("redis://localhost", 0), ("redis://localhost/", 0), ("redis://localhost/7", 7)],
)
async def test_a_url_may_leave_the_database_out(url: str, database: int) -> None:
    assert _parse(url).get("db", 0) == database


async def test_a_password_is_sent_and_never_shown(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with RedisServer(config={"requirepass": SECRET}, password=SECRET) as server:
        async with RedisStore(server.url, timeout=5) as store:
            assert (await take(store)).granted
            shown = [repr(store), repr(store._connection)]
        with pytest.raises(StoreProtocolError) as wrong:
            await RedisStore(server.url.replace(SECRET, f"not-{SECRET}")).open()
        with pytest.raises(StoreProtocolError) as none:
            await RedisStore(f"redis://127.0.0.1:{server.port}/0").open()
    assert "WRONGPASS" in str(wrong.value)
    assert "redis://:password@host" in str(none.value)
    shown += [str(wrong.value), repr(wrong.value), str(none.value), caplog.text]
    assert not any(SECRET in text for text in shown)


async def test_a_user_of_the_servers_acl_needs_only_the_documented_rights(
    redis_server: RedisServer, redis_url: str
) -> None:
    page = (Path(__file__).parents[1] / "docs" / "redis.md").read_text(encoding="utf-8")
    (line,) = (line for line in page.splitlines() if line.startswith("ACL SETUSER wbtrio "))
    redis_server.client.execute_command(*line.split())  # type: ignore[no-untyped-call]
    url = redis_url.replace("redis://", "redis://wbtrio:password@")
    async with RedisStore(url, timeout=5) as store:
        reply = await take(store)
        await store.narrow(key("orders"), LIMIT, Narrowing(hold=1), reply.states[0])
        await store.refund([RefundRequest(key("orders"), LIMIT, 1, reply.states[0])])
    assert reply.granted
    redis_server.client.acl_deluser("wbtrio")


async def test_the_database_of_the_url_is_used(redis_server: RedisServer, redis_url: str) -> None:
    async with RedisStore(redis_url.replace("/0", "/3"), timeout=5) as store:
        await take(store)
    assert redis_server.client.dbsize() == 0
    assert redis_server.client.info("keyspace")["db3"]["keys"] == 1
    redis_server.client.flushall()


async def test_tls_is_spoken_and_a_stranger_s_certificate_refused(tmp_path: Path) -> None:
    certificate, private = tmp_path / "cert.pem", tmp_path / "key.pem"
    await anyio.run_process(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"),
            *("-keyout", str(private), "-out", str(certificate)),
        ]
    )
    port = free_port()
    config = {
        "tls-port": str(port),
        "tls-cert-file": str(certificate),
        "tls-key-file": str(private),
        "tls-auth-clients": "no",
    }
    with RedisServer(config=config):
        url = f"rediss://localhost:{port}/0"
        async with RedisStore(f"{url}?ssl_ca_certs={certificate}", timeout=5) as store:
            async with anyio.create_task_group() as tasks:
                for number in range(20):
                    tasks.start_soon(take, store, str(number % 3))
            counts = await store.peek([key(str(number)) for number in range(3)])
            assert sum(state.granted for state in counts.states) == 20
        with pytest.raises(StoreProtocolError, match="No TLS"):
            await RedisStore(url).open()


async def test_a_reply_lost_after_the_script_ran_is_not_replayed(
    redis_server: RedisServer, redis_url: str
) -> None:
    async def forward_once(client: anyio.abc.SocketStream) -> None:
        """Pass greeting and one command on, but drop the reply to the command."""
        async with client, await anyio.connect_tcp("127.0.0.1", redis_server.port) as server:
            await server.send(await client.receive())
            await client.send(await server.receive())
            await server.send(await client.receive())
            await server.receive()

    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(listener.serve, forward_once)
        port = listener.extra(anyio.abc.SocketAttribute.local_port)  # noqa: S610  # no Django
        async with RedisStore(redis_url, timeout=5) as direct:
            await direct.narrow(key("warm"), LIMIT, Narrowing(hold=1), FULL)
            lossy = RedisStore(f"redis://127.0.0.1:{port}/0", timeout=5)
            with pytest.raises(StoreUnavailable) as lost:
                await take(lossy)
            assert lost.value.may_have_run
            counted = await direct.peek([key("orders")])
        tasks.cancel_scope.cancel()
    assert counted.states[0].granted == 1
