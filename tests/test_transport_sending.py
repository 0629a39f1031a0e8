"""Sent or not: which permits come back, what cancellation leaves behind, and connections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import httpcore
import httpx
import httpx2
import pytest

from tests.support.cancellation import cancel_at_every_checkpoint
from tests.support.network import Network
from wbtrio import MemoryStore, RateLimitTransport, Sending, WbRateLimiter
from wbtrio._sending import SendWatch
from wbtrio.simulator import WbSimulator, make_token
from wbtrio.simulator.serve import serve

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.support.cancellation import Attempt

pytestmark = pytest.mark.anyio

ORDERS = "https://marketplace-api.wildberries.ru/api/v3/orders"
KEY = "wbtrio:{seller-1}:personal:fbs-orders"
AUTH = {"Authorization": make_token("seller-1")}


def orders(sending: Sending | None = None) -> httpx.Request:
    extensions = {} if sending is None else {"wbtrio": sending}
    return httpx.Request("GET", ORDERS, headers=AUTH, extensions=extensions)


async def ask(transport: RateLimitTransport, sending: Sending | None = None) -> int:
    """One request, its reply read to the end; as a client does it."""
    response = await transport.handle_async_request(orders(sending))
    try:
        await response.aread()
    finally:
        with anyio.CancelScope(shield=True):
            await response.aclose()
    return response.status_code


@pytest.mark.parametrize(
    "error", [httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx2.ConnectError]
)
async def test_without_a_trace_a_failure_to_connect_gives_the_permit_back(
    error: type[Exception],
) -> None:
    def fail(request: httpx.Request) -> httpx.Response:
        raise error("no")

    limiter = WbRateLimiter()
    sending = Sending()
    transport = RateLimitTransport(httpx.MockTransport(fail), limiter=limiter)
    with pytest.raises(error):
        await ask(transport, sending)
    assert not sending.sent
    assert limiter.statistics().total.refunded == 1


@pytest.mark.parametrize("error", [httpx.ReadError, httpx.ReadTimeout, httpx.WriteError, OSError])
async def test_without_a_trace_any_other_failure_counts_as_sent(error: type[Exception]) -> None:
    def fail(request: httpx.Request) -> httpx.Response:
        raise error("no")

    limiter = WbRateLimiter()
    sending = Sending()
    transport = RateLimitTransport(httpx.MockTransport(fail), limiter=limiter)
    with pytest.raises(error):
        await ask(transport, sending)
    assert sending.sent
    assert limiter.statistics().total.refunded == 0


@pytest.mark.parametrize(
    ("network", "error", "sent"),
    [
        (Network(refuse=True), httpx.ConnectError, False),
        (Network(hang_up=True), httpx.RemoteProtocolError, True),
    ],
)
async def test_httpcores_trace_tells_whether_a_failed_request_was_sent(
    network: Network, error: type[Exception], sent: bool
) -> None:
    limiter = WbRateLimiter()
    sending = Sending()
    transport = RateLimitTransport(network.transport(), limiter=limiter)
    with pytest.raises(error):
        await ask(transport, sending)
    assert sending.sent is sent
    assert limiter.statistics().total.refunded == (not sent)


@pytest.mark.parametrize(("seconds", "sent"), [(0.05, False), (0.15, True)])
async def test_a_request_cancelled_before_it_was_sent_costs_nothing(
    seconds: float, sent: bool
) -> None:
    network, limiter = Network(connect=0.1, reply=0.1), WbRateLimiter()
    sending = Sending()
    transport = RateLimitTransport(network.transport(), limiter=limiter)
    with anyio.move_on_after(seconds):
        await ask(transport, sending)
    assert (sending.sent, network.requests) == (sent, int(sent))
    assert limiter.statistics().total.refunded == (not sent)


async def test_a_request_cancelled_under_way_moves_the_refill_to_when_it_may_have_arrived() -> None:
    store = MemoryStore()
    network = Network(connect=0.1, reply=0.1)
    transport = RateLimitTransport(network.transport(), limiter=WbRateLimiter(store))
    started = (await store.peek([])).now
    with anyio.move_on_after(0.15):
        await ask(transport)
    (state,) = (await store.peek([KEY])).states
    assert state.full_at == started + 150_000 + 200_000


async def test_cancelled_anywhere_no_token_is_lost_or_spent_twice_and_no_place_stays_taken() -> (
    None
):
    """Below is the real httpcore; what it wrote to the network must have been paid for."""
    made: list[tuple[RateLimitTransport, Network, WbRateLimiter]] = []

    async def scenario() -> int:
        network, limiter = Network(), WbRateLimiter()
        transport = RateLimitTransport(network.transport(), limiter=limiter, max_connections=1)
        made.append((transport, network, limiter))
        return await ask(transport)

    async def check(attempt: Attempt[int]) -> None:
        transport, network, limiter = made[-1]
        total = limiter.statistics().total
        spent = total.granted - total.refunded
        assert network.requests <= spent <= 1, attempt
        assert attempt.cancelled or attempt.result == 200
        with anyio.fail_after(10):
            assert await ask(transport) == 200
        assert limiter.statistics().total.granted == total.granted + 1
        await transport.aclose()
        assert network.open == 0, attempt

    assert await cancel_at_every_checkpoint(scenario, check) > 10


async def test_a_thousand_cancelled_requests_leave_a_transport_that_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a bounded pool httpcore 1.0.9 leaks the slot of a cancelled waiter; ours is unbounded."""
    network = Network(connect=0.01, reply=0.5)
    real = httpx.AsyncHTTPTransport

    def over_the_network(limits: httpx.Limits) -> httpx.AsyncHTTPTransport:
        monkeypatch.setattr("httpx.AsyncHTTPTransport", real)
        return network.transport(max_connections=limits.max_connections)

    monkeypatch.setattr("httpx.AsyncHTTPTransport", over_the_network)
    transport = RateLimitTransport()

    async def cancelled_after(seconds: float, seller: int) -> None:
        headers = {"Authorization": make_token(f"seller-{seller}")}
        with anyio.move_on_after(seconds):
            await transport.handle_async_request(httpx.Request("GET", ORDERS, headers=headers))

    async with anyio.create_task_group() as tasks:
        for number in range(1_000):
            tasks.start_soon(cancelled_after, (number % 40) * 0.005, number)
    with anyio.fail_after(5):
        assert await ask(transport) == 200
    await transport.aclose()
    assert network.open == 0


async def test_connections_are_bounded_until_the_body_was_read_or_closed() -> None:
    network = Network(connect=0, reply=0.1)
    transport = RateLimitTransport(network.transport(), max_connections=2)
    one = await transport.handle_async_request(orders())
    two = await transport.handle_async_request(orders())
    with anyio.move_on_after(60) as scope:
        await transport.handle_async_request(orders())
    assert scope.cancelled_caught
    assert network.requests == 2
    await one.aread()
    await two.aclose()
    await two.aclose()
    for _ in range(2):
        with anyio.fail_after(5):
            await transport.handle_async_request(orders())
    await transport.aclose()


async def test_a_response_that_came_whole_holds_no_connection() -> None:
    inner = httpx.MockTransport(lambda _: httpx.Response(200, content=b"{}"))
    transport = RateLimitTransport(inner, max_connections=1)
    for _ in range(3):
        with anyio.fail_after(5):
            response = await transport.handle_async_request(orders())
        assert response.is_closed


async def test_a_callers_own_trace_still_hears_everything_and_is_not_replaced() -> None:
    events: list[str] = []

    async def trace(event: str, info: Mapping[str, Any]) -> None:
        events.append(event)

    transport = RateLimitTransport(Network().transport())
    request = httpx.Request("GET", ORDERS, headers=AUTH, extensions={"trace": trace})
    for _ in range(2):
        events.clear()
        response = await transport.handle_async_request(request)
        await response.aread()
        assert events.count("http11.send_request_headers.started") == 1
    assert request.extensions == {"trace": trace}


@pytest.mark.parametrize(
    ("event", "method", "sent"),
    [
        ("http11.send_request_headers.started", b"GET", True),
        ("http2.send_request_headers.started", b"POST", True),
        # To a proxy, before the request itself.
        ("http11.send_request_headers.started", b"CONNECT", False),
        ("http2.send_connection_init.started", b"GET", False),
        ("connection.start_tls.complete", b"GET", False),
    ],
)
async def test_only_the_requests_own_first_byte_counts_as_sent(
    event: str, method: bytes, sent: bool
) -> None:
    watch = SendWatch(None, on_send=lambda: None, traced=False)
    await watch(event, {"request": httpcore.Request(method, "https://wb.ru/")})
    assert watch.may_have_sent(httpx.ReadError("no")) is sent


@pytest.mark.real_io
@pytest.mark.parametrize("library", [httpx, httpx2])
async def test_without_an_inner_transport_each_httpx_sends_by_its_own(library: Any) -> None:
    async with serve(WbSimulator()) as base_url:
        transport = RateLimitTransport(base_url=base_url)
        async with library.AsyncClient(transport=transport) as client:
            response = await client.get(f"{ORDERS}?limit=10&next=0", headers=AUTH)
    assert response.status_code == 200
    assert len(response.json()["orders"]) == 10
    assert response.extensions["wbtrio"].bucket == KEY
