"""Answers and their events: reading them, and saving what the lease's owner has generated."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from chie.access.identity import current_user
from chie.chat.sessions import repository, usage_table
from chie.chat.sessions.answer_builder import AnswerBuilder
from chie.chat.sessions.connection import Connection
from chie.chat.sessions.database import Database
from chie.chat.sessions.entities import EventChunk, Message, MessageContent, now
from chie.chat.sessions.unread import set_unread
from chie.chat.sessions.usage_entry import UsageRecord
from chie.errors import NotFoundError


@dataclass(frozen=True, kw_only=True)
class SaveResult:
    """`lost` are the answers that another process ended or deleted; `has_commands` says that some are waiting."""

    lost: set[str]
    has_commands: bool


@dataclass(frozen=True, slots=True)
class SessionState:
    """What decides about the next step after an answer, as of the transaction that saved its end."""

    title: str
    has_queued: bool  # a message waits for this answer


class AnswerStore:
    """Writes only answers whose lease `owner` holds, and notifies other processes of each write."""

    def __init__(self, database: Database, owner: str) -> None:
        self._database = database
        self._owner = owner

    async def get(self, message_id: str) -> Message:
        """The answer with everything saved so far."""
        async with self._database.read() as connection:
            return await with_progress(connection, await _existing_answer(connection, message_id))

    async def events(self, message_id: str, after: int) -> tuple[Message, list[EventChunk]]:
        """The answer's row, and the events after `after`. The row is read first, so that no event is missed."""
        async with self._database.read() as connection:
            answer = await _existing_answer(connection, message_id)
            return answer, await repository.events(connection, message_id, after=after)

    async def save(self, chunks: Sequence[EventChunk], *, replace_events: bool = False) -> SaveResult:
        """Drops the events of answers whose lease was lost.

        `replace_events` first deletes what an earlier attempt may have saved before its connection broke.
        """
        ids = [chunk.message_id for chunk in chunks]

        async def change(connection: Connection) -> SaveResult:
            owned, has_commands = await repository.owned_messages(connection, ids, self._owner)
            if kept := [chunk for chunk in chunks if chunk.message_id in owned]:
                await _insert(connection, kept, replace_events=replace_events)
                await self._database.notify(connection, [chunk.message_id for chunk in kept])
            return SaveResult(lost=set(ids) - owned, has_commands=has_commands)

        return await self._database.write(change)

    async def finish(
        self,
        final: MessageContent,
        rest: EventChunk,
        usage: UsageRecord | None = None,
        *,
        replace_events: bool = False,
    ) -> SessionState | None:
        """Save the outcome, the last events and the usage in one transaction; None if the lease was lost. The usage of
        such an answer, and of a deleted one, is saved all the same.

        A message that is queued at the same time either waits for this transaction, which has locked the session, and
        finds the answer complete, or is seen here.
        """
        backend = self._database.url.get_backend_name()

        async def change(connection: Connection) -> SessionState | None:
            await usage_table.record(connection, usage or UsageRecord(), backend, now())
            await set_unread(connection, rest.message_id, owner=self._owner)
            if await repository.finish(connection, rest.message_id, final, owner=self._owner):
                await _insert(connection, [rest], replace_events=replace_events)
                await self._database.notify(connection, [rest.message_id])
            elif not (replace_events and await _is_finished(connection, rest.message_id, final)):
                return None
            return SessionState(*await repository.state_after(connection, rest.message_id))

        return await self._database.write(change)

    async def renew_leases(self, message_ids: Sequence[str]) -> set[str]:
        """The answers whose lease was lost."""
        if not message_ids:
            return set()
        renewed = await self._database.write(lambda it: repository.renew_leases(it, message_ids, self._owner))
        return set(message_ids) - renewed


async def with_progress(connection: Connection, message: Message) -> Message:
    """A streaming answer's row is empty until it ends; fill it in from the saved events."""
    if message.status != "streaming":
        return message
    chunks = await repository.events(connection, message.message_id, limit=repository.NO_LIMIT)
    answer = AnswerBuilder.from_chunks(chunks)
    return replace(message, content=answer.content, parts=answer.open_parts, last_event_id=answer.count)


async def _insert(connection: Connection, chunks: Sequence[EventChunk], *, replace_events: bool) -> None:
    if replace_events:
        for chunk in chunks:
            await repository.delete_events(connection, chunk.message_id, first=chunk.first)
    await repository.insert_events(connection, chunks)


async def _is_finished(connection: Connection, message_id: str, final: MessageContent) -> bool:
    """Whether an earlier attempt with the same outcome was committed although its connection broke."""
    found = await repository.message(connection, message_id, user_id=current_user().id)
    return found is not None and (found.status, found.last_event_id) == (final.status, final.last_event_id)


async def _existing_answer(connection: Connection, message_id: str) -> Message:
    found = await repository.message(connection, message_id, user_id=current_user().id)
    if found is None or found.role != "assistant":
        raise NotFoundError("sessions.answer_not_found")
    return found
