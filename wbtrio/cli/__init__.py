"""The command line, one file per command; each is imported only when it is run.

Exit codes: 0 done; 1 done, but the answer is no (a difference, a 429 earned); 2 wrong usage or a
wrong setting, nothing was sent; 3 WB or the store failed; 75 a budget is used up for longer than
allowed, run it again later; 130 interrupted.
"""

from __future__ import annotations

import sys
from typing import NoReturn

MISSING_EXTRA = "The command line needs its extra: pip install 'wbtrio[cli]'"

EXIT_ANSWER_IS_NO = 1
EXIT_CALLER = 2
EXIT_FAILED = 3
EXIT_TRY_LATER = 75
EXIT_INTERRUPTED = 130

COMMANDS = {
    "demo": "wbtrio.cli.demo:demo",
    "doctor": "wbtrio.cli.doctor:doctor",
    "import": "wbtrio.cli.import_:import_command",
    "plan": "wbtrio.cli.plan:plan_command",
    "registry": "wbtrio.cli.registry:registry_app",
    "simulate": "wbtrio.cli.simulate:simulate",
    "token": "wbtrio.cli.token:token_app",
}
"""Where each command is; a line here is all that a new one needs."""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run one command line, and exit with its code."""
    try:
        import cyclopts
    except ImportError:
        print(MISSING_EXTRA, file=sys.stderr)
        sys.exit(EXIT_CALLER)

    from wbtrio.cli._exit import exit_code_of

    app = cyclopts.App(
        name="wbtrio",
        help="Calls to the Wildberries seller API, inside every budget.",
        help_epilogue=(__doc__ or "").partition("\n\n")[2],
    )
    for name, path in COMMANDS.items():
        app.command(path, name=name)
    try:
        code = app(arguments, result_action="return_value")
    except BaseException as error:
        sys.exit(exit_code_of(error))
    sys.exit(code if isinstance(code, int) else 0)
