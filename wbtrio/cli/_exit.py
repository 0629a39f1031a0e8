"""From what went wrong to what a person reads, and to an exit code."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console

from wbtrio._errors import CallerError, RateLimited, WbTrioError
from wbtrio.cli import (
    EXIT_CALLER,
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_TRY_LATER,
)


def exit_code_of(error: BaseException) -> int:
    """Print what a person needs of an error, and say with which code to exit.

    Errors of wbtrio's are told without a traceback: what happened, and what to do next. Anything
    else is a fault of the program's, and is raised as it is.
    """
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else EXIT_FAILED
    leaves = list(_leaves(error))
    if any(isinstance(leaf, KeyboardInterrupt) for leaf in leaves):
        return EXIT_INTERRUPTED
    if not all(isinstance(leaf, WbTrioError) for leaf in leaves):
        raise error
    console = Console(stderr=True, highlight=False)
    for leaf in leaves:
        console.print(str(leaf), markup=False, soft_wrap=True)
    if any(isinstance(leaf, CallerError) for leaf in leaves):
        return EXIT_CALLER
    only_patience = all(isinstance(leaf, RateLimited) for leaf in leaves)
    return EXIT_TRY_LATER if only_patience else EXIT_FAILED


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error
