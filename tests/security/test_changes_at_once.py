"""One writer makes the changes of many users in one transaction; each change runs as its own user."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.fakes.chat import sqlite_url

from chie.access.identity import User, acting_as
from chie.chat.sessions.database import Database
from chie.chat.sessions.entities import Session
from chie.chat.sessions.service import SessionService
from chie.chat.sessions.turns import TurnService
from chie.chat.sessions.upgrade import upgrade
from chie.errors import NotFoundError

NAMES = ("aki", "ben", "chi", "dai")


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    url = sqlite_url(tmp_path)
    await asyncio.to_thread(upgrade, url)
    database = Database(url)
    yield database
    await database.close()


async def test_changes_that_share_a_transaction_do_not_share_a_user(database: Database) -> None:
    service, turns = SessionService(database), TurnService(database, "owner")

    async def create(name: str) -> Session:
        with acting_as(User(name)):
            return await service.create(agent_id="scripted", title=name)

    async def change(name: str, session: Session) -> tuple[str, str]:
        with acting_as(User(name)):
            try:
                await service.change(session.session_id, title=f"changed by {name}")
                await turns.ask(f"asked by {name}", agent_id="scripted", session_id=session.session_id)
            except NotFoundError:
                return name, "not found"
            return name, "done"

    sessions = dict(zip(NAMES, await asyncio.gather(*map(create, NAMES)), strict=True))
    assert {name: session.user_id for name, session in sessions.items()} == {name: name for name in NAMES}
    pairs = [(who, whose) for whose in NAMES for who in NAMES]
    outcomes = await asyncio.gather(*(change(who, sessions[whose]) for who, whose in pairs))
    assert outcomes == [(who, "done" if who == whose else "not found") for who, whose in pairs]
    for name in NAMES:
        with acting_as(User(name)):
            page = await service.page()
            (session,) = page.sessions
            assert session.title == f"changed by {name}"
            messages = (await service.conversation(session.session_id)).messages
            assert [message.content for message in messages if message.role == "user"] == [f"asked by {name}"]
