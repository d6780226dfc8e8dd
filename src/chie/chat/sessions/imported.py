"""The SQL of imported sessions. Rows have ids that follow from the export, so an import can be repeated."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select, update

from chie.chat.sessions.connection import Connection
from chie.chat.sessions.models import MessageAttachmentRow, MessageRow, SessionRow

_SESSION = insert(SessionRow)
_MESSAGES = insert(MessageRow)
_LINKS = insert(MessageAttachmentRow)


async def known_messages(
    connection: Connection, session_id: str, *, user_id: str, lock: bool = False
) -> set[str] | None:
    """The ids of the session's messages; None without the session."""
    owned = select(SessionRow.id).where(SessionRow.id == session_id, SessionRow.user_id == user_id)
    if lock:
        owned = owned.with_for_update(key_share=True)
    if (await connection.execute(owned)).first() is None:
        return None
    return set((await connection.execute(select(MessageRow.id).where(MessageRow.session_id == session_id))).scalars())


async def insert_session(connection: Connection, row: dict[str, Any]) -> None:
    await connection.execute(_SESSION, [row])


async def insert_messages(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Numbered in the given order."""
    await connection.execute(_MESSAGES, list(rows))


async def link_files(connection: Connection, message_id: str, attachment_ids: Sequence[str]) -> None:
    unique = dict.fromkeys(attachment_ids)
    rows = [
        {"message_id": message_id, "position": position, "attachment_id": one} for position, one in enumerate(unique)
    ]
    await connection.execute(_LINKS, rows)


async def renew(connection: Connection, session_id: str, moment: datetime) -> None:
    """Later than it was, or as it was."""
    newer = update(SessionRow).where(SessionRow.id == session_id, SessionRow.updated_at < moment)
    await connection.execute(newer.values(updated_at=moment))
