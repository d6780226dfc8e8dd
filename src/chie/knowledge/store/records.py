"""The port to what is kept beside notes, and its adapter for SQL, which SQLite and PostgreSQL share."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, TypeAlias, cast

from pydantic import TypeAdapter

from chie.database.cursor import utc_text
from chie.knowledge.note import now
from chie.knowledge.records import Decision, Mark, RecordedSearch, Use
from chie.knowledge.store.record_copies import RecordCopies
from chie.knowledge.store.review_records import SqlReviewRecords, Statement

Uses: TypeAlias = Mapping[tuple[str, Use], int]
"""How often each note was used in each way."""

MAX_SEARCHES = 1_000  # of a user; the oldest go first


class NoteRecords(ABC):
    """Lookups by note id. Callers check who may see the note."""

    @abstractmethod
    def remember_decision(self, decision: Decision, *, forget_before: datetime) -> None:
        """The last decision on each proposal; older ones than `forget_before` are forgotten."""

    @abstractmethod
    def decision(self, proposal_id: str) -> Decision | None: ...

    @abstractmethod
    def forget_decision(self, proposal_id: str) -> None: ...

    @abstractmethod
    def add_uses(self, uses: Uses) -> None: ...

    @abstractmethod
    def uses(self, note_id: str) -> dict[Use, int]:
        """Without those that never happened."""

    @abstractmethod
    def mark(self, note_id: str, user_id: str, mark: Mark | None) -> None:
        """Each user has one mark per note; None removes it."""

    @abstractmethod
    def marks(self, note_id: str) -> dict[str, Mark]:
        """By user."""

    @abstractmethod
    def records_searches(self, user_id: str) -> bool:
        """Whether the user has agreed to have searches recorded."""

    @abstractmethod
    def agree(self, user_id: str, *, recording: bool) -> None:
        """Withdrawing deletes what was recorded."""

    @abstractmethod
    def record_search(self, user_id: str, search: RecordedSearch) -> None: ...

    @abstractmethod
    def searches(self, user_id: str) -> list[RecordedSearch]:
        """Newest first."""


def schema(prefix: str) -> str:
    """`note_uses` and the others name notes by id: a note that is replaced keeps its counts."""
    return f"""
CREATE TABLE {prefix}decisions (proposal TEXT PRIMARY KEY, at TEXT NOT NULL, decision TEXT NOT NULL);
CREATE INDEX {prefix}decisions_by_age ON {prefix}decisions (at);
CREATE TABLE {prefix}uses (note TEXT NOT NULL, kind TEXT NOT NULL, count BIGINT NOT NULL, PRIMARY KEY (note, kind));
CREATE TABLE {prefix}marks (note TEXT NOT NULL, user_id TEXT NOT NULL, mark TEXT NOT NULL, PRIMARY KEY (note, user_id));
CREATE TABLE {prefix}recording_users (user_id TEXT PRIMARY KEY);
CREATE TABLE {prefix}recorded_searches (
    user_id TEXT NOT NULL, query TEXT NOT NULL, note TEXT NOT NULL, at TEXT NOT NULL,
    PRIMARY KEY (user_id, query, note)
);
"""


class SqlRecords(RecordCopies, SqlReviewRecords, NoteRecords):
    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def remember_decision(self, decision: Decision, *, forget_before: datetime) -> None:
        row = (decision.proposal.id, utc_text(decision.at), _decisions().dump_json(decision).decode())
        add = f"INSERT INTO {self._prefix}decisions VALUES (?, ?, ?) ON CONFLICT (proposal) DO UPDATE"
        self._write(
            (f"DELETE FROM {self._prefix}decisions WHERE at < ?", [(utc_text(forget_before),)]),
            (f"{add} SET at = excluded.at, decision = excluded.decision", [row]),
        )

    def decision(self, proposal_id: str) -> Decision | None:
        found = self._read(f"SELECT decision FROM {self._prefix}decisions WHERE proposal = ?", (proposal_id,))
        return _decisions().validate_json(found[0][0]) if found else None

    def forget_decision(self, proposal_id: str) -> None:
        self._write((f"DELETE FROM {self._prefix}decisions WHERE proposal = ?", [(proposal_id,)]))

    def add_uses(self, uses: Uses) -> None:
        """Sorted, so that processes that write the same rows of PostgreSQL do so in the same order."""
        table = f"{self._prefix}uses"
        add = f"INSERT INTO {table} VALUES (?, ?, ?) ON CONFLICT (note, kind) DO UPDATE SET count = {table}.count + ?"
        self._write((add, [(*key, count, count) for key, count in sorted(uses.items())]))
        self.remember_uses([note for note, _ in uses], now())

    def uses(self, note_id: str) -> dict[Use, int]:
        found = self._read(f"SELECT kind, count FROM {self._prefix}uses WHERE note = ?", (note_id,))
        return {cast("Use", kind): int(count) for kind, count in found}

    def mark(self, note_id: str, user_id: str, mark: Mark | None) -> None:
        add = f"INSERT INTO {self._prefix}marks VALUES (?, ?, ?) ON CONFLICT (note, user_id) DO UPDATE"
        self._write(
            (f"{add} SET mark = excluded.mark", [(note_id, user_id, mark)] if mark else []),
            (
                f"DELETE FROM {self._prefix}marks WHERE note = ? AND user_id = ?",
                [] if mark else [(note_id, user_id)],
            ),
        )

    def marks(self, note_id: str) -> dict[str, Mark]:
        found = self._read(f"SELECT user_id, mark FROM {self._prefix}marks WHERE note = ?", (note_id,))
        return {str(user): cast("Mark", mark) for user, mark in found}

    def records_searches(self, user_id: str) -> bool:
        return bool(self._read(f"SELECT 1 FROM {self._prefix}recording_users WHERE user_id = ?", (user_id,)))

    def agree(self, user_id: str, *, recording: bool) -> None:
        add = f"INSERT INTO {self._prefix}recording_users VALUES (?) ON CONFLICT (user_id) DO NOTHING"
        self._write(
            (add, [(user_id,)] if recording else []),
            (
                f"DELETE FROM {self._prefix}recording_users WHERE user_id = ?",
                [] if recording else [(user_id,)],
            ),
            (
                f"DELETE FROM {self._prefix}recorded_searches WHERE user_id = ?",
                [] if recording else [(user_id,)],
            ),
            (
                f"DELETE FROM {self._prefix}unanswered_searches WHERE user_id = ?",
                [] if recording else [(user_id,)],
            ),
        )

    def record_search(self, user_id: str, search: RecordedSearch) -> None:
        table = f"{self._prefix}recorded_searches"
        oldest = f"SELECT at FROM {table} WHERE user_id = ? ORDER BY at DESC LIMIT 1 OFFSET {MAX_SEARCHES - 1}"
        self._write(
            (
                f"INSERT INTO {table} VALUES (?, ?, ?, ?) ON CONFLICT (user_id, query, note) DO UPDATE SET at = ?",
                [(user_id, search.query, search.note, utc_text(search.at), utc_text(search.at))],
            ),
            (f"DELETE FROM {table} WHERE user_id = ? AND at < ({oldest})", [(user_id, user_id)]),
        )

    def searches(self, user_id: str) -> list[RecordedSearch]:
        found = self._read(
            f"SELECT query, note, at FROM {self._prefix}recorded_searches WHERE user_id = ? ORDER BY at DESC, query",
            (user_id,),
        )
        return [RecordedSearch(query=query, note=note, at=datetime.fromisoformat(at)) for query, note, at in found]

    @abstractmethod
    def _read(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]: ...

    @abstractmethod
    def _write(self, *statements: Statement) -> None:
        """In one transaction."""


@cache
def _decisions() -> TypeAdapter[Decision]:
    return TypeAdapter(Decision)
