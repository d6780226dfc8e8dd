"""What a process asks of the one that writes an answer: a row that waits until the writer takes it and replies."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from sqlalchemy import delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from chie.chat.sessions import repository
from chie.chat.sessions.database import Database
from chie.chat.sessions.entities import new_id, now
from chie.chat.sessions.models import OrderRow
from chie.errors import ChieError, ConflictError, NotFoundError

Wish = Literal["stop", "approve", "refuse"]

TAKEN, DONE = "taken", "done"
REFUSALS: dict[str, type[ChieError]] = {kind.__name__: kind for kind in (ConflictError, NotFoundError)}
FORGOTTEN = timedelta(hours=1)


@dataclass(frozen=True, kw_only=True)
class Order:
    order_id: str
    message_id: str
    wish: Wish
    call_id: str | None


class Orders:
    def __init__(self, database: Database, us: str) -> None:
        self._database = database
        self.us = us
        self.bell = database.bell

    async def give(self, message_id: str, wish: Wish, call_id: str | None = None) -> str | None:
        """The order's id; nothing if nobody writes the answer any more."""
        values = {"id": new_id(), "message_id": message_id, "wish": wish, "call_id": call_id, "created_at": now()}

        async def change(connection: AsyncConnection) -> str | None:
            writer = await repository.owner(connection, message_id)
            if writer is None:
                return None
            await connection.execute(insert(OrderRow), values)
            await self._database.tell(connection, [writer])
            return str(values["id"])

        return await self._database.write(change)

    async def take(self, message_ids: Sequence[str]) -> list[Order]:
        """What is asked of these answers, oldest first. What is taken can no longer be withdrawn."""
        waiting = (OrderRow.outcome.is_(None), OrderRow.message_id.in_(message_ids))
        async with self._database.read() as connection:
            if (await connection.execute(select(OrderRow.seq).where(*waiting).limit(1))).first() is None:
                return []

        async def change(connection: AsyncConnection) -> list[Order]:
            statement = update(OrderRow).where(*waiting).values(outcome=TAKEN).returning(OrderRow)
            rows = sorted(await connection.execute(statement), key=lambda row: int(row.seq))
            return [
                Order(order_id=row.id, message_id=row.message_id, wish=row.wish, call_id=row.call_id) for row in rows
            ]

        return await self._database.write(change)

    async def reply(self, order: Order, error: ChieError | None) -> None:
        outcome = DONE if error is None else type(error).__name__
        values = {"outcome": outcome, "reply": error.message if error else None}

        async def change(connection: AsyncConnection) -> None:
            await connection.execute(update(OrderRow).where(OrderRow.id == order.order_id).values(**values))
            await self._database.tell(connection, [order.message_id])

        await self._database.write(change)

    async def is_done(self, order_id: str) -> bool:
        """False while there is no reply; a refusal is raised as the writer worded it."""
        statement = select(OrderRow.outcome, OrderRow.reply).where(OrderRow.id == order_id)
        async with self._database.read() as connection:
            row = (await connection.execute(statement)).first()
        if row is not None and row.outcome in REFUSALS:
            raise REFUSALS[row.outcome](row.reply)
        return row is not None and row.outcome == DONE

    async def withdraw(self, order_id: str) -> bool:
        """False if it was taken; the row is gone in either case."""

        async def change(connection: AsyncConnection) -> bool:
            statement = delete(OrderRow).where(OrderRow.id == order_id).returning(OrderRow.outcome)
            row = (await connection.execute(statement)).first()
            return row is not None and row.outcome is None

        return await self._database.write(change)

    async def forget_old(self) -> None:
        """Those whose sender died before the reply came."""
        old = delete(OrderRow).where(OrderRow.created_at < now() - FORGOTTEN)
        await self._database.write(lambda connection: connection.execute(old))
