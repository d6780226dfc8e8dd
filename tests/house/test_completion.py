"""What a shell is told when the tab key is pressed."""

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.house.processes import BIN
from tests.house.test_architecture import HEAVY, modules_after

from chie.cli import main

COMPLETED = """
source {script}
COMP_WORDS=({words}); COMP_CWORD={position}
_chie_completion chie
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def complete(tmp_path: Path, line: str) -> set[str]:
    """What bash itself would offer."""
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
def test_other_shells_get_a_script_of_their_own(shell: str, words: str) -> None:
    assert words in CliRunner().invoke(main, ["completion", shell]).output


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_scripts_are_well_formed_where_the_shell_is_there(shell: str, tmp_path: Path) -> None:
    from shutil import which

    if which(shell) is None:
        pytest.skip(f"no {shell} here")
    (tmp_path / "script").write_text(CliRunner().invoke(main, ["completion", shell]).output)
    subprocess.run([shell, "-n", tmp_path / "script"], check=True)


@pytest.mark.parametrize("module", ["connect", "doctor", "backup"])
def test_completing_a_command_loads_nothing_heavy(module: str) -> None:
    loaded = modules_after(f"import chie.{module}.cli")
    assert loaded & (HEAVY | {"fastmcp", "mcp", "starlette", "pydantic", "uvicorn"}) == set()
    assert sys.executable
