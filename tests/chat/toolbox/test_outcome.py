"""MCP results of every shape become text."""

import mcp_types as types
import pytest

from chie.chat.toolbox.result_text import to_outcome


def text(words: str) -> types.TextContent:
    return types.TextContent(type="text", text=words)


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
        ([], None, "The tool gave nothing back."),
        ([IMAGE], None, "[image, image/png: not shown to you]"),
        ([LINK], None, "[spec](file:///spec.md)"),
        ([FILE], None, "# A"),
        ([BLOB], None, "[resource: not shown to you]"),
    ],
    ids=["texts", "text and structure", "structure", "nothing", "image", "link", "file", "blob"],
)
def test_a_result_is_read_once(
    content: list[types.ContentBlock], structured: dict[str, int] | None, expected: str
) -> None:
    outcome = to_outcome(types.CallToolResult(content=content, structured_content=structured))
    assert (outcome.content, outcome.is_error) == (expected, False)


def test_a_failure_without_words_is_still_a_failure() -> None:
    outcome = to_outcome(types.CallToolResult(content=[], is_error=True))
    assert (outcome.content, outcome.is_error) == ("The tool failed and gave no reason.", True)
