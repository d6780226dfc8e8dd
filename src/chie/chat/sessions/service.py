"""The rules of sessions: titles, pages, who answers, and what "not found" means."""

import re
from dataclasses import asdict, replace

from sqlalchemy.ext.asyncio import AsyncConnection

from chie.access.audit import record
from chie.access.identity import current_user, known_user
from chie.chat.agents.port import AgentDirectory
from chie.chat.sessions import repository
from chie.chat.sessions.answer import part_of
from chie.chat.sessions.database import Database
from chie.chat.sessions.entities import Conversation, Message, Page, Session, new_id, now
from chie.database import cursor as page_cursor
from chie.errors import NotFoundError, ValidationError

TITLE_LENGTH = 60
MAX_TITLE = 300

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f]+")


class SessionService:
    def __init__(self, database: Database, agents: AgentDirectory) -> None:
        self._database = database
        self._agents = agents

    async def create(self, *, agent_id: str | None = None, title: str | None = None) -> Session:
        agent = self._agents.get_agent(agent_id or await self._agents.default_id())
        session = new_session(agent.agent_id, title or "")
        await self._database.write(repository.new_session(session))
        return session

    async def conversation(self, session_id: str) -> Conversation:
        async with self._database.read() as connection:
            session = await existing(connection, session_id)
            messages = [await grown(connection, m) for m in await repository.messages(connection, session_id)]
        return Conversation(**asdict(session), messages=messages)

    async def page(self, *, query: str | None = None, limit: int = 50, cursor: str | None = None) -> Page:
        before, query = page_cursor.decode(cursor) if cursor else None, (query or "").strip()
        async with self._database.read() as connection:
            found = await repository.page(
                connection, user_id=current_user().id, query=query or None, limit=limit + 1, before=before
            )
        last = found[limit - 1] if len(found) > limit else None
        following = page_cursor.encode(last.updated_at, last.session_id) if last else None
        return Page(sessions=found[:limit], next_cursor=following)

    async def change(self, session_id: str, *, title: str | None = None, agent_id: str | None = None) -> Session:
        wanted: dict[str, str] = {}
        if title is not None:
            wanted["title"] = made_title(title, MAX_TITLE)
            if not wanted["title"]:
                raise ValidationError("title is blank: give it at least one visible character.")
        if agent_id is not None:
            wanted["current_agent_id"] = self._agents.get_agent(agent_id).agent_id

        async def change(connection: AsyncConnection) -> Session:
            await existing(connection, session_id)
            if wanted:
                await repository.change_session(connection, session_id, **wanted)
            return await existing(connection, session_id)

        return await self._database.write(change)

    async def delete(self, session_id: str) -> None:
        user_id = current_user().id
        if not await self._database.write(lambda it: repository.delete_session(it, session_id, user_id=user_id)):
            raise no_session()
        record("session.deleted", session_id)

    async def unfinished(self, session_id: str) -> list[str]:
        """The answers in it that are still being written."""
        async with self._database.read() as connection:
            await existing(connection, session_id)
            messages = await repository.messages(connection, session_id)
        return [message.message_id for message in messages if message.status == "streaming"]

    async def check(self) -> int:
        """How many sessions there are; fails if the database is ill."""
        async with self._database.read() as connection:
            return await repository.count(connection)


def new_session(agent_id: str, title: str) -> Session:
    moment = now()
    return Session(
        session_id=new_id(),
        title=made_title(title),
        current_agent_id=agent_id,
        created_at=moment,
        updated_at=moment,
        user_id=known_user().id,
    )


def made_title(text: str, length: int = TITLE_LENGTH) -> str:
    """The beginning, on one line."""
    line = " ".join(_UNPRINTABLE.sub(" ", text.lstrip()[: length * 4]).split())
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


async def existing(connection: AsyncConnection, session_id: str, *, held: bool = False) -> Session:
    """Somebody else's is not there."""
    session = await repository.session(connection, session_id, user_id=current_user().id, held=held)
    if session is None:
        raise no_session()
    return session


async def grown(connection: AsyncConnection, message: Message) -> Message:
    """An answer's row is written when it ends; until then its events tell how far it got."""
    if message.status != "streaming":
        return message
    answer = part_of(await repository.events(connection, message.message_id, limit=repository.ALL))
    return replace(message, content=answer.content, parts=answer.shown_parts, last_event_id=answer.count)


def no_session() -> NotFoundError:
    return NotFoundError("no session has this id. GET /api/sessions lists those that exist.")
