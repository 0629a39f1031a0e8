"""An account's scope: the nursery that groups one seller's calls."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, TypeVarTuple, Unpack, overload

from ._errors import CallerError
from ._pages import Items, Listing, Pages
from ._requests import Answer, Query

if TYPE_CHECKING:
    from anyio import CancelScope
    from anyio.abc import TaskGroup

    from ._calls import Caller
    from ._operation_ids import OperationId
    from ._positions import Position
    from ._tokens import SellerToken

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class CallOptions(TypedDict, total=False):
    """Keyword arguments of a call; all may be left out.

    Attributes:
        params: Query parameters; a sequence repeats its name, None leaves it out.
        json: The body: anything that msgspec encodes.
        path: Values of the parameters in the operation's path.
        headers: Further request headers.
        host: Which of the operation's hosts to ask; default: the first.
        max_wait: Seconds that the call may wait for permits in all; default: the scope's.
    """

    params: Query
    json: object
    path: Mapping[str, str | int]
    headers: Mapping[str, str]
    host: str
    max_wait: float


class ListOptions(TypedDict, total=False):
    """Keyword arguments of a walk over a list; all may be left out.

    Attributes:
        params: Query parameters of your own, such as filters.
        json: Body of your own.
        path: Values of the parameters in the operation's path.
        limit: Rows per page; default: the most that WB gives.
        cursor: `Page.cursor` of an earlier walk, to go on after that page; None: from the start.
        ids: The ids to ask for, where a list is asked by ids.
        host: Which of the operation's hosts to ask; default: the first.
        max_wait: Seconds that each page may wait for permits; default: the scope's.
        part_rows: Take pages larger than 8 MB in parts of so many rows, so that memory stays
            flat whatever WB sends: such a page comes as several (`Page.is_whole`), read from a
            temporary file. Default: every page comes whole.
    """

    params: Query
    json: object
    path: Mapping[str, str | int]
    limit: int
    cursor: Position | None
    ids: Sequence[int | str]
    host: str
    max_wait: float
    part_rows: int


class AccountScope:
    """One seller's calls under one nursery; made by `WbApiClient.account`.

    No task that is started here outlives the scope. If one fails, the others are cancelled, and
    the scope raises an `ExceptionGroup` once all of them have ended.
    """

    def __init__(self, caller: Caller, task_group: TaskGroup) -> None:
        self._caller = caller
        self._task_group = task_group
        self._open = True

    def __repr__(self) -> str:
        return f"<AccountScope of {self.seller.account} ({self.seller.kind})>"

    @property
    def seller(self) -> SellerToken:
        """What the token's claims say; never the token."""
        return self._caller.credentials.seller

    @property
    def max_wait(self) -> float:
        """Seconds that a call may wait for permits in all, unless it says otherwise."""
        return self._caller.policy.max_wait

    @property
    def cancel_scope(self) -> CancelScope:
        """Cancels the account's tasks, and nothing else."""
        return self._task_group.cancel_scope

    def start_soon(
        self, function: Callable[[*Ts], Coroutine[Any, Any, Any]], *args: *Ts, name: object = None
    ) -> None:
        """Run an async function as a task of this scope.

        Raises:
            CallerError: The scope has ended.
        """
        self._check_open()
        self._task_group.start_soon(function, *args, name=name)

    @overload
    async def call(
        self, operation: OperationId, *, type: type[T], **how: Unpack[CallOptions]
    ) -> T: ...

    @overload
    async def call(
        self, operation: OperationId, *, type: None = None, **how: Unpack[CallOptions]
    ) -> Any: ...

    async def call(
        self,
        operation: OperationId,
        *,
        type: type[T] | None = None,  # noqa: A002 - msgspec's word for it
        **how: Unpack[CallOptions],
    ) -> Any:
        """Call an operation, and decode its reply.

        Args:
            operation: Its id, such as `content.cards.list`.
            type: What to decode the reply as; None: plain JSON objects; `bytes`: as it is.
            how: See `CallOptions`.

        Raises:
            CallerError: Refused before anything was sent: unknown operation, path parameters or
                host that do not fit, a token that is expired or whose claims forbid the call.
            RateLimited: The budget needs more patience than `max_wait`; see its `resume_at`.
            WbError: WB's answer is no.
            NetworkError: No reply came, and repeating is not safe or did not help.
        """
        return (await self.fetch(operation, **how)).decode(type)

    async def fetch(self, operation: OperationId, **how: Unpack[CallOptions]) -> Answer:
        """As `call`, but gives the reply as it came, with its headers."""
        self._check_open()
        call = self._caller.prepare(
            operation,
            params=how.get("params"),
            json=how.get("json"),
            path=how.get("path"),
            headers=how.get("headers"),
            host=how.get("host"),
        )
        return await self._caller.send(call, max_wait=how.get("max_wait"))

    @overload
    def pages(
        self, operation: OperationId, *, type: type[T], **how: Unpack[ListOptions]
    ) -> Pages[T]: ...

    @overload
    def pages(
        self, operation: OperationId, *, type: None = None, **how: Unpack[ListOptions]
    ) -> Pages[Any]: ...

    def pages(
        self,
        operation: OperationId,
        *,
        type: type[T] | None = None,  # noqa: A002
        **how: Unpack[ListOptions],
    ) -> Pages[Any]:
        """Walk a list page by page: `async for page in seller.pages(...)`.

        Page size, cursors and offsets are added to the request by the registry's knowledge of
        the list. Rows that come twice are dropped by the list's own key.

        Args:
            operation: Id of a list operation.
            type: Type of one row; None: plain JSON objects.
            how: See `ListOptions`.

        Raises:
            CallerError: At once: no list, a parameter missing, a size that WB does not take.
        """
        self._check_open()
        return Pages(self._caller, Listing(operation=operation, type=type, **how))

    @overload
    def items(
        self, operation: OperationId, *, type: type[T], **how: Unpack[ListOptions]
    ) -> Items[T]: ...

    @overload
    def items(
        self, operation: OperationId, *, type: None = None, **how: Unpack[ListOptions]
    ) -> Items[Any]: ...

    def items(
        self,
        operation: OperationId,
        *,
        type: type[T] | None = None,  # noqa: A002
        **how: Unpack[ListOptions],
    ) -> Items[Any]:
        """Walk a list row by row; takes what `pages` takes, and raises as it does."""
        return Items(Pages(self._caller, Listing(operation=operation, type=type, **how)))

    def close(self) -> None:
        """End the scope for new calls; its owner calls this when the nursery is done."""
        self._open = False

    def _check_open(self) -> None:
        if not self._open:
            raise CallerError(f"The scope of account {self.seller.account} has ended.")
