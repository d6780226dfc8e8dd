"""Commands that connect an assistant, and the two READMEs, which must have the same effect."""

import re

import pytest
from tests.docs.blocks import PAGES, ROOT, commands

from chie.connect.mcp_clients import snippets

SHOWN = commands()


def commands_of(name: str) -> list[str]:
    return [re.sub(r"\s+", " ", shown.text) for shown in SHOWN if shown.page == ROOT / name]


def test_both_readmes_have_the_same_commands() -> None:
    assert commands_of("README.md") == commands_of("README.ja.md")
    assert commands_of("README.md")[0] == "make run"


@pytest.mark.parametrize(
    "text",
    [
        *(page.read_text("utf-8") for page in PAGES),
        (ROOT / "src/chie/start_page.html").read_text("utf-8"),
        *(snippet.text for snippet in snippets("http://127.0.0.1:8080", ["knowledge", "n8n"], token_required=True)),
    ],
    ids=lambda _: "",
)
def test_claude_code_gets_servers_for_every_folder(text: str) -> None:
    """Claude Code's default scope is the folder in which the command is typed: elsewhere the notes would be missing."""
    assert re.findall(r"claude mcp add(?! --scope user )[^\n`]*", text) == []
