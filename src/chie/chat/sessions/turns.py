"""The rules of a turn: a question is on disk before anybody answers it, and every answer is a branch of its own."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy.ext.asyncio import AsyncConnection

from chie.access.identity import current_user
from chie.chat.agents.base import BaseAgent, Turn
from chie.chat.directory import AgentDirectory
from chie.chat.sessions import repository
from chie.chat.sessions.answer import failure, part_of
from chie.chat.sessions.branches import history
from chie.chat.sessions.conversation import Ending, Events, Message, Session, new_id, now
from chie.chat.sessions.database import Database
from chie.chat.sessions.ownership import is_dead, new_owner
from chie.chat.sessions.service import existing, grown, made_title, new_session
from chie.errors import ConflictError, NotFoundError, ValidationError

MAX_MESSAGE = 200_000
UNSAVED = 10_000  # more events than can have been sent and not saved when a process dies: their numbers stay unused
INTERRUPTED = (
    "Chie stopped while this answer was being written. What was saved of it is kept; "
    "POST /api/chat/{message_id}/regenerate asks for another."
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Beginning:
    """A question that is on disk, and the empty answer to it."""

    session_id: str
    message_id: str
    agent: BaseAgent
    message: str
    history: list[Turn]


class Turns:
    def __init__(self, database: Database, agents: AgentDirectory) -> None:
        self._database = database
        self._agents = agents
        self.owner = new_owner()

    async def ask(
        self,
        message: str,
        *,
        session_id: str | None = None,
        agent_id: str | None = None,
        parent_id: str | None = None,
    ) -> Beginning:
        """Without a session a new one; without a parent after the newest message."""
        _check(message)
        if session_id is None:
            if parent_id is not None:
                raise ValidationError("parent_id needs a session_id: say which session the parent belongs to.")
            return await self._ask_first(message, agent_id)

        async def change(connection: AsyncConnection) -> Beginning:
            session = await existing(connection, session_id)
            messages = await repository.messages(connection, session_id)
            question = _question(session_id, message, _parent(messages, parent_id))
            return await self._begin(connection, session, messages, question, agent_id)

        return await self._database.write(change)

    async def edit(self, message_id: str, message: str, *, agent_id: str | None = None) -> Beginning:
        """A sibling of the question with another text; the old one and its answers stay."""
        _check(message)

        async def change(connection: AsyncConnection) -> Beginning:
            session, messages, old = await _context(connection, message_id)
            if old.role != "user":
                raise ValidationError("only a question can be edited: give the id of a message whose role is user.")
            question = _question(session.session_id, message, old.parent_id)
            return await self._begin(connection, session, messages, question, agent_id)

        return await self._database.write(change)

    async def regenerate(self, message_id: str, *, agent_id: str | None = None) -> Beginning:
        """Another answer to the same question; `message_id` is the question or any answer to it."""

        async def change(connection: AsyncConnection) -> Beginning:
            session, messages, chosen = await _context(connection, message_id)
            _refuse_unfinished(chosen)
            wanted = chosen.message_id if chosen.role == "user" else chosen.parent_id
            question = next(message for message in messages if message.message_id == wanted)
            return await self._begin(connection, session, messages, question, agent_id)

        return await self._database.write(change)

    async def answer(self, message_id: str) -> Message:
        """As far as it is saved."""
        async with self._database.read() as connection:
            return await grown(connection, await _answer(connection, message_id))

    async def events(self, message_id: str, after: int) -> tuple[Message, list[Events]]:
        """The answer as it stands, then what was saved after that event: in this order nothing is missed."""
        async with self._database.read() as connection:
            answer = await _answer(connection, message_id)
            return answer, await repository.events(connection, message_id, after=after)

    async def save(self, stretches: Sequence[Events], *, again: bool = False) -> None:
        """Those of an answer whose session was deleted meanwhile are dropped.

        `again` takes away first what may have arrived before the connection broke.
        """

        async def change(connection: AsyncConnection) -> None:
            there = await repository.existing_messages(connection, [stretch.message_id for stretch in stretches])
            if kept := [stretch for stretch in stretches if stretch.message_id in there]:
                await _insert(connection, kept, again=again)

        await self._database.write(change)

    async def finish(self, ending: Ending, rest: Events, *, again: bool = False) -> None:
        """The outcome and the last events, in one."""

        async def change(connection: AsyncConnection) -> None:
            if await repository.end(connection, rest.message_id, ending):
                await _insert(connection, [rest], again=again)

        await self._database.write(change)

    async def stay_alive(self, message_ids: Sequence[str]) -> None:
        if message_ids:
            await self._database.write(lambda connection: repository.stay_alive(connection, message_ids, now()))

    async def recover(self) -> int:
        """Answers whose writer died are closed with what was saved of them."""

        async def change(connection: AsyncConnection) -> int:
            rows = await repository.streaming(connection)
            dead = [row[0] for row in rows if is_dead(row[1], row[2], us=self.owner, now=now())]
            for message_id in dead:
                await _close(connection, message_id)
            return len(dead)

        found = await self._database.write(change)
        if found:
            logger.warning("%d answers were cut short when a Chie stopped; what was saved of them is kept", found)
        return found

    async def _ask_first(self, message: str, agent_id: str | None) -> Beginning:
        agent = self._agents.get_agent(agent_id or await self._agents.default_id())
        session = new_session(agent.agent_id, message)
        question = _question(session.session_id, message, None)
        answer = _empty_answer(question, agent)
        await self._database.write(repository.new_session(session, [question, answer], owner=self.owner))
        return _beginning(answer, agent, question, [])

    async def _begin(
        self,
        connection: AsyncConnection,
        session: Session,
        messages: Sequence[Message],
        question: Message,
        agent_id: str | None,
    ) -> Beginning:
        agent = self._agents.get_agent(agent_id or session.current_agent_id)
        answer = _empty_answer(question, agent)
        new = [answer] if question in messages else [question, answer]
        await repository.insert_messages(connection, new, owner=self.owner)
        await repository.change_session(
            connection,
            session.session_id,
            title=session.title or made_title(question.content),
            current_agent_id=agent.agent_id,
            updated_at=answer.created_at,
        )
        return _beginning(answer, agent, question, messages)


async def _insert(connection: AsyncConnection, stretches: Sequence[Events], *, again: bool) -> None:
    if again:
        for stretch in stretches:
            await repository.delete_events(connection, stretch.message_id, first=stretch.first)
    await repository.insert_events(connection, stretches)


async def _close(connection: AsyncConnection, message_id: str) -> None:
    saved = await repository.events(connection, message_id, limit=repository.ALL)
    first = (saved[-1].last if saved else 0) + UNSAVED + 1
    last = Events(message_id=message_id, first=first, items=failure(INTERRUPTED))
    await repository.insert_events(connection, [last])
    ending = part_of(saved).ending("interrupted", error=INTERRUPTED)
    await repository.end(connection, message_id, replace(ending, last_event_id=last.last))


def _beginning(answer: Message, agent: BaseAgent, question: Message, messages: Sequence[Message]) -> Beginning:
    return Beginning(
        session_id=answer.session_id,
        message_id=answer.message_id,
        agent=agent,
        message=question.content,
        history=history(messages, question.parent_id),
    )


def _question(session_id: str, text: str, parent_id: str | None) -> Message:
    return Message(
        message_id=new_id(),
        session_id=session_id,
        parent_id=parent_id,
        role="user",
        content=text,
        status="complete",
        created_at=now(),
    )


def _empty_answer(question: Message, agent: BaseAgent) -> Message:
    return Message(
        message_id=new_id(),
        session_id=question.session_id,
        parent_id=question.message_id,
        role="assistant",
        content="",
        status="streaming",
        created_at=now(),
        agent_id=agent.agent_id,
    )


async def _context(connection: AsyncConnection, message_id: str) -> tuple[Session, list[Message], Message]:
    message = await repository.message(connection, message_id, user_id=current_user().id)
    if message is None:
        raise NotFoundError("no message has this id. GET /api/sessions/{session_id} lists a session's messages.")
    session = await existing(connection, message.session_id)
    return session, await repository.messages(connection, message.session_id), message


async def _answer(connection: AsyncConnection, message_id: str) -> Message:
    found = await repository.message(connection, message_id, user_id=current_user().id)
    if found is None or found.role != "assistant":
        raise NotFoundError("no answer has this id. X-Chie-Message names an answer when it begins.")
    return found


def _parent(messages: Sequence[Message], parent_id: str | None) -> str | None:
    if parent_id is None and not messages:
        return None
    named = [message for message in messages if message.message_id == parent_id]
    parent = named[0] if named else messages[-1]
    if parent_id is not None and not named:
        raise NotFoundError("no message of this session has the id that parent_id names.")
    if parent.role != "assistant":
        raise ValidationError("parent_id must name an answer: a question follows an answer.")
    _refuse_unfinished(parent)
    return parent.message_id


def _refuse_unfinished(message: Message) -> None:
    if message.status == "streaming":
        raise ConflictError(
            f"the last answer is still being written. Wait for it, or stop it with "
            f"POST /api/chat/{message.message_id}/stop, then try again."
        )


def _check(message: str) -> None:
    if not message.strip():
        raise ValidationError("message is required: write what you want to ask.")
    if len(message) > MAX_MESSAGE:
        raise ValidationError(
            f"message is too long: {len(message):,} characters, at most {MAX_MESSAGE:,}. Split it into several."
        )
    if "\x00" in message:
        raise ValidationError("message has a NUL character: send plain text.")
