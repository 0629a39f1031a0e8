"""What several waiters for one bucket got, as someone sees it who knows only when. Pure."""

from __future__ import annotations

from itertools import chain

from benchmarks._peers import Quota


def figures_of(
    grants: list[list[float]], quota: Quota, end: float, commands: int
) -> dict[str, float]:
    """Utilisation, overshoot, commands and fairness of a run.

    Args:
        grants: For each waiter, the moments of its grants, seconds.
        quota: What was allowed.
        end: The moment at which the run ended.
        commands: What the server was sent meanwhile.
    """
    moments = sorted(moment for moment in chain(*grants) if moment <= end)
    counts = [sum(1 for moment in granted if moment <= end) for granted in grants]
    return {
        "utilisation": utilisation(moments, quota, end),
        "overshoot": overshoot(moments, quota),
        "commands_per_grant": commands / max(1, len(moments)),
        "fairness": fairness(counts),
    }


def utilisation(moments: list[float], quota: Quota, end: float) -> float:
    """Share of what was allowed from the first grant on that was granted; above 1: too much."""
    if not moments:
        return 0.0
    return len(moments) / (quota.burst + (end - moments[0]) / quota.interval)


def overshoot(moments: list[float], quota: Quota) -> float:
    """Tokens by which a full bucket of this quota would have been overdrawn at the worst moment."""
    level, lowest, last = float(quota.burst), 0.0, moments[0] if moments else 0.0
    for moment in moments:
        level = min(float(quota.burst), level + (moment - last) / quota.interval) - 1
        lowest, last = min(lowest, level), moment
    return max(0.0, -lowest)


def fairness(counts: list[int]) -> float:
    """Jain's index: 1 where all got the same, 1/n where one got all."""
    squares = sum(count * count for count in counts)
    return sum(counts) ** 2 / (len(counts) * squares) if squares else 0.0
