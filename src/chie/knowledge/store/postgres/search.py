"""One search: semantic and lexical candidates, one score, the best passage of each note."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chie.knowledge.note import Hit
from chie.knowledge.ranking import Match, Query
from chie.knowledge.store import private_terms, scoring
from chie.knowledge.store.postgres import note_table, statistics
from chie.knowledge.store.postgres.passage_filter import PassageFilter
from chie.knowledge.store.postgres.statistics import Statistics
from chie.knowledge.store.postgres.vectors import SAME_DIMENSION, PostgresVectors, vector_literal
from chie.knowledge.store.scoring import RankedPassage
from chie.knowledge.tokens import query_tokens

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors
    from chie.knowledge.store.postgres.pool import Connection

# The join scans the index once per term, and `rarest_terms` bounds the rows that it reads.
K1, B = scoring.K1, scoring.B
_BY_WORDS = f"""
SELECT p.id, sum(t.weight) FROM unnest(%(terms)s::text[], %(weights)s::float8[]) AS t (term, weight)
JOIN knowledge_passages p ON p.terms @> ARRAY[t.term] AND {{where}}
CROSS JOIN LATERAL (SELECT coalesce((p.repeated ->> t.term)::float8, 1) AS often) f
GROUP BY p.id ORDER BY sum(t.weight * ((f.often * {K1 + 1})
    / (f.often + {K1} * ({1 - B} + {B} * p.length::float8 / %(average)s::float8)))) DESC, p.id
LIMIT {scoring.MAX_LEXICAL_CANDIDATES}
"""
_MATCHED = (
    "SELECT p.id, p.note, p.start, p.stop, {cosine} FROM knowledge_passages p{join} WHERE p.id = ANY(%(passages)s)"
    " ORDER BY p.id"
)
_TEXTS = (
    "SELECT p.id, n.title, substr(n.content, p.start + 1, p.stop - p.start) FROM knowledge_passages p"
    " JOIN knowledge_notes n ON n.seq = p.note WHERE p.id = ANY(%s)"
)
_COSINE = "-(v.vector <#> %(query)s::vector)"
_VECTORS = f" LEFT JOIN knowledge_vectors v ON v.passage = p.id AND v.model = %(model)s AND {SAME_DIMENSION}"


@dataclass(frozen=True)
class Search:
    """`vector` is None if the query could not be embedded: then words alone decide."""

    connection: "Connection"
    vectors: PostgresVectors
    stats: Statistics
    query: Query
    vector: "Vectors | None"
    passage_filter: PassageFilter

    def hits(self, *, limit: int) -> list[Hit]:
        words = self._by_words()
        near = self._by_meaning(max(scoring.MIN_SEMANTIC_CANDIDATES, 2 * limit))
        best = scoring.best_per_note(self._ranked(list(dict.fromkeys([*near, *words])), words), limit)
        notes = note_table.get_many(self.connection, [ranked.note for ranked in best])
        return scoring.to_hits(best, notes, self.stats.passages)

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
        rarest = {term: weights[term] for term in scoring.rarest_terms(frequencies)}
        lookups = private_terms.lookups(rarest, viewer)
        values = {
            "terms": [term for term, _ in lookups],
            "weights": [weight for _, weight in lookups],
            "average": self.stats.tokens / self.stats.passages,
        }
        statement = _BY_WORDS.format(where=self.passage_filter.where("p."))
        found = self.connection.execute(statement, values | self.passage_filter.values)
        total = scoring.total_weight(terms, weights, self.stats.passages)
        return {passage: covered / total for passage, covered in found}

    def _ranked(self, passages: Sequence[int], words: dict[int, float]) -> Iterator[RankedPassage]:
        known = self.vector is not None and self.stats.model is not None
        join = _VECTORS.format(self.vectors.dimension) if known else ""
        statement = _MATCHED.format(cosine=_COSINE if known else "NULL", join=join)
        query = vector_literal(self.vector) if self.vector is not None else None
        values = {"passages": list(passages), "query": query, "model": self.stats.model}
        verbatim = self._verbatim(scoring.perhaps_verbatim(passages, words))
        for passage, note, start, stop, cosine in self.connection.execute(statement, values).fetchall():
            near = None if cosine is None else min(max(cosine, -1.0), 1.0)
            match = Match(near, words.get(passage, 0.0), passage in verbatim)
            if match.is_hit:
                yield RankedPassage(note, start, stop, match)

    def _verbatim(self, passages: Sequence[int]) -> set[int]:
        """Those of the passages that have the whole query as a phrase."""
        found = self.connection.execute(_TEXTS, (list(passages),)) if passages else ()
        return {passage for passage, title, text in found if self.query.occurs_in(f"{title}\n{text}")}
