"""MCP servers that an admin added. Their URLs and headers are encrypted; names and URLs without a query are not."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import delete, func, insert, select, update

from chie.chat.sessions.connection import Connection
from chie.chat.sessions.database import Database
from chie.chat.sessions.entities import now
from chie.chat.sessions.models import AddedServerRow
from chie.chat.sessions.secret_box import SecretBox
from chie.chat.toolbox.added_servers import AddedServer

_ALL = select(AddedServerRow.__table__).order_by(AddedServerRow.created_at, AddedServerRow.name)


async def _rows(connection: Connection) -> Sequence[Any]:
    return (await connection.execute(_ALL)).all()


class AddedServerStore:
    def __init__(self, database: Database, box: SecretBox) -> None:
        self._database = database
        self._box = box

    async def list(self) -> list[AddedServer]:
        rows = await self._database.query(_rows)
        return await asyncio.to_thread(lambda: [self._server(row) for row in rows]) if rows else []

    async def add(self, server: AddedServer) -> bool:
        values = await self._values(server, new_secret=True)
        values |= {"name": server.name, "created_at": values["updated_at"]}
        same = func.lower(AddedServerRow.name) == server.name.lower()

        async def change(connection: Connection) -> bool:
            if (await connection.execute(select(AddedServerRow.name).where(same))).first():
                return False
            await connection.execute(insert(AddedServerRow).values(values))
            return True

        return await self._database.write(change)

    async def replace(self, server: AddedServer, *, new_secret: bool) -> bool:
        values = await self._values(server, new_secret=new_secret)
        statement = update(AddedServerRow).where(AddedServerRow.name == server.name).values(values)

        async def change(connection: Connection) -> bool:
            return (await connection.execute(statement)).rowcount > 0

        return await self._database.write(change)

    async def delete(self, name: str) -> bool:
        async def change(connection: Connection) -> bool:
            return (await connection.execute(delete(AddedServerRow).where(AddedServerRow.name == name))).rowcount > 0

        return await self._database.write(change)

    async def _values(self, server: AddedServer, *, new_secret: bool) -> dict[str, Any]:
        settings = {"url": server.shown_url, "headers": list(server.header_names), "always_ask": server.always_ask}
        values: dict[str, Any] = {"settings": json.dumps(settings), "updated_at": now()}
        if new_secret:
            secret = json.dumps({"url": server.url, "headers": dict(server.headers)})
            values["secret"] = await asyncio.to_thread(self._box.encrypt, secret)
            values["secret_changed_at"] = values["updated_at"]
        return values

    def _server(self, row: Any) -> AddedServer:  # noqa: ANN401 - a row of SQLAlchemy
        decrypted = self._box.decrypt(row.secret)
        settings, secret = json.loads(row.settings), json.loads(decrypted) if decrypted else {}
        return AddedServer(
            name=row.name,
            shown_url=settings["url"],
            header_names=tuple(settings["headers"]),
            always_ask=settings["always_ask"],
            url=secret.get("url", ""),
            headers=secret.get("headers", {}),
            secret_changed_at=row.secret_changed_at,
            updated_at=row.updated_at,
        )
