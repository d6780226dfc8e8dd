"""Exact counts of notes by owner, which BM25 needs. Transactions that change notes update them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from chie.knowledge.search.passages import INDEX_VERSION
from chie.knowledge.store import private_terms
from chie.knowledge.store.postgres.statement import Rows, Statement, together
from chie.knowledge.viewer import Viewer

if TYPE_CHECKING:
    from chie.knowledge.store.postgres.pool import Connection


PUBLIC = ""  # the owner of what everybody may see

_FREQUENCIES = "SELECT term, passages FROM knowledge_vocabulary WHERE term = ANY(%(terms)s)"
_WITH_PREFIX = (
    " UNION ALL SELECT v.term, v.passages FROM unnest(%(lows)s::text[], %(highs)s::text[]) AS r (low, high)"
    " JOIN knowledge_vocabulary v ON v.term >= r.low AND v.term < r.high"
)


@dataclass(frozen=True)
class Statistics:
    """`notes`, `passages` and `tokens` are what the viewer may see, `public_passages` what everybody may, and
    `missing` counts all passages without a vector. `model` is the current model's id, None before its first vector,
    `indexed` whether it has an index, and `outdated` whether notes are left that older rules have indexed.
    `hidden_missing` of the missing passages belong to notes that the viewer does not see."""

    notes: int
    passages: int
    tokens: int
    public_passages: int
    missing: int
    revision: int
    model: int | None
    indexed: bool
    outdated: bool
    hidden_missing: int


@dataclass
class StatisticsChange:
    """The difference that one transaction makes, by owner."""

    notes: Counter[str] = field(default_factory=Counter)
    passages: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)
    terms: Counter[str] = field(default_factory=Counter)
    vectors: Counter[int] = field(default_factory=Counter)

    def count_note(self, owner: str | None, sign: int = 1) -> None:
        """Add a note or, with a sign of -1, remove it."""
        self.notes[owner or PUBLIC] += sign

    def count_passage(self, owner: str | None, terms: Sequence[str], length: int, sign: int = 1) -> None:
        self.passages[owner or PUBLIC] += sign
        self.tokens[owner or PUBLIC] += sign * length
        for term in terms:
            self.terms[term] += sign


def read(connection: "Connection", model: str | None, viewer: Viewer | None) -> Statistics:
    """As the viewer may see them; None sees everything."""
    return parse(select(model, viewer).run(connection))


def select(model: str | None, viewer: Viewer | None) -> Statement:
    hidden = "coalesce(p.owner, '') <> ALL(%(audiences)s::text[])"
    if viewer is None or viewer.sees_team:
        hidden = "p.owner IS NOT NULL AND p.owner <> ALL(%(audiences)s::text[])"
    return Statement(
        "SELECT c.notes::bigint, c.passages::bigint, c.tokens::bigint, c.public::bigint,"
        " (c.stored - coalesce(m.vectors, 0))::bigint, c.revision, m.id, coalesce("
        " (SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('knowledge_nearest_' || m.id)), false),"
        f" EXISTS (SELECT 1 FROM knowledge_notes WHERE index_version < {INDEX_VERSION}),"
        " CASE WHEN c.stored > coalesce(m.vectors, 0) AND %(model)s::text IS NOT NULL THEN (SELECT count(*)"
        f" FROM knowledge_passages p WHERE {hidden} AND NOT EXISTS"
        " (SELECT 1 FROM knowledge_vectors v WHERE v.passage = p.id AND v.model = m.id)) ELSE 0 END"
        " FROM (SELECT coalesce(sum(notes) FILTER (WHERE visible), 0) AS notes,"
        " coalesce(sum(passages) FILTER (WHERE visible), 0) AS passages,"
        " coalesce(sum(tokens) FILTER (WHERE visible), 0) AS tokens, sum(passages) FILTER (WHERE owner = '') AS public,"
        " sum(passages) AS stored, max(revision) AS revision FROM (SELECT *, owner = ANY(%(audiences)s::text[])"
        " OR %(audiences)s::text[] IS NULL AS visible FROM knowledge_corpus) o) c"
        " LEFT JOIN knowledge_models m ON m.name = %(model)s WHERE c.public IS NOT NULL",
        {"audiences": viewer and list(viewer.audiences), "model": model},
    )


def parse(found: Rows) -> Statistics:
    if not found:
        raise LookupError("knowledge_corpus has lost its row")
    return Statistics(*found[0])


def apply(connection: "Connection", change: StatisticsChange) -> None:
    """Call last in a transaction: other writers wait from here until it ends. The row of public notes is locked before
    all others, so that two writers cannot deadlock."""
    owners = {*change.notes, *change.passages, *change.tokens} - {PUBLIC}
    statements = [
        Statement(
            "INSERT INTO knowledge_corpus AS c (notes, passages, tokens, revision, owner) VALUES (%s, %s, %s, 1, %s)"
            " ON CONFLICT (owner) DO UPDATE SET notes = c.notes + excluded.notes, revision = c.revision + 1,"
            " passages = c.passages + excluded.passages, tokens = c.tokens + excluded.tokens",
            (change.notes[owner], change.passages[owner], change.tokens[owner], owner),
        )
        for owner in (PUBLIC, *sorted(owners))
    ]
    for model, number in sorted(change.vectors.items()):
        added = "UPDATE knowledge_models SET vectors = vectors + %s WHERE id = %s"
        statements.append(Statement(added, (number, model)))
    changed = {term: number for term, number in change.terms.items() if number}
    if changed:
        counted = (
            "INSERT INTO knowledge_vocabulary SELECT * FROM unnest(%s::text[], %s::bigint[]) ON CONFLICT (term)"
            " DO UPDATE SET passages = knowledge_vocabulary.passages + excluded.passages"
        )
        statements.append(Statement(counted, (list(changed), list(changed.values()))))
    if fewer := [term for term, number in changed.items() if number < 0]:
        gone = "DELETE FROM knowledge_vocabulary WHERE term = ANY(%s::text[]) AND passages <= 0"
        statements.append(Statement(gone, (fewer,)))
    together(connection, *statements)


def select_frequencies(viewer: Viewer, terms: Sequence[str], prefixes: Sequence[str] = ()) -> Statement:
    """Indexed terms that the viewer may see, those given and those with the prefixes, and the number of passages with
    each; unknown terms are left out."""
    indexed = list(private_terms.visible_terms(terms, viewer.audiences))
    ranges = private_terms.visible_ranges(prefixes, viewer.audiences)
    values = {"terms": indexed, "lows": [low for low, _ in ranges], "highs": [high for _, high in ranges]}
    return Statement(_FREQUENCIES + (_WITH_PREFIX if prefixes else ""), values)
