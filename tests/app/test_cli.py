"""The edge of the command line: whatever its streams are, and whatever it is told."""

import os
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.app.processes import BIN

from chie.cli import main


def run(command: str, **environment: str) -> "subprocess.CompletedProcess[bytes]":
    """By way of a shell, which can close a stream."""
    return subprocess.run(
        ["/bin/sh", "-c", f"exec {BIN}/{command}"],
        env=os.environ | environment,
        capture_output=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(("encoding", "shown"), [("cp1252", b"Chie (??)"), ("cp932", "Chie (知恵)".encode("cp932"))])
def test_a_letter_that_the_output_does_not_know_becomes_a_question_mark(encoding: str, shown: bytes) -> None:
    done = run("chie --help", PYTHONIOENCODING=encoding)
    assert shown in done.stdout
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_an_output_that_takes_nothing_is_told_in_one_line(unbuffered: str) -> None:
    done = run("chie --version >/dev/full", PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == 1
    assert done.stderr == b"Error: what was to be shown cannot be written: No space left on device.\n"


@pytest.mark.parametrize(
    "command", ["chie --version >&-", "chie --version 2>&-", "chie mcp knowledge <&-", "knowledge-gateway <&-"]
)
def test_a_closed_stream_is_no_failure(command: str) -> None:
    done = run(command)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_failure_that_the_output_is_not_to_blame_for_keeps_its_stack(tmp_path: Path) -> None:
    def fail(*_: object) -> None:
        raise OSError(5, "Input/output error")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chie.logging.configure", fail)
        result = CliRunner().invoke(main, ["serve"], env={"CHIE_HOME": str(tmp_path)})
    assert isinstance(result.exception, OSError)


@pytest.mark.parametrize("port", ["-1", "65536", "99999"])
@pytest.mark.parametrize("command", [["serve"], ["mcp", "knowledge", "--http"], ["doctor"]])
def test_a_port_that_cannot_be_is_refused(command: list[str], port: str) -> None:
    for result in (
        CliRunner().invoke(main, [*command, "--port", port]),
        CliRunner().invoke(main, command, env={"PORT": port}),
    ):
        assert result.exit_code == 2
        assert "is not in the range 0<=x<=65535" in result.output


PROGRAMS = {"knowledge-gateway": "knowledge", "mcp-bedrock-kb": "bedrock-kb", "n8n-mcp-server": "n8n"}


def type_(*words: str, folder: Path) -> tuple[int, str]:
    done = subprocess.run([BIN / words[0], *words[1:]], capture_output=True, text=True, check=False, cwd=folder)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_servers_own_program_is_used_as_its_help_says(program: str, tmp_path: Path) -> None:
    code, said = type_(program, "--help", folder=tmp_path)
    assert code == 0
    assert said.splitlines()[0] == f"Usage: {program} [OPTIONS]"
    assert f"Run the MCP server {PROGRAMS[program]}," in said
    for option in ("--http", "--log-file", "--log-dir", "--port"):
        assert option in said
    code, said = type_(program, "knowledge", folder=tmp_path)
    assert (code, said.splitlines()[0]) == (2, f"Usage: {program} [OPTIONS]")


def test_what_a_server_lacks_is_one_line(tmp_path: Path) -> None:
    code, said = type_("mcp-bedrock-kb", folder=tmp_path)
    assert code == 1
    assert said.startswith("Error: not configured: BEDROCK_KB_ID")
    assert len(said.splitlines()) == 1
