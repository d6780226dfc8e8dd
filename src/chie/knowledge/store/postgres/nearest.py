"""Nearest-neighbour search by pgvector, as a part of other statements.

Small sets of passages, or those that a filter leaves, are scanned exactly. Larger ones use an HNSW index over
half-precision copies, with an iterative scan until enough rows pass the filter. The index has the team's shared notes
only, because an approximate result depends on everything in it; private notes and other spaces are scanned exactly.
Results are scored with the float32 vectors either way.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from chie.knowledge.store.postgres.passage_filter import PassageFilter
from chie.knowledge.store.postgres.statement import Rows, Statement, set_locally, together
from chie.knowledge.store.postgres.statistics import Statistics
from chie.knowledge.store.postgres.vectors import SAME_DIMENSION, vector_literal

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors
    from chie.knowledge.store.postgres.pool import Connection

MAX_EXACT_SCAN_PASSAGES = 5_000  # filters that leave at most this many are faster without the index
MAX_INDEX_SCAN_ROWS = 100_000
# hnsw.ef_search: half of it would lose one hit in thirty at 100,000 passages, twice as much costs twice as much.
SEARCH_BREADTH = 200  # at 10,000 passages and fewer
BREADTH_GROWTH = 0.6
MAX_SEARCH_BREADTH = 1_000  # pgvector's limit

# Before the first ANALYZE the planner would read whole tables to join a few rows, or sort all vectors instead of using
# the index.
SEARCH_SETTINGS = dict.fromkeys(("enable_seqscan", "enable_sort", "enable_hashjoin", "enable_mergejoin"), "off")

# The best passage of each of the nearest notes.
_CHOSEN = """
SELECT passage, note, distance, cosine FROM (SELECT *, row_number() OVER (PARTITION BY note ORDER BY distance, passage)
    AS nth FROM (SELECT * FROM near ORDER BY distance, passage LIMIT %(depth)s) d) o
WHERE nth = 1 ORDER BY distance, passage LIMIT %(count)s
"""
NOTHING_CHOSEN = (
    "near AS (SELECT false AS proposed WHERE false), chosen AS"
    " (SELECT NULL::bigint AS passage, NULL::bigint AS note, NULL::float8 AS cosine WHERE false)"
)
COUNTS = "(SELECT count(*) FROM near), (SELECT count(*) FROM near WHERE proposed)"


@dataclass(frozen=True)
class Scan:
    """A way to find the passages that are nearest to %(query)s, and of each of `count` notes the best of them."""

    model: int
    dimension: int
    passage_filter: PassageFilter
    count: int
    indexed: bool
    breadth: int
    depth: int  # passages

    def tables(self) -> str:
        """SQL for WITH: `near` are passages, `chosen` the best of each note."""
        near = self._by_index() if self.indexed else self._exact()
        return f"near AS MATERIALIZED ({near}), chosen AS MATERIALIZED ({_CHOSEN})"

    @property
    def values(self) -> dict[str, Any]:
        return {"depth": self.depth, "count": self.count, **self.passage_filter.values}

    @property
    def settings(self) -> dict[str, str]:
        return {
            "hnsw.iterative_scan": "relaxed_order",
            "hnsw.ef_search": str(self.breadth),
            "hnsw.max_scan_tuples": str(MAX_INDEX_SCAN_ROWS),
        }

    def next(self, notes: int, near: int, proposed: int) -> "Scan | None":
        """The scan to try if this one has not found enough notes, though there may be more; `proposed` of the `near`
        passages are from the index."""
        if self.indexed and proposed < self.depth:
            return replace(self, indexed=False)  # the index gave up before enough rows passed the filter
        return None if notes >= self.count or near < self.depth else replace(self, depth=4 * self.depth)

    def _exact(self) -> str:
        among = (
            f" AND v.passage IN (SELECT p.id FROM knowledge_passages p WHERE {self.passage_filter.where('p.')})"
            if self.passage_filter.labels
            else f" AND {self.passage_filter.where('v.')}"
        )
        return (
            "SELECT *, -distance AS cosine FROM (SELECT v.passage, v.note, v.vector <#> %(query)s::vector AS distance,"
            f" false AS proposed FROM knowledge_vectors v WHERE v.model = {self.model}"
            f" AND {SAME_DIMENSION.format(self.dimension)}{among} ORDER BY distance, v.passage LIMIT %(depth)s) e"
        )

    def _by_index(self) -> str:
        """The model and its dimension are literals, without which the planner does not choose the partial index."""
        half = f"halfvec({self.dimension})"
        columns = f"v.passage, v.note, v.vector::{half} <#> %(query)s::vector::{half} AS distance"
        cosine = "-(v.vector <#> %(query)s::vector) AS cosine"
        narrowing = self.passage_filter.narrowing
        return (
            f"(SELECT {columns}, true AS proposed, {cosine} FROM knowledge_vectors v WHERE v.model = {self.model}"
            f" AND v.owner IS NULL{narrowing('v.')} ORDER BY distance LIMIT %(depth)s)"
            f" UNION ALL (SELECT {columns}, false, {cosine} FROM knowledge_passages p JOIN knowledge_vectors v"
            f" ON v.passage = p.id AND v.model = {self.model} AND {SAME_DIMENSION.format(self.dimension)}"
            f" WHERE {self.passage_filter.where_not_public('p.')})"
        )


def first_scan(
    stats: Statistics, dimension: int, passage_filter: PassageFilter, count: int, *, few: bool
) -> Scan | None:
    """For the nearest `count` notes; None before the model's first vector. `few` passages match the filter."""
    if stats.model is None:
        return None
    few = few or not passage_filter.viewer.sees_team  # the index has nothing else
    grown = (stats.public_passages / 10_000) ** BREADTH_GROWTH
    breadth = min(max(round(SEARCH_BREADTH * grown), SEARCH_BREADTH), MAX_SEARCH_BREADTH)
    return Scan(stats.model, dimension, passage_filter, count, stats.indexed and not few, breadth, 2 * count)


def nearest(connection: "Connection", scan: Scan | None, query: "Vectors") -> list[tuple[int, float]]:
    """The best passage of each of the nearest notes, and its cosine."""
    while scan is not None:
        statement = f"WITH {scan.tables()} SELECT passage, cosine, {COUNTS} FROM chosen ORDER BY distance, passage"
        values = {"query": vector_literal(query), **scan.values}
        _, found = together(connection, set_locally(scan.settings), Statement(statement, values))
        further = scan.next(len(found), *(found[0][2:] if found else (0, 0)))
        if further is None:
            return [row[:2] for row in found]
        scan = further
    return []


def count_matches(passage_filter: PassageFilter) -> Statement:
    """The number of passages that match the filter, but at most one more than an exact scan is good for."""
    return Statement(
        f"SELECT count(*) FROM (SELECT 1 FROM knowledge_passages WHERE {passage_filter.where()}"
        f" LIMIT {MAX_EXACT_SCAN_PASSAGES + 1}) few",
        passage_filter.values,
    )


def are_few(matches: Rows) -> bool:
    return bool(matches) and matches[0][0] <= MAX_EXACT_SCAN_PASSAGES
