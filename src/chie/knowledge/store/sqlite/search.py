"""One search: semantic and lexical candidates, one score, the best passage of each note."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from chie.knowledge.note import Hit
from chie.knowledge.ranking import Match, Query
from chie.knowledge.store import private_terms, scoring
from chie.knowledge.store.corrections import with_corrections
from chie.knowledge.store.scoring import RankedPassage
from chie.knowledge.store.sqlite import note_table
from chie.knowledge.store.sqlite.filtering import Conditions, matching
from chie.knowledge.tokens import query_tokens

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors
    from chie.knowledge.store.sqlite.vectors import SqliteVectors


# Candidates by BM25, with the weight of the query's terms that they have. Grouping by passage first lets SQLite sort
# the postings once for both steps.
_BY_WORDS = f"""
WITH terms AS MATERIALIZED (SELECT key, value ->> 0 AS term, value ->> 1 AS weight FROM json_each(:terms))
SELECT passage, sum(weight) AS covered FROM (SELECT i.doc AS passage, weight, count(*) AS often
    FROM terms t CROSS JOIN postings i ON i.term = t.term{{where}} GROUP BY i.doc, t.key)
CROSS JOIN passages p ON p.id = passage
GROUP BY passage ORDER BY sum(weight * ((often * {scoring.K1 + 1})
    / (often + {scoring.K1} * ({1 - scoring.B} + {scoring.B} * p.length / :average)))) DESC, passage
LIMIT {scoring.MAX_LEXICAL_CANDIDATES}
"""
_FREQUENCIES = "SELECT term, doc FROM vocabulary WHERE term IN (SELECT value FROM json_each(?))"
_WITH_PREFIX = (
    "SELECT term, doc FROM json_each(?) r CROSS JOIN vocabulary v ON v.term >= r.value ->> 0 AND v.term < r.value ->> 1"
)
_AMONG = " AND i.doc IN (SELECT value FROM json_each(:among))"


class Corpus(NamedTuple):
    """Counts of what the viewer may see."""

    passages: int
    tokens: int


def corpus(connection: sqlite3.Connection, viewer: str) -> Corpus:
    row = connection.execute(
        "SELECT coalesce(sum(passages), 0), coalesce(sum(tokens), 0) FROM corpus WHERE owner IN ('', ?)", (viewer,)
    ).fetchone()
    return Corpus(*row)


@dataclass(frozen=True)
class Search:
    """`vector` is None if the query could not be embedded: then words alone decide."""

    connection: sqlite3.Connection
    vectors: "SqliteVectors"
    query: Query
    vector: "Vectors | None"
    viewer: str
    corpus: Corpus
    hidden: Sequence[int]  # passages that the viewer must not see

    def hits(self, *, limit: int, conditions: Conditions) -> list[Hit]:
        among = matching(self.connection, conditions) if conditions else None
        words = self._by_words(among)
        near = self._by_meaning(max(scoring.MIN_SEMANTIC_CANDIDATES, 2 * limit), among)
        best = scoring.best_per_note(self._ranked(list(dict.fromkeys([*near, *words])), words), limit)
        notes = note_table.get_many(self.connection, [ranked.note for ranked in best])
        return scoring.to_hits(best, notes, self.corpus.passages)

    def _by_meaning(self, count: int, among: Sequence[int] | None) -> list[int]:
        if self.vector is None:
            return []
        return self.vectors.nearest(self.connection, self.vector, count, among=among, without=self.hidden)

    def _by_words(self, among: Sequence[int] | None) -> dict[int, float]:
        """Passages and their share of the query's words, as `ranking` defines it."""
        text = self.query.text
        terms = with_corrections(text, query_tokens(text), self)
        frequencies = terms.frequencies
        if not frequencies:
            return {}
        passages, tokens = self.corpus
        weights = scoring.term_weights(frequencies, passages)
        rarest = {term: weights[term] for term in scoring.rarest_terms(frequencies)}
        lookups = private_terms.lookups(terms.weighed(rarest), self.viewer)
        values = {"terms": json.dumps(lookups), "average": tokens / passages, "among": json.dumps(among)}
        found = self.connection.execute(_BY_WORDS.format(where="" if among is None else _AMONG), values)
        total = scoring.total_weight(terms.terms, weights, passages)
        return {passage: covered / total for passage, covered in found}

    def frequencies(self, terms: Sequence[str], prefixes: Sequence[str] = ()) -> dict[str, int]:
        private = not prefixes or self._owns_passages()  # half the lookups of a correction
        indexed = list(private_terms.visible_terms(terms, self.viewer)) if private else terms
        found = self.connection.execute(_FREQUENCIES, (json.dumps(indexed),)).fetchall()
        if prefixes:
            ranges = private_terms.visible_ranges(prefixes, self.viewer)
            found += self.connection.execute(_WITH_PREFIX, (json.dumps(ranges),)).fetchall()
        return private_terms.frequencies(found)

    def _owns_passages(self) -> bool:
        row = self.connection.execute("SELECT passages FROM corpus WHERE owner = ?", (self.viewer,)).fetchone()
        return row is not None and row[0] > 0

    def _ranked(self, passages: Sequence[int], words: dict[int, float]) -> Iterator[RankedPassage]:
        cosines = {} if self.vector is None else self.vectors.cosines(self.connection, self.vector, passages)
        verbatim = self._verbatim(scoring.perhaps_verbatim(passages, words))
        found = self.connection.execute(
            "SELECT id, note, start, stop FROM passages WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(passages),),
        )
        for passage, note, start, stop in found:
            match = Match(cosines.get(passage), words.get(passage, 0.0), passage in verbatim)
            if match.is_hit:
                yield RankedPassage(note, start, stop, match)

    def _verbatim(self, passages: Sequence[int]) -> set[int]:
        """Those of the passages that have the whole query as a phrase."""
        if not passages:
            return set()
        found = self.connection.execute(
            "SELECT p.id, n.title, substr(n.content, p.start + 1, p.stop - p.start)"
            " FROM passages p JOIN notes n ON n.seq = p.note WHERE p.id IN (SELECT value FROM json_each(?))",
            (json.dumps(passages),),
        )
        return {passage for passage, title, text in found if self.query.occurs_in(f"{title}\n{text}")}
