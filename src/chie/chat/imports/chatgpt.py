"""Reads a conversation of a ChatGPT export: a `mapping` of nodes, of which `current_node` was shown last."""

import re
from datetime import UTC, datetime
from typing import Any

from chie.chat.imports.entities import DamagedConversationError, ImportedConversation
from chie.chat.imports.json_values import moment, optional_list, optional_record, record, text
from chie.chat.imports.tools import arguments_in, called, returned
from chie.chat.imports.tree import Node, messages

HIDDEN_TYPES = {"user_editable_context", "model_editable_context", "reasoning_recap", "app_pairing_content"}
_MARKERS = re.compile("\ue200[^\ue200\ue201]*+\ue201|[\ue200-\ue206]")  # citations, which the export does not resolve
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read(conversation: dict[str, Any]) -> ImportedConversation:
    key = text(conversation.get("conversation_id")) or text(conversation.get("id"))
    mapping = record(conversation.get("mapping"))
    if not key:
        raise DamagedConversationError
    nodes = _nodes(mapping)
    times = [node.created_at for node in nodes if node.created_at]
    started = moment(conversation.get("create_time")) or min(times, default=EPOCH)
    title = text(conversation.get("title"))
    return ImportedConversation(
        source="chatgpt",
        key=key,
        title=title,
        created_at=started,
        updated_at=moment(conversation.get("update_time")) or max(times, default=started),
        messages=messages(nodes, tip=text(conversation.get("current_node")) or None, title=title, started=started),
        pinned=conversation.get("is_starred") is True or bool(moment(conversation.get("pinned_time"))),
        archived=conversation.get("is_archived") is True,
    )


def _nodes(mapping: dict[str, Any]) -> list[Node]:
    found: list[Node] = []
    calls: dict[str, tuple[str, str]] = {}  # by node: the call that a tool below it answers
    for key, value in _parents_first(mapping):
        parent = text(value.get("parent")) or None
        node = _node(text(key), parent, optional_record(value.get("message")), calls.get(parent or ""))
        made = [part for part in node.parts if part["type"] == "tool_call"]
        answered = any(part["type"] == "tool_result" for part in node.parts)
        if made and not answered:
            calls[node.key] = (made[-1]["id"], made[-1]["name"])
        elif parent in calls and not answered:
            calls[node.key] = calls[parent]
        found.append(node)
    return found


def _parents_first(mapping: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Nodes that no first one leads to are left out."""
    values = {key: record(value) for key, value in mapping.items()}
    below: dict[str | None, list[str]] = {}
    for key, value in values.items():
        parent = value.get("parent")
        below.setdefault(parent if isinstance(parent, str) and parent in values else None, []).append(key)
    for siblings in below.values():
        siblings.sort(key=lambda key: _time(values[key]) or EPOCH)
    ordered, stack = list[str](), list(reversed(below.get(None, [])))
    while stack:
        ordered.append(stack.pop())
        stack.extend(reversed(below.get(ordered[-1], [])))
    return [(key, values[key]) for key in ordered]


def _time(value: dict[str, Any]) -> datetime | None:
    return moment(optional_record(value.get("message")).get("create_time"))


def _node(key: str, parent: str | None, message: dict[str, Any], call: tuple[str, str] | None) -> Node:
    author, content = optional_record(message.get("author")), optional_record(message.get("content"))
    role, metadata = text(author.get("role")), optional_record(message.get("metadata"))
    made_at = moment(message.get("create_time"))
    hidden = metadata.get("is_visually_hidden_from_conversation") is True or content.get("content_type") in HIDDEN_TYPES
    if role == "user" and not hidden:
        asked = "\n\n".join(filter(None, [_text(content), *_file_names(metadata)]))
        if asked.strip():
            return Node(key=key, parent=parent, role="user", created_at=made_at, text=asked)
    if role in ("assistant", "tool") and not hidden:
        parts = _tool_parts(key, author, content, call) if role == "tool" else _parts(key, message, content)
        if parts:
            return Node(key=key, parent=parent, role="assistant", created_at=made_at, parts=parts)
    return Node(key=key, parent=parent, role=None)


def _parts(key: str, message: dict[str, Any], content: dict[str, Any]) -> list[dict[str, Any]]:
    if content.get("content_type") == "thoughts":
        thought = "\n\n".join(filter(None, map(_thought, optional_list(content.get("thoughts")))))
        return [{"type": "reasoning", "content": thought}] if thought else []
    written = _text(content)
    recipient = text(message.get("recipient")) or "all"
    if not written.strip():
        return []
    if recipient not in ("all", "assistant"):
        return [called(f"call-{key}", recipient, arguments_in(written))]
    if content.get("content_type") == "code":
        language = text(content.get("language"))
        written = f"```{'' if language == 'unknown' else language}\n{written}\n```"
    return [{"type": "message", "content": written}]


def _tool_parts(
    key: str, author: dict[str, Any], content: dict[str, Any], call: tuple[str, str] | None
) -> list[dict[str, Any]]:
    """A result that no call asks for gets a call of its own."""
    written, is_error = _text(content), content.get("content_type") == "system_error"
    if not written.strip():
        return []
    name = text(author.get("name")) or "tool"
    if call is not None:
        return [returned(call[0], call[1], written, is_error=is_error)]
    return [called(f"call-{key}", name, {}), returned(f"call-{key}", name, written, is_error=is_error)]


def _thought(value: object) -> str:
    thought = optional_record(value)
    return "\n".join(filter(None, [text(thought.get("summary")), text(thought.get("content"))]))


def _text(content: dict[str, Any]) -> str:
    parts = optional_list(content.get("parts"))
    if parts:
        return _MARKERS.sub("", "\n\n".join(filter(None, map(_part, parts))))
    found = [text(content.get(name)) for name in ("title", "url", "text", "result")]
    return _MARKERS.sub("", "\n".join(filter(None, found)))


def _part(part: object) -> str:
    """Images and sounds are files of the export that no message needs to be read."""
    if isinstance(part, str):
        return text(part)
    value = optional_record(part)
    kind = text(value.get("content_type"))
    if "audio_transcription" in kind or "text" in value:
        return text(value.get("text"))
    return "[image]" if "image" in kind else "[audio]" if "audio" in kind else ""


def _file_names(metadata: dict[str, Any]) -> list[str]:
    names = [text(optional_record(file).get("name")) for file in optional_list(metadata.get("attachments"))]
    return [f"[file: {name}]" for name in names if name]
