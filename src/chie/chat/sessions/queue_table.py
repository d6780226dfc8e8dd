"""The SQL of queued messages. Callers own the transaction."""

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, delete, exists, insert, select, update
from sqlalchemy.orm import aliased

from chie.chat.sessions import attachment_table
from chie.chat.sessions.connection import Connection
from chie.chat.sessions.entities import Attachment, QueuedMessage
from chie.chat.sessions.models import MessageRow, QueuedRow, SessionRow

MAX_OVERDUE = 100

_QUEUED = (
    QueuedRow.id,
    QueuedRow.session_id,
    QueuedRow.parent_id,
    QueuedRow.content,
    QueuedRow.agent_id,
    QueuedRow.error_code,
    QueuedRow.error_params,
    QueuedRow.created_at,
    MessageRow.status,
)


async def of_session(connection: Connection, session_id: str) -> list[QueuedMessage]:
    """In the order in which they are sent."""
    statement = select(*_QUEUED).join(MessageRow, MessageRow.id == QueuedRow.parent_id)
    rows = list(await connection.execute(statement.where(QueuedRow.session_id == session_id).order_by(QueuedRow.seq)))
    files = await attachment_table.of_queue(connection, session_id) if rows else {}
    return [_queued(row, files.get(row.id, [])) for row in rows]


async def overdue(connection: Connection) -> list[tuple[str, QueuedMessage]]:
    """The first message after each complete answer, unless it could not be sent; with the user of its session."""
    earlier = aliased(QueuedRow)
    is_first = ~exists().where(earlier.parent_id == QueuedRow.parent_id, earlier.seq < QueuedRow.seq)
    statement = (
        select(SessionRow.user_id, *_QUEUED)
        .join(MessageRow, MessageRow.id == QueuedRow.parent_id)
        .join(SessionRow, SessionRow.id == QueuedRow.session_id)
        .where(MessageRow.status == "complete", QueuedRow.error_code.is_(None), is_first)
        .order_by(QueuedRow.seq)
    )
    rows = list(await connection.execute(statement.limit(MAX_OVERDUE)))
    files = {row.session_id: await attachment_table.of_queue(connection, row.session_id) for row in rows}
    return [(row.user_id, _queued(row, files[row.session_id].get(row.id, []))) for row in rows]


async def is_taken(connection: Connection, message_id: str) -> bool:
    """Whether a message or a queued message has this id."""
    known = select(MessageRow.id).where(MessageRow.id == message_id)
    queued = select(QueuedRow.id).where(QueuedRow.id == message_id)
    return (await connection.execute(known.union_all(queued))).first() is not None


async def add(connection: Connection, queued: QueuedMessage) -> None:
    columns = {
        "id": queued.message_id,
        "session_id": queued.session_id,
        "parent_id": queued.parent_id,
        "content": queued.content,
        "agent_id": queued.agent_id,
        "created_at": queued.created_at,
    }
    await connection.execute(insert(QueuedRow), columns)
    await attachment_table.link_queued(connection, queued.message_id, queued.attachments)


async def remove(connection: Connection, session_id: str, message_id: str) -> bool:
    statement = delete(QueuedRow).where(QueuedRow.session_id == session_id, QueuedRow.id == message_id)
    return (await connection.execute(statement)).rowcount > 0


async def wait_for(connection: Connection, session_id: str, answer_id: str) -> None:
    """Everything that waits in the session waits for this answer from now on."""
    values = {"parent_id": answer_id, "error_code": None, "error_params": None}
    await connection.execute(update(QueuedRow).where(QueuedRow.session_id == session_id).values(**values))


async def set_error(connection: Connection, message_id: str, code: str, params: dict[str, Any]) -> None:
    values = {"error_code": code, "error_params": json.dumps(params, ensure_ascii=False)}
    await connection.execute(update(QueuedRow).where(QueuedRow.id == message_id).values(**values))


def _queued(row: Row[*tuple[Any, ...]], files: Sequence[Attachment]) -> QueuedMessage:
    return QueuedMessage(
        message_id=row.id,
        session_id=row.session_id,
        parent_id=row.parent_id,
        content=row.content,
        created_at=row.created_at,
        status=row.status,
        agent_id=row.agent_id,
        error_code=row.error_code,
        error_params=json.loads(row.error_params) if row.error_params else None,
        attachments=list(files),
    )
