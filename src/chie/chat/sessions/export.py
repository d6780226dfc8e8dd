"""Exports a conversation as Markdown or JSON."""

from dataclasses import asdict
from math import isfinite
from typing import Any

from chie.chat.models.model_names import display_name
from chie.chat.sessions.branches import newest_branch
from chie.chat.sessions.entities import Conversation, Message

EXPORTED = ("message", "reasoning", "summary", "tool_result")
SUFFIX = {"markdown": "md", "json": "json"}


def file_name(conversation: Conversation, format: str) -> str:  # noqa: A002
    """ASCII only, because the name goes into a header."""
    return f"chie-{conversation.created_at:%Y-%m-%d}-{conversation.session_id[:8]}.{SUFFIX[format]}"


def as_json(conversation: Conversation) -> dict[str, Any]:
    return {name: _plain(value) for name, value in asdict(conversation).items()}


def as_markdown(conversation: Conversation) -> str:
    head = f"# {conversation.title}\n\n{conversation.created_at:%Y-%m-%d %H:%M} UTC\n"
    return "\n".join([head, *(_section(message) for message in newest_branch(conversation.messages))])


def _section(message: Message) -> str:
    author = "User" if message.role == "user" else message.agent_id or "Assistant"
    lines = [f"## {author}", *_model(message), *_files(message), *_texts(message)]
    if message.status in ("stopped", "interrupted", "failed"):
        lines.append(f"*({message.status}{f': {message.error}' if message.error else ''})*")
    return "\n\n".join(lines) + "\n"


def _model(message: Message) -> list[str]:
    return [f"Model: {display_name(message.model)}"] if message.model else []


def _files(message: Message) -> list[str]:
    names = [f"- {file.name} ({file.media_type}, {file.size:,} bytes)" for file in message.attachments]
    return ["\n".join(["Attached files:", "", *names])] if names else []


def _texts(message: Message) -> list[str]:
    if not message.parts:
        return [message.content] if message.content else []
    shown = (_part(part) for part in message.parts if part["type"] in EXPORTED)
    return list(filter(None, shown))


def _part(part: dict[str, Any]) -> str:
    if part["type"] == "message":
        return str(part["content"]).strip("\n")  # sections are separated by blank lines already
    if part["type"] == "reasoning":
        return _quoted("Reasoning", part["content"])
    if part["type"] == "summary":
        heading = f"Summary of the first {part['questions']} questions, which the model read in their place"
        return _quoted(heading, part["content"]) if part.get("content") else ""
    return _quoted(f"Tool `{part['name']}` {'failed' if part['is_error'] else 'returned'}", part["content"])


def _quoted(heading: str, text: str) -> str:
    quoted = "\n".join(f"> {line}".rstrip() for line in text.splitlines())
    return f"> {heading}:\n>\n{quoted}"


def _plain(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and not isfinite(value):
        return None  # not valid JSON; older versions stored such numbers in tool arguments
    return value.isoformat() if hasattr(value, "isoformat") else value
