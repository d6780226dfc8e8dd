"""One search: semantic and lexical candidates, one score, the best passage of each note."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

from chie.knowledge.note import Hit
from chie.knowledge.ranking import ParsedQuery
from chie.knowledge.store import scoring
from chie.knowledge.store.postgres import note_table, statistics
from chie.knowledge.store.postgres.statistics import Statistics
from chie.knowledge.store.postgres.vectors import SAME_DIMENSION, PassageFilter, PostgresVectors, vector_literal
from chie.knowledge.store.scoring import ScoredPassage
from chie.knowledge.tokens import query_tokens

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors
    from chie.knowledge.store.postgres.pool import Connection

# BM25 with the parameters of SQLite's FTS5, so that a note scores the same in either store. The join scans the index
# once per term, and `rarest_terms` bounds the rows that it reads.
K1, B = 1.2, 0.75
MIN_TERM_WEIGHT = 1e-6  # of a term that occurs in at least half of all passages
_BY_WORDS = f"""
WITH found AS (SELECT p.id, sum(t.weight * ((f.often * {K1 + 1})
    / (f.often + {K1} * ({1 - B} + {B} * p.length::float8 / %(average)s::float8)))) AS bm25
FROM unnest(%(terms)s::text[], %(weights)s::float8[]) AS t (term, weight)
JOIN knowledge_passages p ON p.terms @> ARRAY[t.term] AND {{where}}
CROSS JOIN LATERAL (SELECT coalesce((p.repeated ->> t.term)::float8, 1) AS often) f
GROUP BY p.id ORDER BY bm25 DESC, p.id LIMIT {scoring.MAX_LEXICAL_CANDIDATES}),
best AS (SELECT * FROM found ORDER BY bm25 DESC, id LIMIT 1)
SELECT id, bm25, (SELECT p.terms FROM best JOIN knowledge_passages p USING (id) WHERE p.id = found.id)
FROM found ORDER BY bm25 DESC, id
"""
_SCORED = (
    "SELECT p.id, p.note, p.start, p.stop, n.title, substr(n.content, p.start + 1, p.stop - p.start), {cosine}"
    " FROM knowledge_passages p JOIN knowledge_notes n ON n.seq = p.note{join}"
    " WHERE p.id = ANY(%(passages)s)"
)
_COSINE = "-(v.vector <#> %(query)s::vector)"
_VECTORS = f" LEFT JOIN knowledge_vectors v ON v.passage = p.id AND v.model = %(model)s AND {SAME_DIMENSION}"


@dataclass(frozen=True)
class Search:
    """`vector` is None if the query could not be embedded: then words alone decide."""

    connection: "Connection"
    vectors: PostgresVectors
    stats: Statistics
    query: ParsedQuery
    vector: "Vectors | None"
    passage_filter: PassageFilter

    def hits(self, *, limit: int) -> list[Hit]:
        words = self._by_words()
        near = self._by_meaning(max(scoring.MIN_SEMANTIC_CANDIDATES, 2 * limit))
        best = scoring.best_per_note(self._scored(list(dict.fromkeys([*near, *words])), words), limit)
        notes = note_table.get_many(self.connection, [scored.note for scored in best])
        return [scoring.to_hit(notes[scored.note], scored) for scored in best]

    def _by_meaning(self, count: int) -> list[int]:
        if self.vector is None:
            return []
        return self.vectors.nearest(self.connection, self.stats, self.vector, count, self.passage_filter)

    def _by_words(self) -> dict[int, float]:
        """Passages and their share of words, as `ranking` defines it."""
        terms = [note_table.index_key(token) for token in query_tokens(self.query.text)]
        frequencies = statistics.document_frequencies(self.connection, terms) if terms else {}
        if not frequencies:
            return {}
        rarest = [term for term in scoring.rarest_terms(terms, frequencies) if term in frequencies]
        values = {
            "terms": rarest,
            "weights": [self._weight(frequencies[term]) for term in rarest],
            "average": self.stats.tokens / self.stats.passages,
        }
        statement = _BY_WORDS.format(where=self.passage_filter.where("p."))
        found = self.connection.execute(statement, values | self.passage_filter.values).fetchall()
        return scoring.word_scores(terms, [row[:2] for row in found], found[0][2]) if found else {}

    def _weight(self, frequency: int) -> float:
        rarity = log((self.stats.passages - frequency + 0.5) / (frequency + 0.5))
        return rarity if rarity > 0 else MIN_TERM_WEIGHT

    def _scored(self, passages: Sequence[int], words: dict[int, float]) -> Iterator[ScoredPassage]:
        known = self.vector is not None and self.stats.model is not None
        join = _VECTORS.format(self.vectors.dimension) if known else ""
        statement = _SCORED.format(cosine=_COSINE if known else "NULL", join=join)
        query = vector_literal(self.vector) if self.vector is not None else None
        values = {"passages": list(passages), "query": query, "model": self.stats.model}
        for passage, note, start, stop, title, text, cosine in sorted(self.connection.execute(statement, values)):
            near = None if cosine is None else min(max(cosine, -1.0), 1.0)
            score = self.query.score(f"{title}\n{text}", cosine=near, words=words.get(passage, 0.0))
            if score is not None:
                yield ScoredPassage(note, start, stop, score)
