"""The run: sellers x resources, all at once, each going its own way to its end."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, cast

import anyio
from msgspec import Struct
from msgspec.structs import replace

from .._errors import CallerError, RateLimited, WbTrioError
from .._tokens import decode_token
from ._checkpoint import Boundary, Checkpoint, SourceKey, Tally, advanced
from ._events import Event, Listener, PageStored, SourceEnded, SourceStarted, Status, Summary
from ._outlook import Outlook
from ._plan import requests_for
from ._sources import Source, source_named

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager
    from typing import Any

    from .._client import WbApiClient
    from .._operation_ids import OperationId
    from .._pages import Page, Pages
    from .._registry import Operation
    from .._scope import AccountScope, ListOptions
    from ._sinks import Sink
    from ._sources import Window

logger = logging.getLogger("wbtrio.importer")

PART_ROWS = 1_000
"""Rows of a page of more than 8 MB that are in memory at once."""


async def import_all(
    client: WbApiClient,
    tokens: Sequence[str],
    resources: Sequence[str | Source],
    sink: Sink,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    max_wait: float | None = None,
    prefetch: int = 1,
    expected_rows: Mapping[str, int] | None = None,
    on_event: Listener | None = None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Summary:
    """Import lists of sellers into a sink; go on where an earlier run left them.

    All sources of all sellers run at once, each inside its budgets. One that fails does not stop
    the others. After each page that a list can be continued from, its rows and its cursor are
    committed together, so that a run which is killed loses nothing and repeats nothing.

    Args:
        client: Sends the requests.
        tokens: A WB token for each seller.
        resources: Short names (`RESOURCES`), ids of list operations, or sources of your own.
        sink: Takes rows and checkpoints.
        since: Beginning of the span to import; default: as each list does. An import that an
            earlier run began keeps its own span until it is finished.
        until: End of the span; default: now.
        max_wait: Seconds that a page may wait for its permit. A source that would have to wait
            longer is deferred until its budget is back. Default: the client's.
        prefetch: Pages that are asked for while the one before is written; 0: none.
        expected_rows: Rows that each resource will bring, by name, for the forecasts.
        on_event: Is told of each step.
        now: The time of day.

    Raises:
        CallerError: Nothing was sent: no token, no resource, an unknown one, two of one name, or
            two tokens of one account.
        TokenMalformed: A token is none. Nothing was sent.
    """
    sources = _sources(resources, client)
    accounts = [decode_token(token).account for token in tokens]
    if not accounts or len(set(accounts)) != len(accounts):
        raise CallerError("An import takes one token of each seller.")
    run = _Run(
        client,
        sink,
        _Terms(since, until or now(), max_wait, prefetch, dict(expected_rows or {})),
        on_event or _unheard,
        now,
    )
    keys = [SourceKey(account, one.name) for account in accounts for one in sources]
    async with anyio.create_task_group() as aside:
        if run.outlook is not None:
            aside.start_soon(run.outlook.watch, run.listener)
        async with anyio.create_task_group() as sellers:
            for account, token in zip(accounts, tokens, strict=True):
                sellers.start_soon(run.seller, account, token, sources)
        aside.cancel_scope.cancel()
    return Summary(tuple(run.ended[key] for key in keys))


class _Terms(Struct, frozen=True):
    """What the caller asked for."""

    since: datetime | None
    until: datetime
    max_wait: float | None
    prefetch: int
    expected_rows: dict[str, int]


class _Run:
    """One run of an import."""

    def __init__(
        self,
        client: WbApiClient,
        sink: Sink,
        terms: _Terms,
        listener: Listener,
        now: Callable[[], datetime],
    ) -> None:
        self.client = client
        self.sink = sink
        self.terms = terms
        self.listener = listener
        self.now = now
        self.ended: dict[SourceKey, SourceEnded] = {}
        self.outlook = (
            None if listener is _unheard else Outlook(client.limiter, client.registry, now)
        )

    async def seller(self, account: str, token: str, sources: Sequence[Source]) -> None:
        """Import one seller's sources."""
        try:
            async with self.client.account(token, max_wait=self.terms.max_wait) as scope:
                for source in sources:
                    import_ = _SourceRun(self, scope, source)
                    scope.start_soon(import_.run, name=f"{account} {source.name}")
        except CallerError as error:
            # The token is expired, say: none of its sources began.
            for source in sources:
                self.end(_failed(SourceKey(account, source.name), error))

    def end(self, ended: SourceEnded) -> None:
        """One source is at its end."""
        self.ended[ended.key] = ended
        if self.outlook is not None:
            self.outlook.drop(ended.key)
        self.listener(ended)


class _SourceRun:
    """One source of one seller."""

    def __init__(self, run: _Run, scope: AccountScope, source: Source) -> None:
        self._run = run
        self._scope = scope
        self._source = source
        self._key = SourceKey(scope.seller.account, source.name)
        self._operation: Operation = run.client.registry.operation(source.operation)
        self._continues = bool(getattr(source, "continues", False))
        self._checkpoint = Checkpoint(until=run.terms.until, since=run.terms.since)
        self._begun = self._checkpoint
        self._tally = Tally()
        self._pages = 0
        self._windows: Sequence[Window] = ()
        self._walking: Pages[Any] | None = None
        self._expected = run.terms.expected_rows.get(source.name)

    async def run(self) -> None:
        """Import it, and say how that ended; only a cancellation passes."""
        try:
            await self._import()
        except RateLimited as refusal:
            await self._park(refusal)
        except Exception as error:
            if not isinstance(error, WbTrioError):
                logger.exception("%s of %s failed", self._key.source, self._key.account)
            self._run.end(self._line(Status.FAILED, error=_told(error)))
        else:
            self._run.end(self._line(Status.DONE))

    async def _import(self) -> None:
        await self._begin()
        await self._wait_for_parked_budget()
        for number in range(self._checkpoint.window, len(self._windows)):
            await self._walk(self._windows[number])

    async def _begin(self) -> None:
        kept = await self._run.sink.open(self._key)
        resumed = kept is not None and not kept.finished
        if kept is not None and kept.finished:
            kept = await self._after_finished(kept)
        if kept is not None:
            self._checkpoint = kept
        self._begun = self._checkpoint
        span = self._checkpoint
        self._windows = self._source.windows(self._operation, span.since, span.until)
        self._run.listener(SourceStarted(self._key, self._checkpoint.rows, resumed))
        self._foretell()

    async def _after_finished(self, kept: Checkpoint) -> Checkpoint | None:
        """Where to begin when an earlier run finished: after its last row, or anew."""
        if self._continues and kept.cursor is not None:
            return replace(kept, window=0, finished=False, until=self._checkpoint.until)
        if self._expected is None:
            self._expected = kept.rows
        await self._run.sink.restart(self._key)
        return None

    async def _wait_for_parked_budget(self) -> None:
        """Send nothing before the moment that an earlier run was told to wait for."""
        moment = self._checkpoint.resume_at
        if moment is None:
            return
        seconds = (moment - self._run.now()).total_seconds()
        if seconds <= 0:
            return
        patience = self._run.terms.max_wait
        if seconds > (self._scope.max_wait if patience is None else patience):
            raise RateLimited("The budget is not back yet.", retry_after=seconds, resume_at=moment)
        await anyio.sleep(seconds)

    async def _walk(self, window: Window) -> None:
        if self._operation.pagination is None:
            raise CallerError(f"{self._operation.id} is no list.")
        boundary = Boundary(self._operation.pagination, self._checkpoint)
        how: ListOptions = {
            "params": window.params,
            "json": window.json,
            "path": window.path or {},
            "cursor": self._checkpoint.cursor,
            "part_rows": PART_ROWS,
        }
        if window.limit is not None:
            how["limit"] = window.limit
        self._walking = pages = self._scope.pages(cast("OperationId", self._operation.id), **how)
        async with _asked_ahead(pages, self._run.terms.prefetch) as walk:
            async for page in walk:
                await self._store(page, boundary)

    async def _store(self, page: Page[Any], boundary: Boundary) -> None:
        rows = boundary.new(page.items)
        if rows:
            await self._run.sink.write(self._key, rows)
        self._tally.rows += len(rows)
        reached = None
        if page.is_whole:
            self._pages += 1
            self._tally.pages += 1
            reached = advanced(
                self._checkpoint,
                page,
                self._tally,
                boundary,
                windows=len(self._windows),
                continues=self._continues,
            )
        if reached is not None:
            await self._run.sink.commit(self._key, reached)
            self._checkpoint, self._tally = reached, Tally()
        permit = page.answer.permit
        self._run.listener(
            PageStored(
                key=self._key,
                rows=len(rows),
                total=self._checkpoint.rows + self._tally.rows,
                page=self._pages,
                committed=reached is not None,
                waited=permit.waited,
                cause=permit.cause or "",
            )
        )
        self._foretell()

    async def _park(self, refusal: RateLimited) -> None:
        """Keep the moment at which the next run may go on."""
        moment = self._run.now() + timedelta(seconds=refusal.retry_after)
        resume_at = max(moment, self._checkpoint.resume_at or moment)
        # What is written of an unfinished window would be committed with it.
        try:
            await self._run.sink.open(self._key)
            task = None if self._walking is None else self._walking.task
            cursor = task or self._checkpoint.cursor
            kept = replace(self._checkpoint, resume_at=resume_at, cursor=cursor)
            await self._run.sink.commit(self._key, kept)
        except Exception as error:
            logger.exception("%s of %s cannot be parked", self._key.source, self._key.account)
            self._run.end(self._line(Status.FAILED, error=_told(error)))
            return
        budget = _budget_of(refusal.bucket) or self._operation.budget
        self._run.end(self._line(Status.DEFERRED, resume_at=resume_at, budget=budget))

    def _line(self, status: Status, **more: Any) -> SourceEnded:
        return SourceEnded(
            key=self._key,
            status=status,
            rows=self._checkpoint.rows - self._begun.rows,
            total=self._checkpoint.rows,
            pages=self._checkpoint.pages - self._begun.pages,
            **more,
        )

    def _foretell(self) -> None:
        """Tell the outlook what is still to come."""
        outlook = self._run.outlook
        if outlook is None or self._operation.pagination is None:
            return
        left = None if self._expected is None else max(0, self._expected - self._rows_so_far())
        requests = requests_for(
            self._operation.pagination,
            rows=left,
            windows=max(1, len(self._windows) - self._checkpoint.window),
        )
        outlook.demand(self._key, self._operation, self._scope.seller, requests)

    def _rows_so_far(self) -> int:
        return self._checkpoint.rows + self._tally.rows


def _sources(resources: Sequence[str | Source], client: WbApiClient) -> list[Source]:
    sources = [
        source_named(one, client.registry) if isinstance(one, str) else one for one in resources
    ]
    names = [source.name for source in sources]
    if not names or len(set(names)) != len(names):
        raise CallerError("An import takes resources, each of them once.")
    for source in sources:
        client.registry.operation(source.operation)
    return sources


def _asked_ahead(
    pages: Pages[Any], count: int
) -> AbstractAsyncContextManager[AsyncIterator[Page[Any]]]:
    return pages.ahead(count) if count else aclosing(pages)


def _failed(key: SourceKey, error: Exception) -> SourceEnded:
    return SourceEnded(key=key, status=Status.FAILED, error=_told(error))


def _budget_of(bucket_key: str) -> str:
    """The budget in a bucket's key, `wbtrio:{account}:kind:budget`."""
    return bucket_key.rpartition("}:")[2].partition(":")[2]


def _told(error: Exception) -> str:
    """What went wrong, in words; wbtrio's own errors never hold a token."""
    return str(error) if isinstance(error, WbTrioError) else f"{type(error).__name__}: {error}"


def _unheard(event: Event) -> None:
    """Nobody listens."""
