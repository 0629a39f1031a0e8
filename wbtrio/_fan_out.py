"""Several pages of one list at once, where their places are known beforehand."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import anyio
import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._pagination import PageRequest
    from ._requests import Answer

Send = Callable[["PageRequest"], Awaitable["Answer"]]


class FanOut:
    """Sends the next page's request together with those of the pages after it.

    An answer is kept until its page is asked for. Those that turn out to be of no use, because a
    page before them was not full, are dropped; so are the errors of pages that nobody asked for.
    """

    def __init__(self) -> None:
        self._answers: dict[bytes, Answer] = {}

    async def fetch(
        self, request: PageRequest, foreseen: Callable[[], Sequence[PageRequest]], send: Send
    ) -> Answer:
        """The answer to a request: kept, or asked for together with those that are foreseen.

        Raises:
            Whatever `send` raises for the request itself.
        """
        kept = self._answers.pop(_key(request), None)
        if kept is not None:
            return kept
        self.drop()
        outcome: list[Answer | Exception] = []

        async def ask(one: PageRequest) -> None:
            try:
                self._answers[_key(one)] = await send(one)
            except Exception as error:
                if one is request:
                    outcome.append(error)

        async with anyio.create_task_group() as tasks:
            for one in (request, *foreseen()):
                tasks.start_soon(ask, one)
        for error in outcome:
            if isinstance(error, Exception):
                raise error
        return self._answers.pop(_key(request))

    def drop(self) -> None:
        """Forget what nobody asked for."""
        while self._answers:
            spool = self._answers.popitem()[1].spool
            if spool is not None:
                spool.close()


def _key(request: PageRequest) -> bytes:
    return msgspec.json.encode([request.params, request.json], order="deterministic")
