"""What a Redis must be like to keep budgets: one pure function for each question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

Verdict = Literal["ok", "warning", "failed"]
Info = Mapping[str, object]

OLDEST = (6, 2)
SLOW_US = 50_000
LARGEST_SKEW_US = 1_000_000


class Finding(Struct, frozen=True):
    """The answer to one question.

    Attributes:
        check: What was asked.
        verdict: Whether it is as it should be.
        found: What is there.
        advice: What to do; empty where all is well.
    """

    check: str
    verdict: Verdict
    found: str
    advice: str = ""


def check_version(info: Info) -> Finding:
    """Redis 6.2 or newer, or Valkey."""
    name = str(info.get("server_name", "redis"))
    version = str(info.get("valkey_version") or info.get("redis_version") or "unknown")
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdecimal())
    if numbers >= OLDEST:
        return Finding("version", "ok", f"{name} {version}")
    return Finding("version", "warning", f"{name} {version}", "Use Redis 6.2 or newer, or Valkey.")


def check_latency(round_trips_us: Sequence[int]) -> Finding:
    """How long a reply takes; every request waits for one."""
    ordered = sorted(round_trips_us)
    middle, slow = ordered[len(ordered) // 2], ordered[-(len(ordered) // 100) - 1]
    found = f"p50 {middle / 1000:.2f} ms, p99 {slow / 1000:.2f} ms of {len(ordered)}"
    if slow <= SLOW_US:
        return Finding("latency", "ok", found)
    return Finding(
        "latency",
        "warning",
        found,
        "Every request waits as long for its permit: move the server nearer, or see to its load.",
    )


def check_eviction(info: Info) -> Finding:
    """Buckets must not be thrown away before they are full."""
    policy = str(info.get("maxmemory_policy", "unknown"))
    limit = _number(info, "maxmemory")
    found = f"{policy}, maxmemory {_megabytes(limit) if limit else 'none'}"
    if policy == "noeviction" or policy.startswith("volatile-") or not limit:
        return Finding("eviction", "ok", found)
    return Finding(
        "eviction",
        "warning",
        found,
        "An evicted bucket counts as full: set maxmemory-policy to noeviction.",
    )


def check_memory(info: Info) -> Finding:
    """Whether there is room for more buckets."""
    used, limit = _number(info, "used_memory"), _number(info, "maxmemory")
    if not limit:
        return Finding("memory", "ok", f"{_megabytes(used)} used, no limit")
    found = f"{_megabytes(used)} of {_megabytes(limit)} used"
    if used < 0.9 * limit:
        return Finding("memory", "ok", found)
    return Finding("memory", "warning", found, "A full server refuses grants: raise maxmemory.")


def check_role(info: Info) -> Finding:
    """Buckets are written with every request."""
    role = str(info.get("role", "unknown"))
    if role == "master":
        return Finding("role", "ok", "primary")
    return Finding("role", "failed", role, "Point the URL at the primary.")


def check_persistence(info: Info) -> Finding:
    """What a restart forgets; processes that are alive remind the server of it."""
    kept = [
        name
        for name, is_on in (
            ("append-only file", _number(info, "aof_enabled")),
            ("snapshots", info.get("save") or _number(info, "rdb_last_save_time")),
        )
        if is_on
    ]
    found = " and ".join(kept) or "none"
    if info.get("aof_last_write_status", "ok") == "ok":
        return Finding("persistence", "ok", found)
    return Finding("persistence", "warning", found, "The append-only file cannot be written.")


def check_clock(server_us: int, asked_us: int, answered_us: int) -> Finding:
    """The server's clock against ours, as far as the round trip lets one see."""
    ahead = max(0, server_us - answered_us) or min(0, server_us - asked_us)
    found = f"{ahead / 1_000_000:+.3f} s against this machine's"
    if abs(ahead) <= LARGEST_SKEW_US:
        return Finding("clock", "ok", found)
    return Finding(
        "clock",
        "warning",
        found,
        "Budgets go by the server's clock, which is fine; but a clock that is corrected by a jump"
        " later makes buckets too full or too empty for as long. Run NTP on both machines.",
    )


def check_scripts(refusal: str) -> Finding:
    """Whether a bucket can be asked; `refusal` is what the server said against it, if anything."""
    if not refusal:
        return Finding("scripts", "ok", "EVALSHA and TIME work")
    return Finding("scripts", "failed", refusal)


def check_keys(count: int, *, is_all: bool) -> Finding:
    """How many buckets are kept now; those that are full are not kept."""
    return Finding("buckets", "ok", f"{count:,}{'' if is_all else ' or more'} kept")


def _number(info: Info, name: str) -> int:
    value = info.get(name, 0)
    return int(value) if isinstance(value, int | float | str) and str(value).isdecimal() else 0


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:,.1f} MB"
