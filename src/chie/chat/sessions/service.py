"""The rules of sessions: titles, pages, and which user may see what."""

import re
from dataclasses import asdict

from chie.access.audit import record
from chie.access.identity import current_user, known_user
from chie.chat.sessions import queue_table, repository, search
from chie.chat.sessions.answers import with_progress
from chie.chat.sessions.connection import Connection
from chie.chat.sessions.database import Database
from chie.chat.sessions.entities import Conversation, ListedSession, Page, Session, new_id, now
from chie.chat.sessions.session_filter import SessionFilter
from chie.database import cursor as page_cursor
from chie.errors import NotFoundError, ValidationError

TITLE_LENGTH = 60
MAX_TITLE = 300

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f]+")


class SessionService:
    """Sees only the sessions of the current user. Callers have checked that `agent_id` names an agent."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, *, agent_id: str, title: str | None = None) -> Session:
        session = new_session(agent_id, title or "")
        await self._database.write(repository.new_session(session))
        return session

    async def conversation(self, session_id: str) -> Conversation:
        async with self._database.read() as connection:
            session = await existing_session(connection, session_id)
            messages = [await with_progress(connection, m) for m in await repository.messages(connection, session_id)]
            queue = await queue_table.of_session(connection, session_id)
        return Conversation(**asdict(session), messages=messages, queue=queue)

    async def page(
        self,
        *,
        query: str | None = None,
        pinned: bool | None = None,
        archived: bool | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page:
        """Archived sessions are left out unless `archived` or a query asks for them."""
        before, query = page_cursor.decode(cursor) if cursor else None, (query or "").strip()
        archived = False if archived is None and not query else archived
        only = SessionFilter(query=query or None, pinned=pinned, archived=archived)
        async with self._database.read() as connection:
            found = await repository.page(
                connection, user_id=current_user().id, only=only, limit=limit + 1, before=before
            )
            ids = [session.session_id for session in found[:limit]]
            passages = await search.passages(connection, ids, query) if query else {}
        last = found[limit - 1] if len(found) > limit else None
        following = page_cursor.encode(last.updated_at, last.session_id) if last else None
        listed = [ListedSession(**vars(one), passage=passages.get(one.session_id)) for one in found[:limit]]
        return Page(sessions=listed, next_cursor=following)

    async def change(
        self,
        session_id: str,
        *,
        title: str | None = None,
        agent_id: str | None = None,
        pinned: bool | None = None,
        archived: bool | None = None,
    ) -> Session:
        columns: dict[str, object] = {}
        if title is not None:
            columns["title"] = make_title(title, MAX_TITLE)
            if not columns["title"]:
                raise ValidationError("sessions.title_blank")
        if agent_id is not None:
            columns["current_agent_id"] = agent_id
        if pinned is not None:
            columns["pinned_at"] = now() if pinned else None
        if archived is not None:
            columns["archived_at"] = now() if archived else None

        async def change(connection: Connection) -> Session:
            await existing_session(connection, session_id)
            if columns:
                await repository.change_session(connection, session_id, **columns)
            return await existing_session(connection, session_id)

        return await self._database.write(change)

    async def delete(self, session_id: str) -> None:
        user_id = current_user().id
        if not await self._database.write(lambda it: repository.delete_session(it, session_id, user_id=user_id)):
            raise _session_not_found()
        record("session.deleted", session_id)

    async def unfinished(self, session_id: str) -> list[str]:
        """The ids of the session's answers that are still being generated."""
        async with self._database.read() as connection:
            await existing_session(connection, session_id)
            messages = await repository.messages(connection, session_id)
        return [message.message_id for message in messages if message.status == "streaming"]

    async def check(self) -> int:
        """The number of sessions of all users; raises StorageError if the database cannot be read."""
        async with self._database.read() as connection:
            return await repository.count(connection)


def new_session(agent_id: str, title: str) -> Session:
    moment = now()
    return Session(
        session_id=new_id(),
        title=make_title(title),
        current_agent_id=agent_id,
        created_at=moment,
        updated_at=moment,
        user_id=known_user().id,
    )


def make_title(text: str, length: int = TITLE_LENGTH) -> str:
    """The beginning of the text, on one line."""
    line = " ".join(_UNPRINTABLE.sub(" ", text.lstrip()[: length * 4]).split())
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


async def existing_session(connection: Connection, session_id: str, *, lock: bool = False) -> Session:
    """Raises NotFoundError for a session of another user too."""
    session = await repository.session(connection, session_id, user_id=current_user().id, lock=lock)
    if session is None:
        raise _session_not_found()
    return session


def _session_not_found() -> NotFoundError:
    return NotFoundError("sessions.session_not_found")
