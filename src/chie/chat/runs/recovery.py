"""Ends answers whose owner is dead or does not react. The previous owner notices on its next save that it lost the
lease."""

import logging
from dataclasses import replace
from datetime import timedelta

from chie.chat.runs.lease import LEASE_DURATION, is_abandoned
from chie.chat.sessions import repository
from chie.chat.sessions.answer_builder import AnswerBuilder, error_events
from chie.chat.sessions.connection import Connection
from chie.chat.sessions.database import Database
from chie.chat.sessions.entities import EventChunk, Message, Status, StoredEvent
from chie.chat.sessions.unread import set_unread
from chie.errors import ServiceError, StorageError

UNSAVED_EVENTS = 10_000  # more than a process can have sent and not saved; their numbers are skipped

logger = logging.getLogger(__name__)


class Recovery:
    def __init__(self, database: Database, owner: str) -> None:
        self._database = database
        self._owner = owner

    async def recover(self, lease: timedelta = LEASE_DURATION) -> int:
        """End the answers of dead processes, keeping what was saved; returns their number.

        Any number of processes may try at the same time: one of them ends each answer.
        """
        async with self._database.read() as connection:
            rows = await repository.streaming(connection)
        dead = [(id_, owner) for id_, owner, idle in rows if is_abandoned(owner, idle, own=self._owner, lease=lease)]
        ended = [id_ for id_, owner in dead if await self._try_to_end(id_, owner)]
        if ended:
            logger.warning("ended %d answers whose process died; what was saved of them is kept", len(ended))
        return len(ended)

    async def stop(self, message_id: str) -> None:
        """Stop an answer in place of its owner."""
        async with self._database.read() as connection:
            owner = await repository.owner(connection, message_id)
        if owner is not None and await self._end(message_id, owner, "stopped"):
            logger.warning("stopped message %s in place of %s, which does not react", message_id, owner)

    async def fail(self, message_id: str, error: ServiceError) -> None:
        """End an answer of this process with what was saved, because its own end cannot be."""
        await self._end(message_id, self._owner, "failed", error)

    async def _try_to_end(self, message_id: str, owner: str) -> bool:
        """An answer that cannot be ended keeps nobody from ending the others."""
        try:
            return await self._end(message_id, owner, "interrupted", ServiceError("chat.process_died"))
        except StorageError:
            raise
        except Exception:
            logger.exception("cannot end message %s of a dead process", message_id)
            return False

    async def _end(self, message_id: str, owner: str, status: Status, error: ServiceError | None = None) -> bool:
        async def change(connection: Connection) -> bool:
            await set_unread(connection, message_id, owner=owner)
            answer = await repository.lock_owned(connection, message_id, owner)
            if answer is None:
                return False
            await _finish(connection, answer, owner, status, error)
            await self._database.notify(connection, [message_id, owner])
            return True

        return await self._database.write(change)


async def _finish(
    connection: Connection, answer: Message, owner: str, status: Status, error: ServiceError | None
) -> None:
    saved = await repository.events(connection, answer.message_id, limit=repository.NO_LIMIT)
    first = (saved[-1].last if saved else 0) + UNSAVED_EVENTS + 1
    items = error_events(error) if error else [_done(answer)]
    last = EventChunk(message_id=answer.message_id, first=first, items=items)
    await repository.insert_events(connection, [last])
    final = AnswerBuilder.from_chunks(saved).final(status, error=error)
    await repository.finish(
        connection, answer.message_id, replace(final, last_event_id=last.last, model=answer.model), owner=owner
    )


def _done(answer: Message) -> StoredEvent:
    return {"type": "done", "message_id": answer.message_id, "session_id": answer.session_id, "usage": None}
