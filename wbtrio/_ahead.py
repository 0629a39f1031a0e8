"""The next page is asked for while the caller works on this one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Generic, Self, TypeVar

import anyio

from ._errors import CallerError

if TYPE_CHECKING:
    from types import TracebackType

    from anyio.abc import TaskGroup

    from ._pages import Page, Pages

T = TypeVar("T")

MOST_AHEAD = 64
"""Pages; each is held in memory until it is taken."""


class PagesAhead(Generic[T]):
    """Pages that are asked for before they are taken: `async with pages.ahead() as pages`.

    The asking is done by a task of its own, which ends with the block: a block that is left
    early stops it, and at most `count` pages were asked for that nobody took. Each of them cost
    a permit, which is why a walk does not ask ahead of its own accord.
    """

    def __init__(self, pages: Pages[T], count: int) -> None:
        if not 1 <= count <= MOST_AHEAD:
            raise CallerError(f"From 1 to {MOST_AHEAD} pages can be asked ahead, got {count}.")
        self._pages = pages
        self._count = count
        self._tasks: TaskGroup | None = None
        self._is_asking = False

    async def __aenter__(self) -> Self:
        self._send, self._receive = anyio.create_memory_object_stream["Page[T] | Exception"](
            self._count - 1
        )
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._tasks is not None:
            # Its own errors went to whoever iterates; the block's error passes without a group.
            self._tasks.cancel_scope.cancel()
            tasks, self._tasks = self._tasks, None
            try:
                await tasks.__aexit__(None, None, None)
            finally:
                self._send.close()
                self._receive.close()
                await self._pages.aclose()

    def __aiter__(self) -> AsyncIterator[Page[T]]:
        return self

    async def __anext__(self) -> Page[T]:
        """The next page. After an error the walk may be asked again, as that of `Pages`.

        Raises:
            CallerError: The block is left, or was never entered.
        """
        if self._tasks is None:
            raise CallerError("Pages are asked ahead inside `async with` only.")
        if not self._is_asking:
            self._is_asking = True
            self._tasks.start_soon(self._ask)
        outcome = await self._receive.receive()
        if isinstance(outcome, Exception):
            self._is_asking = False
            raise outcome
        return outcome

    async def _ask(self) -> None:
        while True:
            try:
                page = await self._pages.__anext__()
            except Exception as error:
                await self._send.send(error)
                return
            await self._send.send(page)
