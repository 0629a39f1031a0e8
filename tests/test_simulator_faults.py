"""What the simulated WB turns away, loses and spoils, on both loops and in virtual time."""

from __future__ import annotations

from datetime import UTC, datetime

import anyio
import httpx
import msgspec
import pytest

from wbtrio.simulator import (
    Fault,
    FaultKind,
    Foreign,
    Latency,
    Motion,
    Rule,
    Scenario,
    Stock,
    WbSimulator,
    make_token,
)
from wbtrio.simulator.tokens import NotAToken, read_token

pytestmark = pytest.mark.anyio

ORDERS = "https://marketplace-api.wildberries.ru/api/v3/orders"
PAGE = {"limit": 1, "next": 0}
STATISTICS = "https://statistics-api.wildberries.ru/api/v1/supplier/orders"
WAREHOUSES = "https://supplies-api.wildberries.ru/api/v1/warehouses"
STOCKS = "https://seller-analytics-api.wildberries.ru/api/analytics/v1/stocks-report/wb-warehouses"


def client_of(simulator: WbSimulator, token: str | None = None) -> httpx.AsyncClient:
    headers = {"Authorization": make_token() if token is None else token}
    return httpx.AsyncClient(transport=httpx.ASGITransport(simulator), headers=headers)


def limit_headers(response: httpx.Response) -> list[str]:
    return [name for name in response.headers if name.startswith("x-ratelimit")]


async def turned_away(
    url: str, token: str, *, scenario: Scenario | None = None, method: str = "GET"
) -> httpx.Response:
    """The reply of a gateway, which counts nothing and tells nothing of counters."""
    simulator = WbSimulator(scenario)
    async with client_of(simulator, token) as http:
        response = await http.request(method, url, params=PAGE if method == "GET" else None)
    assert limit_headers(response) == []
    assert simulator.tallies == {}
    assert [entry.status for entry in simulator.log] == [response.status_code]
    return response


async def test_a_missing_token_is_an_empty_token() -> None:
    response = await turned_away(ORDERS, "")
    assert response.status_code == 401
    assert response.json()["detail"] == "invalid API access token: empty main token"


@pytest.mark.parametrize("token", ["x", "a.b.c", "a.e30.c", "a.W10.c", "Bearer a.bnVsbA.c"])
async def test_a_malformed_token_is_called_so(token: str) -> None:
    response = await turned_away(ORDERS, token)
    assert response.status_code == 401
    assert response.json()["detail"].startswith("token problem; token is malformed: ")


async def test_an_expired_token_is_sent_to_the_page_of_tokens() -> None:
    token = make_token(expires=datetime(2026, 11, 30, tzinfo=UTC))
    response = await turned_away(ORDERS, token)
    assert response.status_code == 401
    assert response.json()["detail"].startswith("token expired; Manage tokens at https://seller.")


async def test_a_token_expires_while_the_simulator_runs() -> None:
    simulator = WbSimulator(Scenario(stock=Stock(today=datetime(2026, 12, 1, tzinfo=UTC))))
    token = make_token(expires=datetime(2026, 12, 1, 0, 1, tzinfo=UTC))
    async with client_of(simulator, token) as http:
        before = await http.get(ORDERS, params=PAGE)
        await anyio.sleep(60)
        after = await http.get(ORDERS, params=PAGE)
    assert (before.status_code, after.status_code) == (200, 401)


async def test_a_token_without_the_category_is_refused() -> None:
    response = await turned_away(ORDERS, make_token(scopes={"content"}))
    assert response.status_code == 401
    assert response.json()["detail"] == "token scope not allowed"


async def test_a_read_only_token_may_not_write() -> None:
    url = "https://marketplace-api.wildberries.ru/api/v3/supplies"
    response = await turned_away(url, make_token(read_only=True), method="POST")
    assert response.status_code == 401


async def test_a_test_token_is_for_the_sandbox_only() -> None:
    token = make_token(kind="test")
    sandbox = ORDERS.replace("marketplace-api.", "marketplace-api-sandbox.")
    simulator = WbSimulator()
    async with client_of(simulator, token) as http:
        inside = await http.get(sandbox, params=PAGE)
        second = await http.get(sandbox, params=PAGE)
    outside = await turned_away(ORDERS, token)
    assert (inside.status_code, second.status_code, outside.status_code) == (200, 429, 401)


@pytest.mark.parametrize(
    ("style", "detail"),
    [
        ("legacy", "base token without secret is not allowed for this path"),
        ("gateway", "token does not satisfy additional requirements"),
    ],
)
async def test_a_basic_token_is_refused_where_its_kind_is_not_served(
    style: str, detail: str
) -> None:
    scenario = Scenario(headers="legacy" if style == "legacy" else "gateway")
    token = make_token(kind="basic")
    response = await turned_away(STOCKS, token, scenario=scenario, method="POST")
    assert response.status_code == 403
    assert response.json()["detail"] == detail


async def test_the_service_secret_makes_a_basic_token_another_kind() -> None:
    simulator = WbSimulator()
    async with client_of(simulator, make_token(kind="basic")) as http:
        response = await http.post(STOCKS, headers={"X-Client-Secret": "s"}, json={})
    assert response.status_code != 403
    assert [key.kind for key in simulator.tallies] == ["basic_secret"]


async def test_the_three_kinds_of_404_are_told_apart() -> None:
    token = make_token()
    wrong = await turned_away("https://statistics-api.wildberries.ru/api/v3/orders", token)
    disabled = await turned_away(WAREHOUSES, token)
    gone = await turned_away(
        STATISTICS, token, scenario=Scenario(faults=(Fault(FaultKind.DEPRECATED),))
    )
    assert [reply.status_code for reply in (wrong, disabled, gone)] == [404] * 3
    assert wrong.json()["title"] == "path not found"
    assert wrong.json()["origin"] == "ag-statistics"
    assert disabled.json()["detail"].startswith("This method is temporarily disabled. Link: ")
    assert gone.json()["detail"].startswith("This method is deprecated. Link: ")


async def test_both_gateways_word_a_429_in_their_own_way() -> None:
    bodies = []
    for scenario in (Scenario(headers="legacy"), Scenario(headers="gateway")):
        async with client_of(WbSimulator(scenario)) as http:
            for _ in range(11):
                response = await http.get(STATISTICS, params={"dateFrom": "2026-11-30"})
            bodies.append(response.json())
    old, new = bodies
    assert old["origin"] == "s2s-api-auth-stat"
    assert old["detail"].startswith("Limited by global limiter, per seller seller-1; See https://")
    assert "code" in old
    assert new["origin"] == "ag-statistics"
    assert "X-RateLimit-Retry header" in new["detail"]
    assert "code" not in new


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (FaultKind.WRONG_PATH, 404),
        (FaultKind.DEPRECATED, 404),
        (FaultKind.DISABLED, 404),
        (FaultKind.KIND_REFUSED, 403),
        (FaultKind.TOKEN_EXPIRED, 401),
        (FaultKind.SCOPE_REFUSED, 401),
        (FaultKind.BARE_429, 429),
        (FaultKind.MAINTENANCE_429, 429),
        (FaultKind.MAINTENANCE_503, 503),
    ],
)
async def test_a_fault_before_the_counter_is_neither_counted_nor_told_of_it(
    kind: FaultKind, status: int
) -> None:
    response = await turned_away(ORDERS, make_token(), scenario=Scenario(faults=(Fault(kind),)))
    assert response.status_code == status


@pytest.mark.parametrize(
    ("kind", "status", "start"),
    [
        (FaultKind.SERVER_ERROR, 500, b"{"),
        (FaultKind.BAD_GATEWAY, 502, b"<html>"),
        (FaultKind.TIMEOUT, 504, b"upstream"),
        (FaultKind.HTML, 200, b"<!DOCTYPE html>"),
        (FaultKind.TRUNCATED, 200, b'{"next":'),
        (FaultKind.EMPTY, 200, b""),
    ],
)
async def test_a_fault_behind_the_counter_is_counted(
    kind: FaultKind, status: int, start: bytes
) -> None:
    simulator = WbSimulator(Scenario(faults=(Fault(kind),)))
    async with client_of(simulator) as http:
        response = await http.get(ORDERS, params=PAGE)
    assert response.status_code == status
    assert response.content.startswith(start)
    assert response.headers["x-ratelimit-remaining"] == "19"
    assert [tally.admitted for tally in simulator.tallies.values()] == [1]


async def test_a_refused_connection_and_a_lost_request_are_not_counted() -> None:
    faults = (Fault(FaultKind.REFUSED, times=1), Fault(FaultKind.LOST_BEFORE, times=1))
    simulator = WbSimulator(Scenario(faults=faults))
    async with client_of(simulator) as http:
        with pytest.raises(httpx.ConnectError):
            await http.get(ORDERS, params=PAGE)
        with pytest.raises(httpx.ReadError):
            await http.get(ORDERS, params=PAGE)
    assert simulator.tallies == {}


async def test_a_lost_reply_was_counted() -> None:
    simulator = WbSimulator(Scenario(faults=(Fault(FaultKind.LOST_AFTER),)))
    async with client_of(simulator) as http:
        with pytest.raises(httpx.ReadError):
            await http.get(ORDERS, params=PAGE)
    assert [tally.admitted for tally in simulator.tallies.values()] == [1]
    assert [entry.status for entry in simulator.log] == [0]


async def test_faults_strike_the_requests_that_they_are_meant_for() -> None:
    fault = Fault(FaultKind.SERVER_ERROR, operation="fbs.*", account="seller-1", skip=1, times=2)
    simulator = WbSimulator(Scenario(faults=(fault,)))
    async with client_of(simulator) as http:
        own = [(await http.get(ORDERS, params=PAGE)).status_code for _ in range(5)]
        other = await http.get(STATISTICS, params={"dateFrom": "2026-11-30"})
    async with client_of(simulator, make_token("seller-2")) as http:
        stranger = [(await http.get(ORDERS, params=PAGE)).status_code for _ in range(5)]
    assert own == [200, 500, 500, 200, 200]
    assert other.status_code == 200
    assert stranger == [200] * 5


async def test_chance_faults_repeat_with_the_seed() -> None:
    runs = []
    for seed in (1, 1, 2):
        faults = (Fault(FaultKind.SERVER_ERROR, probability=0.5),)
        simulator = WbSimulator(Scenario(seed=seed, faults=faults))
        async with client_of(simulator) as http:
            runs.append([(await http.get(ORDERS, params=PAGE)).status_code for _ in range(20)])
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]
    assert set(runs[0]) == {200, 500}


async def test_latency_passes_before_and_after_the_count() -> None:
    simulator = WbSimulator(Scenario(latency=Latency(before=2, after=3)))
    start = anyio.current_time()
    async with client_of(simulator) as http:
        await http.get(ORDERS, params=PAGE)
    assert anyio.current_time() - start == pytest.approx(5)
    assert [entry.time for entry in simulator.log] == [2]


async def test_a_request_cancelled_on_its_way_was_never_counted() -> None:
    simulator = WbSimulator(Scenario(latency=Latency(before=2, after=3)))
    async with client_of(simulator) as http:
        with anyio.move_on_after(1):
            await http.get(ORDERS, params=PAGE)
        assert simulator.tallies == {}
        with anyio.move_on_after(4):
            await http.get(ORDERS, params=PAGE)
    assert [tally.admitted for tally in simulator.tallies.values()] == [1]


async def arrivals(scenario: Scenario, count: int) -> list[int]:
    """Requests sent one a millisecond, in the order in which their replies arrive."""
    arrived: list[int] = []

    async def ask(http: httpx.AsyncClient, number: int) -> None:
        await anyio.sleep(number / 1_000)
        await http.get(ORDERS, params=PAGE)
        arrived.append(number)

    async with client_of(WbSimulator(scenario)) as http, anyio.create_task_group() as tasks:
        for number in range(count):
            tasks.start_soon(ask, http, number)
    return arrived


async def test_jittered_latency_lets_replies_overtake_and_repeats_with_the_seed() -> None:
    jittered = Scenario(seed=3, latency=Latency(0.5, 0.5, jitter=0.9))
    first = await arrivals(jittered, 10)
    assert sorted(first) == list(range(10))
    assert first != sorted(first)
    assert await arrivals(jittered, 10) == first
    assert await arrivals(Scenario(latency=Latency(0.5, 0.5)), 10) == list(range(10))


async def test_another_rule_keeps_the_cost_of_errors_and_is_another_kinds_no_more() -> None:
    rule = Rule(60 * 1_000_000, 60, 30)
    simulator = WbSimulator(Scenario(rules={"fbs-orders": {"personal": rule}}))
    async with client_of(simulator) as http:
        wrong = await http.get(ORDERS)
    async with client_of(simulator, make_token(kind="basic")) as http:
        untouched = await http.get(ORDERS, params=PAGE)
    assert wrong.status_code == 400
    assert wrong.headers["x-ratelimit-limit"] == "30"
    assert wrong.headers["x-ratelimit-remaining"] == "20"
    assert untouched.headers["x-ratelimit-limit"] == "20"


def test_a_rule_for_an_unknown_budget_is_refused() -> None:
    scenario = Scenario(rules={"fbs-ordres": {"personal": Rule(1, 1, 1)}})
    with pytest.raises(ValueError, match="no such budget: fbs-ordres"):
        WbSimulator(scenario)


def test_a_scenario_is_read_from_plain_data_and_a_typo_is_refused() -> None:
    plain = {
        "seed": 3,
        "refill": "window",
        "latency": {"before": 0.1},
        "foreign": [{"every": 5, "size": 2}],
        "faults": [{"kind": "html", "times": 1}],
        "stock": {"rows": {"cards": 3}, "motions": [{"resource": "cards", "every": 1}]},
    }
    scenario = msgspec.convert(plain, Scenario)
    assert scenario.foreign == (Foreign(5, 2),)
    assert scenario.stock.motions == (Motion("cards", 1),)
    with pytest.raises(msgspec.ValidationError, match="refil"):
        msgspec.convert({"refil": "window"}, Scenario)


async def test_a_stranger_on_the_account_shows_in_remaining_and_in_the_tally() -> None:
    simulator = WbSimulator(Scenario(foreign=(Foreign(every=1_000, size=5),)))
    async with client_of(simulator) as http:
        response = await http.get(ORDERS, params=PAGE)
    (tally,) = simulator.tallies.values()
    assert response.headers["x-ratelimit-remaining"] == "14"
    assert (tally.foreign, tally.admitted) == (5, 1)


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"probability": 2}, "not a possible fault"),
        ({"skip": -1}, "not a possible fault"),
    ],
)
def test_an_impossible_fault_is_refused(wrong: dict[str, float], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        Fault(FaultKind.HTML, **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [{"before": -1}, {"after": -1}, {"jitter": 1.5}])
def test_an_impossible_latency_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="not a possible latency"):
        Latency(**wrong)


@pytest.mark.parametrize(
    ("kind", "has_secret", "expected"),
    [
        ("personal", False, "personal"),
        ("service", False, "service"),
        ("basic", False, "basic"),
        ("basic", True, "basic_secret"),
        ("test", False, "test"),
    ],
)
def test_minted_tokens_are_read_back(kind: str, has_secret: bool, expected: str) -> None:
    token = make_token("seller-7", kind)  # type: ignore[arg-type]
    claims = read_token(f"Bearer {token}", has_secret=has_secret)
    assert claims.kind == expected
    assert claims.sid == "seller-7"
    assert claims.account == ("seller-7+service:service-1" if kind == "service" else "seller-7")
    assert claims.allows("finance")


def test_a_rotated_token_is_another_text_of_the_same_account() -> None:
    first, second = make_token(serial=1), make_token(serial=2)
    assert first != second
    assert read_token(first).account == read_token(second).account


def test_a_token_without_a_seller_is_none() -> None:
    with pytest.raises(NotAToken):
        read_token("a.e30.c")
