"""Attached files: each content is stored once, and each user reaches only the files that they attached."""

from collections.abc import Sequence
from hashlib import sha256

from chie.access.identity import current_user, known_user
from chie.chat.sessions import attachment_table
from chie.chat.sessions.attachment_table import BATCH, UNSENT_LIFETIME
from chie.chat.sessions.connection import Connection
from chie.chat.sessions.database import Database
from chie.chat.sessions.entities import Attachment, now
from chie.database.engine import is_sqlite
from chie.documents.reader import ReadFile
from chie.errors import NotFoundError, ValidationError

MAX_ATTACHMENTS = 10  # of one message


class AttachmentStore:
    """Files that are not sent within a day are deleted; the others with the last session or project that has them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, file: ReadFile) -> Attachment:
        user_id = known_user().id
        columns = {
            "user_id": user_id,
            "hash": sha256(file.data).hexdigest(),
            "name": file.name,
            "kind": file.kind,
            "media_type": file.media_type,
            "width": file.width,
            "height": file.height,
            "text": file.text,
            "characters": None if file.text is None else len(file.text),
        }

        async def change(connection: Connection) -> Attachment:
            saved = await attachment_table.save(connection, columns, file.data, on_sqlite=is_sqlite(self._database.url))
            return (await attachment_table.owned(connection, [saved], user_id=user_id))[0]

        return await self._database.write(change)

    async def get(self, attachment_ids: Sequence[str]) -> list[Attachment]:
        """NotFoundError unless all exist and are the user's own."""
        async with self._database.read() as connection:
            return await existing(connection, attachment_ids)

    async def data(self, attachment_id: str) -> bytes:
        async with self._database.read() as connection:
            found = await attachment_table.content(connection, attachment_id, user_id=current_user().id)
        if found is None:
            raise _not_found()
        return found

    async def text(self, attachment_id: str) -> str:
        """What a model reads of a document."""
        async with self._database.read() as connection:
            await existing(connection, [attachment_id])
            found = await attachment_table.text(connection, attachment_id, user_id=current_user().id)
        if found is None:
            raise ValidationError("attachments.text_missing")
        return found

    async def delete_unsent(self) -> None:
        """In transactions of their own, so that nobody waits long for their end."""
        while await self._database.write(_delete_oldest_unsent) == BATCH:
            pass


async def existing(connection: Connection, ids: Sequence[str], *, lock: bool = False) -> list[Attachment]:
    """The user's attachments in the given order. NotFoundError if one is missing, also if it is another user's."""
    if len(ids) > MAX_ATTACHMENTS:
        raise ValidationError("attachments.too_many", limit=MAX_ATTACHMENTS)
    unique = list(dict.fromkeys(ids))
    if not unique:
        return []
    found = await attachment_table.owned(connection, unique, user_id=current_user().id, lock=lock)
    if len(found) != len(unique):
        raise _not_found()
    return found


async def _delete_oldest_unsent(connection: Connection) -> int:
    oldest = await attachment_table.unsent_before(connection, now() - UNSENT_LIFETIME, limit=BATCH)
    return await attachment_table.delete_unused(connection, oldest)


def _not_found() -> NotFoundError:
    return NotFoundError("attachments.not_found")
