"""Messages that wait for the answer before them. Each becomes a question once, with the id that it waits under."""

from collections.abc import Sequence
from dataclasses import replace

from chie.access.identity import current_user
from chie.chat.sessions import attachment_table, queue_table, repository
from chie.chat.sessions.attachments import existing
from chie.chat.sessions.connection import Connection
from chie.chat.sessions.database import Database
from chie.chat.sessions.entities import Message, ModelChoice, PendingAnswer, QueuedMessage, now
from chie.chat.sessions.service import existing_session
from chie.chat.sessions.turns import TurnService, new_question, validate_question
from chie.errors import ChieError, ConflictError, NotFoundError, ValidationError

MAX_QUEUED = 20


class MessageQueue:
    """Sees only the sessions of the current user."""

    def __init__(self, database: Database, turns: TurnService) -> None:
        self._database = database
        self._turns = turns

    async def add(
        self,
        session_id: str,
        message_id: str,
        message: str,
        *,
        agent_id: str | None = None,
        parent_id: str | None = None,
        attachment_ids: Sequence[str] = (),
    ) -> QueuedMessage:
        """Waits for the answer `parent_id`, or for the newest one. Adding the same id again changes nothing.

        ConflictError if the message has been sent.
        """
        validate_question(message, has_files=bool(attachment_ids))

        async def change(connection: Connection) -> QueuedMessage:
            await existing_session(connection, session_id, lock=True)
            waiting = await queue_table.of_session(connection, session_id)
            if known := next((one for one in waiting if one.message_id == message_id), None):
                return known
            if await queue_table.is_taken(connection, message_id):
                raise ConflictError("queue.already_sent")
            if len(waiting) >= MAX_QUEUED:
                raise ConflictError("queue.full", limit=MAX_QUEUED)
            answer = _answer(await repository.messages(connection, session_id), parent_id)
            queued = QueuedMessage(
                message_id=message_id,
                session_id=session_id,
                parent_id=answer.message_id,
                content=message,
                created_at=now(),
                status=answer.status,
                agent_id=agent_id,
                attachments=await existing(connection, attachment_ids, lock=True),
            )
            await queue_table.add(connection, queued)
            return queued

        queued = await self._database.write(change)
        async with self._database.read() as connection:  # the answer may have ended before the commit
            answer = await repository.message(connection, queued.parent_id, user_id=current_user().id)
        return replace(queued, status=answer.status) if answer else queued

    async def get(self, session_id: str, message_id: str) -> QueuedMessage:
        async with self._database.read() as connection:
            await existing_session(connection, session_id)
            return _named(await queue_table.of_session(connection, session_id), message_id)

    async def next_after(self, session_id: str, answer_id: str) -> QueuedMessage | None:
        """The first message that waits for this answer, unless it could not be sent before."""
        async with self._database.read() as connection:
            queue = await queue_table.of_session(connection, session_id)
        first = next((one for one in queue if one.parent_id == answer_id), None)
        return first if first and first.error_code is None else None

    async def overdue(self) -> list[tuple[str, QueuedMessage]]:
        """The messages of any user, with the user's id, that nothing is left to wait for."""
        async with self._database.read() as connection:
            return await queue_table.overdue(connection)

    async def remove(self, session_id: str, message_id: str) -> None:
        """Its files stay for a day, as those of a message that was not sent."""

        async def change(connection: Connection) -> None:
            await existing_session(connection, session_id, lock=True)
            if not await queue_table.remove(connection, session_id, message_id):
                raise _not_found()

        await self._database.write(change)

    async def take(
        self, session_id: str, message_id: str, *, agent_id: str, choice: ModelChoice | None = None
    ) -> PendingAnswer:
        """Replace the queued message by a question and its empty answer, in one transaction.

        NotFoundError if it has been sent or removed, ConflictError while the answer before it is being generated.
        """

        async def change(connection: Connection) -> PendingAnswer:
            session = await existing_session(connection, session_id, lock=True)
            queued = _named(await queue_table.of_session(connection, session_id), message_id)
            if queued.status == "streaming":
                raise ConflictError("sessions.answer_in_progress", message_id=queued.parent_id)
            messages = await repository.messages(connection, session_id)
            files = [file.attachment_id for file in queued.attachments]
            locked = await attachment_table.owned(connection, files, user_id=session.user_id, lock=True)
            question = new_question(session_id, queued.content, queued.parent_id, locked, message_id=message_id)
            await queue_table.remove(connection, session_id, message_id)
            return await self._turns.start(connection, session, messages, question, agent_id, choice)

        return await self._database.write(change)

    async def hold(self, queued: QueuedMessage, error: ChieError) -> None:
        """It stays in the queue, with the reason for which it could not be sent."""
        params = error.reason.json_params()
        await self._database.write(lambda it: queue_table.set_error(it, queued.message_id, error.code, params))


def _answer(messages: Sequence[Message], parent_id: str | None) -> Message:
    answers = [message for message in messages if message.role == "assistant"]
    if parent_id is not None:
        answers = [message for message in answers if message.message_id == parent_id]
    if parent_id is not None and not answers:
        raise NotFoundError("sessions.parent_not_found")
    if not answers:
        raise ValidationError("queue.nothing_to_wait_for")
    return answers[-1]


def _named(queue: Sequence[QueuedMessage], message_id: str) -> QueuedMessage:
    found = next((one for one in queue if one.message_id == message_id), None)
    if found is None:
        raise _not_found()
    return found


def _not_found() -> NotFoundError:
    return NotFoundError("queue.not_found")
