"""One search: semantic and lexical candidates, one score, the best passage of each note.

It takes three round trips: counts, candidates, and the notes that are shown. The first begins the transaction and the
last ends it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from chie.knowledge.note import Hit
from chie.knowledge.search import ranking
from chie.knowledge.search.query import Filters
from chie.knowledge.search.ranking import Match, Query
from chie.knowledge.search.tokens import query_tokens
from chie.knowledge.store import private_terms, scoring
from chie.knowledge.store.corrections import Terms, with_corrections
from chie.knowledge.store.postgres import nearest, note_table, statistics
from chie.knowledge.store.postgres.nearest import Scan
from chie.knowledge.store.postgres.passage_filter import PassageFilter
from chie.knowledge.store.postgres.statement import Statement, set_locally, together
from chie.knowledge.store.postgres.statistics import Statistics
from chie.knowledge.store.postgres.vectors import SAME_DIMENSION, vector_literal
from chie.knowledge.store.scoring import RankedPassage, TextPassage
from chie.knowledge.viewer import Viewer

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors
    from chie.knowledge.store.postgres.pool import Connection, PostgresPool

# The join scans the index once per term, and `rarest_terms` bounds the rows that it reads. If even the rarest term is
# in more passages, some of them must do: they share that word, and meaning tells them apart.
MAX_TERM_POSTINGS = 4_000
K1, B = scoring.K1, scoring.B
_BY_WORDS = f"""
SELECT p.id, p.note, p.start, p.stop, p.question, sum(t.weight) / %(total)s::float8 AS share
FROM unnest(%(terms)s::text[], %(weights)s::float8[]) AS t (term, weight)
CROSS JOIN LATERAL (SELECT p.* FROM knowledge_passages p WHERE p.terms @> ARRAY[t.term] AND {{where}}
    LIMIT %(most)s) p
CROSS JOIN LATERAL (SELECT coalesce((p.repeated ->> t.term)::float8, 1) AS often) f
GROUP BY p.id, p.note, p.start, p.stop, p.question ORDER BY sum(t.weight * ((f.often * {K1 + 1})
    / (f.often + {K1} * ({1 - B} + {B} * p.length::float8 / %(average)s::float8)))) DESC, p.id
LIMIT {scoring.MAX_LEXICAL_CANDIDATES}
"""
_NO_WORDS = (
    "SELECT NULL::bigint AS id, NULL::bigint AS note, NULL::int AS start, NULL::int AS stop, NULL::int AS question,"
    " NULL::float8 AS share WHERE false"
)
# Only passages that have all of the query's words, if it has any, can have the whole query.
_CANDIDATES = f"""
WITH words AS MATERIALIZED ({{words}}), {{nearest}}
SELECT f.*, {nearest.COUNTS}, CASE WHEN f.share >= {ranking.MIN_PHRASE_COVERAGE} OR NOT EXISTS (SELECT 1 FROM words)
    THEN (SELECT n.title || chr(10) || substr(n.content, f.start + 1, f.stop - f.start) FROM knowledge_notes n
    WHERE n.seq = f.note) END FROM
    (SELECT w.id, w.note, w.start, w.stop, w.question, w.share, false AS near, {{cosine}} FROM words w {{vectors}}
    UNION ALL SELECT p.id, p.note, p.start, p.stop, p.question, NULL, true, c.cosine FROM chosen c
    JOIN knowledge_passages p ON p.id = c.passage) f
"""
_COSINE = "-(v.vector <#> %(query)s::vector)"
_VECTORS = f"LEFT JOIN knowledge_vectors v ON v.passage = w.id AND v.model = {{}} AND {SAME_DIMENSION}"
_TEXTS = (
    "SELECT w.note, w.start, w.stop, {cosine}, w.terms FROM knowledge_passages w {vectors}"
    " WHERE w.question IS NULL AND w.note IN (SELECT note FROM knowledge_passages"
    " WHERE note = ANY(%(notes)s::bigint[]) AND (part > 0 OR question IS NOT NULL)) ORDER BY w.id"
)

NOTHING = Statement("SELECT 0 WHERE false")


class Candidate(NamedTuple):
    """A passage by its words, or with `near` by meaning. `text` is that of a passage that may have the whole
    query, with its title. `near_passages` of all were near, and `proposed` of those were from the index."""

    passage: int
    note: int
    start: int
    stop: int
    question: int | None
    share: float | None
    near: bool
    cosine: float | None
    near_passages: int
    proposed: int
    text: str | None


class Result(NamedTuple):
    stats: Statistics
    hits: list[Hit]


@dataclass(frozen=True)
class Search:
    """`vector` is None if the query could not be embedded: then words alone decide. `passing` returns the filter; if
    `filters` have phrases, it looks for notes that have them."""

    query: Query
    model: str | None
    dimension: int
    vector: "Vectors | None"
    viewer: Viewer
    filters: Filters
    passing: "Callable[[Connection], PassageFilter]"

    def run(self, pool: "PostgresPool", *, limit: int) -> Result:
        return pool.lend(lambda connection: self._run(connection, limit))

    def _run(self, connection: "Connection", limit: int) -> Result:
        from chie.knowledge.store.postgres.pool import COMMIT, opening

        tokens = [note_table.index_key(token) for token in query_tokens(self.query.text)]
        by_phrase = bool(self.filters.phrases or self.filters.excluded)
        passing = PassageFilter([], self.viewer) if by_phrase else self.passing(connection)
        *_, counts, known, matches = together(
            connection,
            *opening(nearest.SEARCH_SETTINGS),
            statistics.select(self.model, self.viewer),
            statistics.select_frequencies(self.viewer, tokens),
            nearest.count_matches(passing) if passing else NOTHING,
        )
        if by_phrase:
            passing = self.passing(connection)
            matches = nearest.count_matches(passing).run(connection)
        stats = statistics.parse(counts)
        terms = self._terms(connection, tokens, private_terms.frequencies(known))
        words = self._words(terms, stats) if terms.frequencies else None
        scan = None
        if self.vector is not None:
            count = max(scoring.MIN_SEMANTIC_CANDIDATES, 2 * limit)
            scan = nearest.first_scan(stats, self.dimension, passing, count, few=nearest.are_few(matches))
        candidates = Candidates(connection, self.vector, passing, words).find(scan)
        best = scoring.best_per_note(self._ranked(candidates), limit)
        shown = [ranked.note for ranked in best]
        texts, found, _ = together(connection, self._texts(shown, stats.model), note_table.select_many(shown), COMMIT)
        best = scoring.with_shown(best, map(_text_passage, texts), query_tokens(self.query.text))
        return Result(stats, scoring.to_hits(best, note_table.parse_many(found), stats.passages))

    def _texts(self, notes: Sequence[int], model: int | None) -> Statement:
        """The passages of those of the notes whose text has several."""
        if self.vector is None or model is None:
            return Statement(_TEXTS.format(cosine="NULL::float8", vectors=""), {"notes": notes})
        values = {"query": vector_literal(self.vector), "notes": notes}
        return Statement(_TEXTS.format(cosine=_COSINE, vectors=_VECTORS.format(model, self.dimension)), values)

    def _terms(self, connection: "Connection", tokens: Sequence[str], known: dict[str, int]) -> Terms:
        def look_up(terms: Sequence[str], prefixes: Sequence[str]) -> dict[str, int]:
            return private_terms.frequencies(
                statistics.select_frequencies(self.viewer, terms, prefixes).run(connection)
            )

        return with_corrections(self.query.text, tokens, known, look_up)

    def _words(self, terms: Terms, stats: Statistics) -> dict[str, Any]:
        """Parameters of _BY_WORDS."""
        weights = scoring.term_weights(terms.frequencies, stats.passages)
        rarest = {term: weights[term] for term in scoring.rarest_terms(terms.frequencies)}
        lookups = private_terms.lookups(terms.weighed(rarest), self.viewer.audiences)
        return {
            "terms": [term for term, _ in lookups],
            "weights": [weight for _, weight in lookups],
            "average": stats.tokens / stats.passages,
            "most": MAX_TERM_POSTINGS,
            "total": scoring.total_weight(terms.terms, weights, stats.passages),
        }

    def _ranked(self, candidates: Sequence[Candidate]) -> Iterator[RankedPassage]:
        for row in candidates:
            near = None if row.cosine is None else min(max(row.cosine, -1.0), 1.0)
            verbatim = row.text is not None and self.query.occurs_in(row.text)
            match = Match(near, row.share or 0.0, verbatim)
            if match.is_hit:
                yield RankedPassage(row.note, row.start, row.stop, match, row.question)


@dataclass(frozen=True)
class Candidates:
    """Passages with the query's words, and the best passage of each of the nearest notes."""

    connection: "Connection"
    vector: "Vectors | None"
    passing: PassageFilter
    words: dict[str, Any] | None  # parameters of _BY_WORDS

    def find(self, scan: Scan | None) -> list[Candidate]:
        while True:
            found = self._select(scan)
            any_row = found[0] if found else None
            near = (any_row.near_passages, any_row.proposed) if any_row else (0, 0)
            further = scan.next(sum(row.near for row in found), *near) if scan else None
            if further is None:
                by_words = {row.passage for row in found if not row.near}
                return [row for row in found if not row.near or row.passage not in by_words]
            scan = further

    def _select(self, scan: Scan | None) -> list[Candidate]:
        statement = _CANDIDATES.format(
            words=_BY_WORDS.format(where=self.passing.where("p.")) if self.words else _NO_WORDS,
            nearest=scan.tables() if scan else nearest.NOTHING_CHOSEN,
            cosine=_COSINE if scan else "NULL::float8",
            vectors=_VECTORS.format(scan.model, scan.dimension) if scan else "",
        )
        query = None if self.vector is None else vector_literal(self.vector)
        values = {"query": query, **self.passing.values, **(self.words or {}), **(scan.values if scan else {})}
        settings = [set_locally(scan.settings)] if scan else []
        *_, found = together(self.connection, *settings, Statement(statement, values))
        return sorted((Candidate(*row) for row in found), key=lambda row: row.passage)


def _text_passage(row: tuple[Any, ...]) -> TextPassage:
    note, start, stop, cosine, terms = row
    return TextPassage(note, start, stop, cosine, frozenset(map(private_terms.plain, terms)))
