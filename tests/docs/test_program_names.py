"""The short names of the servers are also those of other people's packages, so documents show `chie mcp …`."""

import re
from pathlib import Path

import pytest
from docs.requirement_table import ROOT

NAMES = re.compile(r"(?<![\w/@-])(?:knowledge-gateway|mcp-bedrock-kb|n8n-mcp-server)(?![\w-])")
INSTALLERS = re.compile(r"\b(?:uvx|npx|pipx|pip3? install|uv tool|uv run --with|npm (?:i|install|exec))\b")
EXPLAINED = {"docs/distribution.md"}
LISTED = {"docs/requirements.md", "docs/architecture.md", "README.md"}  # requirements, first lines, the registry's name
FILES = sorted(
    file
    for pattern in (
        "*.md",
        "docs/**/*.md",
        "packages/*/*.md",
        "server.json",
        "compose.yaml",
        "deploy/*",
        "release/*.py",
        "src/chie/messages/**/*.json",
        "src/chie/connect/**/*",
        "src/chie/setup/*.py",
        "src/chie/installation/*.py",
        "web/src/**/*.ts*",
    )
    for file in ROOT.glob(pattern)
    if file.is_file() and "__pycache__" not in file.parts
)


def lines(file: Path) -> list[str]:
    return file.read_text("utf-8").replace("\\\n", " ").splitlines()


def test_the_files_are_found() -> None:
    found = {file.relative_to(ROOT).as_posix() for file in FILES}
    assert {"README.ja.md", "docs/ja/n8n.md", "server.json", "src/chie/connect/program.py"} <= found


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_no_package_manager_is_asked_for_one_of_the_names(file: Path) -> None:
    assert [line for line in lines(file) if INSTALLERS.search(line) and NAMES.search(line)] == []


def test_documents_show_chie_mcp_instead() -> None:
    shown = {
        file.relative_to(ROOT).as_posix()
        for file in FILES
        if file.suffix == ".md" and any(NAMES.search(line) for line in lines(file))
    }
    assert shown - EXPLAINED - LISTED == set()
    readme = [line for line in lines(ROOT / "README.md") if NAMES.search(line)]
    assert [line for line in readme if "mcp-name:" not in line] == []


@pytest.mark.parametrize("line", ["uvx knowledge-gateway", "npx -y n8n-mcp-server", "pip install mcp-bedrock-kb"])
def test_such_a_line_would_be_found(line: str) -> None:
    assert INSTALLERS.search(line)
    assert NAMES.search(line)
