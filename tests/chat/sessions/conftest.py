"""Fixtures of the chat tests, and a database alone."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.fakes.chat import both, chat, chat_on_both, postgres, sqlite_url

from chie.chat.sessions.database import Database
from chie.chat.sessions.upgrade import upgrade

__all__ = ["both", "chat", "chat_on_both", "postgres"]


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    upgrade(sqlite_url(tmp_path))
    database = Database(sqlite_url(tmp_path))
    yield database
    await database.close()
