"""Titles of sessions that nobody has named: the first words of the question until a model has written a better one."""

from collections.abc import Sequence

from chie.chat.sessions import repository
from chie.chat.sessions.database import Database
from chie.chat.sessions.entities import Attachment
from chie.chat.sessions.service import make_title


class TitleStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def is_first(self, session_id: str, first: str) -> bool:
        async with self._database.read() as connection:
            return await repository.has_title(connection, session_id, first)

    async def replace(self, session_id: str, first: str, title: str) -> bool:
        """False if the session has been renamed or deleted in the meantime."""
        return await self._database.write(
            lambda connection: repository.replace_title(connection, session_id, first, make_title(title))
        )


def first_title(question: str, files: Sequence[Attachment] = ()) -> str:
    """The names of files stand in for words only if there are none."""
    return make_title(question) or make_title(", ".join(file.name for file in files))
