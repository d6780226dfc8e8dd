"""Logins at MCP servers are stored encrypted, on both databases."""

from pathlib import Path

import pytest
from sqlalchemy import URL, select, update
from tests.chat.sessions.test_migrations import engine

from chie.chat.sessions.database import Database
from chie.chat.sessions.entities import now
from chie.chat.sessions.logins import MAX_LOGIN_AGE, LoginStore
from chie.chat.sessions.models import LoginRow
from chie.chat.sessions.secret_box import SecretBox
from chie.chat.sessions.upgrade import upgrade

pytestmark = pytest.mark.req("AG-10")


async def test_login_is_encrypted_replaced_and_deleted(both: URL, tmp_path: Path) -> None:
    upgrade(both)
    database = Database(both)
    store = LoginStore(database, SecretBox(tmp_path))
    await store.put("aki", "vault", '{"secret": "合言葉"}', state="abc")
    await store.put("aki", "vault", '{"secret": "合言葉 2"}', state="def")
    assert await store.get("aki", "vault") == '{"secret": "合言葉 2"}'
    assert await store.get("ben", "vault") is None
    with engine(both).connect() as connection:
        assert "合言葉" not in str(connection.execute(select(LoginRow.data)).scalar_one())
    assert await store.take("ben", "def") is None
    assert await store.take("aki", "abc") is None, "it was replaced"
    assert await store.take("aki", "def") == "vault"
    assert await store.take("aki", "def") is None, "it was used"
    other = LoginStore(database, SecretBox(tmp_path / "other"))
    assert await other.get("aki", "vault") is None, "another machine has another key"
    await store.delete("aki", "vault")
    assert await store.get("aki", "vault") is None
    await database.close()


async def test_login_must_be_finished_in_time(both: URL, tmp_path: Path) -> None:
    upgrade(both)
    database = Database(both)
    store = LoginStore(database, SecretBox(tmp_path))
    await store.put("aki", "vault", "x", state="abc")
    with engine(both).begin() as connection:
        connection.execute(update(LoginRow).values(updated_at=now() - 2 * MAX_LOGIN_AGE))
    assert await store.take("aki", "abc") is None
    await database.close()
