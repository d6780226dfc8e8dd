"""Stored usage and its limits."""

from collections.abc import Sequence
from datetime import timedelta

from chie.chat.sessions import usage_table
from chie.chat.sessions.connection import Connection
from chie.chat.sessions.database import Database
from chie.chat.sessions.entities import now
from chie.chat.sessions.usage_entry import (
    Limit,
    Scope,
    StoredLimit,
    UsageEntry,
    UsageRecord,
    UsageSelection,
    UsageSum,
)
from chie.chat.shared_read import SharedRead

LIMITS_SECONDS = 10.0  # until a change in another process is known here
REMEMBERED = timedelta(days=2)  # longer than a write is repeated


class UsageStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        # Every answer asks for them.
        self._limits = SharedRead(lambda: database.query(usage_table.limits), seconds=LIMITS_SECONDS)

    async def record(self, record: UsageRecord) -> None:
        backend = self._database.url.get_backend_name()
        await self._database.write(lambda connection: usage_table.record(connection, record, backend, now()))

    async def forget_old_records(self) -> None:
        before = now() - REMEMBERED
        await self._database.write(lambda connection: usage_table.forget(connection, before=before))

    async def totals(self, *, first: str, last: str, user_id: str | None = None) -> tuple[int, int]:
        async with self._database.read() as connection:
            return await usage_table.totals(connection, first=first, last=last, user_id=user_id)

    async def entries(self, selected: UsageSelection) -> list[UsageEntry]:
        """By day, then by user, agent and model."""
        async with self._database.read() as connection:
            return await usage_table.entries(connection, selected)

    async def sums(self, selected: UsageSelection, *groups: Sequence[str]) -> list[list[UsageSum]]:
        """For each group of columns, the sums by their values."""
        async with self._database.read() as connection:
            return [await usage_table.sums(connection, selected, by) for by in groups]

    async def first_day(self, *, user_id: str | None = None) -> str | None:
        async with self._database.read() as connection:
            return await usage_table.first_day(connection, user_id=user_id)

    async def limits(self) -> list[StoredLimit]:
        """At most `LIMITS_SECONDS` old; changes of this process are in it."""
        return await self._limits()

    async def put_limit(self, limit: Limit, *, scope: Scope, user_id: str, by: str) -> None:
        stored = StoredLimit(
            tokens=limit.tokens, cost=limit.cost, scope=scope, user_id=user_id, updated_by=by, updated_at=now()
        )

        async def change(connection: Connection) -> None:
            await usage_table.put_limit(connection, stored)

        await self._database.write(change)
        self._limits.forget()

    async def delete_limit(self, *, scope: Scope, user_id: str) -> bool:
        deleted = await self._database.write(lambda it: usage_table.delete_limit(it, scope, user_id))
        self._limits.forget()
        return deleted
