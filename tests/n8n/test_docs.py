"""The documentation of this module is complete."""

from pathlib import Path

import pytest

from chie.n8n.registry import TOOLS
from chie.n8n.settings import N8nSettings

ROOT = Path(__file__).parents[2]


@pytest.mark.req("NW-11")
def test_contributors_guide_documents_error_responses() -> None:
    guide = (ROOT / "AGENTS.md").read_text(encoding="utf-8")
    section = guide.split("## Error handling")[1].split("\n## ")[0]
    for part in ("isError", "BaseTool.handler", "ApiErrorContext", "NotFoundErrorContext", "ValidationErrorContext"):
        assert part in section
    assert "@AGENTS.md" in (ROOT / "CLAUDE.md").read_text(encoding="utf-8")


def test_every_tool_and_setting_is_documented() -> None:
    page = (ROOT / "docs" / "n8n.md").read_text(encoding="utf-8")
    for tool in TOOLS:
        assert f"`{tool.name}`" in page, tool.name
    for name in N8nSettings.model_fields:
        assert ("`CHIE_HOME`" if name == "home" else f"`N8N_{name.upper()}`") in page, name
