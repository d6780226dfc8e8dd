"""What is kept beside notes, in their PostgreSQL database."""

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

from chie.knowledge.store.records import SqlRecords
from chie.knowledge.store.review_records import Statement

if TYPE_CHECKING:
    from chie.knowledge.store.postgres.pool import Connection, PostgresPool


class PostgresRecords(SqlRecords):
    def __init__(self, pool: "Callable[[], PostgresPool]") -> None:
        super().__init__("knowledge_")
        self._pool = pool

    def _held(self, notes: Collection[str]) -> Sequence[Statement]:
        rows = [(note,) for note in sorted(notes)]
        return [(f"SELECT 1 FROM {self._prefix}notes WHERE id = ? FOR KEY SHARE", rows)]

    def _read(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        def work(connection: "Connection") -> list[tuple[Any, ...]]:
            return connection.execute(_translated(sql), values).fetchall()

        return self._pool().read(work)

    def _write(self, *statements: Statement) -> None:
        def work(connection: "Connection") -> None:
            with connection.cursor() as cursor:
                for sql, rows in statements:
                    if rows:
                        cursor.executemany(_translated(sql), rows)

        self._pool().write(work)


def _translated(sql: str) -> str:
    return sql.replace("?", "%s")
