"""Shell completion."""

import os
import pty
import select
import subprocess
import sys
from pathlib import Path
from shutil import which

import pytest
from click.testing import CliRunner
from tests.app.processes import BIN
from tests.app.test_architecture import HEAVY, modules_after

from chie.cli import main

COMPLETED = """
source {script}
COMP_WORDS=({words}); COMP_CWORD={position}
_chie_completion chie
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def complete(tmp_path: Path, line: str) -> set[str]:
    """The completions that bash offers."""
    script = tmp_path / "chie.bash"
    script.write_text(CliRunner().invoke(main, ["completion", "bash"]).output)
    words = line.split(" ")
    text = COMPLETED.format(script=script, words=" ".join(f'"{word}"' for word in words), position=len(words) - 1)
    done = subprocess.run(
        ["bash", "--norc", "-c", text],
        env={"PATH": f"{BIN}:/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return set(done.stdout.split())


def test_bash_completes_commands_hosts_and_options(tmp_path: Path) -> None:
    assert {"connect", "doctor", "backup", "restore", "serve", "notes"} <= complete(tmp_path, "chie ")
    assert complete(tmp_path, "chie con") == {"connect"}
    assert complete(tmp_path, "chie connect c") == {"claude-code", "claude-desktop", "codex", "cursor"}
    assert complete(tmp_path, "chie connect cursor --server ") == {"knowledge", "bedrock-kb", "n8n"}
    assert "--remove" in complete(tmp_path, "chie connect cursor --")
    assert "save" in complete(tmp_path, "chie notes ")


@pytest.mark.parametrize(("shell", "words"), [("zsh", "#compdef chie"), ("fish", "complete --no-files --command chie")])
def test_scripts_of_other_shells(shell: str, words: str) -> None:
    assert words in CliRunner().invoke(main, ["completion", shell]).output


def path_of(shell: str) -> str:
    found = which(shell)
    if found is None:
        pytest.skip(f"no {shell} here")
    return found


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("chie con", {"connect"}),
        ("chie connect c", {"claude-code", "claude-desktop", "codex", "cursor"}),
        ("chie connect cursor --server ", {"knowledge", "bedrock-kb", "n8n"}),
    ],
)
def test_fish_completes(line: str, offered: set[str], tmp_path: Path) -> None:
    fish = path_of("fish")
    script = tmp_path / "chie.fish"
    script.write_text(CliRunner().invoke(main, ["completion", "fish"]).output)
    done = subprocess.run(
        [fish, "--no-config", "-c", f"source {script}; complete -C '{line}'"],
        env={"PATH": f"{BIN}:/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(done.stdout.split()) == offered


@pytest.mark.parametrize(
    ("typed", "shown"), [("chie con\t", "connect "), ("chie connect cursor --server \t", "knowledge   bedrock-kb  n8n")]
)
def test_zsh_completes(typed: str, shown: str, tmp_path: Path) -> None:
    """In a terminal: zsh completes nowhere else."""
    zsh = path_of("zsh")
    script = CliRunner().invoke(main, ["completion", "zsh"]).output
    (tmp_path / ".zshrc").write_text(f"autoload -U compinit; compinit -u -D\nPS1='ready> '\n{script}")
    terminal, theirs = pty.openpty()
    environment = {"PATH": f"{BIN}:/usr/bin:/bin", "HOME": str(tmp_path), "TERM": "dumb"}
    with subprocess.Popen([zsh, "-i"], stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as shell:
        try:
            read_until(terminal, "ready> ")
            os.write(terminal, typed.encode())
            read_until(terminal, shown)
        finally:
            shell.kill()
            os.close(terminal)
            os.close(theirs)


def read_until(terminal: int, text: str) -> None:
    seen = ""
    while text not in seen:
        assert select.select([terminal], [], [], 20)[0], f"nothing after {seen!r}"
        seen += os.read(terminal, 4096).decode(errors="replace")


@pytest.mark.parametrize("module", ["connect", "doctor", "backup"])
def test_completing_a_command_imports_no_framework(module: str) -> None:
    loaded = modules_after(f"import chie.{module}.cli")
    assert loaded & (HEAVY | {"fastmcp", "mcp", "starlette", "pydantic", "uvicorn"}) == set()
    assert sys.executable
