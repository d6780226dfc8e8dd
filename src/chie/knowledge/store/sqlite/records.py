"""What is kept beside notes, in their SQLite file."""

from collections.abc import Collection, Sequence
from typing import Any

from chie.knowledge.store.records import SqlRecords
from chie.knowledge.store.review_records import Statement
from chie.knowledge.store.sqlite.file import SqliteFile


class SqliteRecords(SqlRecords):
    def __init__(self, file: SqliteFile) -> None:
        super().__init__("")
        self._file = file

    def _held(self, notes: Collection[str]) -> Sequence[Statement]:  # noqa: ARG002 - one transaction writes at a time
        return ()

    def _read(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        with self._file.read() as connection:
            return connection.execute(sql, tuple(values)).fetchall()

    def _write(self, *statements: Statement) -> None:
        with self._file.write() as connection:
            for sql, rows in statements:
                connection.executemany(sql, rows)
