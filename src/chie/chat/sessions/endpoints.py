"""Model endpoints that an admin added. Their keys are encrypted; names, URLs and regions are not."""

import asyncio
import json
from dataclasses import asdict
from typing import Any

from sqlalchemy import delete, func, insert, select, update

from chie.chat.endpoints.endpoint import EndpointSettings, StoredEndpoint
from chie.chat.sessions.connection import Connection
from chie.chat.sessions.database import Database
from chie.chat.sessions.entities import now
from chie.chat.sessions.models import EndpointRow
from chie.chat.sessions.secret_box import SecretBox
from chie.errors import ConflictError


class EndpointStore:
    def __init__(self, database: Database, box: SecretBox) -> None:
        self._database = database
        self._box = box

    async def list(self) -> list[StoredEndpoint]:
        async with self._database.read() as connection:
            statement = select(EndpointRow.__table__).order_by(EndpointRow.created_at, EndpointRow.id)
            rows = (await connection.execute(statement)).all()
        return await asyncio.to_thread(lambda: [self._endpoint(row) for row in rows])

    async def add(self, endpoint: StoredEndpoint) -> None:
        values = await self._values(endpoint, new_secret=True)
        values |= {"id": endpoint.id, "kind": endpoint.kind, "created_at": values["updated_at"]}

        async def change(connection: Connection) -> None:
            await _require_free_name(connection, endpoint)
            await connection.execute(insert(EndpointRow).values(values))

        await self._database.write(change)

    async def replace(self, endpoint: StoredEndpoint, *, new_secret: bool) -> bool:
        values = await self._values(endpoint, new_secret=new_secret)

        async def change(connection: Connection) -> bool:
            await _require_free_name(connection, endpoint)
            statement = update(EndpointRow).where(EndpointRow.id == endpoint.id).values(values)
            return (await connection.execute(statement)).rowcount > 0

        return await self._database.write(change)

    async def delete(self, endpoint_id: str) -> bool:
        async def change(connection: Connection) -> bool:
            return (await connection.execute(delete(EndpointRow).where(EndpointRow.id == endpoint_id))).rowcount > 0

        return await self._database.write(change)

    async def _values(self, endpoint: StoredEndpoint, *, new_secret: bool) -> dict[str, Any]:
        settings = {name: value for name, value in asdict(endpoint.settings).items() if value is not None}
        values: dict[str, Any] = {"name": endpoint.name, "settings": json.dumps(settings), "updated_at": now()}
        if new_secret:
            values["secret"] = await self._encrypted(endpoint)
            values["secret_changed_at"] = values["updated_at"] if endpoint.secret else None
        return values

    async def _encrypted(self, endpoint: StoredEndpoint) -> str | None:
        if not endpoint.secret:
            return None
        return await asyncio.to_thread(self._box.encrypt, json.dumps(dict(endpoint.secret)))

    def _endpoint(self, row: Any) -> StoredEndpoint:  # noqa: ANN401 - a row of SQLAlchemy
        secret = self._box.decrypt(row.secret) if row.secret else None
        return StoredEndpoint(
            id=row.id,
            name=row.name,
            kind=row.kind,
            settings=EndpointSettings(**json.loads(row.settings)),
            secret=json.loads(secret) if secret else {},
            has_secret=row.secret is not None,
            secret_changed_at=row.secret_changed_at,
            created_at=row.created_at,
            updated_at=row.updated_at,
        )


async def _require_free_name(connection: Connection, endpoint: StoredEndpoint) -> None:
    same = func.lower(EndpointRow.name) == endpoint.name.lower()
    if (await connection.execute(select(EndpointRow.id).where(same, EndpointRow.id != endpoint.id))).first():
        raise ConflictError("endpoints.name_taken", name=endpoint.name)
