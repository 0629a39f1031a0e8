"""How long finding a request's operation takes: every operation, static and templated paths.

Prints one JSON object; times are nanoseconds per match. Goal: a median under 2 µs.
"""

from __future__ import annotations

import json
import re
import statistics
import time

from wbtrio._registry import Operation, Registry, default_registry

ROUNDS = 7
REPEATS = 2_000


def request_of(operation: Operation) -> tuple[str, str, str]:
    """A request for an operation, with ids such as WB hands out."""
    path = re.sub(r"\{[^}]*\}", "WB-GI-123456789", operation.path)
    return operation.method, operation.hosts[0], path


def time_of(registry: Registry, request: tuple[str, str, str]) -> float:
    """Nanoseconds per match of one request: the median of several rounds."""
    match = registry.match
    rounds = []
    for _ in range(ROUNDS):
        started = time.perf_counter_ns()
        for _ in range(REPEATS):
            match(*request)
        rounds.append((time.perf_counter_ns() - started) / REPEATS)
    return statistics.median(rounds)


def summary(times: list[float]) -> dict[str, float]:
    """Median, 99th percentile and maximum over operations."""
    ordered = sorted(times)
    return {
        "operations": len(ordered),
        "p50_ns": round(statistics.median(ordered)),
        "p99_ns": round(ordered[int(0.99 * (len(ordered) - 1))]),
        "max_ns": round(ordered[-1]),
    }


def measure() -> dict[str, dict[str, float]]:
    """Times over all operations, and apart for static, templated and unknown paths."""
    registry = default_registry()
    static: list[float] = []
    templated: list[float] = []
    unknown: list[float] = []
    for operation in registry.operations.values():
        method, host, path = request_of(operation)
        times = templated if operation.path_parameters else static
        times.append(time_of(registry, (method, host, path)))
        unknown.append(time_of(registry, (method, host, path + "/of/no/operation")))
    return {
        "all": summary(static + templated),
        "static": summary(static),
        "templated": summary(templated),
        "unknown": summary(unknown),
    }


if __name__ == "__main__":
    print(json.dumps({"benchmark": "match", "results": measure()}, indent=2))
