"""Helpers for tests that ask questions and finish their answers directly in the database."""

from dataclasses import dataclass

from chie.chat.sessions.answers import AnswerStore
from chie.chat.sessions.database import Database
from chie.chat.sessions.entities import EventChunk, Message, MessageContent, PendingAnswer
from chie.chat.sessions.service import SessionService
from chie.chat.sessions.turns import TurnService

AGENT = "scripted"


def chunk(pending: PendingAnswer, *items: str, first: int = 1) -> EventChunk:
    return EventChunk(message_id=pending.message_id, first=first, items=list(items))


def final(content: str = "知恵", *, events: int = 1) -> MessageContent:
    return MessageContent(status="complete", content=content, last_event_id=events)


@dataclass
class Owner:
    """A process that asks questions and generates their answers."""

    turns: TurnService
    answers: AnswerStore

    @classmethod
    def on(cls, database: Database, name: str) -> "Owner":
        return cls(TurnService(database, name), AnswerStore(database, name))

    async def ask(
        self, question: str, *, agent_id: str = AGENT, session_id: str | None = None, parent_id: str | None = None
    ) -> PendingAnswer:
        return await self.turns.ask(question, agent_id=agent_id, session_id=session_id, parent_id=parent_id)

    async def finish(self, pending: PendingAnswer) -> None:
        assert await self.answers.finish(final(), chunk(pending, "知恵"))

    async def answered(
        self, question: str = "何？", *, agent_id: str = AGENT, session_id: str | None = None
    ) -> PendingAnswer:
        pending = await self.ask(question, agent_id=agent_id, session_id=session_id)
        await self.finish(pending)
        return pending


async def messages(sessions: SessionService, pending: PendingAnswer) -> list[Message]:
    return (await sessions.conversation(pending.session_id)).messages
