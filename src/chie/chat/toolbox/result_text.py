"""Renders an MCP result as text for a model."""

import json
from typing import TYPE_CHECKING, Any

import mcp_types

from chie.chat.json_depth import is_too_deep
from chie.chat.toolbox.tool import Outcome
from chie.messages.catalogue import Message

if TYPE_CHECKING:
    from collections.abc import Iterator


def to_outcome(result: mcp_types.CallToolResult, *, builtin: bool = False) -> Outcome:
    """The text, or the structured content if there is no text: servers send both with the same meaning.

    Only a `builtin` server's error codes are taken over, because other servers' codes are not from our catalogue.
    """
    failed = bool(result.is_error)
    given = result.structured_content
    structured = given if isinstance(given, dict) and not is_too_deep(given) else None
    text = "\n".join(_texts(result)).strip()
    if not text and result.structured_content is not None:
        text = json.dumps(result.structured_content, ensure_ascii=False)
    if not text:
        message = Message("toolbox.failed_without_reason" if failed else "toolbox.result_empty")
        return Outcome(str(message), is_error=failed, structured=structured, code=message.code, params={})
    code = _code(structured) if builtin and failed and structured else {}
    blocks = [block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in result.content]
    return Outcome(text, is_error=failed, structured=structured, blocks=blocks, **code)


def _code(structured: dict[str, Any]) -> dict[str, Any]:
    match structured:
        case {"code": str(code), "params": dict(params)}:
            return {"code": code, "params": params}
    return {}


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
