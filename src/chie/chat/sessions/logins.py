"""Logins of users at remote MCP servers. What they hold is encrypted; user and server are not."""

import asyncio
from datetime import timedelta

from sqlalchemy import delete, select, update

from chie.chat.sessions.connection import Connection
from chie.chat.sessions.database import Database
from chie.chat.sessions.entities import now
from chie.chat.sessions.models import LoginRow
from chie.chat.sessions.secret_box import SecretBox
from chie.database.dialect import upsert

MAX_LOGIN_AGE = timedelta(minutes=15)  # from the redirect to the provider until the user is back


class LoginStore:
    """One row per user and server: an encrypted text, and the state of a login that is under way."""

    def __init__(self, database: Database, box: SecretBox) -> None:
        self._database = database
        self._box = box

    async def get(self, user_id: str, server: str) -> str | None:
        async with self._database.read() as connection:
            statement = select(LoginRow.data).where(LoginRow.user_id == user_id, LoginRow.server == server)
            row = (await connection.execute(statement)).first()
        return None if row is None else await asyncio.to_thread(self._box.decrypt, row.data)

    async def put(self, user_id: str, server: str, text: str, *, state: str | None = None) -> None:
        values = {
            "user_id": user_id,
            "server": server,
            "state": state,
            "data": await asyncio.to_thread(self._box.encrypt, text),
            "updated_at": now(),
        }
        statement = upsert(self._database.url.get_backend_name(), LoginRow).values(values)
        replaced = {name: statement.excluded[name] for name in ("state", "data", "updated_at")}
        replacing = statement.on_conflict_do_update(index_elements=["user_id", "server"], set_=replaced)

        async def change(connection: Connection) -> None:
            await connection.execute(replacing)

        await self._database.write(change)

    async def take(self, user_id: str, state: str) -> str | None:
        """The server of this user's login with this state, which can be used once; None for a state of others."""
        own = (LoginRow.state == state, LoginRow.user_id == user_id, LoginRow.updated_at > now() - MAX_LOGIN_AGE)

        async def change(connection: Connection) -> str | None:
            statement = update(LoginRow).where(*own).values(state=None).returning(LoginRow.server)
            row = (await connection.execute(statement)).first()
            return None if row is None else str(row.server)

        return await self._database.write(change)

    async def delete(self, user_id: str, server: str) -> None:
        async def change(connection: Connection) -> None:
            await connection.execute(delete(LoginRow).where(LoginRow.user_id == user_id, LoginRow.server == server))

        await self._database.write(change)
