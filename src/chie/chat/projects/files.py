"""The files of projects. They are attachments: stored once by content, and deleted with the last project or session."""

from chie.chat.projects import store
from chie.chat.projects.service import existing_project
from chie.chat.sessions import attachment_table
from chie.chat.sessions.attachments import AttachmentStore
from chie.chat.sessions.connection import Connection
from chie.chat.sessions.database import Database
from chie.chat.sessions.entities import Attachment, now
from chie.documents.reader import ReadFile
from chie.errors import NotFoundError, ValidationError

MAX_FILES = 100


class ProjectFiles:
    """Every member reads them; editors and owners add and remove them."""

    def __init__(self, database: Database, attachments: AttachmentStore) -> None:
        self._database = database
        self._attachments = attachments

    async def require_editor(self, project_id: str) -> None:
        async with self._database.read() as connection:
            await existing_project(connection, project_id, role="editor")

    async def add(self, project_id: str, file: ReadFile) -> Attachment:
        """A file of the same name takes the place of the one before."""
        if file.kind != "document":
            raise ValidationError("projects.image_unsupported", name=file.name)
        saved = await self._attachments.save(file)

        async def add(connection: Connection) -> Attachment:
            await existing_project(connection, project_id, role="editor", lock=True)
            before = await attachment_table.found(connection, await store.file_ids(connection, project_id))
            replaced = {one.attachment_id for one in before if one.name == saved.name}
            if len(before) - len(replaced) >= MAX_FILES:
                raise ValidationError("projects.too_many_files", limit=MAX_FILES)
            for attachment_id in replaced:
                await store.remove_file(connection, project_id, attachment_id)
            await store.add_file(connection, project_id, saved.attachment_id)
            await attachment_table.delete_unused(connection, replaced - {saved.attachment_id})
            await store.change(connection, project_id, updated_at=now())
            return saved

        return await self._database.write(add)

    async def remove(self, project_id: str, attachment_id: str) -> None:
        async def remove(connection: Connection) -> None:
            await existing_project(connection, project_id, role="editor", lock=True)
            if not await store.remove_file(connection, project_id, attachment_id):
                raise _not_found()
            await attachment_table.delete_unused(connection, {attachment_id})
            await store.change(connection, project_id, updated_at=now())

        await self._database.write(remove)

    async def get(self, project_id: str, attachment_id: str) -> tuple[Attachment, bytes]:
        async with self._database.read() as connection:
            file = await _existing(connection, project_id, attachment_id)
            return file, await attachment_table.data_of(connection, attachment_id) or b""

    async def text(self, project_id: str, attachment_id: str) -> str:
        """What a model reads of the file."""
        async with self._database.read() as connection:
            await _existing(connection, project_id, attachment_id)
            return await attachment_table.text_of(connection, attachment_id) or ""


async def _existing(connection: Connection, project_id: str, attachment_id: str) -> Attachment:
    await existing_project(connection, project_id)
    if attachment_id not in await store.file_ids(connection, project_id):
        raise _not_found()
    return (await attachment_table.found(connection, [attachment_id]))[0]


def _not_found() -> NotFoundError:
    return NotFoundError("projects.file_not_found")
