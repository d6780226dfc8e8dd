"""Ending answers whose writer is dead or does not react. Whoever was it finds that the answer is no longer theirs."""

import logging
from dataclasses import replace
from datetime import timedelta

from sqlalchemy.ext.asyncio import AsyncConnection

from chie.chat.runs.lease import LEASE, is_dead
from chie.chat.sessions import repository
from chie.chat.sessions.answer import Item, failure, part_of
from chie.chat.sessions.database import Database
from chie.chat.sessions.entities import Events, Message, Status

UNSAVED = 10_000  # more events than can have been sent and not saved when a process dies: their numbers stay unused
INTERRUPTED = (
    "Chie stopped while this answer was being written. What was saved of it is kept; "
    "POST /api/chat/{message_id}/regenerate asks for another."
)

logger = logging.getLogger(__name__)


class Recovery:
    def __init__(self, database: Database, us: str) -> None:
        self._database = database
        self._us = us

    async def recover(self, lease: timedelta = LEASE) -> int:
        """Answers whose writer died are closed with what was saved of them; any number of processes may try."""
        async with self._database.read() as connection:
            rows = await repository.streaming(connection)
        dead = [(id_, owner) for id_, owner, silence in rows if is_dead(owner, silence, us=self._us, lease=lease)]
        closed = [id_ for id_, owner in dead if await self._close(id_, owner, "interrupted")]
        if closed:
            logger.warning("%d answers were cut short when a Chie stopped; what was saved of them is kept", len(closed))
        return len(closed)

    async def stop(self, message_id: str) -> None:
        """In place of its writer."""
        async with self._database.read() as connection:
            owner = await repository.owner(connection, message_id)
        if owner is not None and await self._close(message_id, owner, "stopped"):
            logger.warning("message %s was stopped without %s, which does not react", message_id, owner)

    async def _close(self, message_id: str, owner: str, status: Status) -> bool:
        async def change(connection: AsyncConnection) -> bool:
            answer = await repository.hold(connection, message_id, owner)
            if answer is None:
                return False
            await _end(connection, answer, owner, status)
            await self._database.tell(connection, [message_id, owner])
            return True

        return await self._database.write(change)


async def _end(connection: AsyncConnection, answer: Message, owner: str, status: Status) -> None:
    saved = await repository.events(connection, answer.message_id, limit=repository.ALL)
    error = INTERRUPTED if status == "interrupted" else None
    first = (saved[-1].last if saved else 0) + UNSAVED + 1
    last = Events(message_id=answer.message_id, first=first, items=failure(error) if error else [_done(answer)])
    await repository.insert_events(connection, [last])
    ending = part_of(saved).ending(status, error=error)
    await repository.end(connection, answer.message_id, replace(ending, last_event_id=last.last), owner=owner)


def _done(answer: Message) -> Item:
    return {"type": "done", "message_id": answer.message_id, "session_id": answer.session_id, "usage": None}
