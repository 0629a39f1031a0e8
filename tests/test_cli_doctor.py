"""`wbtrio doctor`: a Redis is looked at, and told what to change."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.redis_server import RedisServer, free_port
from tests.support.store_faults import change_default_user
from wbtrio.cli import _doctor_checks as checks
from wbtrio.cli import main

pytestmark = pytest.mark.real_io

SECRET = "s3cret-password"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["doctor", *arguments])
    captured = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return ended.value.code, captured.out, captured.err


def verdicts(out: str) -> dict[str, str]:
    return {one["check"]: one["verdict"] for one in json.loads(out)["findings"]}


def test_a_server_as_it_should_be_passes_and_nothing_is_left_there(
    redis_server: RedisServer, redis_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "--redis", redis_url, "--json")
    assert (code, err, set(verdicts(out).values())) == (0, "", {"ok"})
    assert redis_server.client.dbsize() == 0


def test_what_is_found_is_told_as_a_table_too(
    redis_server: RedisServer,
    redis_url: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    redis_server.client.set("wbtrio:{a}:personal:b", "1 2 3")
    _, out, _ = run(capsys, "--redis", redis_url)
    for text in ("version", "EVALSHA and TIME work", "p50", "noeviction", "1 kept"):
        assert text in out


def test_a_server_that_evicts_any_key_is_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    config = {"maxmemory": "100mb", "maxmemory-policy": "allkeys-lru"}
    with RedisServer(config=config) as server:
        code, out, _ = run(capsys, "--redis", server.url, "--json")
    assert (code, verdicts(out)["eviction"]) == (1, "warning")


def test_a_server_that_refuses_scripts_fails_with_the_commands_to_allow(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with RedisServer() as server:
        change_default_user(server, "-evalsha")
        code, out, _ = run(capsys, "--redis", server.url, "--json")
    assert (code, verdicts(out)["scripts"]) == (3, "failed")
    assert "EVALSHA" in out


def test_a_replica_fails(capsys: pytest.CaptureFixture[str]) -> None:
    with RedisServer() as server:
        server.client.replicaof("127.0.0.1", str(free_port()))
        code, out, _ = run(capsys, "--redis", server.url, "--json")
    assert (code, verdicts(out)["role"]) == (3, "failed")


def test_a_server_that_is_not_there_is_told_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "--redis", f"redis://127.0.0.1:{free_port()}/0")
    assert (code, out) == (3, "")
    assert "Nobody answers" in err


def test_a_wrong_password_is_told_and_never_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with RedisServer(config={"requirepass": "right"}, password="right") as server:
        url = f"redis://:{SECRET}@127.0.0.1:{server.port}/0"
        code, out, err = run(capsys, "--redis", url)
    assert code == 3
    assert "WRONGPASS" in err
    assert SECRET not in out + err


def test_a_text_that_is_no_url_is_the_callers_fault(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "--redis", "localhost")
    assert code == 2
    assert "Redis URL" in err


@pytest.mark.parametrize(
    ("info", "verdict"),
    [
        ({"redis_version": "6.2.0"}, "ok"),
        ({"redis_version": "7.0.15"}, "ok"),
        ({"redis_version": "7.2.4", "valkey_version": "8.0.1", "server_name": "valkey"}, "ok"),
        ({"redis_version": "6.0.16"}, "warning"),
        ({}, "warning"),
    ],
)
def test_versions_from_6_2_on_will_do(info: dict[str, object], verdict: str) -> None:
    assert checks.check_version(info).verdict == verdict


@pytest.mark.parametrize(
    ("policy", "limit", "verdict"),
    [
        ("noeviction", 100, "ok"),
        ("volatile-lru", 100, "ok"),
        ("allkeys-lru", 0, "ok"),
        ("allkeys-lru", 100, "warning"),
        ("allkeys-random", 100, "warning"),
    ],
)
def test_only_an_eviction_that_can_hit_a_bucket_is_warned_of(
    policy: str, limit: int, verdict: str
) -> None:
    info = {"maxmemory_policy": policy, "maxmemory": limit}
    assert checks.check_eviction(info).verdict == verdict


@given(
    asked=st.integers(10**15, 10**16),
    travel=st.integers(0, 10**7),
    skew=st.integers(-(10**9), 10**9),
)
def test_a_clock_is_never_said_to_differ_by_more_than_it_does(
    asked: int, travel: int, skew: int
) -> None:
    finding = checks.check_clock(asked + travel // 2 + skew, asked, asked + travel)
    stated = float(finding.found.partition(" ")[0])
    assert abs(stated) <= abs(skew) / 1_000_000 + 0.001
    assert finding.verdict == ("ok" if abs(stated) <= 1 else "warning")


def test_a_slow_server_and_a_full_one_are_warned_of() -> None:
    assert checks.check_latency([1_000] * 99 + [60_000] * 2).verdict == "warning"
    assert checks.check_latency([1_000] * 100).verdict == "ok"
    assert checks.check_memory({"used_memory": 95, "maxmemory": 100}).verdict == "warning"
    assert checks.check_memory({"used_memory": 95, "maxmemory": 0}).verdict == "ok"
    broken = {"aof_enabled": 1, "aof_last_write_status": "err"}
    assert checks.check_persistence(broken).verdict == "warning"
