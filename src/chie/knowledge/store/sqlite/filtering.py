"""Notes and passages that pass the filters of a query."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from chie.database.cursor import utc_text
from chie.knowledge.note import Note
from chie.knowledge.search.query import Filters, ascii_lower
from chie.knowledge.search.tokens import fold, phrase_terms
from chie.knowledge.store import private_terms
from chie.knowledge.store.scoring import least_terms
from chie.knowledge.store.sqlite import note_table
from chie.knowledge.store.sqlite.visibility import visible
from chie.knowledge.viewer import Viewer

Condition = tuple[str, list[Any]]

_TAGGED = "SELECT note FROM note_tags WHERE tag IN (SELECT value FROM json_each(?))"
_WITH_TERMS = (
    "n.seq IN (SELECT p.note FROM json_each(?) t CROSS JOIN postings i ON i.term = t.value ->> 1"
    " CROSS JOIN passages p ON p.id = i.doc GROUP BY p.note HAVING count(DISTINCT t.value ->> 0) >= ?)"
)


@dataclass(frozen=True)
class Conditions:
    """What a note must have. One that the viewer does not see never passes."""

    tags: Sequence[str]
    filters: Filters
    viewer: Viewer

    def __bool__(self) -> bool:
        """Whether there is more than what the viewer sees, for which `note_table.scope` is faster."""
        return bool(self.tags or self.filters)

    def where(self) -> Condition:
        """On `notes n`. SQLite checks conditions in order, so the cheap ones come first."""
        conditions = [
            visible(self.viewer, "n."),
            *self._of_fields(),
            *self._of_text(),
        ]
        return " AND ".join(sql for sql, _ in conditions), [value for _, values in conditions for value in values]

    def _of_fields(self) -> Iterator[Condition]:
        if self.tags:
            folded = list({fold(tag) for tag in self.tags})
            yield f"n.seq IN ({_TAGGED} GROUP BY note HAVING count(*) = ?)", [json.dumps(folded), len(folded)]
        if self.filters.without_tags:
            yield f"n.seq NOT IN ({_TAGGED})", [json.dumps(self.filters.without_tags)]
        if self.filters.authors:
            authors = [ascii_lower(author) for author in self.filters.authors]
            yield "lower(n.user_id) IN (SELECT value FROM json_each(?))", [json.dumps(authors)]
        if self.filters.after:
            yield "n.updated_at >= ?", [utc_text(self.filters.after)]
        if self.filters.before:
            yield "n.updated_at < ?", [utc_text(self.filters.before)]

    def _of_text(self) -> Iterator[Condition]:
        """The index knows which notes can have a phrase; only those are read, each once for all phrases."""
        phrases, excluded = self.filters.phrases, self.filters.excluded
        if not phrases and not excluded:
            return
        passes, asked = "text_passes(?, n.title, n.content)", [json.dumps([phrases, excluded])]
        required, unwanted = map(self._can_have, phrases), list(map(self._can_have, excluded))
        yield from filter(None, required)
        if not phrases and (suspects := list(filter(None, unwanted))) == unwanted:
            any_of = " OR ".join(sql for sql, _ in suspects)
            yield f"(NOT ({any_of}) OR {passes})", [value for _, values in suspects for value in values] + asked
        else:
            yield passes, asked

    def _can_have(self, phrase: str) -> Condition | None:
        """None if the index cannot tell."""
        terms = phrase_terms(phrase)
        lookups = [
            (number, indexed)
            for number, words in enumerate(terms)
            for indexed in private_terms.visible_terms(words, self.viewer.audiences)
        ]
        return (_WITH_TERMS, [json.dumps(lookups), least_terms(terms)]) if terms else None


def matching(connection: sqlite3.Connection, conditions: Conditions) -> list[int]:
    """The passages of the notes that pass."""
    sql, values = _prepared(connection, conditions)
    found = connection.execute(f"SELECT p.id FROM notes n JOIN passages p ON p.note = n.seq WHERE {sql}", values)
    return [row[0] for row in found]


def newest(connection: sqlite3.Connection, conditions: Conditions, limit: int) -> list[Note]:
    sql, values = _prepared(connection, conditions)
    found = connection.execute(
        f"SELECT n.seq FROM notes n WHERE {sql} ORDER BY n.created_at DESC, n.id DESC LIMIT ?", (*values, limit)
    )
    seqs = [row[0] for row in found]
    notes = note_table.get_many(connection, seqs)
    return [notes[seq] for seq in seqs]


def _prepared(connection: sqlite3.Connection, conditions: Conditions) -> Condition:
    connection.create_function("text_passes", 3, _text_passes, deterministic=True)
    return conditions.where()


def _text_passes(asked: str, title: str, content: str) -> bool:
    return _phrase_filters(asked).accept_text(title, content)


@lru_cache(maxsize=8)
def _phrase_filters(asked: str) -> Filters:
    phrases, excluded = json.loads(asked)
    return Filters(phrases=tuple(phrases), excluded=tuple(excluded))
