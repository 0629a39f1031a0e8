"""`wbtrio simulate`: a WB that counts, on a port, for imports and clients in any language."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated, Literal

import anyio
from cyclopts import Parameter, validators
from rich.console import Console
from rich.table import Table

from wbtrio.simulator import Scenario, WbSimulator, make_token
from wbtrio.simulator.scenario_file import load_scenario
from wbtrio.simulator.serve import serve
from wbtrio.simulator.tokens import Kind

DEFAULT_PORT = 8400
SELLERS: tuple[tuple[str, Kind], ...] = (("anna", "personal"), ("boris", "basic"))


def simulate(
    *,
    scenario: Path | None = None,
    port: Annotated[int, Parameter(validator=validators.Number(gte=0, lte=65_535))] = DEFAULT_PORT,
    token_file: Path | None = None,
    duration: Annotated[float | None, Parameter(validator=validators.Number(gt=0))] = None,
    backend: Literal["trio", "asyncio"] = "trio",
) -> int:
    """Serve a simulated WB on this machine until Ctrl-C, and say what it counted.

    It keeps WB's budgets for each account and token kind, and answers 429 to whoever exceeds
    them. Send WB's host in the header `X-Wb-Host`, or leave it to the path.

    Example: `wbtrio simulate --token-file tokens`, and in another terminal
    `wbtrio import --token-file tokens --resource cards --out data
    --base-url http://127.0.0.1:8400`.

    Exit status: 0, or 2 for a faulty scenario or a port that is taken.

    Parameters
    ----------
    scenario
        TOML file that says what kind of WB it is: rules, rows, faults, latency, other programs.
    port
        Of 127.0.0.1; 0: any free one.
    token_file
        Write tokens to try it with: a personal one and a basic one, of two sellers.
    duration
        Seconds to serve; default: until Ctrl-C.
    backend
        The event loop to run on.
    """
    console = Console(highlight=False, soft_wrap=True)
    simulator = WbSimulator(Scenario() if scenario is None else load_scenario(scenario))
    if token_file is not None:
        tokens = [make_token(name, kind=kind) for name, kind in SELLERS]
        token_file.write_text("".join(f"{token}\n" for token in tokens), encoding="ascii")
    try:
        anyio.run(_serve, simulator, port, duration, console, backend=backend)
    except OSError as error:
        console.print(f"Port {port} cannot be served: {error.strerror}.")
        return 2
    _print_tallies(console, simulator)
    return 0


async def _serve(
    simulator: WbSimulator, port: int, duration: float | None, console: Console
) -> None:
    async with serve(simulator, port=port) as url:
        console.print(f"A simulated WB answers at {url}")
        with (
            anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals,
            anyio.move_on_after(duration),
        ):
            async for _ in signals:
                return


def _print_tallies(console: Console, simulator: WbSimulator) -> None:
    table = Table("account", "token", "budget", "requests", "429s")
    for key, tally in sorted(simulator.tallies.items()):
        table.add_row(key.account, key.kind, key.budget, f"{tally.requests}", f"{tally.refused}")
    console.print(table if simulator.tallies else "Nobody asked for anything.")
