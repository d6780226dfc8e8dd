"""One search: semantic and lexical candidates, one score, the best passage of each note."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chie.knowledge.note import Hit
from chie.knowledge.ranking import ParsedQuery
from chie.knowledge.store import scoring
from chie.knowledge.store.scoring import ScoredPassage
from chie.knowledge.store.sqlite import note_table
from chie.knowledge.tokens import fold, query_tokens

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors
    from chie.knowledge.store.sqlite.vectors import SqliteVectors


@dataclass(frozen=True)
class Search:
    """`vector` is None if the query could not be embedded: then words alone decide."""

    connection: sqlite3.Connection
    vectors: "SqliteVectors"
    query: ParsedQuery
    vector: "Vectors | None"
    hidden: Sequence[int]  # passages that the viewer must not see

    def hits(self, *, limit: int, tags: Sequence[str]) -> list[Hit]:
        among = self._tagged(tags) if tags else None
        words = self._by_words(among)
        near = self._by_meaning(max(scoring.MIN_SEMANTIC_CANDIDATES, 2 * limit), among)
        best = scoring.best_per_note(self._scored(list(dict.fromkeys([*near, *words])), words), limit)
        notes = note_table.get_many(self.connection, [scored.note for scored in best])
        return [scoring.to_hit(notes[scored.note], scored) for scored in best]

    def _tagged(self, tags: Sequence[str]) -> list[int]:
        folded = list({fold(tag) for tag in tags})
        found = self.connection.execute(
            "SELECT p.id FROM passages p WHERE p.note IN (SELECT note FROM note_tags"
            " WHERE tag IN (SELECT value FROM json_each(?)) GROUP BY note HAVING count(*) = ?)",
            (json.dumps(folded), len(folded)),
        )
        hidden = set(self.hidden)
        return [row[0] for row in found if row[0] not in hidden]

    def _by_meaning(self, count: int, among: Sequence[int] | None) -> list[int]:
        if self.vector is None:
            return []
        return self.vectors.nearest(self.connection, self.vector, count, among=among, without=self.hidden)

    def _by_words(self, among: Sequence[int] | None) -> dict[int, float]:
        """Passages and their share of words, as `ranking` defines it."""
        terms = query_tokens(self.query.text)
        if not terms:
            return {}
        only, passages = ("NOT IN", self.hidden) if among is None else ("IN", among)
        filtered = among is not None or self.hidden  # a filter that passes every row would still cost a lookup per row
        where = f" AND rowid {only} (SELECT value FROM json_each(:passages))" if filtered else ""
        values = {"words": " OR ".join(map(_quoted, self._rarest(terms))), "passages": json.dumps(passages)}
        found = self.connection.execute(
            f"SELECT rowid, -rank FROM words WHERE words MATCH :words{where} ORDER BY rank"
            f" LIMIT {scoring.MAX_LEXICAL_CANDIDATES}",
            values,
        ).fetchall()
        if not found:
            return {}
        (tokens,) = self.connection.execute("SELECT tokens FROM words WHERE rowid = ?", (found[0][0],)).fetchone()
        return scoring.word_scores(terms, found, tokens.split())

    def _rarest(self, terms: Sequence[str]) -> Sequence[str]:
        found = self.connection.execute(
            "SELECT term, doc FROM vocabulary WHERE term IN (SELECT value FROM json_each(?))", (json.dumps(terms),)
        )
        return scoring.rarest_terms(terms, dict(found.fetchall()))

    def _scored(self, passages: Sequence[int], words: dict[int, float]) -> Iterator[ScoredPassage]:
        cosines = {} if self.vector is None else self.vectors.cosines(self.connection, self.vector, passages)
        found = self.connection.execute(
            "SELECT p.id, p.note, p.start, p.stop, n.title, substr(n.content, p.start + 1, p.stop - p.start)"
            " FROM passages p JOIN notes n ON n.seq = p.note WHERE p.id IN (SELECT value FROM json_each(?))",
            (json.dumps(passages),),
        )
        for passage, note, start, stop, title, text in found:
            score = self.query.score(f"{title}\n{text}", cosine=cosines.get(passage), words=words.get(passage, 0.0))
            if score is not None:
                yield ScoredPassage(note, start, stop, score)


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'
