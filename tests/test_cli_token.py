"""`wbtrio token inspect`: tells all of a token but the token."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from tests.test_tokens import EXP, SID, token
from wbtrio.cli.token import token_app

if TYPE_CHECKING:
    from pathlib import Path

LATER = int(datetime(2099, 1, 1, tzinfo=UTC).timestamp())
TOKEN = token(exp=LATER, s=1 << 1 | 1 << 5 | 1 << 30)
EXPIRED = token(exp=EXP - 10**8)


class Run:
    """Runs the command in this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._patch = monkeypatch
        self._capsys = capsys
        monkeypatch.setenv("COLUMNS", "200")

    def __call__(self, *arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
        """Exit status, standard output, standard error."""
        self._patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as ended:
            token_app(["inspect", *arguments])
        captured = self._capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, captured.out, captured.err


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    return Run(monkeypatch, capsys)


def test_a_token_is_read_from_standard_input(run: Run) -> None:
    status, out, err = run(stdin=f"{TOKEN}\n".encode())
    assert (status, err) == (0, "")
    for text in ("personal", SID, "content, statistics", "read only", "2099-01-01 00:00:00 UTC"):
        assert text in out


def test_a_token_is_read_from_a_file(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"Bearer {TOKEN}\n")
    status, out, err = run("--file", str(file))
    assert (status, err) == (0, "")
    assert SID in out


def test_a_token_is_read_from_an_environment_variable(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_TOKEN", TOKEN)
    status, out, err = run("--env", "SHOP_TOKEN")
    assert (status, err) == (0, "")
    assert SID in out


def test_a_token_is_asked_for_without_echo_at_a_terminal(
    run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("getpass.getpass", lambda prompt: TOKEN if "not shown" in prompt else "")
    with pytest.raises(SystemExit) as ended:
        token_app(["inspect"])
    assert ended.value.code == 0
    assert SID in capsys.readouterr().out


def test_json_holds_every_claim_and_nothing_else(run: Run) -> None:
    status, out, _ = run("--json", stdin=token(exp=LATER).encode())
    assert status == 0
    assert json.loads(out) == {
        "account": SID,
        "expires_at": "2099-01-01T00:00:00Z",
        "kind": "personal",
        "read_only": False,
        "scopes": ["content", "statistics"],
        "service_id": None,
        "sid": SID,
        "token_id": "01890c5a-0000-7000-8000-000000000001",
    }


def test_a_service_secret_changes_the_kind_of_a_basic_token(run: Run) -> None:
    basic = token(acc=1, exp=LATER, **{"for": ...}).encode()
    assert '"kind":"basic"' in run("--json", stdin=basic)[1]
    assert '"kind":"basic_secret"' in run("--json", "--secret", stdin=basic)[1]
    assert "--secret" in run(stdin=basic)[1]


def test_an_expired_token_is_shown_and_fails(run: Run) -> None:
    status, out, err = run(stdin=EXPIRED.encode())
    assert status == 1
    assert "(expired)" in out
    assert "Issue a new token" in err


def test_a_token_without_expiry_says_so(run: Run) -> None:
    status, out, _ = run(stdin=token(exp=...).encode())
    assert status == 0
    assert "does not say" in out


@pytest.mark.parametrize(
    "stdin", [b"", b"\n", b"sekret", b"sekret." * 1_000_000, b"\xff\xfe\x00", bytes(300)]
)
def test_what_is_no_token_fails_without_being_shown(run: Run, stdin: bytes) -> None:
    status, out, err = run(stdin=stdin)
    assert (status, out) == (1, "")
    assert "no usable WB token" in err
    assert "sekret" not in err


@pytest.mark.parametrize(
    "arguments",
    [
        (TOKEN,),
        ("--token", TOKEN),
        (f"--token={TOKEN}",),
        ("--file", TOKEN),
        ("--env", TOKEN),
        ("--file", "x", TOKEN),
        (TOKEN, "--env", "HOME"),
    ],
)
def test_a_token_on_the_command_line_is_refused_and_not_shown(
    run: Run, arguments: tuple[str, ...]
) -> None:
    status, out, err = run(*arguments, stdin=TOKEN.encode())
    assert (status, out) == (2, "")
    assert err
    assert not any(part in err for part in TOKEN.split("."))


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--file", "/nowhere/token"), "Cannot read /nowhere/token"),
        (("--file", "/"), "Cannot read /"),
        (("--env", "WBTRIO_NO_SUCH_VARIABLE"), "no environment variable WBTRIO_NO_SUCH_VARIABLE"),
        (("--env", "HOME", "--file", "x"), "not both"),
        (("--jsn",), "Unknown argument: --jsn"),
    ],
)
def test_what_cannot_be_read_is_named(run: Run, arguments: tuple[str, ...], problem: str) -> None:
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert problem in err
