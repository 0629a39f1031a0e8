"""Pages and rows of a list, as async iterators.

They are plain iterators, not async generators: one that is left half-way (a `break`, an error, a
cancellation) has nothing to clean up, and one whose request failed can be asked again and goes
on at the same page.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import anyio.lowlevel
import msgspec
from msgspec import Struct

from ._ahead import PagesAhead
from ._errors import BadRequest, CallerError, CursorStuck
from ._fan_out import FanOut
from ._pagination import PageRequest, Step, Walk, pagination_of, passes_of
from ._positions import Position, get_path, put_path
from ._requests import Answer
from ._spool import PartReader
from ._tasks import TaskOrder, TaskRun

if TYPE_CHECKING:
    from ._calls import Caller
    from ._errors import WbTrioError
    from ._requests import Query

T = TypeVar("T")


class Page(Struct, Generic[T], frozen=True):
    """One page of a list.

    Attributes:
        items: Its rows that no earlier page had, in WB's order.
        number: Which page of the walk it is, from 1.
        cursor: Where a later run can go on after this page (`pages(..., cursor=...)`); it is
            JSON. None where WB's lists cannot be continued, offsets among them.
        is_last: Whether the walk ends with this page.
        answer: WB's reply as it came.
        is_whole: False: more rows of this page of WB's follow, as a `Page` of the same number
            (see `part_rows`); `cursor` is None then.
    """

    items: list[T]
    number: int
    cursor: Position | None
    is_last: bool
    answer: Answer
    is_whole: bool = True


class Listing(Struct, frozen=True):
    """What is asked of a list; the parameters of `AccountScope.pages`."""

    operation: str
    type: Any = None
    params: Query | None = None
    json: Any = None
    path: Mapping[str, str | int] | None = None
    limit: int | None = None
    cursor: Position | None = None
    ids: Sequence[int | str] | None = None
    host: str | None = None
    max_wait: float | None = None
    part_rows: int | None = None


class Pages(Generic[T]):
    """The pages of one list, in order: `async for page in pages`.

    A failed request leaves the walk where it was: after `RateLimited`, say, the same `Pages`
    may be asked again once the budget is back.
    """

    def __init__(self, caller: Caller, listing: Listing) -> None:
        self._caller = caller
        self._listing = listing
        self._operation = caller.registry.operation(listing.operation)
        self._how = pagination_of(self._operation)
        self._number = 0
        self._restarted = False
        self._fault: WbTrioError | None = None
        self._busy = False
        self._fan_out: FanOut | None = None
        self._at_once = 1
        self._task: TaskRun | None = None
        self._ordered: TaskRun | None = None
        self._parts: Iterator[Page[T]] = iter(())
        self._may_spool = listing.part_rows is not None
        if listing.part_rows is not None and listing.part_rows < 1:
            raise CallerError(f"part_rows must be positive, got {listing.part_rows}.")
        self._walks: Iterator[Walk] = iter(())
        self._request: PageRequest | None = None
        if self._how.scheme == "task":
            order = TaskOrder(
                listing.params,
                listing.json,
                listing.path,
                listing.max_wait,
                self._may_spool,
                listing.cursor,
            )
            self._task = self._ordered = TaskRun(caller, self._operation, self._how, order)
        else:
            self._walks = self._each_pass(set())
            self._walk = next(self._walks)
            self._request = self._walk.first()

    def __aiter__(self) -> AsyncIterator[Page[T]]:
        return self

    async def __anext__(self) -> Page[T]:
        """The next page.

        Raises:
            RateLimited: The budget needs more patience than `max_wait`.
            CursorStuck: WB gave a cursor again that it had given before.
            WbError: WB's answer is no.
            NetworkError: No reply came.
        """
        if self._busy:
            raise CallerError(f"The pages of {self._operation.id} come one after the other.")
        self._busy = True
        try:
            return await self._next()
        finally:
            self._busy = False

    @property
    def task(self) -> Position | None:
        """The report that WB works at, once it is created and until it is fetched; else None.

        As `cursor=` of a later walk it spares creating the report again.
        """
        return None if self._ordered is None else self._ordered.reached

    def ahead(self, count: int = 1) -> PagesAhead[T]:
        """Ask for the next pages while the caller works on this one.

            async with seller.pages("content.cards.list").ahead() as pages:
                async for page in pages:
                    ...

        The pages of a list by offset are asked for together, since their places are known: after
        the first one, `count` at once, each under a permit of its own. Where WB does not state
        the total, that can be up to `count - 1` requests beyond the end.

        Args:
            count: How many pages may be asked for before they are taken, 1 to 64.

        Raises:
            CallerError: `count` is out of range.
        """
        if count > 1:
            self._fan_out, self._at_once = FanOut(), count
        return PagesAhead(self, count)

    async def aclose(self) -> None:
        """End the walk. Only a large page's file is released; it serves `contextlib.aclosing`."""
        self._request = self._fault = self._task = None
        self._walks = iter(())
        if self._fan_out is not None:
            self._fan_out.drop()
        self._end_parts()

    async def _next(self) -> Page[T]:
        for part in self._parts:
            await anyio.lowlevel.checkpoint()
            return part
        if self._fault is not None:
            raise self._fault
        if self._task is not None:
            answer = await self._task.result()
            self._task = self._ordered = None
            if answer.spool is not None and self._listing.type is not bytes:
                return self._first_part(answer, is_report=True)
            return Page(self._rows_of_report(answer), 1, None, is_last=True, answer=answer)
        if self._request is None:
            raise StopAsyncIteration
        answer = await self._fetch(self._request)
        if answer.spool is not None:
            return self._first_part(answer)
        step = self._take(answer)
        rows = self._typed(step.rows, answer)
        is_last = self._go_on(step, answer)
        self._number += 1
        return Page(rows, self._number, step.position, is_last, answer)

    def _first_part(self, answer: Answer, *, is_report: bool = False) -> Page[T]:
        self._number += 1
        self._parts = self._each_part(answer, is_report=is_report)
        return next(self._parts)

    def _end_parts(self) -> None:
        parts, self._parts = self._parts, iter(())
        if isinstance(parts, Generator):
            parts.close()

    def _each_part(self, answer: Answer, *, is_report: bool) -> Generator[Page[T], None, None]:
        """A page that is too large for memory, piece by piece; it is a page once all are taken."""
        walk = None if is_report else self._walk
        parts = PartReader(answer, self._how.items, self._listing.part_rows or 1)
        fresh = 0
        with parts:
            for rows in parts:
                new = rows if walk is None else walk.fresh(rows)
                fresh += len(new)
                if new:
                    typed = self._typed(new, answer)
                    yield Page(typed, self._number, None, False, answer, is_whole=False)
            rest = parts.rest()
            if walk is None:
                yield Page([], self._number, None, is_last=True, answer=answer)
                return
            step = walk.conclude(rest, [], count=parts.count, fresh=fresh, last=parts.last)
            is_last = self._go_on(step, answer)
            yield Page([], self._number, step.position, is_last, answer)

    def _rows_of_report(self, answer: Answer) -> list[Any]:
        if self._listing.type is bytes:
            return [answer.body if answer.spool is None else answer.spool.read()]
        rows = get_path(answer.json(), self._how.items)
        if rows is None:
            return []
        if not isinstance(rows, list):
            raise answer.undecodable(f"there is no list at `{self._how.items or '$'}`")
        return self._typed(rows, answer)

    async def _fetch(self, request: PageRequest) -> Answer:
        try:
            if self._fan_out is not None and self._number:
                return await self._fan_out.fetch(
                    request, lambda: self._walk.foreseen(self._at_once - 1), self._send
                )
            return await self._send(request)
        except BadRequest:
            again = None if self._restarted else self._walk.restart()
            if again is None:
                raise
        # Rows that leave a list while it is read can put our offset beyond its end (WB-034).
        self._restarted = True
        self._request = again
        return await self._send(again)

    async def _send(self, request: PageRequest) -> Answer:
        call = self._caller.prepare(
            self._listing.operation,
            params=request.params,
            json=request.json,
            path=self._listing.path,
            host=self._listing.host,
        )
        return await self._caller.send(
            call, max_wait=self._listing.max_wait, may_spool=self._may_spool
        )

    def _take(self, answer: Answer) -> Step:
        try:
            return self._walk.take(answer.json())
        except TypeError as error:
            raise answer.undecodable(str(error)) from error

    def _typed(self, rows: list[Any], answer: Answer) -> list[Any]:
        if self._listing.type is None:
            return rows
        row_type: Any = self._listing.type
        try:
            typed: list[Any] = msgspec.convert(rows, list[row_type])
        except msgspec.ValidationError as error:
            where = self._how.items or "$"
            raise answer.undecodable(f"{error}, among the new rows of `{where}`") from error
        return typed

    def _go_on(self, step: Step, answer: Answer) -> bool:
        """Set what comes next; whether nothing does."""
        self._request = step.request
        if isinstance(step.fault, CursorStuck):
            self._fault = _with_reply(step.fault, answer)
        elif step.fault is not None:
            self._fault = step.fault
        elif self._request is None:
            following = next(self._walks, None)
            if following is not None:
                self._walk = following
                self._request = following.first()
        return self._request is None and self._fault is None

    def _each_pass(self, seen: set[tuple[Any, ...]]) -> Iterator[Walk]:
        listing, operation = self._listing, self._operation
        for values in passes_of(operation, listing.params, listing.json):
            params: dict[str, Any] = dict(listing.params or {})
            json = msgspec.to_builtins(listing.json)
            for path, value in values.items():
                if self._how.params == "query":
                    put_path(params, path, value)
                else:
                    json = {} if json is None else json
                    put_path(json, path, value)
            yield Walk(
                operation,
                params=params,
                json=json,
                limit=listing.limit,
                position=listing.cursor,
                ids=listing.ids,
                seen=seen,
            )


class Items(Generic[T]):
    """The rows of one list, in order: `async for row in items`."""

    def __init__(self, pages: Pages[T]) -> None:
        self._pages = pages
        self._rows: Iterator[T] = iter(())

    def __aiter__(self) -> AsyncIterator[T]:
        return self

    async def __anext__(self) -> T:
        """The next row; asks for the next page when one is used up. Raises as `Pages` does."""
        while True:
            for row in self._rows:
                return row
            self._rows = iter((await self._pages.__anext__()).items)

    async def aclose(self) -> None:
        """End the walk."""
        self._rows = iter(())
        await self._pages.aclose()


def _with_reply(stuck: CursorStuck, answer: Answer) -> CursorStuck:
    return CursorStuck(
        stuck.message,
        operation=answer.operation,
        account=answer.account,
        status=answer.status,
        excerpt=answer.excerpt,
    )
