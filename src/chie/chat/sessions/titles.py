"""Titles of sessions that nobody has named: the first words of the question until a model has written a better one."""

from collections.abc import Sequence

from chie.chat.sessions import repository, usage_table
from chie.chat.sessions.connection import Connection
from chie.chat.sessions.database import Database
from chie.chat.sessions.entities import Attachment, now
from chie.chat.sessions.service import make_title
from chie.chat.sessions.usage_entry import UsageRecord


class TitleStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def replace(self, session_id: str, first: str, title: str | None, usage: UsageRecord) -> bool:
        """With what the title cost, in one transaction. False without a title, or if the session has been renamed or
        deleted in the meantime."""
        backend = self._database.url.get_backend_name()

        async def change(connection: Connection) -> bool:
            await usage_table.record(connection, usage, backend, now())
            return bool(title) and await repository.replace_title(
                connection, session_id, first, make_title(title or "")
            )

        return await self._database.write(change)


def first_title(question: str, files: Sequence[Attachment] = ()) -> str:
    """The names of files stand in for words only if there are none."""
    return make_title(question) or make_title(", ".join(file.name for file in files))
