"""One strategy in one scenario: the client's loop, the same for all."""

from __future__ import annotations

from itertools import count

import anyio

from benchmarks.lab._measures import Figures, measure
from benchmarks.lab._scenario import SECOND, Scenario
from benchmarks.lab._store import LabStore
from benchmarks.lab._world import LostReply, World, clock
from benchmarks.lab.strategies import STRATEGIES
from benchmarks.lab.strategies._base import Setting, Strategy
from tests.support.virtual_loop import VirtualTimeLoop

SEED = 1


class Run:
    """The state of one run.

    Attributes:
        world: WB.
        figures: When it is over.
    """

    def __init__(self, scenario: Scenario, strategy: str, seed: int) -> None:
        self.scenario = scenario
        self.world = World(scenario, seed)
        self.figures: Figures | None = None
        self._strategy = strategy
        self._seed = seed
        self._waits: list[int] = []
        self._wanting: dict[int, int] = {}
        self._tasks = iter(count() if scenario.jobs is None else range(scenario.jobs))

    async def play(self) -> None:
        """From the first request to the end."""
        scenario = self.scenario
        store = LabStore(scenario)
        processes = [
            STRATEGIES[self._strategy](
                Setting(scenario, store, f"{self._seed}/{self._strategy}/{number}")
            )
            for number in range(scenario.processes)
        ]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(store.suffer)
            with anyio.move_on_after(scenario.seconds):
                async with anyio.create_task_group() as workers:
                    for number in range(scenario.workers):
                        process = processes[number % scenario.processes]
                        workers.start_soon(self._work, process, number)
                    # Counted before anything is cancelled: what cancelling costs is no figure.
                    tasks.start_soon(self._count_at_the_end, processes)
            self._count(processes)
            tasks.cancel_scope.cancel()

    async def _count_at_the_end(self, processes: list[Strategy]) -> None:
        await anyio.sleep(self.scenario.seconds - 1 / SECOND)
        self._count(processes)

    def _count(self, processes: list[Strategy]) -> None:
        if self.figures is None:
            end = clock()
            still = [end - wanted for wanted in self._wanting.values()]
            calls = sum(process.store_calls for process in processes)
            self.figures = measure(self.scenario, self.world, [*self._waits, *still], calls, end)

    async def _work(self, process: Strategy, number: int) -> None:
        scenario = self.scenario
        for task in self._tasks:
            self._wanting[number] = clock()
            turn, which = divmod(task, scenario.accounts)
            operation = f"operation-{turn % scenario.operations}"
            admitted = await self._bring_home(process, f"seller-{which}", operation)
            self._waits.append(admitted - self._wanting.pop(number))

    async def _bring_home(self, process: Strategy, account: str, operation: str) -> int:
        """When the request left that WB admitted, µs."""
        refusals = 0
        while True:
            ticket = await process.acquire(account, operation)
            sent = clock()
            try:
                reply = await self.world.send(account)
            except LostReply:
                await process.lose(ticket)
                continue
            await process.settle(ticket, reply.status, reply.headers)
            if reply.status != 429:
                return sent
            refusals += 1
            if pause := process.pause(reply.headers, refusals):
                await anyio.sleep(pause)


def play(scenario: Scenario, strategy: str, *, seed: int = SEED) -> Run:
    """Play one strategy through one scenario, from virtual time 0."""
    run = Run(scenario, strategy, seed)
    anyio.run(run.play, backend="asyncio", backend_options={"loop_factory": VirtualTimeLoop})
    return run


def figures(scenario: Scenario, strategy: str, *, seed: int = SEED) -> Figures:
    """Only the figures of it."""
    found = play(scenario, strategy, seed=seed).figures
    if found is None:
        raise RuntimeError(f"{strategy} in {scenario.name} never ended")
    return found
