"""An imported conversation as rows. Their ids follow from the user and the export: the same in every import."""

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from uuid import UUID

from chie.chat.imports.entities import NAMES, ImportedConversation, ImportedFile, ImportedMessage
from chie.chat.sessions.service import MAX_TITLE, make_title
from chie.unicode import fold


def session_id_of(user_id: str, conversation: ImportedConversation) -> str:
    return _id(user_id, conversation.source, conversation.key)


def session_row(user_id: str, agent_id: str, conversation: ImportedConversation) -> dict[str, Any]:
    title = make_title(conversation.title or conversation.messages[0].content, MAX_TITLE)
    return {
        "id": session_id_of(user_id, conversation),
        "title": title,
        "folded": fold(title),
        "current_agent_id": agent_id,
        "created_at": conversation.created_at,
        "updated_at": conversation.updated_at,
        "user_id": user_id,
        "pinned_at": conversation.updated_at if conversation.pinned else None,
        "archived_at": conversation.updated_at if conversation.archived else None,
    }


@dataclass(frozen=True, slots=True)
class SessionRows:
    """Everything that is stored of a conversation. Made outside the event loop: there may be much of it."""

    session: dict[str, Any]
    messages: list[tuple[dict[str, Any], list[dict[str, Any]]]]
    """Each with the columns of its files."""
    size: int

    @classmethod
    def of(cls, user_id: str, agent_id: str, conversation: ImportedConversation) -> "SessionRows":
        messages = message_rows(user_id, conversation)
        size = sum(len(row["content"]) + len(row["parts"] or "") for row, _ in messages)
        files = sum(file["characters"] for _, files in messages for file in files)
        return cls(session_row(user_id, agent_id, conversation), messages, size + files)


def message_rows(user_id: str, conversation: ImportedConversation) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    def row_id(key: str) -> str:
        return _id(user_id, conversation.source, conversation.key, key)

    def row(message: ImportedMessage) -> dict[str, Any]:
        return {
            "id": row_id(message.key),
            "session_id": session_id_of(user_id, conversation),
            "parent_id": row_id(message.parent) if message.parent else None,
            "role": message.role,
            "content": message.content,
            "folded": fold(message.content),
            "agent_id": NAMES[conversation.source] if message.role == "assistant" else None,
            "status": "complete" if message.answered else "stopped",
            "parts": json.dumps(message.parts, ensure_ascii=False) if message.parts else None,
            "last_event_id": 0,
            "created_at": message.created_at,
        }

    return [(row(message), [_file(file) for file in message.files]) for message in conversation.messages]


def _file(file: ImportedFile) -> dict[str, Any]:
    return {
        "hash": sha256(file.text.encode("utf-8")).hexdigest(),
        "name": file.name,
        "kind": "document",
        "media_type": "text/plain",
        "width": None,
        "height": None,
        "text": file.text,
        "characters": len(file.text),
    }


def _id(*parts: str) -> str:
    """Looks like any other id of a session or message."""
    return str(UUID(bytes=sha256("\n".join(parts).encode("utf-8", "replace")).digest()[:16], version=4))
