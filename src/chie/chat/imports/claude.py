"""Reads a conversation of a Claude export: `chat_messages`, in newer exports with content blocks and parents."""

from typing import Any

from chie.chat.imports.chatgpt import EPOCH
from chie.chat.imports.entities import DamagedConversationError, ImportedConversation, ImportedFile
from chie.chat.imports.json_values import moment, optional_list, optional_record, record, text
from chie.chat.imports.tools import called, returned
from chie.chat.imports.tree import Node, messages

MAX_WAITING = 100  # calls of a message without a result
MAX_FILES = 10  # of a message, as in a session
TEXT_SUFFIXES = (".txt", ".md", ".csv", ".json", ".py", ".js", ".ts", ".html", ".css", ".yaml", ".yml", ".xml", ".log")


def read(conversation: dict[str, Any]) -> ImportedConversation:
    key, sent = text(conversation.get("uuid")), conversation.get("chat_messages")
    if not key or not isinstance(sent, list):
        raise DamagedConversationError
    nodes = _nodes([record(message) for message in sent])
    times = [node.created_at for node in nodes if node.created_at]
    started = moment(conversation.get("created_at")) or min(times, default=EPOCH)
    title = text(conversation.get("name"))
    tip = text(conversation.get("current_leaf_message_uuid")) or (nodes[-1].key if nodes else None)
    return ImportedConversation(
        source="claude",
        key=key,
        title=title,
        created_at=started,
        updated_at=moment(conversation.get("updated_at")) or max(times, default=started),
        messages=messages(nodes, tip=tip, title=title, started=started),
        pinned=conversation.get("is_starred") is True,
    )


def _nodes(sent: list[dict[str, Any]]) -> list[Node]:
    """Without parents, a message follows the one before it."""
    found: list[Node] = []
    keys = {text(message.get("uuid")) for message in sent}
    has_parents = any(text(message.get("parent_message_uuid")) in keys for message in sent)
    for number, message in enumerate(sent):
        key = text(message.get("uuid")) or f"message-{number}"
        before = text(message.get("parent_message_uuid")) if has_parents else found[-1].key if found else ""
        found.append(_node(key, before or None, message))
    return found


def _node(key: str, parent: str | None, message: dict[str, Any]) -> Node:
    made_at, sender = moment(message.get("created_at")), text(message.get("sender"))
    blocks = [optional_record(block) for block in optional_list(message.get("content"))]
    if sender in ("human", "user"):
        written = "\n\n".join(filter(None, (text(block.get("text")) for block in blocks))) or text(message.get("text"))
        files, names = _files(message)
        asked = "\n\n".join(filter(None, [written.strip(), *names]))
        if asked or files:
            return Node(key=key, parent=parent, role="user", created_at=made_at, text=asked, files=files)
    if sender == "assistant":
        parts = _parts(key, blocks) or _said(message.get("text"))
        if parts:
            return Node(key=key, parent=parent, role="assistant", created_at=made_at, parts=parts)
    return Node(key=key, parent=parent, role=None)


def _parts(key: str, blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    waiting: list[tuple[str, str, str]] = []  # our id of a call, its own id and its name
    for number, block in enumerate(blocks):
        kind = block.get("type")
        if kind == "text":
            parts += _said(block.get("text"))
        elif kind == "thinking" and text(block.get("thinking")):
            parts.append({"type": "reasoning", "content": text(block.get("thinking"))})
        elif kind == "tool_use":
            name = text(block.get("name")) or "tool"
            waiting.append((f"call-{key}-{number}", text(block.get("id")), name))
            del waiting[:-MAX_WAITING]
            parts.append(called(waiting[-1][0], name, optional_record(block.get("input"))))
        elif kind == "tool_result" and waiting:
            own = text(block.get("tool_use_id"))
            call = next((one for one in waiting if own and one[1] == own), waiting[0])
            waiting.remove(call)
            parts.append(returned(call[0], call[2], _result(block), is_error=block.get("is_error") is True))
    return parts


def _said(value: object) -> list[dict[str, Any]]:
    return [{"type": "message", "content": text(value)}] if text(value).strip() else []


def _result(block: dict[str, Any]) -> str:
    content = block.get("content")
    if isinstance(content, str):
        return text(content)
    parts = [optional_record(one) for one in optional_list(content)]
    return "\n".join(filter(None, (text(one.get("text")) or text(one.get("title")) for one in parts)))


def _files(message: dict[str, Any]) -> tuple[tuple[ImportedFile, ...], list[str]]:
    """Files with their text, and the names of those without. `files` lists those of `attachments` again."""
    read_files, names, known = list[ImportedFile](), list[str](), set[str]()
    for value in [*optional_list(message.get("attachments")), *optional_list(message.get("files"))]:
        file = optional_record(value)
        name, content = text(file.get("file_name")), text(file.get("extracted_content"))
        if content.strip():
            read_files.append(ImportedFile(name=_text_name(name), text=content))
        elif name and name not in known:
            names.append(f"[file: {name}]")
        known.add(name)
    if len(read_files) > MAX_FILES:
        rest = "\n\n".join(f"{file.name}\n{file.text}" for file in read_files[MAX_FILES - 1 :])
        read_files[MAX_FILES - 1 :] = [ImportedFile(name="attachments.txt", text=rest)]
    return tuple(read_files), names


def _text_name(name: str) -> str:
    """The export has the text of a file only, so a PDF becomes a text file."""
    name = name.replace("/", "_").replace("\\", "_")[-150:] or "pasted.txt"
    return name if name.lower().endswith(TEXT_SUFFIXES) else f"{name}.txt"
