"""Every measurement runs, with counts so small that it measures nothing."""

from __future__ import annotations

import pytest

from benchmarks import __main__ as bench
from benchmarks._measure import Job
from tests.support.redis_server import RedisServer


@pytest.mark.parametrize("name", sorted(bench.CONTENDERS))
def test_a_contender_gives_its_figures(name: str, redis_server: RedisServer) -> None:
    redis_server.reset()
    module, loops = bench.CONTENDERS[name]
    job = Job(loop=loops[0], url=redis_server.url, calls=20, tasks=3, calls_per_task=5)
    figures = bench.run(module, job)
    assert figures.note == ""
    assert all(spread[50] > 0 for spread in figures.spreads.values())
    assert figures.spreads


def test_the_environment_is_recorded() -> None:
    assert {"python", "machine", "trio", "redis"} <= set(bench.environment())
