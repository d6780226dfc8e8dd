"""The rules of a turn: a question is on disk before anybody answers it, and every answer is a branch of its own."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncConnection

from chie.access.identity import current_user
from chie.chat.agents.base import BaseAgent, Turn
from chie.chat.agents.port import AgentDirectory
from chie.chat.runs.lease import new_owner
from chie.chat.sessions import repository
from chie.chat.sessions.branches import history
from chie.chat.sessions.database import Database
from chie.chat.sessions.entities import Ending, Events, Message, Session, new_id, now
from chie.chat.sessions.service import existing, grown, made_title, new_session
from chie.errors import ConflictError, NotFoundError, ValidationError

MAX_MESSAGE = 200_000


@dataclass(frozen=True, kw_only=True)
class Beginning:
    """A question that is on disk, and the empty answer to it."""

    session_id: str
    message_id: str
    agent: BaseAgent
    message: str
    history: list[Turn]


@dataclass(frozen=True, kw_only=True)
class Saved:
    """`lost` are answers that another process has ended, or that were deleted; `asked` is whether an order waits."""

    lost: set[str]
    asked: bool


class Turns:
    def __init__(self, database: Database, agents: AgentDirectory) -> None:
        self._database = database
        self._agents = agents
        self.owner = new_owner()
        self.bell = database.bell

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
            session = await existing(connection, session_id, held=True)
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

    async def save(self, stretches: Sequence[Events], *, again: bool = False) -> Saved:
        """What belongs to answers that are no longer ours is dropped.

        `again` takes away first what may have arrived before the connection broke.
        """
        ids = [stretch.message_id for stretch in stretches]

        async def change(connection: AsyncConnection) -> Saved:
            ours, asked = await repository.owned_messages(connection, ids, self.owner)
            if kept := [stretch for stretch in stretches if stretch.message_id in ours]:
                await _insert(connection, kept, again=again)
                await self._database.tell(connection, [stretch.message_id for stretch in kept])
            return Saved(lost=set(ids) - ours, asked=asked)

        return await self._database.write(change)

    async def finish(self, ending: Ending, rest: Events, *, again: bool = False) -> bool:
        """The outcome and the last events, in one; False if the answer is no longer ours to end."""

        async def change(connection: AsyncConnection) -> bool:
            if await repository.end(connection, rest.message_id, ending, owner=self.owner):
                await _insert(connection, [rest], again=again)
                await self._database.tell(connection, [rest.message_id])
                return True
            return again and await _has_arrived(connection, rest.message_id, ending)

        return await self._database.write(change)

    async def stay_alive(self, message_ids: Sequence[str]) -> set[str]:
        """Those among them that are no longer ours."""
        if not message_ids:
            return set()
        renewed = await self._database.write(lambda c: repository.stay_alive(c, message_ids, self.owner))
        return set(message_ids) - renewed

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


async def _has_arrived(connection: AsyncConnection, message_id: str, ending: Ending) -> bool:
    """Whether it is this end that the answer has: the commit came through, only the word of it was lost."""
    found = await repository.message(connection, message_id, user_id=current_user().id)
    return found is not None and (found.status, found.last_event_id) == (ending.status, ending.last_event_id)


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
    session = await existing(connection, message.session_id, held=True)
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
