"""The SQL of sessions and messages. Functions take a connection; the caller owns the transaction."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, bindparam, delete, exists, func, insert, select, tuple_, type_coerce, update

from chie.chat.sessions import attachment_table
from chie.chat.sessions.connection import Connection
from chie.chat.sessions.database import Rows
from chie.chat.sessions.entities import EventChunk, Message, MessageContent, Session
from chie.chat.sessions.models import CommandRow, EventsRow, MessageRow, Moment, QueuedRow, SessionRow
from chie.chat.sessions.session_filter import SessionFilter
from chie.unicode import fold

NO_LIMIT = 1_000_000

# Built once: building a statement costs more than running it.
_INSERT_SESSION = insert(SessionRow)
_INSERT_MESSAGES = insert(MessageRow).values(alive_at=func.now())  # the database's clock, which all share
_INSERT_EVENTS = insert(EventsRow)
_FINISH = update(MessageRow).where(MessageRow.id == bindparam("message"), MessageRow.owner == bindparam("holder"))
_STATE = (
    select(SessionRow.title, exists().where(QueuedRow.parent_id == MessageRow.id).label("has_queued"))
    .join(MessageRow, MessageRow.session_id == SessionRow.id)
    .where(MessageRow.id == bindparam("message"))
)
_HAS_COMMANDS = exists().where(CommandRow.outcome.is_(None)).label("has_commands")

_SESSION = (
    SessionRow.id,
    SessionRow.title,
    SessionRow.current_agent_id,
    SessionRow.created_at,
    SessionRow.updated_at,
    SessionRow.user_id,
    SessionRow.pinned_at,
    SessionRow.archived_at,
    SessionRow.model,
    SessionRow.parameters,
    SessionRow.project_id,
)
_MESSAGE = (
    MessageRow.id,
    MessageRow.session_id,
    MessageRow.parent_id,
    MessageRow.role,
    MessageRow.content,
    MessageRow.status,
    MessageRow.created_at,
    MessageRow.agent_id,
    MessageRow.error,
    MessageRow.error_code,
    MessageRow.error_params,
    MessageRow.parts,
    MessageRow.input_tokens,
    MessageRow.output_tokens,
    MessageRow.usage,
    MessageRow.last_event_id,
    MessageRow.model,
)


def new_session(session: Session, messages: Sequence[Message] = (), *, owner: str = "") -> Rows:
    """Messages are numbered in the given order."""
    inserts = {_INSERT_SESSION: [_session_row(session)]}
    if messages:
        inserts[_INSERT_MESSAGES] = [message_row(message, owner) for message in messages]
    return Rows(inserts)


def _session_row(session: Session) -> dict[str, Any]:
    return {
        "id": session.session_id,
        "title": session.title,
        "folded": fold(session.title),
        "current_agent_id": session.current_agent_id,
        "created_at": session.created_at,
        "updated_at": session.updated_at,
        "user_id": session.user_id,
        "model": session.model,
        "parameters": session.parameters,
        "project_id": session.project_id,
    }


async def session(connection: Connection, session_id: str, *, user_id: str, lock: bool = False) -> Session | None:
    """`lock` keeps others from locking or deleting the session until the transaction ends.

    PostgreSQL locks FOR NO KEY UPDATE, so inserting messages into the session does not wait. SQLite has one writer.
    """
    statement = select(*_SESSION).where(SessionRow.id == session_id, SessionRow.user_id == user_id)
    if lock:
        statement = statement.with_for_update(key_share=True)
    row = (await connection.execute(statement)).first()
    return _session(row) if row else None


async def page(
    connection: Connection, *, user_id: str, only: SessionFilter, limit: int, before: tuple[datetime, str] | None
) -> list[Session]:
    statement = select(*_SESSION).where(SessionRow.user_id == user_id, *only.conditions())
    statement = statement.order_by(SessionRow.updated_at.desc(), SessionRow.id.desc()).limit(limit)
    if before is not None:
        statement = statement.where(tuple_(SessionRow.updated_at, SessionRow.id) < before)
    return [_session(row) for row in await connection.execute(statement)]


async def change_session(connection: Connection, session_id: str, **columns: object) -> None:
    """Setting `title` also sets its folded copy."""
    if "title" in columns:
        columns["folded"] = fold(str(columns["title"]))
    await connection.execute(update(SessionRow).where(SessionRow.id == session_id).values(**columns))


async def replace_title(connection: Connection, session_id: str, old: str, new: str) -> bool:
    """False if the session has another title than the old one."""
    statement = update(SessionRow).where(SessionRow.id == session_id, SessionRow.title == old)
    return (await connection.execute(statement.values(title=new, folded=fold(new)))).rowcount > 0


async def delete_session(connection: Connection, session_id: str, *, user_id: str) -> bool:
    """With the attached files that no other session has."""
    files = await attachment_table.ids_in_session(connection, session_id)
    statement = delete(SessionRow).where(SessionRow.id == session_id, SessionRow.user_id == user_id)
    deleted = (await connection.execute(statement)).rowcount > 0
    await attachment_table.delete_unused(connection, files if deleted else set())
    return deleted


async def insert_messages(connection: Connection, messages: Sequence[Message], *, owner: str) -> None:
    """One statement; messages are numbered in the given order."""
    await connection.execute(_INSERT_MESSAGES, [message_row(message, owner) for message in messages])


async def messages(connection: Connection, session_id: str) -> list[Message]:
    statement = select(*_MESSAGE).where(MessageRow.session_id == session_id).order_by(MessageRow.seq)
    files = await attachment_table.of_session(connection, session_id)
    rows = await connection.execute(statement)
    return [replace(_message(row), attachments=files[row.id]) if row.id in files else _message(row) for row in rows]


async def message(connection: Connection, message_id: str, *, user_id: str) -> Message | None:
    statement = (
        select(*_MESSAGE)
        .join(SessionRow, SessionRow.id == MessageRow.session_id)
        .where(MessageRow.id == message_id, SessionRow.user_id == user_id)
    )
    row = (await connection.execute(statement)).first()
    return _message(row) if row else None


async def insert_events(connection: Connection, chunks: Sequence[EventChunk]) -> None:
    rows = [
        {"message_id": chunk.message_id, "first": chunk.first, "last": chunk.last, "data": _json(chunk.items)}
        for chunk in chunks
    ]
    await connection.execute(_INSERT_EVENTS, rows)


async def delete_events(connection: Connection, message_id: str, *, first: int) -> None:
    """Delete every chunk that starts at `first` or later."""
    await connection.execute(delete(EventsRow).where(EventsRow.message_id == message_id, EventsRow.first >= first))


async def owned_messages(connection: Connection, message_ids: Sequence[str], owner: str) -> tuple[set[str], bool]:
    """The ids whose lease `owner` still holds, and whether any process has a command waiting."""
    owned = (MessageRow.id.in_(message_ids), MessageRow.owner == owner)
    rows = (await connection.execute(select(MessageRow.id, _HAS_COMMANDS).where(*owned))).all()
    return {row.id for row in rows}, any(row.has_commands for row in rows)


async def events(connection: Connection, message_id: str, *, after: int = 0, limit: int = 1_000) -> list[EventChunk]:
    """Chunks with events later than `after`, in order; the first one may start before it."""
    statement = (
        select(EventsRow.message_id, EventsRow.first, EventsRow.data)
        .where(EventsRow.message_id == message_id, EventsRow.last > after)
        .order_by(EventsRow.first)
        .limit(limit)
    )
    rows = await connection.execute(statement)
    return [stored_chunk(row) for row in rows]


def stored_chunk(row: Row[*tuple[Any, ...]]) -> EventChunk:
    return EventChunk(message_id=row.message_id, first=row.first, items=json.loads(row.data))


async def finish(connection: Connection, message_id: str, final: MessageContent, *, owner: str) -> bool:
    """False where the message was deleted or `owner` no longer holds its lease."""
    values = {
        "message": message_id,
        "holder": owner,
        "status": final.status,
        "content": final.content,
        "folded": fold(final.content),
        "parts": _json(final.parts or None),
        "error": final.error,
        "error_code": final.error_code,
        "error_params": _json(final.error_params),
        "input_tokens": final.input_tokens,
        "output_tokens": final.output_tokens,
        "usage": _json(final.usage),
        "last_event_id": final.last_event_id,
        "model": final.model,
        "owner": None,
        "alive_at": None,
    }
    return (await connection.execute(_FINISH, values)).rowcount > 0


async def state_after(connection: Connection, message_id: str) -> tuple[str, bool]:
    """The title of the session, and whether messages wait for this answer; neither if it was deleted meanwhile."""
    row = (await connection.execute(_STATE, {"message": message_id})).first()
    return (row.title, row.has_queued) if row else ("", False)


async def streaming(connection: Connection) -> list[tuple[str, str, timedelta]]:
    """Every answer that is being generated: its id, its owner, and the time since its lease was renewed."""
    moment = type_coerce(func.now(), Moment).label("moment")
    statement = select(MessageRow.id, MessageRow.owner, MessageRow.alive_at, moment)
    rows = await connection.execute(statement.where(MessageRow.status == "streaming"))
    return [(row.id, row.owner, row.moment - row.alive_at) for row in rows]


async def lock_owned(connection: Connection, message_id: str, owner: str) -> Message | None:
    """The answer, locked until the transaction ends, if `owner` still holds its lease."""
    statement = select(*_MESSAGE).where(MessageRow.id == message_id, MessageRow.owner == owner).with_for_update()
    row = (await connection.execute(statement)).first()
    return _message(row) if row else None


async def owner(connection: Connection, message_id: str) -> str | None:
    """The process that holds the lease; None once the answer has ended."""
    return (await connection.execute(select(MessageRow.owner).where(MessageRow.id == message_id))).scalar()


async def renew_leases(connection: Connection, message_ids: Sequence[str], owner: str) -> set[str]:
    """The ids whose lease was renewed, because `owner` holds it."""
    owned = (MessageRow.owner == owner) & MessageRow.id.in_(message_ids)
    statement = update(MessageRow).where(owned).values(alive_at=func.now()).returning(MessageRow.id)
    return set((await connection.execute(statement)).scalars())


async def count(connection: Connection) -> int:
    found: int = (await connection.execute(select(func.count()).select_from(SessionRow))).scalar_one()
    return found


def _session(row: Row[*tuple[Any, ...]]) -> Session:
    return Session(
        session_id=row.id,
        title=row.title,
        current_agent_id=row.current_agent_id,
        created_at=row.created_at,
        updated_at=row.updated_at,
        user_id=row.user_id,
        pinned_at=row.pinned_at,
        archived_at=row.archived_at,
        model=row.model,
        parameters=row.parameters,
        project_id=row.project_id,
    )


def _message(row: Row[*tuple[Any, ...]]) -> Message:
    return Message(
        message_id=row.id,
        session_id=row.session_id,
        parent_id=row.parent_id,
        role=row.role,
        content=row.content,
        status=row.status,
        created_at=row.created_at,
        agent_id=row.agent_id,
        error=row.error,
        error_code=row.error_code,
        error_params=json.loads(row.error_params) if row.error_params else None,
        parts=json.loads(row.parts) if row.parts else [],
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        usage=json.loads(row.usage) if row.usage else None,
        last_event_id=row.last_event_id,
        model=row.model,
    )


def message_row(message: Message, owner: str | None = None) -> dict[str, Any]:
    """As it is stored before its answer has ended."""
    streaming = message.status == "streaming"
    return {
        "id": message.message_id,
        "session_id": message.session_id,
        "parent_id": message.parent_id,
        "role": message.role,
        "content": message.content,
        "folded": fold(message.content),
        "agent_id": message.agent_id,
        "status": message.status,
        "last_event_id": 0,
        "model": message.model,
        "created_at": message.created_at,
        "owner": owner if streaming else None,
    }


def _json(value: object) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False)
