"""The commands as they are typed: what they say of themselves is what can be typed."""

from pathlib import Path
from subprocess import run

import pytest
from tests.house.processes import BIN

PROGRAMS = {"knowledge-gateway": "knowledge", "mcp-bedrock-kb": "bedrock-kb", "n8n-mcp-server": "n8n"}


def type_(*words: str, folder: Path) -> tuple[int, str]:
    done = run([BIN / words[0], *words[1:]], capture_output=True, text=True, check=False, cwd=folder)
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
