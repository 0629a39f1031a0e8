"""Limits as WB's pages write them: `300 / 1 min, burst 20`. Pure text <-> `Limit`.

The interval is never written down: WB prints it rounded (333 ms for 3 per second), and
`Limit.interval` computes it from the other two.
"""

from __future__ import annotations

import math
import re

from .._bucket import MICROSECONDS, Limit

_UNITS = {"s": MICROSECONDS, "min": 60 * MICROSECONDS, "h": 3_600 * MICROSECONDS}
_LIMIT = re.compile(
    r"""\s*(?P<limit>\d+)\s*/\s*(?P<period>\d+)\s*(?P<unit>s|min|h)\s*,\s*burst\s+(?P<burst>\d+)\s*""",
    re.VERBOSE,
)
FORM = '"300 / 1 min, burst 20" (units: s, min, h)'


def parse_limit(text: str) -> Limit:
    """Read `"300 / 1 min, burst 20"`: 300 requests a minute, 20 of which may go at once.

    Raises:
        ValueError: The text has another form, or one of its three numbers is zero.
    """
    match = _LIMIT.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a limit; write it as {FORM}")
    numbers = {name: int(match[name]) for name in ("limit", "period", "burst")}
    for name, number in numbers.items():
        if number == 0:
            raise ValueError(f"the {name} of {text!r} is 0; it must be at least 1")
    return Limit(
        period=numbers["period"] * _UNITS[match["unit"]],
        limit=numbers["limit"],
        burst=numbers["burst"],
    )


def format_limit(limit: Limit) -> str:
    """Write a limit the way `parse_limit` reads it, in the largest whole unit below 2.

    A period that is no whole number of seconds (a share of a budget) is rounded up.
    """
    seconds = -(-limit.period // MICROSECONDS)
    if seconds % 3_600 == 0:
        period = f"{seconds // 3_600} h"
    elif seconds % 60 == 0:
        period = f"{seconds // 60} min"
    else:
        period = f"{seconds} s"
    return f"{limit.limit} / {period}, burst {limit.burst}"


def scale_limit(limit: Limit, share: float) -> Limit:
    """The part `share` (0 < share <= 1) of a limit; its burst stays at least 1."""
    return Limit(
        period=math.ceil(limit.period / share),
        limit=limit.limit,
        burst=max(1, math.floor(limit.burst * share)),
    )


def strictness(limit: Limit) -> tuple[int, int]:
    """Sort key: the greater, the stricter. The interval decides, then the smaller burst."""
    return (limit.interval, -limit.burst)
