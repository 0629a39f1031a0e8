"""What a source will ask for, from all that is known before anything is sent. Pure."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from .._bucket import MICROSECONDS
from .._errors import CallerError
from ._checkpoint import Checkpoint, SourceKey
from ._plan import Demand, legs_of, requests_for

if TYPE_CHECKING:
    from .._registry import Registry
    from .._tokens import SellerToken
    from ._sources import Source


def demand_of(
    source: Source,
    seller: SellerToken,
    registry: Registry,
    *,
    since: datetime | None,
    until: datetime,
    rows: int | None = None,
    checkpoint: Checkpoint | None = None,
    now: int = 0,
) -> Demand:
    """What one source of one seller asks for.

    Args:
        source: The source.
        seller: Whose rows.
        registry: Knows the lists and the budgets.
        since: Beginning of the span, None: as the source does.
        until: Its end, which is now.
        rows: Rows that the whole import brings; None: as many as the last one that was finished,
            where it is done anew.
        checkpoint: How far an earlier run came; None: there was none.
        now: `until` as µs of the store's clock.

    Raises:
        CallerError: The operation is no list, or the span is empty.
    """
    operation = registry.operation(source.operation)
    if operation.pagination is None:
        raise CallerError(f"{operation.id} is no list.")
    not_before, imported, done = 0, 0, 0
    if checkpoint is not None and checkpoint.resume_at is not None:
        wait = (checkpoint.resume_at - until).total_seconds()
        not_before = now + max(0, round(wait * MICROSECONDS))
    if checkpoint is not None and not checkpoint.finished:
        since, until = checkpoint.since, checkpoint.until
        imported, done = checkpoint.rows, checkpoint.window
    elif checkpoint is not None:
        if checkpoint.cursor is not None and getattr(source, "continues", False):
            imported = checkpoint.rows
        elif rows is None:
            rows = checkpoint.rows
    windows = len(source.windows(operation, since, until)) - done
    left = None if rows is None else max(0, rows - imported)
    requests = requests_for(operation.pagination, rows=left, windows=max(1, windows))
    count = requests.least if requests.most is None else requests.most
    legs = legs_of(operation, registry, seller, count, sandbox=seller.is_test)
    return Demand(SourceKey(seller.account, source.name), legs, requests, not_before)
