"""The command line: broken streams, wrong options, and the console scripts of the servers."""

import os
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.app.processes import BIN

from chie.cli import main


def run(command: str, **environment: str) -> "subprocess.CompletedProcess[bytes]":
    """Run in a shell, which can close a stream."""
    return subprocess.run(
        ["/bin/sh", "-c", f"exec {BIN}/{command}"],
        env=os.environ | environment,
        capture_output=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(("encoding", "shown"), [("cp1252", b"Chie (??)"), ("cp932", "Chie (知恵)".encode("cp932"))])
def test_character_missing_in_the_encoding_becomes_a_question_mark(encoding: str, shown: bytes) -> None:
    done = run("chie --help", PYTHONIOENCODING=encoding)
    assert shown in done.stdout
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_full_disk_of_stdout_is_one_line(unbuffered: str) -> None:
    done = run("chie --version >/dev/full", PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == 1
    assert done.stderr == b"Error: The output cannot be written: No space left on device.\n"


@pytest.mark.parametrize(
    "command", ["chie --version >&-", "chie --version 2>&-", "chie mcp knowledge <&-", "knowledge-gateway <&-"]
)
def test_closed_stream_is_no_error(command: str) -> None:
    done = run(command)
    assert (done.returncode, done.stderr) == (0, b"")


def test_other_os_error_keeps_its_stack(tmp_path: Path) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chie.logging.configure", fail)
        result = CliRunner().invoke(main, ["serve"], env={"CHIE_HOME": str(tmp_path)})
    assert isinstance(result.exception, OSError)


@pytest.mark.parametrize("port", ["-1", "65536", "99999"])
@pytest.mark.parametrize("command", [["serve"], ["mcp", "knowledge", "--http"], ["doctor"]])
def test_port_out_of_range_is_rejected(command: list[str], port: str) -> None:
    for result in (
        CliRunner().invoke(main, [*command, "--port", port]),
        CliRunner().invoke(main, command, env={"PORT": port}),
    ):
        assert result.exit_code == 2
        assert "is not in the range 0<=x<=65535" in result.output


PROGRAMS = {"knowledge-gateway": "knowledge", "mcp-bedrock-kb": "bedrock-kb", "n8n-mcp-server": "n8n"}


def execute(*words: str, folder: Path) -> tuple[int, str]:
    done = subprocess.run([BIN / words[0], *words[1:]], capture_output=True, text=True, check=False, cwd=folder)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("program", PROGRAMS)
def test_console_script_of_a_server(program: str, tmp_path: Path) -> None:
    code, output = execute(program, "--help", folder=tmp_path)
    assert code == 0
    assert output.splitlines()[0] == f"Usage: {program} [OPTIONS]"
    assert f"Run the MCP server {PROGRAMS[program]} for" in output
    for option in ("--http", "--log-file", "--log-dir", "--port"):
        assert option in output
    code, output = execute(program, "knowledge", folder=tmp_path)
    assert (code, output.splitlines()[0]) == (2, f"Usage: {program} [OPTIONS]")


def test_missing_setting_is_one_line(tmp_path: Path) -> None:
    code, output = execute("mcp-bedrock-kb", folder=tmp_path)
    assert code == 1
    assert output.startswith("Error: not configured: BEDROCK_KB_ID")
    assert len(output.splitlines()) == 1
