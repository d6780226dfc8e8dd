"""One search: semantic and lexical candidates, one score, the best passage of each note."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chie.knowledge.note import Hit
from chie.knowledge.ranking import ParsedQuery
from chie.knowledge.store import private_terms, scoring
from chie.knowledge.store.postgres import note_table, statistics
from chie.knowledge.store.postgres.statistics import Statistics
from chie.knowledge.store.postgres.vectors import SAME_DIMENSION, PassageFilter, PostgresVectors, vector_literal
from chie.knowledge.store.scoring import ScoredPassage
from chie.knowledge.tokens import query_tokens

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors
    from chie.knowledge.store.postgres.pool import Connection

# The join scans the index once per term, and `rarest_terms` bounds the rows that it reads.
K1, B = scoring.K1, scoring.B
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
        viewer = self.passage_filter.viewer
        frequencies = statistics.document_frequencies(self.connection, terms, viewer) if terms else {}
        if not frequencies:
            return {}
        weights = scoring.term_weights(frequencies, self.stats.passages)
        lookups = private_terms.lookups(weights, viewer)
        values = {
            "terms": [term for term, _ in lookups],
            "weights": [weight for _, weight in lookups],
            "average": self.stats.tokens / self.stats.passages,
        }
        statement = _BY_WORDS.format(where=self.passage_filter.where("p."))
        found = self.connection.execute(statement, values | self.passage_filter.values).fetchall()
        if not found:
            return {}
        return scoring.word_scores(terms, [row[:2] for row in found], map(private_terms.plain, found[0][2]))

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
