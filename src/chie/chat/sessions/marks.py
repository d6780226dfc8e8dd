"""Which sessions have an answer that is being generated, that waits for the user, or that has not been seen."""

from dataclasses import dataclass, field

from sqlalchemy import or_, select, update

from chie.access.identity import current_user
from chie.chat.sessions.connection import Connection
from chie.chat.sessions.database import Database
from chie.chat.sessions.entities import EventChunk
from chie.chat.sessions.models import EventsRow, MessageRow, SessionRow
from chie.chat.sessions.repository import stored_chunk
from chie.chat.sessions.service import existing_session


@dataclass(frozen=True, kw_only=True)
class Marks:
    """Ids of sessions. A session whose answer waits for an approval or a reply is in `waiting`, not in `running`."""

    running: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


class MarkStore:
    """Sees only the sessions of the current user."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self) -> Marks:
        async with self._database.read() as connection:
            streaming = await _streaming(connection, current_user().id)
            asking = await _asking(connection, list(streaming))
            unread = await _unread(connection, current_user().id)
        waiting = {session for message, session in streaming.items() if message in asking}
        running = set(streaming.values()) - waiting
        return Marks(running=sorted(running), waiting=sorted(waiting), unread=unread)

    async def see(self, session_id: str, message_id: str) -> None:
        """The user has seen this answer. A later one stays unread."""

        async def change(connection: Connection) -> None:
            await existing_session(connection, session_id)
            seen = (SessionRow.id == session_id, SessionRow.unread_id == message_id)
            await connection.execute(update(SessionRow).where(*seen).values(unread_id=None))

        await self._database.write(change)


async def _streaming(connection: Connection, user_id: str) -> dict[str, str]:
    """The sessions of answers that are being generated, by answer."""
    statement = select(MessageRow.id, MessageRow.session_id).join(SessionRow, SessionRow.id == MessageRow.session_id)
    rows = await connection.execute(statement.where(MessageRow.status == "streaming", SessionRow.user_id == user_id))
    return {row.id: row.session_id for row in rows}


async def _asking(connection: Connection, message_ids: list[str]) -> set[str]:
    """Answers with a call that waits for approval, or a server that waits for a reply. Text alone is not read."""
    if not message_ids:
        return set()
    events = or_(EventsRow.data.contains('"tool_', autoescape=True), EventsRow.data.contains('"elicitation'))
    statement = select(EventsRow.message_id, EventsRow.first, EventsRow.data).order_by(EventsRow.first)
    found: dict[str, set[str]] = {}
    for row in await connection.execute(statement.where(EventsRow.message_id.in_(message_ids), events)):
        _follow(stored_chunk(row), found.setdefault(row.message_id, set()))
    return {message_id for message_id, waiting in found.items() if waiting}


def _follow(chunk: EventChunk, waiting: set[str]) -> None:
    for item in chunk.items:
        if isinstance(item, str):
            continue
        if item["type"] == "elicitation" or (item["type"] == "tool_call" and item.get("approval")):
            waiting.add(item["id"])
        elif item["type"] in ("elicitation_end", "tool_result"):
            waiting.discard(item["id"])


async def _unread(connection: Connection, user_id: str) -> list[str]:
    statement = select(SessionRow.id).where(SessionRow.user_id == user_id, SessionRow.unread_id.is_not(None))
    return sorted((await connection.execute(statement)).scalars())
