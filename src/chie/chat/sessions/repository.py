"""All SQL of the chat. Functions take a connection; whoever gives it owns the transaction."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, bindparam, delete, exists, func, insert, or_, select, tuple_, type_coerce, update
from sqlalchemy.ext.asyncio import AsyncConnection

from chie.chat.sessions.database import Rows
from chie.chat.sessions.entities import Ending, Events, Message, Session
from chie.chat.sessions.models import EventsRow, MessageRow, Moment, OrderRow, SessionRow
from chie.unicode import fold

ALL = 1_000_000

# Made once: to build a statement costs more than to run it.
_INSERT_SESSION = insert(SessionRow)
_INSERT_MESSAGES = insert(MessageRow).values(alive_at=func.now())  # by the database's clock, which all share
_INSERT_EVENTS = insert(EventsRow)
_END = update(MessageRow).where(MessageRow.id == bindparam("message"), MessageRow.owner == bindparam("writer"))
_ASKED = exists().where(OrderRow.outcome.is_(None)).label("asked")

_SESSION = (
    SessionRow.id,
    SessionRow.title,
    SessionRow.current_agent_id,
    SessionRow.created_at,
    SessionRow.updated_at,
    SessionRow.user_id,
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
    MessageRow.parts,
    MessageRow.input_tokens,
    MessageRow.output_tokens,
    MessageRow.last_event_id,
)


def new_session(session: Session, messages: Sequence[Message] = (), *, owner: str = "") -> Rows:
    """The messages are numbered in the order given."""
    inserts = {_INSERT_SESSION: [_session_row(session)]}
    if messages:
        inserts[_INSERT_MESSAGES] = [_message_row(message, owner) for message in messages]
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
    }


async def session(connection: AsyncConnection, session_id: str, *, user_id: str, held: bool = False) -> Session | None:
    """`held`, nobody else holds or deletes it before this transaction ends; SQLite has one writer anyway.

    FOR NO KEY UPDATE: those who write answers into the session only need its key, and do not wait.
    """
    statement = select(*_SESSION).where(SessionRow.id == session_id, SessionRow.user_id == user_id)
    if held:
        statement = statement.with_for_update(key_share=True)
    row = (await connection.execute(statement)).first()
    return _session(row) if row else None


async def page(
    connection: AsyncConnection, *, user_id: str, query: str | None, limit: int, before: tuple[datetime, str] | None
) -> list[Session]:
    statement = select(*_SESSION).where(SessionRow.user_id == user_id)
    statement = statement.order_by(SessionRow.updated_at.desc(), SessionRow.id.desc()).limit(limit)
    if before is not None:
        statement = statement.where(tuple_(SessionRow.updated_at, SessionRow.id) < before)
    if query is not None:
        said = exists().where(
            MessageRow.session_id == SessionRow.id, MessageRow.folded.contains(fold(query), autoescape=True)
        )
        statement = statement.where(or_(SessionRow.folded.contains(fold(query), autoescape=True), said))
    return [_session(row) for row in await connection.execute(statement)]


async def change_session(connection: AsyncConnection, session_id: str, **columns: object) -> None:
    """`title` brings its folded twin along."""
    if "title" in columns:
        columns["folded"] = fold(str(columns["title"]))
    await connection.execute(update(SessionRow).where(SessionRow.id == session_id).values(**columns))


async def delete_session(connection: AsyncConnection, session_id: str, *, user_id: str) -> bool:
    theirs = delete(SessionRow).where(SessionRow.id == session_id, SessionRow.user_id == user_id)
    done = await connection.execute(theirs)
    return done.rowcount > 0


async def insert_messages(connection: AsyncConnection, messages: Sequence[Message], *, owner: str) -> None:
    """One statement; the messages are numbered in the order given."""
    await connection.execute(_INSERT_MESSAGES, [_message_row(message, owner) for message in messages])


async def messages(connection: AsyncConnection, session_id: str) -> list[Message]:
    statement = select(*_MESSAGE).where(MessageRow.session_id == session_id).order_by(MessageRow.seq)
    return [_message(row) for row in await connection.execute(statement)]


async def message(connection: AsyncConnection, message_id: str, *, user_id: str) -> Message | None:
    statement = (
        select(*_MESSAGE)
        .join(SessionRow, SessionRow.id == MessageRow.session_id)
        .where(MessageRow.id == message_id, SessionRow.user_id == user_id)
    )
    row = (await connection.execute(statement)).first()
    return _message(row) if row else None


async def insert_events(connection: AsyncConnection, stretches: Sequence[Events]) -> None:
    rows = [
        {
            "message_id": stretch.message_id,
            "first": stretch.first,
            "last": stretch.last,
            "data": json.dumps(stretch.items, ensure_ascii=False),
        }
        for stretch in stretches
    ]
    await connection.execute(_INSERT_EVENTS, rows)


async def delete_events(connection: AsyncConnection, message_id: str, *, first: int) -> None:
    """From that event on."""
    await connection.execute(delete(EventsRow).where(EventsRow.message_id == message_id, EventsRow.first >= first))


async def owned_messages(connection: AsyncConnection, message_ids: Sequence[str], owner: str) -> tuple[set[str], bool]:
    """Those that are still there and still that process's to write, and whether anybody is asked for anything."""
    ours = (MessageRow.id.in_(message_ids), MessageRow.owner == owner)
    rows = (await connection.execute(select(MessageRow.id, _ASKED).where(*ours))).all()
    return {row.id for row in rows}, any(row.asked for row in rows)


async def events(connection: AsyncConnection, message_id: str, *, after: int = 0, limit: int = 1_000) -> list[Events]:
    """Stretches that hold anything later than `after`, in order; the first may begin before it."""
    statement = (
        select(EventsRow.message_id, EventsRow.first, EventsRow.data)
        .where(EventsRow.message_id == message_id, EventsRow.last > after)
        .order_by(EventsRow.first)
        .limit(limit)
    )
    rows = await connection.execute(statement)
    return [Events(message_id=row.message_id, first=row.first, items=json.loads(row.data)) for row in rows]


async def end(connection: AsyncConnection, message_id: str, ending: Ending, *, owner: str) -> bool:
    """False where the message is gone, or no longer that process's to end."""
    values = {
        "message": message_id,
        "writer": owner,
        "status": ending.status,
        "content": ending.content,
        "folded": fold(ending.content),
        "parts": json.dumps(ending.parts, ensure_ascii=False) if ending.parts else None,
        "error": ending.error,
        "input_tokens": ending.input_tokens,
        "output_tokens": ending.output_tokens,
        "last_event_id": ending.last_event_id,
        "owner": None,
        "alive_at": None,
    }
    return (await connection.execute(_END, values)).rowcount > 0


async def streaming(connection: AsyncConnection) -> list[tuple[str, str, timedelta]]:
    """Every answer that is being written: its id, who writes it, and for how long they have not said so."""
    moment = type_coerce(func.now(), Moment).label("moment")
    statement = select(MessageRow.id, MessageRow.owner, MessageRow.alive_at, moment)
    rows = await connection.execute(statement.where(MessageRow.status == "streaming"))
    return [(row.id, row.owner, row.moment - row.alive_at) for row in rows]


async def hold(connection: AsyncConnection, message_id: str, owner: str) -> Message | None:
    """The answer, if that process still writes it; nobody else can end it until the transaction is over."""
    statement = select(*_MESSAGE).where(MessageRow.id == message_id, MessageRow.owner == owner).with_for_update()
    row = (await connection.execute(statement)).first()
    return _message(row) if row else None


async def owner(connection: AsyncConnection, message_id: str) -> str | None:
    """Who writes it; nobody once it has ended."""
    return (await connection.execute(select(MessageRow.owner).where(MessageRow.id == message_id))).scalar()


async def stay_alive(connection: AsyncConnection, message_ids: Sequence[str], owner: str) -> set[str]:
    """Those that were that process's to renew."""
    ours = (MessageRow.owner == owner) & MessageRow.id.in_(message_ids)
    statement = update(MessageRow).where(ours).values(alive_at=func.now()).returning(MessageRow.id)
    return set((await connection.execute(statement)).scalars())


async def count(connection: AsyncConnection) -> int:
    return (await connection.execute(select(func.count()).select_from(SessionRow))).scalar_one()


def _session(row: Row[*tuple[Any, ...]]) -> Session:
    return Session(
        session_id=row.id,
        title=row.title,
        current_agent_id=row.current_agent_id,
        created_at=row.created_at,
        updated_at=row.updated_at,
        user_id=row.user_id,
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
        parts=json.loads(row.parts) if row.parts else [],
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        last_event_id=row.last_event_id,
    )


def _message_row(message: Message, owner: str) -> dict[str, Any]:
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
        "created_at": message.created_at,
        "owner": owner if streaming else None,
    }
