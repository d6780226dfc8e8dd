"""Questions and the empty answers to them. A question is stored before its answer is generated."""

from collections.abc import Sequence
from dataclasses import replace

from chie.access.identity import current_user
from chie.chat.sessions import attachment_table, queue_table, repository
from chie.chat.sessions.attachments import existing
from chie.chat.sessions.branches import branch
from chie.chat.sessions.connection import Connection
from chie.chat.sessions.database import Database
from chie.chat.sessions.entities import Attachment, Message, ModelChoice, PendingAnswer, Session, new_id, now
from chie.chat.sessions.service import existing_session, new_session
from chie.chat.sessions.titles import first_title
from chie.errors import ConflictError, NotFoundError, ValidationError

MAX_MESSAGE = 200_000


class TurnService:
    """`owner` gets the lease of every new answer."""

    def __init__(self, database: Database, owner: str) -> None:
        self._database = database
        self._owner = owner

    async def ask(
        self,
        message: str,
        *,
        agent_id: str,
        session_id: str | None = None,
        parent_id: str | None = None,
        attachment_ids: Sequence[str] = (),
        choice: ModelChoice | None = None,
        project_id: str | None = None,
    ) -> PendingAnswer:
        """Starts a new session without `session_id`, and continues its newest message without `parent_id`. Without
        `choice` the session keeps its model. A new session is in the project; callers have checked that the user may
        use it."""
        validate_question(message, has_files=bool(attachment_ids))
        if session_id is None:
            if parent_id is not None:
                raise ValidationError("sessions.parent_without_session")
            chosen = choice or ModelChoice()
            new = new_session(agent_id, message, project_id)
            new = replace(new, model=chosen.model, parameters=chosen.parameters)
            return await self._ask_first(message, new, chosen, attachment_ids)

        async def change(connection: Connection) -> PendingAnswer:
            session = await existing_session(connection, session_id, lock=True)
            messages = await repository.messages(connection, session_id)
            files = await existing(connection, attachment_ids, lock=True)
            question = new_question(session_id, message, _parent(messages, parent_id), files)
            return await self.start(connection, session, messages, question, agent_id, choice)

        return await self._database.write(change)

    async def edit(
        self,
        message_id: str,
        message: str,
        *,
        agent_id: str,
        attachment_ids: Sequence[str] | None = None,
        choice: ModelChoice | None = None,
    ) -> PendingAnswer:
        """Adds a sibling of the question with another text; the old question and its answers stay. Without
        `attachment_ids` it has the files of the old one.

        ConflictError while another edit of the question is being answered.
        """

        async def change(connection: Connection) -> PendingAnswer:
            session, messages, old = await _context(connection, message_id)
            if old.role != "user":
                raise ValidationError("sessions.not_a_question")
            for other in messages:
                if other.role == "user" and other.parent_id == old.parent_id and other != old:
                    _require_answered(messages, other)
            kept = [file.attachment_id for one in messages if one.message_id == message_id for file in one.attachments]
            files = await existing(connection, kept if attachment_ids is None else attachment_ids, lock=True)
            validate_question(message, has_files=bool(files))
            question = new_question(session.session_id, message, old.parent_id, files)
            return await self.start(connection, session, messages, question, agent_id, choice)

        return await self._database.write(change)

    async def regenerate(
        self, message_id: str, *, agent_id: str, choice: ModelChoice | None = None, beside: bool = False
    ) -> PendingAnswer:
        """Adds another answer to the same question; `message_id` is the question or any answer to it.

        ConflictError while the question is being answered. With `beside` one other answer may be running; the session
        keeps its agent and its model, and queued messages wait for the other answer.
        """

        async def change(connection: Connection) -> PendingAnswer:
            session, messages, chosen = await _context(connection, message_id)
            question_id = chosen.message_id if chosen.role == "user" else chosen.parent_id
            question = next(message for message in messages if message.message_id == question_id)
            if not beside:
                _require_answered(messages, question)
                return await self.start(connection, session, messages, question, agent_id, choice)
            _require_at_most_one_running(messages, question)
            answer = _empty_answer(question, agent_id, choice)
            await repository.insert_messages(connection, [answer], owner=self._owner)
            await repository.change_session(connection, session.session_id, updated_at=answer.created_at)
            return _pending(answer, session, question, messages)

        return await self._database.write(change)

    async def session(self, session_id: str) -> Session:
        """With the agent and the model that answer in it."""
        async with self._database.read() as connection:
            return await existing_session(connection, session_id)

    async def session_of(self, message_id: str) -> Session:
        """The session of this message."""
        async with self._database.read() as connection:
            message = await _existing_message(connection, message_id)
            return await existing_session(connection, message.session_id)

    async def question_files(self, message_id: str) -> list[Attachment]:
        """The files of a question; `message_id` is the question or any answer to it."""
        async with self._database.read() as connection:
            chosen = await _existing_message(connection, message_id)
            question_id = chosen.message_id if chosen.role == "user" else chosen.parent_id
            files = await attachment_table.of_session(connection, chosen.session_id)
            return files.get(question_id or "", [])

    async def _ask_first(
        self, message: str, session: Session, choice: ModelChoice, attachment_ids: Sequence[str]
    ) -> PendingAnswer:
        """Rows without files depend on no others, so they share a statement with other changes."""
        question = new_question(session.session_id, message, None)
        answer = _empty_answer(question, session.current_agent_id, choice)
        if not attachment_ids:
            await self._database.write(repository.new_session(session, [question, answer], owner=self._owner))
            return _pending(answer, session, question, [])

        async def change(connection: Connection) -> PendingAnswer:
            files = await existing(connection, attachment_ids, lock=True)
            asked = replace(question, attachments=files)
            named = replace(session, title=first_title(asked.content, asked.attachments))
            await repository.new_session(named, [asked, answer], owner=self._owner)(connection)
            await attachment_table.link(connection, asked.message_id, files)
            return _pending(answer, session, asked, [])

        return await self._database.write(change)

    async def start(
        self,
        connection: Connection,
        session: Session,
        messages: Sequence[Message],
        question: Message,
        agent_id: str,
        choice: ModelChoice | None,
    ) -> PendingAnswer:
        """Insert the answer, and the question if it is new; queued messages of the session wait for this answer."""
        answer = _empty_answer(question, agent_id, choice)
        new = [answer] if question in messages else [question, answer]
        await repository.insert_messages(connection, new, owner=self._owner)
        if question in new:
            await attachment_table.link(connection, question.message_id, question.attachments)
        await repository.change_session(
            connection,
            session.session_id,
            title=session.title or first_title(question.content, question.attachments),
            current_agent_id=agent_id,
            updated_at=answer.created_at,
            archived_at=None,
            **({"model": choice.model, "parameters": choice.parameters} if choice else {}),
        )
        await queue_table.wait_for(connection, session.session_id, answer.message_id)
        return _pending(answer, session, question, messages)


def validate_question(message: str, *, has_files: bool = False) -> None:
    if not message.strip() and not has_files:
        raise ValidationError("sessions.message_required")
    if len(message) > MAX_MESSAGE:
        raise ValidationError("sessions.message_too_long", length=len(message), limit=MAX_MESSAGE)
    if "\x00" in message:
        raise ValidationError("sessions.message_has_nul")


def _pending(answer: Message, session: Session, question: Message, messages: Sequence[Message]) -> PendingAnswer:
    return PendingAnswer(
        session_id=answer.session_id,
        message_id=answer.message_id,
        agent_id=answer.agent_id or session.current_agent_id,
        question=question.content,
        history=branch(messages, question.parent_id),
        attachments=question.attachments,
        project_id=session.project_id,
    )


def new_question(
    session_id: str,
    text: str,
    parent_id: str | None,
    files: Sequence[Attachment] = (),
    *,
    message_id: str | None = None,
) -> Message:
    return Message(
        message_id=message_id or new_id(),
        session_id=session_id,
        parent_id=parent_id,
        role="user",
        content=text,
        status="complete",
        created_at=now(),
        attachments=list(files),
    )


def _empty_answer(question: Message, agent_id: str, choice: ModelChoice | None) -> Message:
    return Message(
        message_id=new_id(),
        session_id=question.session_id,
        parent_id=question.message_id,
        role="assistant",
        content="",
        status="streaming",
        created_at=now(),
        agent_id=agent_id,
        model=choice.name if choice else None,
    )


async def _context(connection: Connection, message_id: str) -> tuple[Session, list[Message], Message]:
    message = await _existing_message(connection, message_id)
    session = await existing_session(connection, message.session_id, lock=True)
    return session, await repository.messages(connection, message.session_id), message


async def _existing_message(connection: Connection, message_id: str) -> Message:
    found = await repository.message(connection, message_id, user_id=current_user().id)
    if found is None:
        raise NotFoundError("sessions.message_not_found")
    return found


def _parent(messages: Sequence[Message], parent_id: str | None) -> str | None:
    if parent_id is None and not messages:
        return None
    named = [message for message in messages if message.message_id == parent_id]
    if parent_id is not None and not named:
        raise NotFoundError("sessions.parent_not_found")
    parent = named[0] if named else messages[-1]
    if parent.role != "assistant":
        raise ValidationError("sessions.parent_not_an_answer")
    _require_finished(parent)
    return parent.message_id


def _require_answered(messages: Sequence[Message], question: Message) -> None:
    for message in messages:
        if message.parent_id == question.message_id:
            _require_finished(message)


def _require_at_most_one_running(messages: Sequence[Message], question: Message) -> None:
    running = [
        message for message in messages if message.parent_id == question.message_id and message.status == "streaming"
    ]
    for message in running[1:]:
        _require_finished(message)


def _require_finished(message: Message) -> None:
    if message.status == "streaming":
        raise ConflictError("sessions.answer_in_progress", message_id=message.message_id)
