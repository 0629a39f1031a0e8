"""What `wbtrio import` and `wbtrio plan` share: tokens, sinks, stores, dates and words for time."""

from __future__ import annotations

import math
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from wbtrio._bucket import MICROSECONDS
from wbtrio._errors import CallerError
from wbtrio._reply_text import clean
from wbtrio._tokens import TokenKind
from wbtrio.importer import DuckdbSink, FileSink, NdjsonSink, ParquetSink
from wbtrio.rows import MOSCOW
from wbtrio.stores import FileStore, RedisStore, Store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from wbtrio._bucket import Limit

Format = Literal["ndjson", "parquet", "duckdb"]
SINKS: dict[Format, Callable[[Path], FileSink]] = {
    "ndjson": NdjsonSink,
    "parquet": ParquetSink,
    "duckdb": DuckdbSink,
}
BUDGETS = "budgets.json"
"""The buckets of runs without a Redis, in the folder of the import."""

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
_KINDS = {
    TokenKind.PERSONAL: "personal",
    TokenKind.SERVICE: "service",
    TokenKind.BASIC_SECRET: "basic (with secret)",
    TokenKind.BASIC: "basic",
    TokenKind.TEST: "test",
}


def read_tokens(file: Path) -> list[str]:
    """The tokens of a file, one a line; empty lines and those that begin with `#` are skipped.

    Raises:
        CallerError: It cannot be read, or holds none.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        # Whoever gives a token for a file's name does not get to see it again.
        raise CallerError(f"Cannot read {clean(str(file))}.") from error
    tokens = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    if not tokens:
        raise CallerError(f"There is no token in {clean(str(file))}.")
    return tokens


def moment_of(day: date | None) -> datetime | None:
    """The beginning of a day, Moscow's."""
    return None if day is None else datetime.combine(day, time(), MOSCOW)


def numbers_of(assignments: Sequence[str], option: str) -> dict[str, int]:
    """`cards=6100` as a name and a number.

    Raises:
        CallerError: One is not of that form.
    """
    found = {}
    for text in assignments:
        name, _, number = text.partition("=")
        if not name or not number.isdecimal():
            raise CallerError(f"{option} takes NAME=NUMBER, got {clean(text)}.")
        found[name] = int(number)
    return found


@asynccontextmanager
async def store_of(url: str | None, folder: Path | None) -> AsyncIterator[Store | None]:
    """The store of the buckets: a Redis, a file in the folder of the import, or none."""
    if url is not None:
        store: Store = RedisStore(url)
    elif folder is not None:
        store = FileStore(folder / BUDGETS)
    else:
        yield None
        return
    try:
        yield store
    finally:
        await store.aclose()


def in_words(seconds: float) -> str:
    """A length of time in its two largest units, rounded up: `37 s`, `3 h`, `1 h 2 min`."""
    if seconds <= 0:
        return "no time"
    rest = math.ceil(seconds)
    parts = []
    for size, unit in _UNITS:
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2])


def counted(number: int, noun: str) -> str:
    """`1 page`, `61 pages`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def pace_in_words(limit: Limit) -> str:
    """How often a budget admits a request: `1 request per 3 h`."""
    interval = limit.interval / MICROSECONDS
    if interval < 1:
        return f"1 request per {interval * 1000:.0f} ms"
    return f"1 request per {in_words(interval)}"


def kind_in_words(kind: TokenKind) -> str:
    """A token's kind as WB's sellers know it."""
    return _KINDS[kind]


def clock_time(moment: datetime, now: datetime | None = None) -> str:
    """A moment as a person reads it: `14:05`, with the date where that is not today."""
    local = moment.astimezone()
    today = (now or datetime.now(UTC)).astimezone().date()
    return f"{local:%H:%M}" if local.date() == today else f"{local:%Y-%m-%d %H:%M}"
