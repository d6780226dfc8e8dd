import json
import logging
import re
import sys
from pathlib import Path

import pytest

from chie.errors import ChieError, NotFoundError, StorageError
from chie.logging import configure, new_request_id, redact, request_id


@pytest.mark.parametrize(
    "line",
    [
        "Authorization: Bearer abc.def.secretvalue",
        "authorization=Basic secretvalue",
        '{"api_key": "secretvalue"}',
        "X-N8N-API-KEY: secretvalue",
        "postgresql://user:secretvalue@db.example/chie",
        "https://example.com/?token=secretvalue&x=1",
        "password = secretvalue",
        "PASSWD=secretvalue",
        "ſecret=secretvalue",  # equal to ASCII letters where case does not matter
        "authorızation: secretvalue",
        "it said chie_0123456789abcdef-secretvalue to us",
        "it said eyJhbGciOiJSUzI1NiJ9.secretvalue.secretvalue to us",
    ],
)
def test_secrets_are_hidden(line: str) -> None:
    assert "secretvalue" not in redact(line)
    assert "***" in redact(line)


FORGED = "/a\n12:00:00 ERROR chie [-] forged\r\x1b[2J\x7f\x9b31m\u2028\u0085b"
SHOWN = r"/a\u000a12:00:00 ERROR chie [-] forged\u000d\u001b[2J\u007f\u009b31m\u2028\u0085b"


def test_control_characters_are_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configure()
    logging.getLogger("chie.test").warning("rejected a token for %s", FORGED)
    try:
        int("x")
    except ValueError as error:
        error.args = ("\x1b[2J",)
        logging.getLogger("chie.test").exception("it failed")
    first, second, *stack = capsys.readouterr().err.splitlines()
    assert first.endswith(f"rejected a token for {SHOWN}")
    assert second.endswith("it failed")
    assert stack[0] == "Traceback (most recent call last):"
    assert stack[-1] == r"ValueError: \u001b[2J"
    configure(file=tmp_path / "log")
    logging.getLogger("chie.test").warning("%s", FORGED)
    text = (tmp_path / "log").read_text(encoding="utf-8")
    assert text.removesuffix("\n").isprintable()
    assert json.loads(text)["message"] == FORGED


@pytest.mark.parametrize("line", ["eyJ-" * 500_000, "eyJa." + "eyJ-" * 500_000])
def test_redaction_takes_linear_time(line: str) -> None:
    """A quadratic scan would take hours."""
    assert redact(line) == line
    assert redact(f"{line} eyJa.secretvalue.c token=secretvalue") == f"{line} *** token=***"


def test_plain_lines_are_unchanged() -> None:
    for line in (
        "saved note k-1 for aki",
        "http://127.0.0.1:8080/mcp?x=a@b",
        "トークンの上限は 256",
        "the key is under the mat",
    ):
        assert redact(line) == line


def test_values_of_secret_settings_are_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_EMBEDDING_KEY", "correct horse battery")
    assert redact("server said: correct horse battery is wrong") == "server said: *** is wrong"


def test_lines_have_the_request_id_and_files_are_json(tmp_path: Path) -> None:
    configure("info", tmp_path / "logs" / "chie.log")
    request = new_request_id()
    logging.getLogger("chie.test").info("こんにちは token=%s", "abcdefgh")
    logging.getLogger("chie.test").error("crashed", exc_info=RuntimeError("a bug"))
    line, crashed = map(json.loads, (tmp_path / "logs" / "chie.log").read_text("utf-8").splitlines())
    assert (line["message"], line["level"], line["request"]) == ("こんにちは token=***", "INFO", request)
    assert "RuntimeError: a bug" in crashed["stack"]
    assert request_id() == request


@pytest.mark.parametrize("level", ["warning", "info"])
def test_client_errors_are_logged_at_info(capsys: pytest.CaptureFixture[str], level: str) -> None:
    """FastMCP logs every failed tool call as an error, with its exception."""
    configure(level)
    logging.getLogger().handlers[0].setStream(sys.stderr)  # type: ignore[attr-defined]
    for error in (NotFoundError("http.path_not_found"), StorageError("access.users_unavailable")):
        try:
            raise error
        except ChieError:
            logging.getLogger("fastmcp.server.server").exception("Error calling tool 'x'")
    lines = [line.split(" ", 1)[1] for line in capsys.readouterr().err.splitlines()]
    shown = [re.sub(r"\[(\w+|-)\] Error .*: .*\[", "[-] Error: [", line) for line in lines]
    server_error = "ERROR fastmcp.server.server [-] Error: [access.users_unavailable]"
    client_error = "INFO fastmcp.server.server [-] Error: [http.path_not_found]"
    assert shown == ([server_error] if level == "warning" else [client_error, server_error])


def test_chie_error_is_one_line_without_a_stack(capsys: pytest.CaptureFixture[str]) -> None:
    configure("warning")
    logging.getLogger().handlers[0].setStream(sys.stderr)  # type: ignore[attr-defined]
    expected = StorageError("access.users_unavailable")
    logging.getLogger("fastmcp.x").error("Error calling tool", exc_info=expected)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.endswith(f"Error calling tool: {expected.message} [access.users_unavailable]\n")
