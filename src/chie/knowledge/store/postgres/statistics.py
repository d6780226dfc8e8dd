"""Exact counts over all notes, which BM25 needs. Transactions that change notes update them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chie.knowledge.store.postgres.pool import Connection


@dataclass(frozen=True)
class Statistics:
    """`model` is the current model's id, None before its first vector, and `indexed` whether it has an index.
    `has_hidden` is whether there are passages that the viewer must not see."""

    notes: int
    passages: int
    tokens: int
    revision: int
    model: int | None
    vectors: int
    indexed: bool
    has_hidden: bool

    @property
    def missing(self) -> int:
        return self.passages - self.vectors


@dataclass
class StatisticsChange:
    """The difference that one transaction makes."""

    notes: int = 0
    passages: int = 0
    tokens: int = 0
    terms: Counter[str] = field(default_factory=Counter)
    vectors: Counter[int] = field(default_factory=Counter)

    def count(self, terms: Sequence[str], length: int, sign: int = 1) -> None:
        """Add a passage or, with a sign of -1, remove it."""
        self.passages += sign
        self.tokens += sign * length
        for term in terms:
            self.terms[term] += sign


def read(connection: "Connection", model: str | None, viewer: str = "") -> Statistics:
    row = connection.execute(
        "SELECT c.notes, c.passages, c.tokens, c.revision, m.id, coalesce(m.vectors, 0), coalesce("
        " (SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('knowledge_nearest_' || m.id)), false),"
        " EXISTS (SELECT 1 FROM knowledge_passages WHERE owner IS NOT NULL AND owner <> %s)"
        " FROM knowledge_corpus c LEFT JOIN knowledge_models m ON m.name = %s",
        (viewer, model),
    ).fetchone()
    if row is None:
        raise LookupError("knowledge_corpus has lost its row")
    return Statistics(*row)


def apply(connection: "Connection", change: StatisticsChange) -> None:
    """Call last in a transaction: other writers wait from here until it ends. The single row is locked before the many
    rows, so that two writers cannot deadlock."""
    connection.execute(
        "UPDATE knowledge_corpus SET notes = notes + %s, passages = passages + %s, tokens = tokens + %s,"
        " revision = revision + 1",
        (change.notes, change.passages, change.tokens),
    )
    for model, number in sorted(change.vectors.items()):
        connection.execute("UPDATE knowledge_models SET vectors = vectors + %s WHERE id = %s", (number, model))
    changed = {term: number for term, number in change.terms.items() if number}
    if changed:
        connection.execute(
            "INSERT INTO knowledge_vocabulary SELECT * FROM unnest(%s::text[], %s::bigint[]) ON CONFLICT (term)"
            " DO UPDATE SET passages = knowledge_vocabulary.passages + excluded.passages",
            (list(changed), list(changed.values())),
        )
    if fewer := [term for term, number in changed.items() if number < 0]:
        connection.execute("DELETE FROM knowledge_vocabulary WHERE term = ANY(%s) AND passages <= 0", (fewer,))


def document_frequencies(connection: "Connection", terms: Sequence[str]) -> dict[str, int]:
    """The number of passages with each term; unknown terms are left out."""
    found = connection.execute("SELECT term, passages FROM knowledge_vocabulary WHERE term = ANY(%s)", (list(terms),))
    return dict(found.fetchall())
