"""Starting a run: which agent answers, what it is given, and what happens without one."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.fakes.agents import FakeRegistry
from tests.fakes.chat import sqlite_url

from chie.chat.agents.base import BaseAgent, Turn
from chie.chat.runs.run import Run
from chie.chat.runs.runner import agent_history
from chie.chat.runs.starter import RunStarter
from chie.chat.sessions.answers import AnswerStore
from chie.chat.sessions.attachments import AttachmentStore
from chie.chat.sessions.database import Database
from chie.chat.sessions.entities import EventChunk, MessageContent, PendingAnswer
from chie.chat.sessions.queue import MessageQueue
from chie.chat.sessions.service import SessionService
from chie.chat.sessions.turns import TurnService
from chie.chat.sessions.upgrade import upgrade
from chie.errors import NotFoundError


class IdleManager:
    """Makes runs and does not start them."""

    def start(self, pending: PendingAnswer, agent: BaseAgent) -> Run:
        return Run(pending, agent)


class NoLimits:
    async def require(self, agent: BaseAgent) -> None:
        """Everything is allowed."""


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    upgrade(sqlite_url(tmp_path))
    database = Database(sqlite_url(tmp_path))
    yield database
    await database.close()


@pytest.fixture
def directory() -> FakeRegistry:
    return FakeRegistry()


@pytest.fixture
def starter(database: Database, directory: FakeRegistry) -> RunStarter:
    turns, attachments = TurnService(database, "owner"), AttachmentStore(database)
    queue = MessageQueue(database, turns)
    return RunStarter(turns, queue, attachments, directory, IdleManager(), NoLimits())  # type: ignore[arg-type]


async def finish(database: Database, run: Run) -> None:
    final = MessageContent(status="complete", content="知恵", last_event_id=1)
    rest = EventChunk(message_id=run.message_id, first=1, items=["知恵"])
    assert await AnswerStore(database, "owner").finish(final, rest)


async def test_default_agent_answers_first_and_then_the_agent_of_the_session(
    starter: RunStarter, database: Database
) -> None:
    first = await starter.ask("何？")
    assert first.agent_id == "scripted"
    await finish(database, first)
    second = await starter.ask("Next?", session_id=first.session_id, agent_id="echo")
    await finish(database, second)
    third = await starter.ask("And?", session_id=first.session_id)
    assert (second.agent_id, third.agent_id) == ("echo", "echo")
    assert agent_history(third.pending.history) == [
        *(Turn(role="user", content="何？"), Turn(role="assistant", content="知恵")),
        *(Turn(role="user", content="Next?"), Turn(role="assistant", content="知恵")),
    ]


async def test_edit_and_regenerate_use_the_agent_of_the_session(starter: RunStarter, database: Database) -> None:
    first = await starter.ask("何？", agent_id="echo")
    await finish(database, first)
    again = await starter.regenerate(first.message_id)
    await finish(database, again)
    assert (again.agent_id, again.pending.question) == ("echo", "何？")
    assert (await starter.regenerate(first.message_id, agent_id="tools")).agent_id == "tools"
    question = (await SessionService(database).conversation(first.session_id)).messages[0]
    edited = await starter.edit(question.message_id, "なぜ？")
    assert edited.agent_id == "tools"
    await finish(database, edited)
    assert (await starter.edit(question.message_id, "なぜ？", agent_id="echo")).agent_id == "echo"


async def test_unknown_agent_stores_nothing(starter: RunStarter, database: Database, directory: FakeRegistry) -> None:
    with pytest.raises(NotFoundError):
        await starter.ask("x", agent_id="x")
    assert await SessionService(database).check() == 0
    run = await starter.ask("x", agent_id="echo")
    await finish(database, run)
    directory.unregister("echo")
    with pytest.raises(NotFoundError):
        await starter.ask("y", session_id=run.session_id)
    assert len((await SessionService(database).conversation(run.session_id)).messages) == 2


async def test_unknown_session_or_message_is_not_found(starter: RunStarter) -> None:
    for request, code in (
        (starter.ask("x", session_id="x"), "sessions.session_not_found"),
        (starter.edit("x", "y"), "sessions.message_not_found"),
        (starter.regenerate("x"), "sessions.message_not_found"),
    ):
        with pytest.raises(NotFoundError) as caught:
            await request
        assert caught.value.code == code
