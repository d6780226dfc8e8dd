"""One search: candidates by meaning and by words, scored alike, the best passage of each note."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

from chie.knowledge.note import Hit
from chie.knowledge.ranking import Question
from chie.knowledge.store.postgres import corpus as counts
from chie.knowledge.store.postgres import rows
from chie.knowledge.store.postgres.corpus import Corpus
from chie.knowledge.store.postgres.vectors import ALIKE, PostgresVectors, Sight, literal
from chie.knowledge.store.scoring import NEAR, WORDS, Scored, best, hit, telling, weights
from chie.knowledge.tokens import query_tokens

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors
    from chie.knowledge.store.postgres.pool import Connection

# BM25 as SQLite's FTS5 computes it, so that a note scores the same in either store. The join asks the index once a
# word; their places together are bounded by what `telling` affords.
K1, B = 1.2, 0.75
LEAST = 1e-6  # what a word weighs that stands in half of all passages or more
_BY_WORDS = f"""
WITH found AS (SELECT p.id, sum(t.weight * ((f.often * {K1 + 1})
    / (f.often + {K1} * ({1 - B} + {B} * p.length::float8 / %(average)s::float8)))) AS bm25
FROM unnest(%(terms)s::text[], %(weights)s::float8[]) AS t (term, weight)
JOIN knowledge_passages p ON p.terms @> ARRAY[t.term] AND {{where}}
CROSS JOIN LATERAL (SELECT coalesce((p.repeated ->> t.term)::float8, 1) AS often) f
GROUP BY p.id ORDER BY bm25 DESC, p.id LIMIT {WORDS}), best AS (SELECT * FROM found ORDER BY bm25 DESC, id LIMIT 1)
SELECT id, bm25, (SELECT p.terms FROM best JOIN knowledge_passages p USING (id) WHERE p.id = found.id)
FROM found ORDER BY bm25 DESC, id
"""
_SCORED = (
    "SELECT p.id, p.note, p.start, p.stop, n.title, substr(n.content, p.start + 1, p.stop - p.start), {cosine}"
    " FROM knowledge_passages p JOIN knowledge_notes n ON n.seq = p.note{join}"
    " WHERE p.id = ANY(%(passages)s)"
)
_COSINE = "-(v.vector <#> %(query)s::vector)"
_VECTORS = f" LEFT JOIN knowledge_vectors v ON v.passage = p.id AND v.model = %(model)s AND {ALIKE}"


@dataclass(frozen=True)
class Search:
    """`vector` is None where the query has no meaning to go by: then words alone decide."""

    connection: "Connection"
    vectors: PostgresVectors
    corpus: Corpus
    question: Question
    vector: "Vectors | None"
    sight: Sight

    def hits(self, *, limit: int) -> list[Hit]:
        words = self._by_words()
        near = self._by_meaning(max(NEAR, 2 * limit))
        chosen = best(self._scored(list(dict.fromkeys([*near, *words])), words), limit)
        notes = rows.get_many(self.connection, [scored.note for scored in chosen])
        return [hit(notes[scored.note], scored) for scored in chosen]

    def _by_meaning(self, count: int) -> list[int]:
        if self.vector is None:
            return []
        return self.vectors.nearest(self.connection, self.corpus, self.vector, count, self.sight)

    def _by_words(self) -> dict[int, float]:
        asked = [rows.key(token) for token in query_tokens(self.question.text)]
        standing_in = counts.standing_in(self.connection, asked) if asked else {}
        if not standing_in:
            return {}
        terms = [term for term in telling(asked, standing_in) if term in standing_in]
        values = {
            "terms": terms,
            "weights": [self._weight(standing_in[term]) for term in terms],
            "average": self.corpus.tokens / self.corpus.passages,
        }
        statement = _BY_WORDS.format(where=self.sight.where("p."))
        found = self.connection.execute(statement, values | self.sight.values).fetchall()
        return weights(asked, [row[:2] for row in found], found[0][2]) if found else {}

    def _weight(self, standing_in: int) -> float:
        rarity = log((self.corpus.passages - standing_in + 0.5) / (standing_in + 0.5))
        return rarity if rarity > 0 else LEAST

    def _scored(self, passages: Sequence[int], words: dict[int, float]) -> Iterator[Scored]:
        known = self.vector is not None and self.corpus.model is not None
        join = _VECTORS.format(self.vectors.dimension) if known else ""
        statement = _SCORED.format(cosine=_COSINE if known else "NULL", join=join)
        query = literal(self.vector) if self.vector is not None else None
        values = {"passages": list(passages), "query": query, "model": self.corpus.model}
        for passage, note, start, stop, title, text, cosine in sorted(self.connection.execute(statement, values)):
            near = None if cosine is None else min(max(cosine, -1.0), 1.0)
            score = self.question.score(f"{title}\n{text}", cosine=near, words=words.get(passage, 0.0))
            if score is not None:
                yield Scored(note, start, stop, score)
