"""SQL for spaces, their grants and the repositories that are bound to them."""

import sqlite3

from chie.errors import NotFoundError
from chie.knowledge.note import TEAM
from chie.knowledge.spaces.space import Access, Contents, Space
from chie.knowledge.store.spaces import SpaceStore, cleared
from chie.knowledge.store.sqlite.file import SqliteFile
from chie.knowledge.store.sqlite.tables import VERSIONS


class SqliteSpaces(SpaceStore):
    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    def all(self) -> list[Space]:
        with self._file.read() as connection:
            rows = connection.execute(
                "SELECT name, title, everybody, user_id, access FROM spaces LEFT JOIN space_grants ON space = name"
                " ORDER BY name, user_id"
            ).fetchall()
        found: dict[str, Space] = {}
        for name, title, everybody, user_id, access in rows:
            known = found.get(name)
            grants = {**(known.grants if known else {}), **({user_id: access} if user_id is not None else {})}
            found[name] = Space(name=name, title=title, everybody=everybody, grants=grants)
        return list(found.values())

    def save(self, space: Space) -> None:
        with self._file.write() as connection:
            connection.execute(
                "INSERT INTO spaces (name, title, everybody) VALUES (?, ?, ?) ON CONFLICT (name)"
                " DO UPDATE SET title = excluded.title, everybody = excluded.everybody",
                (space.name, space.title, space.everybody),
            )
            connection.execute("DELETE FROM space_grants WHERE space = ?", (space.name,))
            for user_id, access in space.grants.items():
                _grant(connection, space.name, user_id, access)

    def add(self, name: str, *, title: str, everybody: Access) -> bool:
        with self._file.write() as connection:
            values = (name, title, everybody)
            return connection.execute("INSERT OR IGNORE INTO spaces VALUES (?, ?, ?)", values).rowcount > 0

    def change(self, name: str, *, title: str | None, everybody: Access | None) -> bool:
        statement = "UPDATE spaces SET title = coalesce(?, title), everybody = coalesce(?, everybody) WHERE name = ?"
        with self._file.write() as connection:
            return connection.execute(statement, (title, everybody, name)).rowcount > 0

    def grant(self, space: str, user_id: str, access: Access) -> bool:
        with self._file.write() as connection:
            if not _exists(connection, space):
                return False
            _grant(connection, space, user_id, access)
        return True

    def delete(self, space: str, *, move_to: str | None = None) -> Contents | None:
        with self._file.write() as connection:
            if move_to is not None:
                require_space(connection, move_to)
            (notes,) = connection.execute("SELECT count(*) FROM notes WHERE space = ?", (space,)).fetchone()
            if left := cleared(connection, VERSIONS, space, move_to, notes=notes):
                return left
            connection.execute("DELETE FROM spaces WHERE name = ?", (space,))
        return None

    def repositories(self) -> dict[str, str]:
        with self._file.read() as connection:
            return dict(connection.execute("SELECT repository, space FROM space_repositories ORDER BY 1").fetchall())

    def bind(self, repository: str, space: str | None) -> bool:
        with self._file.write() as connection:
            if space is None:
                connection.execute("DELETE FROM space_repositories WHERE repository = ?", (repository,))
                return True
            if not _exists(connection, space):
                return False
            connection.execute("INSERT OR REPLACE INTO space_repositories VALUES (?, ?)", (repository, space))
        return True


def require_space(connection: sqlite3.Connection, space: str) -> None:
    """In the transaction that stores a note: the space cannot be deleted before the note is in it."""
    if space != TEAM and not _exists(connection, space):
        raise NotFoundError("knowledge.space_deleted")


def _exists(connection: sqlite3.Connection, space: str) -> bool:
    return connection.execute("SELECT 1 FROM spaces WHERE name = ?", (space,)).fetchone() is not None


def _grant(connection: sqlite3.Connection, space: str, user_id: str, access: Access) -> None:
    connection.execute("DELETE FROM space_grants WHERE space = ? AND user_id = ?", (space, user_id))
    if access != "none":
        connection.execute("INSERT INTO space_grants VALUES (?, ?, ?)", (space, user_id, access))
