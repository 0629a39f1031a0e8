"""Reports that WB makes in the background: create, ask for the state, download.

Each of the three is an operation with a budget of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
from msgspec import Struct

from ._errors import BadRequest, CallerError, ServerError
from ._positions import Position, get_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ._calls import Caller
    from ._registry import Operation, Pagination
    from ._requests import Answer, Query

FIRST_LOOK = 5.0
"""Seconds after which a task's state is asked for; doubles each time, up to `LONGEST_PAUSE`."""
LONGEST_PAUSE = 60.0
TASK = "task"
"""Name of the one field of a task's position."""
LONGEST_TASK = 3 * 3_600.0
"""Seconds after which a task that is still not done is given up."""


class TaskOrder(Struct, frozen=True):
    """What report is asked for; as the parameters of a call."""

    params: Query | None
    json: Any
    path: Mapping[str, str | int] | None
    max_wait: float | None
    may_spool: bool = False
    kept: Position | None = None


class TaskRun:
    """One background report. What was reached survives an error: ask again, and it goes on."""

    def __init__(self, caller: Caller, operation: Operation, how: Pagination, order: TaskOrder):
        self._caller = caller
        self._operation = operation
        self._how = how
        self._order = order
        given = order.params if how.params == "query" else order.json
        for name in how.required:
            if get_path(given, name) is None:
                raise CallerError(f"{operation.id} needs the parameter {name!r}.")
        self._given = given
        self._id: str | int | None = None
        self._is_kept = order.kept is not None
        self._is_done = False
        if order.kept is not None:
            task_id = order.kept.get(TASK)
            if set(order.kept) != {TASK} or not isinstance(task_id, (str, int)):
                raise CallerError(f"{operation.id} cannot be continued from {order.kept!r}.")
            self._id = task_id

    @property
    def reached(self) -> Position | None:
        """The task that WB works at: a later run can fetch it; None: it is not created yet."""
        return None if self._id is None else {TASK: self._id}

    async def result(self) -> Answer:
        """The reply of the download.

        Raises:
            ServerError: WB gave the task up, or does not finish it.
        """
        if self._id is None:
            self._id = await self._create()
        if not self._is_done:
            try:
                await self._wait_until_done(self._id)
            except (BadRequest, ServerError) as error:
                # WB keeps tasks for hours only: one of an earlier run may be gone.
                is_gone = isinstance(error, BadRequest) or error.status is None
                if not (self._is_kept and is_gone):
                    raise
                self._is_kept = False
                self._id = await self._create()
                await self._wait_until_done(self._id)
            self._is_done = True
        return await self._ask(self._how.download, self._id, may_spool=self._order.may_spool)

    async def _create(self) -> str | int:
        call = self._caller.prepare(
            self._operation.id,
            params=self._order.params,
            json=self._order.json,
            path=self._order.path,
        )
        answer = await self._caller.send(call, max_wait=self._order.max_wait)
        # Either the caller chose the id, or WB did.
        source = self._given if self._how.status_ids else answer.json()
        task_id = get_path(source, self._how.task_id)
        if not isinstance(task_id, (str, int)):
            raise answer.undecodable(f"there is no task id at `{self._how.task_id}`")
        return task_id

    async def _wait_until_done(self, task_id: str | int) -> None:
        pause, spent = FIRST_LOOK, 0.0
        while spent <= LONGEST_TASK:
            await anyio.sleep(pause)
            spent += pause
            pause = min(2 * pause, LONGEST_PAUSE)
            state = self._state(await self._ask(self._how.status, task_id))
            if state in self._how.done:
                return
            if state in self._how.failed:
                raise self._error(f"WB gave the task up: its state is {state!r}")
        raise self._error(f"the task is not done after {LONGEST_TASK:.0f} s")

    async def _ask(
        self, operation_id: str, task_id: str | int, *, may_spool: bool = False
    ) -> Answer:
        operation = self._caller.registry.operation(operation_id)
        # The one path parameter of these operations is the task's id, whatever it is called.
        path = dict.fromkeys(operation.path_parameters, task_id)
        params = {} if path else {self._how.status_ids: [task_id]}
        call = self._caller.prepare(operation_id, params=params, path=path)
        return await self._caller.send(call, max_wait=self._order.max_wait, may_spool=may_spool)

    def _state(self, answer: Answer) -> Any:
        state = get_path(answer.json(), self._how.status_field)
        if isinstance(state, list):
            return state[0] if state else None
        return state

    def _error(self, problem: str) -> ServerError:
        return ServerError(
            f"{self._operation.id}: {problem}.",
            operation=self._operation.id,
            account=self._caller.account,
        )
