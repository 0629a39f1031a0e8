"""What an import tells while it runs, and what it sums up at its end."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from enum import StrEnum

from msgspec import Struct

from ._checkpoint import SourceKey


class Status(StrEnum):
    """How a source ended."""

    DONE = "done"
    DEFERRED = "deferred"
    FAILED = "failed"


class SourceStarted(Struct, frozen=True, tag="started"):
    """A source begins, or goes on where an earlier run left it.

    Attributes:
        key: Which source of which seller.
        rows: Rows that earlier runs brought.
        resumed: Whether an earlier run did not finish it.
    """

    key: SourceKey
    rows: int
    resumed: bool


class PageStored(Struct, frozen=True, tag="page"):
    """A page, or a part of a large one, was written.

    Attributes:
        key: Which source of which seller.
        rows: Rows of it that were new.
        total: Rows of the source so far, earlier runs included.
        page: Pages of this run so far.
        committed: Whether a crash from now on keeps these rows.
        waited: Seconds that the page's request waited for its permit.
        cause: Why it waited, as `wbtrio.Cause` spells it; "": it did not.
    """

    key: SourceKey
    rows: int
    total: int
    page: int
    committed: bool
    waited: float
    cause: str


class Forecast(Struct, frozen=True, tag="forecast"):
    """When a source's next request goes out, and when it will be ready.

    Attributes:
        key: Which source of which seller.
        pages_left: Requests that it still takes; None: not known.
        next_at: When its next request can be sent.
        ready_at: When it is ready; None: not known.
        budget: Id of the budget that it waits for.
    """

    key: SourceKey
    pages_left: int | None
    next_at: datetime
    ready_at: datetime | None
    budget: str


class SourceEnded(Struct, frozen=True, tag="ended"):
    """A source is done, deferred or failed: a line of the summary.

    Attributes:
        key: Which source of which seller.
        status: How it ended.
        rows: Rows that this run brought and kept.
        total: Rows that are imported, of all runs.
        pages: Pages that this run kept.
        resume_at: For a deferred one: when its budget admits the next request.
        budget: For a deferred one: the budget.
        error: For a failed one: what went wrong. Holds no token.
    """

    key: SourceKey
    status: Status
    rows: int = 0
    total: int = 0
    pages: int = 0
    resume_at: datetime | None = None
    budget: str = ""
    error: str = ""


Event = SourceStarted | PageStored | Forecast | SourceEnded
Listener = Callable[[Event], None]
"""Called on the event loop: it must not block, and what it raises ends the import."""


class Summary(Struct, frozen=True):
    """How an import ended.

    Attributes:
        sources: One line for each source of each seller, in the order asked for.
    """

    sources: tuple[SourceEnded, ...]

    @property
    def resume_at(self) -> datetime | None:
        """The first moment at which another run can go on; None: nothing is deferred."""
        moments = [one.resume_at for one in self.sources if one.resume_at is not None]
        return min(moments, default=None)

    @property
    def exit_code(self) -> int:
        """0: all done. 75: something is deferred, run again at `resume_at`. 3: something failed."""
        states = {one.status for one in self.sources}
        if Status.DEFERRED in states:
            return 75
        return 3 if Status.FAILED in states else 0
