"""One search: candidates by meaning and by words, scored alike, the best passage of each note."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chie.knowledge import ranking
from chie.knowledge.note import Hit, Note
from chie.knowledge.ranking import Question
from chie.knowledge.store.sqlite import rows
from chie.knowledge.tokens import fold, query_tokens

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors
    from chie.knowledge.store.sqlite.vectors import SqliteVectors

NEAR = 50  # notes taken by meaning, at the least
WORDS = 200  # passages taken by words


@dataclass(frozen=True)
class _Scored:
    note: int
    start: int
    stop: int
    score: float


@dataclass(frozen=True)
class Search:
    """`vector` is None where the query has no meaning to go by: then words alone decide."""

    connection: sqlite3.Connection
    vectors: "SqliteVectors"
    question: Question
    vector: "Vectors | None"

    def hits(self, *, limit: int, tags: Sequence[str]) -> list[Hit]:
        among = self._tagged(tags) if tags else None
        lexical = self._by_words(among)
        near = self._by_meaning(max(NEAR, 2 * limit), among)
        best: dict[int, _Scored] = {}
        for scored in self._scored(list(dict.fromkeys([*near, *lexical])), lexical):
            if scored.note not in best or scored.score > best[scored.note].score:
                best[scored.note] = scored
        chosen = sorted(best.values(), key=lambda scored: (-scored.score, scored.note))[:limit]
        notes = rows.get_many(self.connection, [scored.note for scored in chosen])
        return [_hit(notes[scored.note], scored) for scored in chosen]

    def _tagged(self, tags: Sequence[str]) -> list[int]:
        folded = list({fold(tag) for tag in tags})
        found = self.connection.execute(
            "SELECT p.id FROM passages p WHERE p.note IN (SELECT note FROM note_tags"
            " WHERE tag IN (SELECT value FROM json_each(?)) GROUP BY note HAVING count(*) = ?)",
            (json.dumps(folded), len(folded)),
        )
        return [row[0] for row in found]

    def _by_meaning(self, count: int, among: Sequence[int] | None) -> list[int]:
        if self.vector is None:
            return []
        return self.vectors.nearest(self.connection, self.vector, count, among=among)

    def _by_words(self, among: Sequence[int] | None) -> dict[int, float]:
        """Passages with their BM25 as a share of the best."""
        words = query_tokens(self.question.text)
        if not words:
            return {}
        only = "" if among is None else " AND rowid IN (SELECT value FROM json_each(?))"
        values = [" OR ".join('"' + word.replace('"', '""') + '"' for word in words)]
        if among is not None:
            values.append(json.dumps(among))
        found = self.connection.execute(
            f"SELECT rowid, -rank FROM words WHERE words MATCH ?{only} ORDER BY rank LIMIT {WORDS}",
            values,
        ).fetchall()
        top = max((score for _, score in found), default=0.0)
        return {passage: score / top if top > 0 else 1.0 for passage, score in found}

    def _scored(self, passages: Sequence[int], lexical: dict[int, float]) -> list[_Scored]:
        cosines = {} if self.vector is None else self.vectors.cosines(self.connection, self.vector, passages)
        found = self.connection.execute(
            "SELECT p.id, p.note, p.start, p.stop, n.title, substr(n.content, p.start + 1, p.stop - p.start)"
            " FROM passages p JOIN notes n ON n.seq = p.note"
            " WHERE p.id IN (SELECT value FROM json_each(?))",
            (json.dumps(passages),),
        )
        return [
            _Scored(note, start, stop, score)
            for passage, note, start, stop, title, text in found
            if (
                score := self.question.score(
                    f"{title}\n{text}",
                    cosine=cosines.get(passage),
                    lexical=lexical.get(passage, 0.0),
                )
            )
            > ranking.FLOOR
        ]


def _hit(note: Note, scored: _Scored) -> Hit:
    passage = note.content[scored.start : scored.stop]
    return Hit(
        id=note.id,
        title=note.title,
        content=passage.strip(),
        score=ranking.shown(scored.score),
        tags=note.tags,
        source=note.source,
        status=note.status,
        user_id=note.user_id,
        created_at=note.created_at,
        updated_at=note.updated_at,
        partial=len(passage) < len(note.content),
    )
