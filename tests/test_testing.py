"""What users get from `pytest_plugins = ["wbtrio.testing"]`, shown by test runs of their kind."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

CONFTEST = """
import pytest

pytest_plugins = ["wbtrio.testing"]

@pytest.fixture
def anyio_backend(wb_virtual_time):
    return wb_virtual_time
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A user's folder of tests that asks for the fixtures."""
    pytester.makeconftest(CONFTEST)
    return pytester


def run(project: pytest.Pytester, source: str) -> dict[str, int]:
    """How many of the tests passed, failed, and so on."""
    project.makepyfile(source)
    return project.runpytest_subprocess("-p", "no:cacheprovider").parseoutcomes()


def test_a_client_reads_all_rows_of_the_simulator_without_a_429(project: pytest.Pytester) -> None:
    outcomes = run(
        project,
        """
        import pytest
        from wbtrio.simulator import Scenario, Stock

        pytestmark = pytest.mark.anyio

        @pytest.fixture
        def wb_scenario():
            return Scenario(stock=Stock(rows={"cards": 250}))

        async def test_cards(wb_client, wb_simulator, wb_token):
            async with wb_client as wb, wb.account(wb_token) as seller:
                cards = [card async for card in seller.items("content.cards.list")]
            assert len(cards) == 250
            assert [entry.account for entry in wb_simulator.log] == ["seller-1"] * 3
            assert wb_simulator.refused == 0
        """,
    )
    assert outcomes == {"passed": 1}


def test_minutes_of_waiting_are_exact_and_take_no_time(project: pytest.Pytester) -> None:
    outcomes = run(
        project,
        """
        import anyio
        import pytest

        @pytest.mark.anyio
        async def test_the_eleventh_request_waits_a_minute(wb_client, wb_token):
            async with wb_client as wb, wb.account(wb_token) as seller:
                for _ in range(11):
                    await seller.call("statistics.orders.list", params={"dateFrom": "2026-01-01"})
            assert anyio.current_time() == pytest.approx(60)
        """,
    )
    assert outcomes == {"passed": 1}


def test_each_test_has_a_fresh_wb_and_fresh_budgets(project: pytest.Pytester) -> None:
    outcomes = run(
        project,
        """
        import anyio
        import pytest

        pytestmark = pytest.mark.anyio

        @pytest.mark.parametrize("number", [1, 2])
        async def test_a_base_token_gets_its_one_request(number, wb_client, make_wb_token):
            token = make_wb_token("seller-1", "basic")
            async with wb_client as wb, wb.account(token) as seller:
                await seller.call(
                    "statistics.orders.list", params={"dateFrom": "2026-01-01"}, max_wait=0
                )
            assert anyio.current_time() == 0
        """,
    )
    assert outcomes == {"passed": 2}


def test_tokens_are_made_of_any_kind_seller_and_category(project: pytest.Pytester) -> None:
    outcomes = run(
        project,
        """
        from wbtrio import Scope, TokenKind, decode_token

        def test_tokens(make_wb_token, wb_token):
            made = make_wb_token("seller-2", "basic", scopes={"content"}, read_only=True)
            token = decode_token(made)
            assert (token.sid, token.kind) == ("seller-2", TokenKind.BASIC)
            assert (token.scopes, token.read_only) == ({Scope.CONTENT}, True)
            assert decode_token(wb_token).sid == "seller-1"
        """,
    )
    assert outcomes == {"passed": 1}


def test_the_fixtures_need_no_plugin_for_async_tests(project: pytest.Pytester) -> None:
    outcomes = run(
        project,
        """
        import trio

        def test_a_ping(wb_client, wb_token, wb_virtual_time):
            async def main():
                async with wb_client as wb:
                    return await wb.check(wb_token)

            assert trio.run(main, **wb_virtual_time[1]).sid == "seller-1"
        """,
    )
    assert outcomes == {"passed": 1}


def test_nothing_is_loaded_unasked(pytester: pytest.Pytester) -> None:
    assert run(pytester, "def test_it(wb_client): ...") == {"errors": 1}


def test_the_page_on_testing_runs_as_it_stands(pytester: pytest.Pytester) -> None:
    page = (Path(__file__).parents[1] / "docs" / "testing.md").read_text(encoding="utf-8")
    fence = re.compile(r"^```python notest\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    conftest, test, scenario = fence.findall(page)
    pytester.makeconftest(f"{conftest}\n\n{scenario}")
    assert run(pytester, test) == {"passed": 1}
