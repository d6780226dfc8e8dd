"""The SQL of shared conversations. Functions take a connection; the caller owns the transaction."""

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, delete, insert, select

from chie.chat.sessions.connection import Connection
from chie.chat.sessions.entities import Message
from chie.chat.sessions.models import MessageRow
from chie.chat.sessions.project_models import ShareRow
from chie.chat.sessions.repository import message_row
from chie.chat.sharing.entities import ProjectShare, Share

_SHARE = (
    ShareRow.token,
    ShareRow.session_id,
    ShareRow.message_id,
    ShareRow.title,
    ShareRow.project_id,
    ShareRow.created_at,
    ShareRow.user_id,
)


async def create(connection: Connection, share: Share, user_id: str) -> None:
    await connection.execute(insert(ShareRow).values(**vars(share), user_id=user_id))


async def share(connection: Connection, token: str, *, lock: bool = False) -> tuple[Share, str] | None:
    """The share and the user who made it. Deleting a conversation deletes its shares, so a lock keeps both."""
    statement = select(*_SHARE).where(ShareRow.token == token)
    if lock:
        statement = statement.with_for_update(key_share=True, read=True)
    row = (await connection.execute(statement)).first()
    return (_share(row), row.user_id) if row else None


async def shares(connection: Connection, *, user_id: str) -> list[Share]:
    statement = select(*_SHARE).where(ShareRow.user_id == user_id)
    rows = await connection.execute(statement.order_by(ShareRow.created_at.desc(), ShareRow.token))
    return [_share(row) for row in rows]


async def of_project(connection: Connection, project_id: str) -> list[ProjectShare]:
    statement = select(*_SHARE).where(ShareRow.project_id == project_id)
    rows = await connection.execute(statement.order_by(ShareRow.created_at.desc(), ShareRow.token))
    return [
        ProjectShare(token=row.token, title=row.title, user_id=row.user_id, created_at=row.created_at) for row in rows
    ]


async def revoke(connection: Connection, token: str, *, user_id: str) -> str | None:
    """The session of the link that was revoked; None if the user has no such link."""
    statement = delete(ShareRow).where(ShareRow.token == token, ShareRow.user_id == user_id)
    found: str | None = (await connection.execute(statement.returning(ShareRow.session_id))).scalar()
    return found


async def insert_copies(connection: Connection, messages: Sequence[Message]) -> None:
    """Finished messages in the given order, without their events and without what they cost another user."""
    await connection.execute(insert(MessageRow), [_row(message) for message in messages])


def _share(row: Row[*tuple[Any, ...]]) -> Share:
    return Share(
        token=row.token,
        session_id=row.session_id,
        message_id=row.message_id,
        title=row.title,
        project_id=row.project_id,
        created_at=row.created_at,
    )


def _row(message: Message) -> dict[str, Any]:
    return message_row(message) | {
        "error": message.error,
        "error_code": message.error_code,
        "error_params": _json(message.error_params),
        "parts": _json(message.parts or None),
    }


def _json(value: object) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False)
