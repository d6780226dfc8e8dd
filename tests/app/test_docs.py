"""The documentation is up to date: generated parts are fresh; links, paths and commands exist."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from click import Command, Context, Group
from click.testing import CliRunner

from chie.cli import main
from chie.messages.catalogue import catalogue

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def test_generated_parts_are_fresh() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "docs.generate", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_linked_files_exist(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#\s]+)", page.read_text("utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("name", ["AGENTS.md", "CONTRIBUTING.md"])
def test_paths_in_the_guides_exist(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    paths = re.findall(r"`((?:src|tests|docs|bench|packages|requirements)/[\w./-]*)`", text)
    assert paths or name != "AGENTS.md"
    assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_error_codes_on_a_page_exist(page: Path) -> None:
    named = re.findall(r"`([a-z0-9]\w*\.[a-z]+(?:_[a-z]+)+)`", page.read_text("utf-8"))
    codes = [code for code in named if catalogue("en", code.partition(".")[0])]
    assert [code for code in codes if code not in catalogue("en", code.partition(".")[0])] == []


def test_the_guide_stays_short() -> None:
    assert len((ROOT / "AGENTS.md").read_text("utf-8").splitlines()) <= 150
    assert (ROOT / "CLAUDE.md").read_text("utf-8") == "@AGENTS.md\n"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_chie_commands_on_a_page_exist(page: Path) -> None:
    for command in set(re.findall(r"^(?:.*\| )?(chie(?: [a-z][a-z0-9-]*)+)", page.read_text("utf-8"), re.MULTILINE)):
        words = command.split()[1:]
        depth = sum(1 for _ in _known(words))
        help_ = CliRunner().invoke(main, [*words[:depth], "--help"])
        assert depth > 0, command
        assert help_.exit_code == 0, command


def _known(words: list[str]) -> list[str]:
    """The leading words that name commands; the rest are arguments."""
    command: Command | None = main
    found: list[str] = []
    for word in words:
        command = command.get_command(Context(command), word) if isinstance(command, Group) else None
        if command is None:
            return found
        found.append(word)
    return found


def test_make_targets_in_the_guide_exist() -> None:
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    named = re.findall(r"`make ([a-z]+)", "".join(page.read_text("utf-8") for page in PAGES))
    assert set(named) <= set(targets)


def test_no_lock_file_names_a_registry() -> None:
    for lock in [*(ROOT / "requirements").glob("*.txt"), *ROOT.glob("**/package-lock.json")]:
        if "node_modules" in lock.parts:
            continue
        text = lock.read_text("utf-8")
        assert "index-url" not in text
        assert '"resolved": "http' not in text
