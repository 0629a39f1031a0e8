"""All that can be set about a simulated WB, as one frozen value (and, later, one TOML file)."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from .engine import HeaderStyle, Refill, Rule
from .faults import Fault, Latency
from .foreign import Foreign
from .shop import Stock


class Scenario(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A WB to be simulated; the default one answers at once and keeps all its words.

    Attributes:
        seed: Another seed, other jitter, strangers and faults; with the same one, the same
            requests at the same moments get the same replies.
        refill: How tokens come back.
        headers: Which rate-limit headers replies carry.
        headers_by_host: The same for single hosts of WB's.
        rules: Other limits than the registry's, by budget and token kind.
        debt: Whether the cost of an error takes a counter below zero.
        charge_429: Whether a 429 costs what other 4XX cost.
        deprecated_gone: Whether methods that WB announced the end of answer that they are gone;
            they may go on for weeks (field case WB-055).
        latency: How long requests take.
        foreign: Other programs on the same budgets.
        faults: What goes wrong.
        stock: What sellers have.
        longest_log: Most requests that are remembered, the last ones.
    """

    seed: int = 0
    refill: Refill = "smooth"
    headers: HeaderStyle = "gateway"
    headers_by_host: Mapping[str, HeaderStyle] = {}
    rules: Mapping[str, Mapping[str, Rule]] = {}
    debt: bool = True
    charge_429: bool = False
    deprecated_gone: bool = False
    latency: Latency = Latency()
    foreign: tuple[Foreign, ...] = ()
    faults: tuple[Fault, ...] = ()
    stock: Stock = Stock()
    longest_log: int = 100_000
