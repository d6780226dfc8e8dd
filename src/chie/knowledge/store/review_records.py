"""The port to what the review keeps: pairs, decisions, when notes were last used, and unanswered searches."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from itertools import chain
from typing import Any, TypeAlias, cast

from pydantic import TypeAdapter

from chie.database.cursor import utc_text
from chie.knowledge.review.findings import FoundPair, Kind, ReviewDecision, UnansweredSearch

Statement: TypeAlias = tuple[str, Sequence[Sequence[Any]]]
"""SQL with `?`, and the rows of values to run it with."""

MAX_UNANSWERED = 500  # of a user; the oldest go first
TYPING = timedelta(minutes=1)  # a search that continues an earlier one within this time replaces it


def review_schema(prefix: str) -> str:
    return f"""
CREATE TABLE {prefix}review_checked (note TEXT PRIMARY KEY, version TEXT NOT NULL);
CREATE TABLE {prefix}review_pairs (
    a TEXT NOT NULL, b TEXT NOT NULL, kind TEXT NOT NULL, probability DOUBLE PRECISION NOT NULL, reason TEXT NOT NULL,
    here TEXT NOT NULL, there TEXT NOT NULL, PRIMARY KEY (a, b)
);
CREATE INDEX {prefix}review_pairs_by_b ON {prefix}review_pairs (b);
CREATE TABLE {prefix}review_decisions (
    id TEXT PRIMARY KEY, finding TEXT NOT NULL, fingerprint TEXT NOT NULL, at TEXT NOT NULL, decision TEXT NOT NULL
);
CREATE INDEX {prefix}review_decisions_by_finding ON {prefix}review_decisions (finding);
CREATE TABLE {prefix}last_uses (note TEXT PRIMARY KEY, at TEXT NOT NULL);
CREATE TABLE {prefix}unanswered_searches (
    user_id TEXT NOT NULL, query TEXT NOT NULL, count BIGINT NOT NULL, last_at TEXT NOT NULL,
    PRIMARY KEY (user_id, query)
);
"""


class ReviewRecords(ABC):
    @abstractmethod
    def checked(self) -> dict[str, str]:
        """The versions of the notes that were compared with all others."""

    @abstractmethod
    def store_pairs(self, checked: Mapping[str, str], pairs: Sequence[FoundPair]) -> None:
        """What was found for these versions of notes; earlier pairs of them are gone."""

    @abstractmethod
    def forget_notes(self, notes: Sequence[str]) -> None:
        """Of notes that do not exist any more."""

    @abstractmethod
    def pairs(self) -> list[FoundPair]:
        """Most probable first."""

    @abstractmethod
    def store_review_decision(self, decision: ReviewDecision) -> None: ...

    @abstractmethod
    def review_decision(self, decision_id: str) -> ReviewDecision | None: ...

    @abstractmethod
    def forget_review_decision(self, decision_id: str) -> None: ...

    @abstractmethod
    def decided(self) -> dict[tuple[str, str], datetime]:
        """When each finding was decided on last, by its id and the reason's fingerprint."""

    @abstractmethod
    def dismissed(self) -> set[tuple[str, str]]:
        """The ids and fingerprints of findings that somebody called no problem."""

    @abstractmethod
    def last_uses(self) -> dict[str, datetime]: ...

    @abstractmethod
    def remember_uses(self, notes: Sequence[str], at: datetime) -> None: ...

    @abstractmethod
    def add_unanswered(self, user_id: str, query: str, at: datetime) -> None: ...

    @abstractmethod
    def unanswered(self, user_id: str | None) -> list[UnansweredSearch]:
        """Of one user, or of all; most frequent first."""

    @abstractmethod
    def forget_unanswered(self, queries: Sequence[str], user_id: str | None) -> None:
        """Of one user, or of all."""


class SqlReviewRecords(ReviewRecords):
    _prefix: str

    def checked(self) -> dict[str, str]:
        return dict(self._read(f"SELECT note, version FROM {self._prefix}review_checked", ()))

    def store_pairs(self, checked: Mapping[str, str], pairs: Sequence[FoundPair]) -> None:
        rows = [(one.a, one.b, one.kind, one.probability, one.reason, one.here, one.there) for one in pairs]
        keys = [row[:2] for row in rows]
        names = sorted(checked)
        pairs_table, checked_table = f"{self._prefix}review_pairs", f"{self._prefix}review_checked"
        stored = f"SELECT count(*) FROM {self._prefix}notes WHERE id IN"
        add = f"INSERT INTO {pairs_table} SELECT ?, ?, ?, ?, ?, ?, ? WHERE ({stored} (?, ?)) = 2"
        keep = f"INSERT INTO {checked_table} SELECT ?, ? WHERE ({stored} (?)) = 1"
        self._write(
            *self._held({*names, *chain.from_iterable(keys)}),
            (f"DELETE FROM {pairs_table} WHERE a = ? OR b = ?", [(name, name) for name in names]),
            (f"DELETE FROM {pairs_table} WHERE a = ? AND b = ?", keys),
            (f"{add} ON CONFLICT (a, b) DO NOTHING", [(*row, *row[:2]) for row in rows]),
            (
                f"{keep} ON CONFLICT (note) DO UPDATE SET version = excluded.version",
                [(name, checked[name], name) for name in names],
            ),
        )

    def forget_notes(self, notes: Sequence[str]) -> None:
        self._write(
            (f"DELETE FROM {self._prefix}review_pairs WHERE a = ? OR b = ?", [(note, note) for note in notes]),
            (f"DELETE FROM {self._prefix}review_checked WHERE note = ?", [(note,) for note in notes]),
        )

    def pairs(self) -> list[FoundPair]:
        found = self._read(
            f"SELECT a, b, kind, probability, reason, here, there FROM {self._prefix}review_pairs"
            " ORDER BY probability DESC, a, b",
            (),
        )
        return [
            FoundPair(a=a, b=b, kind=cast("Kind", kind), probability=odds, reason=reason, here=here, there=there)
            for a, b, kind, odds, reason, here, there in found
        ]

    def store_review_decision(self, decision: ReviewDecision) -> None:
        text = _decisions().dump_json(decision).decode()
        row = (decision.id, decision.finding, decision.fingerprint, utc_text(decision.at), text)
        self._write((f"INSERT INTO {self._prefix}review_decisions VALUES (?, ?, ?, ?, ?)", [row]))

    def review_decision(self, decision_id: str) -> ReviewDecision | None:
        found = self._read(f"SELECT decision FROM {self._prefix}review_decisions WHERE id = ?", (decision_id,))
        return _decisions().validate_json(found[0][0]) if found else None

    def forget_review_decision(self, decision_id: str) -> None:
        self._write((f"DELETE FROM {self._prefix}review_decisions WHERE id = ?", [(decision_id,)]))

    def decided(self) -> dict[tuple[str, str], datetime]:
        found = self._read(f"SELECT finding, fingerprint, at FROM {self._prefix}review_decisions ORDER BY at", ())
        return {(finding, fingerprint): datetime.fromisoformat(at) for finding, fingerprint, at in found}

    def dismissed(self) -> set[tuple[str, str]]:
        # Quotes in the texts of notes are escaped in JSON, so only the decision's own action matches.
        found = self._read(
            f"SELECT finding, fingerprint FROM {self._prefix}review_decisions WHERE decision LIKE ?",
            ('%"action":"dismiss"%',),
        )
        return {(finding, fingerprint) for finding, fingerprint in found}

    def last_uses(self) -> dict[str, datetime]:
        found = self._read(f"SELECT note, at FROM {self._prefix}last_uses", ())
        return {note: datetime.fromisoformat(at) for note, at in found}

    def remember_uses(self, notes: Sequence[str], at: datetime) -> None:
        self._write(
            (
                f"INSERT INTO {self._prefix}last_uses VALUES (?, ?) ON CONFLICT (note) DO UPDATE SET at = excluded.at",
                [(note, utc_text(at)) for note in sorted(set(notes))],
            )
        )

    def add_unanswered(self, user_id: str, query: str, at: datetime) -> None:
        table, recent = f"{self._prefix}unanswered_searches", utc_text(at - TYPING)
        oldest = f"SELECT last_at FROM {table} WHERE user_id = ? ORDER BY last_at DESC LIMIT 1 OFFSET {MAX_UNANSWERED}"
        begun = [
            (user_id, text)
            for (text,) in self._read(f"SELECT query FROM {table} WHERE user_id = ? AND last_at > ?", (user_id, recent))
            if text != query and (query.startswith(text) or text.startswith(query))
        ]
        add = f"INSERT INTO {table} VALUES (?, ?, 1, ?) ON CONFLICT (user_id, query) DO UPDATE"
        add += f" SET count = {table}.count + 1, last_at = excluded.last_at"
        self._write(
            (f"DELETE FROM {table} WHERE user_id = ? AND query = ? AND count = 1", begun),
            (add, [(user_id, query, utc_text(at))]),
            (f"DELETE FROM {table} WHERE user_id = ? AND last_at <= ({oldest})", [(user_id, user_id)]),
        )

    def unanswered(self, user_id: str | None) -> list[UnansweredSearch]:
        condition, values = ("", ()) if user_id is None else (" WHERE user_id = ?", (user_id,))
        found = self._read(
            f"SELECT query, sum(count), max(last_at) FROM {self._prefix}unanswered_searches{condition}"
            " GROUP BY query ORDER BY 2 DESC, 3 DESC, 1",
            values,
        )
        return [
            UnansweredSearch(query=query, count=int(count), last_at=datetime.fromisoformat(at))
            for query, count, at in found
        ]

    def forget_unanswered(self, queries: Sequence[str], user_id: str | None) -> None:
        condition, values = ("", ()) if user_id is None else (" AND user_id = ?", (user_id,))
        rows = [(query, *values) for query in queries]
        self._write((f"DELETE FROM {self._prefix}unanswered_searches WHERE query = ?{condition}", rows))

    @abstractmethod
    def _held(self, notes: Collection[str]) -> Sequence[Statement]:
        """What keeps the notes from being deleted until the transaction ends."""

    @abstractmethod
    def _read(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]: ...

    @abstractmethod
    def _write(self, *statements: Statement) -> None: ...


@cache
def _decisions() -> TypeAdapter[ReviewDecision]:
    return TypeAdapter(ReviewDecision)
