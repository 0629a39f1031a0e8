"""`wbtrio token`: what a WB token allows, without sending it anywhere and without showing it."""

from __future__ import annotations

import getpass
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, BinaryIO

import cyclopts
import msgspec
from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

from wbtrio._errors import CallerError, TokenExpired, TokenMalformed
from wbtrio._reply_text import clean
from wbtrio._tokens import LONGEST_TOKEN, SellerToken, TokenKind, decode_token

token_app = cyclopts.App(name="token", help="Look into WB tokens.")

_SHORTER_THAN_ANY_TOKEN = 40
_KINDS = {
    TokenKind.PERSONAL: "personal: full limits",
    TokenKind.SERVICE: "service: full limits, counted for this service",
    TokenKind.BASIC_SECRET: "basic with a service secret: full limits",
    TokenKind.BASIC: "basic: limits down to a few requests a day; give --secret if a service"
    " secret (X-Client-Secret) goes with it",
    TokenKind.TEST: "test: WB's sandbox hosts only",
}


@token_app.command
def inspect(
    *refused: Annotated[str, Parameter(show=False, allow_leading_hyphen=True)],
    file: Path | None = None,
    env: str | None = None,
    secret: bool = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Show the kind, account, categories, access level and expiry of a WB token.

    The token is read from standard input, a file or an environment variable, never from the
    command line, where a shell's history and every process list would keep it. The signature is
    not verified: only WB can do that.

    Exit status: 0 usable, 1 expired or no WB token, 2 nothing to read.

    Parameters
    ----------
    refused
        Takes what was typed on the command line, so that it can be refused without showing it.
    file
        File that holds the token and nothing else.
    env
        Name of the environment variable that holds it.
    secret
        A service secret goes with the token.
    as_json
        Print one JSON object instead of a table.
    """
    try:
        raw = _read(refused, file, env)
        token = decode_token(raw, has_secret=secret)
    except TokenMalformed as error:
        return _complain(error, status=1)
    except CallerError as error:
        return _complain(error, status=2)
    if as_json:
        sys.stdout.write(msgspec.json.encode(_facts(token), order="sorted").decode() + "\n")
    else:
        Console().print(_table(token))
    try:
        token.check_usable(datetime.now(UTC))
    except TokenExpired as error:
        return _complain(error, status=1)
    return 0


def _complain(error: CallerError, *, status: int) -> int:
    sys.stderr.write(f"{error}\n")
    return status


def _read(refused: tuple[str, ...], file: Path | None, env: str | None) -> str:
    if refused and max(map(len, refused)) < _SHORTER_THAN_ANY_TOKEN:
        raise CallerError(f"Unknown argument: {clean(' '.join(refused))}.")
    if refused:
        raise CallerError(
            "A token on the command line stays in the shell's history and in process lists.",
            advice="Pipe it in, or use --file or --env; if it is still valid, replace it.",
        )
    if file is not None and env is not None:
        raise CallerError("Give either --file or --env, not both.")
    if env is not None:
        if env not in os.environ:
            raise CallerError(f"There is no environment variable {clean(env)}.")
        return os.environ[env]
    if file is not None:
        try:
            with file.open("rb") as opened:
                return _start_of(opened)
        except OSError as error:
            # Whoever gives the token itself for a file's name does not get to see it again.
            raise CallerError(f"Cannot read {clean(str(file))}: {error.strerror}.") from None
    if sys.stdin.isatty():
        return getpass.getpass("WB token (not shown): ")
    return _start_of(sys.stdin.buffer)


def _start_of(stream: BinaryIO) -> str:
    return stream.read(LONGEST_TOKEN + 1).decode("ascii", "replace")


def _facts(token: SellerToken) -> dict[str, object]:
    return {
        "account": token.account,
        "expires_at": token.expires_at,
        "kind": token.kind,
        "read_only": token.read_only,
        "scopes": sorted(token.scopes),
        "service_id": token.service_id,
        "sid": token.sid,
        "token_id": token.token_id,
    }


def _table(token: SellerToken) -> Table:
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("kind", _KINDS[token.kind])
    table.add_row("account", token.account)
    table.add_row("categories", ", ".join(sorted(token.scopes)) or "none")
    table.add_row("access", "read only" if token.read_only else "read and write")
    table.add_row("expires", _expiry(token.expires_at))
    if token.token_id is not None:
        table.add_row("token id", token.token_id)
    return table


def _expiry(moment: datetime | None) -> str:
    if moment is None:
        return "the token does not say"
    days = (moment - datetime.now(UTC)).days
    left = f"{days:,} days left" if days >= 0 else "expired"
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC ({left})"
