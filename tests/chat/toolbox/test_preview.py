"""What is said of a tool of any server: its hints decide the danger, laxer ones only if they are not new."""

from dataclasses import replace

import mcp_types
import pytest

from chie.chat.toolbox.preview import hinted_preview
from chie.chat.toolbox.tool import Tool

pytestmark = pytest.mark.req("AG-9")


def tool(name: str = "sync", **hints: bool | None) -> Tool:
    annotations = mcp_types.ToolAnnotations.model_validate(hints) if hints else None
    return Tool.from_mcp(
        "peer",
        mcp_types.Tool(
            name=name,
            title="同期する",
            description="Sends  it\naway. " + "x" * 1_000,
            input_schema={"type": "object"},
            annotations=annotations,
        ),
    )


@pytest.mark.parametrize(
    ("given", "danger", "note"),
    [
        (tool(), "delete", "toolbox.preview_unknown"),
        (tool(read_only_hint=True), "read", "toolbox.preview_reads"),
        (tool(destructive_hint=False), "add", "toolbox.preview_adds"),
        (tool(destructive_hint=True), "delete", "toolbox.preview_destroys"),
        (tool("remove_page", destructive_hint=False), "delete", "toolbox.preview_adds"),
        (replace(tool(read_only_hint=True), changed=True), "delete", "toolbox.preview_unknown"),
        (replace(tool(read_only_hint=True), read_only=False), "delete", "toolbox.preview_unknown"),
        (replace(tool(read_only_hint=True), destructive=True, always_ask=True), "read", "toolbox.preview_reads"),
    ],
)
def test_hints_decide_the_danger(given: Tool, danger: str, note: str) -> None:
    preview = hinted_preview(given)
    assert preview["text"] == "Run “同期する” of the MCP server peer"
    assert (preview["danger"], [one["code"] for one in preview["notes"]]) == (danger, [note])
    assert preview["description"].startswith("Sends it away. x")
    assert len(preview["description"]) == 400


def test_a_tool_that_reaches_other_services_says_so() -> None:
    notes = hinted_preview(tool(destructive_hint=True, open_world_hint=True))["notes"]
    assert [one["code"] for one in notes] == ["toolbox.preview_destroys", "toolbox.preview_open_world"]
