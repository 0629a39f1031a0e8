"""Who is measured: one line for each contender, part of its work, and loop."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Literal

from msgspec import Struct

from benchmarks._measure import LoopName, Part

Place = Literal["Redis", "memory", ""]

ALL_LOOPS: tuple[LoopName, ...] = ("trio", "asyncio", "uvloop")
ASYNCIO_LOOPS: tuple[LoopName, ...] = ("asyncio", "uvloop")
ANY_NUMBER = 1_000
FEW_ROUNDS = 3
"""Runs that last seconds by their nature are made in no more rounds than this."""

OURS = "wbtrio"
BARE = "bare multiplexer"
RAW = "raw blocking socket"
STORE = "RedisStore"
LIMITER = "WbRateLimiter"
SKIP = "skipped reply"
IMPORT = "whole import"
FOOTPRINT = "memory"
TRANSPORT = "transport"


class Run(Struct, frozen=True):
    """One measurement, to be made once a round.

    Attributes:
        name: Of the contender.
        module: Its file, below `contenders/`.
        loop: Event loop; "" for those that need none.
        part: Which part of its work.
        place: Where its buckets live; "" if that is no question.
        rounds: The most rounds in which it is made.
        requires: The distribution that has to be installed; "": none.
    """

    name: str
    module: str
    loop: LoopName = ""
    part: Part = ""
    place: Place = ""
    rounds: int = ANY_NUMBER
    requires: str = ""

    @property
    def label(self) -> str:
        """How a person is told of it."""
        details = [word for word in (self.part, self.place, self.loop) if word]
        return f"{self.name} ({', '.join(details)})" if details else self.name

    @property
    def is_installed(self) -> bool:
        """Whether what it requires is there."""
        try:
            return not self.requires or bool(version(self.requires))
        except PackageNotFoundError:
            return False


PEERS: dict[str, tuple[str, str, tuple[Place, ...]]] = {
    OURS: ("peer_wbtrio", "", ("Redis", "memory")),
    "limits": ("peer_limits", "limits", ("Redis",)),
    "throttled-py": ("peer_throttled", "throttled-py", ("Redis", "memory")),
    "pyrate-limiter": ("peer_pyrate", "pyrate-limiter", ("Redis", "memory")),
    "steindamm": ("peer_steindamm", "steindamm", ("Redis",)),
    "redis-rate-limiters": ("peer_redis_rate_limiters", "redis-rate-limiters", ("Redis",)),
    "aiolimiter": ("peer_aiolimiter", "aiolimiter", ("memory",)),
}
"""By name: module, distribution, where its buckets can live."""


def runs() -> Iterator[Run]:
    """Every measurement, in the order in which a round makes them."""
    yield Run(RAW, "raw_evalsha", place="Redis")
    for loop in ALL_LOOPS:
        yield Run(BARE, "bare_multiplexer", loop, place="Redis")
        yield Run(STORE, "store", loop, place="Redis")
        yield Run(LIMITER, "limiter", loop, place="Redis")
    for loop in ALL_LOOPS:
        yield Run(SKIP, "skip", loop)
        yield Run(TRANSPORT, "transport", loop)
    for name, (module, requires, places) in PEERS.items():
        for place in places:
            for loop in ALL_LOOPS if name == OURS else ASYNCIO_LOOPS:
                yield Run(name, module, loop, "speed", place, requires=requires)
    for name, (module, requires, places) in PEERS.items():
        for place in places:
            for loop in ("trio", "asyncio") if name == OURS else ("asyncio",):
                yield Run(name, module, loop, "crowd", place, FEW_ROUNDS, requires)
            yield Run(name, module, "asyncio", "cancelled", place, FEW_ROUNDS, requires)
    yield Run(IMPORT, "importing", rounds=1)
    yield Run(FOOTPRINT, "footprint", "asyncio", place="Redis", rounds=1)
