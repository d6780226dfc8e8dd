"""SQL for spaces, their grants and the repositories that are bound to them."""

from typing import TYPE_CHECKING

from chie.errors import NotFoundError
from chie.knowledge.note import TEAM
from chie.knowledge.spaces.space import Access, Contents, Space
from chie.knowledge.store.postgres.tables import VERSIONS
from chie.knowledge.store.spaces import SpaceStore, cleared

if TYPE_CHECKING:
    from collections.abc import Callable

    from chie.knowledge.store.postgres.pool import Connection, PostgresPool

_ALL = (
    "SELECT name, title, everybody, coalesce(jsonb_object_agg(user_id, access ORDER BY user_id)"
    " FILTER (WHERE user_id IS NOT NULL), '{}') FROM knowledge_spaces LEFT JOIN knowledge_space_grants"
    " ON space = name GROUP BY name ORDER BY name"
)


class PostgresSpaces(SpaceStore):
    """The pool is created on first use."""

    def __init__(self, pool: "Callable[[], PostgresPool]") -> None:
        self._pool = pool

    def all(self) -> list[Space]:
        rows = self._pool().read(lambda connection: connection.execute(_ALL).fetchall())
        return [Space(name=row[0], title=row[1], everybody=row[2], grants=row[3]) for row in rows]

    def save(self, space: Space) -> None:
        def work(connection: "Connection") -> None:
            connection.execute(
                "INSERT INTO knowledge_spaces (name, title, everybody) VALUES (%s, %s, %s) ON CONFLICT (name)"
                " DO UPDATE SET title = excluded.title, everybody = excluded.everybody",
                (space.name, space.title, space.everybody),
            )
            connection.execute("DELETE FROM knowledge_space_grants WHERE space = %s", (space.name,))
            for user_id, access in space.grants.items():
                _grant(connection, space.name, user_id, access)

        self._pool().write(work)

    def add(self, name: str, *, title: str, everybody: Access) -> bool:
        statement = "INSERT INTO knowledge_spaces VALUES (%s, %s, %s) ON CONFLICT (name) DO NOTHING"
        values = (name, title, everybody)
        return self._pool().write(lambda connection: connection.execute(statement, values).rowcount > 0)

    def change(self, name: str, *, title: str | None, everybody: Access | None) -> bool:
        fields = "title = coalesce(%s, title), everybody = coalesce(%s, everybody)"
        statement = f"UPDATE knowledge_spaces SET {fields} WHERE name = %s"
        values = (title, everybody, name)
        return self._pool().write(lambda connection: connection.execute(statement, values).rowcount > 0)

    def grant(self, space: str, user_id: str, access: Access) -> bool:
        def work(connection: "Connection") -> bool:
            if not _locked(connection, space):
                return False
            _grant(connection, space, user_id, access)
            return True

        return self._pool().write(work)

    def delete(self, space: str, *, move_to: str | None = None) -> Contents | None:
        """Notes that are being saved in the space are waited for, and counted by the statements that follow."""

        def work(connection: "Connection") -> Contents | None:
            connection.execute("SELECT 1 FROM knowledge_spaces WHERE name = %s FOR UPDATE", (space,))
            if move_to is not None:
                require_space(connection, move_to)
            found = connection.execute("SELECT count(*) FROM knowledge_notes WHERE space = %s", (space,)).fetchone()
            if left := cleared(connection, VERSIONS, space, move_to, notes=found[0] if found else 0):
                return left
            connection.execute("DELETE FROM knowledge_spaces WHERE name = %s", (space,))
            return None

        return self._pool().write(work)

    def repositories(self) -> dict[str, str]:
        rows = self._pool().read(
            lambda connection: connection.execute(
                "SELECT repository, space FROM knowledge_space_repositories ORDER BY repository"
            ).fetchall()
        )
        return dict(rows)

    def bind(self, repository: str, space: str | None) -> bool:
        def work(connection: "Connection") -> bool:
            if space is None:
                connection.execute("DELETE FROM knowledge_space_repositories WHERE repository = %s", (repository,))
                return True
            if not _locked(connection, space):
                return False
            connection.execute(
                "INSERT INTO knowledge_space_repositories VALUES (%s, %s) ON CONFLICT (repository)"
                " DO UPDATE SET space = excluded.space",
                (repository, space),
            )
            return True

        return self._pool().write(work)


def require_space(connection: "Connection", space: str) -> None:
    """In the transaction that stores a note: the space cannot be deleted before the note is in it."""
    if space != TEAM and not _locked(connection, space):
        raise NotFoundError("knowledge.space_deleted")


def _locked(connection: "Connection", space: str) -> bool:
    """Whether the space exists; then it does until the transaction ends."""
    found = connection.execute("SELECT 1 FROM knowledge_spaces WHERE name = %s FOR KEY SHARE", (space,)).fetchone()
    return found is not None


def _grant(connection: "Connection", space: str, user_id: str, access: Access) -> None:
    if access == "none":
        connection.execute(
            "DELETE FROM knowledge_space_grants WHERE space = %s AND user_id = %s",
            (space, user_id),
        )
        return
    connection.execute(
        "INSERT INTO knowledge_space_grants VALUES (%s, %s, %s) ON CONFLICT (space, user_id)"
        " DO UPDATE SET access = excluded.access",
        (space, user_id, access),
    )
