"""Copies of what is kept beside notes, from one SQL store to another: the tables are the same in both databases."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from chie.knowledge.store.review_records import Statement

Row: TypeAlias = tuple[Any, ...]


class Table(NamedTuple):
    """The columns of its rows, beginning with the key. `grows` is the last column, of which the larger value counts; in
    other tables, what is there is kept."""

    key: tuple[str, ...]
    others: tuple[str, ...] = ()
    grows: bool = False

    @property
    def columns(self) -> str:
        return ", ".join((*self.key, *self.others))


TABLES = {
    "decisions": Table(("proposal",), ("at", "decision")),
    "uses": Table(("note", "kind"), ("count",), grows=True),
    "marks": Table(("note", "user_id"), ("mark",)),
    "recording_users": Table(("user_id",)),
    "recorded_searches": Table(("user_id", "query", "note"), ("at",)),
    "review_checked": Table(("note",), ("version",)),
    "review_pairs": Table(("a", "b"), ("kind", "probability", "reason", "here", "there")),
    "review_decisions": Table(("id",), ("finding", "fingerprint", "at", "decision")),
    "last_uses": Table(("note",), ("at",), grows=True),
    "unanswered_searches": Table(("user_id", "query"), ("count", "last_at")),
}


class RecordCopies:
    _prefix: str

    def rows(self, name: str, *, after: Row | None, limit: int) -> list[Row]:
        """Up to `limit` rows of a table, after the one with this key."""
        table = TABLES[name]
        key = ", ".join(table.key)
        condition = f" WHERE ({key}) > ({_marks(len(table.key))})" if after else ""
        statement = f"SELECT {table.columns} FROM {self._prefix}{name}{condition} ORDER BY {key} LIMIT ?"
        return self._read(statement, (*(after or ()), limit))

    def compare(self, name: str, rows: Sequence[Row]) -> tuple[list[Row], int]:
        """Those of another store's rows that `put` would write here, and how many others are different here."""
        table = TABLES[name]
        size = len(table.key)
        keys = ", ".join([f"({_marks(size)})"] * len(rows))
        found = self._read(
            f"SELECT {table.columns} FROM {self._prefix}{name} WHERE ({', '.join(table.key)}) IN (VALUES {keys})",
            [value for row in rows for value in row[:size]],
        )
        known = {row[:size]: row for row in found}
        different = [row for row in rows if known.get(row[:size]) != row]
        lacking = [
            row for row in different if row[:size] not in known or (table.grows and known[row[:size]][-1] < row[-1])
        ]
        return lacking, len(different) - len(lacking)

    def put(self, name: str, rows: Sequence[Row]) -> None:
        table = TABLES[name]
        place = f"{self._prefix}{name}"
        rule = "DO NOTHING"
        if table.grows:
            last = table.others[-1]
            rule = f"DO UPDATE SET {last} = excluded.{last} WHERE {place}.{last} < excluded.{last}"
        marks = _marks(len(table.key) + len(table.others))
        conflict = f"ON CONFLICT ({', '.join(table.key)}) {rule}"
        self._write((f"INSERT INTO {place} ({table.columns}) VALUES ({marks}) {conflict}", rows))

    @abstractmethod
    def _read(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]: ...

    @abstractmethod
    def _write(self, *statements: Statement) -> None: ...


def _marks(number: int) -> str:
    return ", ".join("?" * number)
