"""The rules of sharing: a link shows the branch that was shared, as it was, and nothing else."""

from dataclasses import asdict, replace
from secrets import token_urlsafe

from chie.access.audit import record
from chie.access.identity import current_user, known_user
from chie.chat.projects import store as project_store
from chie.chat.projects.service import existing_project
from chie.chat.sessions import attachment_table, repository
from chie.chat.sessions.branches import branch
from chie.chat.sessions.connection import Connection
from chie.chat.sessions.database import Database
from chie.chat.sessions.entities import Attachment, Message, Session, new_id, now
from chie.chat.sessions.service import existing_session, new_session
from chie.chat.sharing import store
from chie.chat.sharing.entities import ProjectShare, Share, SharedConversation, SharedMessage
from chie.database.engine import is_sqlite
from chie.errors import ConflictError, NotFoundError, ValidationError

TOKEN_BYTES = 24


class SharingService:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, session_id: str, *, message_id: str | None = None, with_project: bool = False) -> Share:
        """Shares the branch that ends with the message, or the newest one. Later messages are not part of it."""
        user_id = known_user().id

        async def create(connection: Connection) -> Share:
            session = await existing_session(connection, session_id, lock=True)
            tip = _shared_tip(await repository.messages(connection, session_id), message_id)
            share = Share(
                token=token_urlsafe(TOKEN_BYTES),
                session_id=session_id,
                message_id=tip.message_id,
                title=session.title,
                project_id=await _project_of(connection, session) if with_project else None,
                created_at=now(),
            )
            await store.create(connection, share, user_id)
            return share

        share = await self._database.write(create)
        record("session.shared", session_id)
        return share

    async def own(self) -> list[Share]:
        """The user's links, newest first."""
        async with self._database.read() as connection:
            return await store.shares(connection, user_id=current_user().id)

    async def of_project(self, project_id: str) -> list[ProjectShare]:
        async with self._database.read() as connection:
            await existing_project(connection, project_id)
            return await store.of_project(connection, project_id)

    async def revoke(self, token: str) -> None:
        user_id = current_user().id
        session_id = await self._database.write(lambda it: store.revoke(it, token, user_id=user_id))
        if session_id is None:
            raise _not_found()
        record("session.unshared", session_id)

    async def read(self, token: str) -> SharedConversation:
        async with self._database.read() as connection:
            share, user_id = await _existing(connection, token)
            messages = await _messages(connection, share)
        return SharedConversation(
            token=share.token,
            title=share.title,
            user_id=user_id,
            own=user_id == current_user().id,
            created_at=share.created_at,
            messages=[_shared(message) for message in messages],
        )

    async def file(self, token: str, attachment_id: str) -> tuple[Attachment, bytes]:
        """A file of the shared branch."""
        async with self._database.read() as connection:
            file = await _file(connection, token, attachment_id)
            return file, await attachment_table.data_of(connection, attachment_id) or b""

    async def file_text(self, token: str, attachment_id: str) -> str:
        async with self._database.read() as connection:
            await _file(connection, token, attachment_id)
            text = await attachment_table.text_of(connection, attachment_id)
        if text is None:
            raise ValidationError("attachments.text_missing")
        return text

    async def copy(self, token: str, *, agent_id: str) -> Session:
        """A conversation of the user's own with the same messages and files."""
        user_id, on_sqlite = known_user().id, is_sqlite(self._database.url)

        async def copy(connection: Connection) -> Session:
            share, _ = await _existing(connection, token, lock=True)
            messages = await _messages(connection, share)
            session = new_session(agent_id, share.title)
            await repository.new_session(session)(connection)
            files = [file.attachment_id for message in messages for file in message.attachments]
            copies = await attachment_table.copy(connection, files, user_id=user_id, on_sqlite=on_sqlite)
            mine = _copies(messages, session.session_id, copies)
            await store.insert_copies(connection, mine)
            for message in mine:
                await attachment_table.link(connection, message.message_id, message.attachments)
            return session

        return await self._database.write(copy)


async def _existing(connection: Connection, token: str, *, lock: bool = False) -> tuple[Share, str]:
    """NotFoundError for a revoked link, and for one of a project whose member the user is not. `lock` keeps others from
    deleting the conversation until the transaction ends."""
    found = await store.share(connection, token, lock=lock)
    if found is None:
        raise _not_found()
    share, user_id = found
    reader = known_user().id
    if share.project_id is None or reader == user_id:
        return share, user_id
    if await project_store.project(connection, share.project_id, user_id=reader) is None:
        raise _not_found()
    return share, user_id


async def _messages(connection: Connection, share: Share) -> list[Message]:
    return branch(await repository.messages(connection, share.session_id), share.message_id)


async def _file(connection: Connection, token: str, attachment_id: str) -> Attachment:
    share, _ = await _existing(connection, token)
    files = [file for message in await _messages(connection, share) for file in message.attachments]
    found = next((file for file in files if file.attachment_id == attachment_id), None)
    if found is None:
        raise NotFoundError("attachments.not_found")
    return found


async def _project_of(connection: Connection, session: Session) -> str:
    if session.project_id is None:
        raise ValidationError("sharing.no_project")
    return (await existing_project(connection, session.project_id)).project_id


def _shared_tip(messages: list[Message], message_id: str | None) -> Message:
    if not messages:
        raise ValidationError("sharing.nothing_to_share")
    tip = next((one for one in messages if one.message_id == message_id), None) if message_id else messages[-1]
    if tip is None:
        raise NotFoundError("sessions.message_not_found")
    if tip.status == "streaming":
        raise ConflictError("sharing.answer_in_progress")
    return tip


def _shared(message: Message) -> SharedMessage:
    fields = asdict(message)
    del fields["session_id"]
    cost = {"usage": None, "input_tokens": None, "output_tokens": None}  # is nobody else's business
    return SharedMessage(**{**fields, **cost, "attachments": message.attachments, "last_event_id": 0})


def _copies(messages: list[Message], session_id: str, files: dict[str, str]) -> list[Message]:
    ids = {message.message_id: new_id() for message in messages}
    return [
        replace(
            message,
            message_id=ids[message.message_id],
            session_id=session_id,
            parent_id=ids.get(message.parent_id or ""),
            attachments=[replace(file, attachment_id=files[file.attachment_id]) for file in message.attachments],
        )
        for message in messages
    ]


def _not_found() -> NotFoundError:
    return NotFoundError("sharing.not_found")
