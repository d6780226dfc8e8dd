"""An MCP result in words that a model can read."""

import json
from typing import TYPE_CHECKING

import mcp_types

from chie.chat.toolbox.tool import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator


def to_outcome(result: mcp_types.CallToolResult) -> Outcome:
    """The text, or the structured content where there is no text: servers send both with one meaning."""
    text = "\n".join(_texts(result)).strip()
    if not text and result.structured_content is not None:
        text = json.dumps(result.structured_content, ensure_ascii=False)
    if not text:
        text = "The tool failed and gave no reason." if result.is_error else "The tool gave nothing back."
    structured = result.structured_content if isinstance(result.structured_content, dict) else None
    return Outcome(text, is_error=bool(result.is_error), structured=structured)


def _texts(result: mcp_types.CallToolResult) -> "Iterator[str]":
    for block in result.content:
        match block:
            case mcp_types.TextContent():
                yield block.text
            case mcp_types.EmbeddedResource(resource=mcp_types.TextResourceContents() as resource):
                yield resource.text
            case mcp_types.ResourceLink():
                yield f"[{block.title or block.name}]({block.uri})"
            case mcp_types.ImageContent() | mcp_types.AudioContent():
                yield f"[{block.type}, {block.mime_type}: not shown to you]"
            case _:
                yield f"[{block.type}: not shown to you]"
