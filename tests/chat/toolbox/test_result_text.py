"""MCP results of every shape are rendered as text."""

import mcp_types as types
import pytest

from chie.chat.events import ToolCall, ViewRef
from chie.chat.toolbox.result_text import to_outcome


def text(content: str) -> types.TextContent:
    return types.TextContent(type="text", text=content)


IMAGE = types.ImageContent(type="image", data="aGk=", mime_type="image/png")
LINK = types.ResourceLink(type="resource_link", name="spec", uri="file:///spec.md")
FILE = types.EmbeddedResource(
    type="resource", resource=types.TextResourceContents(uri="file:///a.md", text="# A", mime_type="text/markdown")
)
BLOB = types.EmbeddedResource(type="resource", resource=types.BlobResourceContents(uri="file:///a.bin", blob="aGk="))


@pytest.mark.parametrize(
    ("content", "structured", "expected"),
    [
        ([text("one"), text("two")], None, "one\ntwo"),
        ([text('{"a": 1}')], {"a": 1}, '{"a": 1}'),
        ([], {"答え": 1}, '{"答え": 1}'),
        ([], None, "The tool returned nothing."),
        ([IMAGE], None, "[image, image/png: not shown to you]"),
        ([LINK], None, "[spec](file:///spec.md)"),
        ([FILE], None, "# A"),
        ([BLOB], None, "[resource: not shown to you]"),
    ],
    ids=["texts", "text and structure", "structure", "nothing", "image", "link", "file", "blob"],
)
def test_result_is_rendered_once(
    content: list[types.ContentBlock], structured: dict[str, int] | None, expected: str
) -> None:
    outcome = to_outcome(types.CallToolResult(content=content, structured_content=structured))
    assert (outcome.content, outcome.is_error) == (expected, False)


@pytest.mark.req("AG-11")
@pytest.mark.parametrize(
    ("content", "blocks"),
    [
        ([text("one"), text("two")], [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]),
        ([IMAGE], [{"type": "image", "data": "aGk=", "mimeType": "image/png"}]),
        ([text("one")], None),
        ([text("x" * 1_000_001), text("y")], None),
    ],
    ids=["texts", "image", "one text", "too long"],
)
def test_view_gets_the_content_as_the_server_sent_it(
    content: list[types.ContentBlock], blocks: list[dict[str, str]] | None
) -> None:
    call = ToolCall(type="tool_call", id="1", name="show", arguments={})
    outcome = to_outcome(types.CallToolResult(content=content))
    assert "blocks" not in outcome.event(call), "no view shows them"
    assert outcome.event({**call, "view": ViewRef(server="s", uri="ui://s/v")}).get("blocks") == blocks


def test_failure_without_text_is_still_a_failure() -> None:
    outcome = to_outcome(types.CallToolResult(content=[], is_error=True))
    assert (outcome.is_error, outcome.code, outcome.params) == (True, "toolbox.failed_without_reason", {})


@pytest.mark.parametrize(
    ("builtin", "is_error", "structured", "code"),
    [
        (True, True, {"code": "n8n.workflow_not_found", "params": {"id": "1"}}, "n8n.workflow_not_found"),
        (False, True, {"code": "n8n.workflow_not_found", "params": {"id": "1"}}, None),
        (True, False, {"code": "n8n.workflow_not_found", "params": {"id": "1"}}, None),
        (True, True, {"code": 404, "params": {}}, None),
        (True, True, {"code": "x"}, None),
    ],
    ids=["built-in", "foreign", "success", "number", "no parameters"],
)
def test_only_errors_of_builtin_servers_have_a_code(
    *, builtin: bool, is_error: bool, structured: dict[str, object], code: str | None
) -> None:
    result = types.CallToolResult(content=[text("x")], structured_content=structured, is_error=is_error)
    outcome = to_outcome(result, builtin=builtin)
    assert (outcome.content, outcome.code, outcome.params) == ("x", code, {"id": "1"} if code else None)
