"""All strategies, by the names of the tables."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.lab.strategies import ours
from benchmarks.lab.strategies._base import Setting, Strategy
from benchmarks.lab.strategies.adaptive import Adaptive
from benchmarks.lab.strategies.backoff import Backoff
from benchmarks.lab.strategies.headers_only import HeadersOnly
from benchmarks.lab.strategies.leaky import LeakyPaths
from benchmarks.lab.strategies.literal import Literal
from benchmarks.lab.strategies.nothing import NoLimiter
from benchmarks.lab.strategies.overwrite import Overwrite
from benchmarks.lab.strategies.registry import RegistryBucket
from benchmarks.lab.strategies.two_way import TwoWay

OURS = "ours"

RIVALS: dict[str, Callable[[Setting], Strategy]] = {
    "no limiter": NoLimiter,
    "backoff": Backoff,
    "adaptive": Adaptive,
    "leaky paths": LeakyPaths,
    "headers only": HeadersOnly,
    "overwrite": Overwrite,
    "registry": RegistryBucket,
    "two-way": TwoWay,
    "literal": Literal,
}
ABLATIONS: dict[str, Callable[[Setting], Strategy]] = {
    "no hints": ours.without_hints,
    "no lanes": ours.WithoutLanes,
    "no error cost": ours.WithoutErrorCost,
    "no slowing": ours.without_slowing,
    "no reserve": ours.without_reserve,
    "no spread": ours.without_spread,
    "no window": ours.without_window,
    "at arrival": ours.arrival_only,
    "fence only": ours.fence_only,
    "hold by Reset": ours.hold_by_reset,
}
"""Ours, with one part taken out or turned."""

STRATEGIES: dict[str, Callable[[Setting], Strategy]] = {**RIVALS, OURS: ours.Ours, **ABLATIONS}

SAYS = {
    "no limiter": "sends; after a 429 waits as long as WB says",
    "backoff": "sends; after a 429 waits at random, up to 1, 2, 4, ... 60 s",
    "adaptive": (
        "one rate for a process, cut by refusals, growing along a cubic: the adaptive mode of AWS's"
        " clients"
    ),
    "leaky paths": (
        "a leaky bucket of `limit` a `period` for each path, as a popular asyncio library offers"
    ),
    "headers only": "no bucket: the last reply's `Remaining` says whether to send",
    "overwrite": (
        "a count for each route that every reply overwrites, as clients of chat platforms keep it"
    ),
    "registry": (
        "a bucket in a common store after the registry; a 429 holds it: the state before the ADR"
    ),
    "two-way": "the same, and `Remaining` sets its level, up or down",
    "literal": "the same, and `Remaining` lowers its level: the ADR's rule to the letter",
    OURS: "wbtrio",
}
"""What each of them does, for the page."""
