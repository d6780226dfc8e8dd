"""One search: semantic and lexical candidates, one score, the best passage of each note."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from chie.knowledge.note import Hit
from chie.knowledge.search.ranking import Match, Query
from chie.knowledge.search.tokens import query_tokens
from chie.knowledge.store import private_terms, scoring
from chie.knowledge.store.corrections import with_corrections
from chie.knowledge.store.scoring import RankedPassage, TextPassage
from chie.knowledge.store.sqlite import note_table, words
from chie.knowledge.store.sqlite.filtering import Conditions, matching
from chie.knowledge.store.sqlite.pruning import contenders
from chie.knowledge.store.sqlite.words import Corpus

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors
    from chie.knowledge.store.sqlite.vectors import SqliteVectors


@dataclass(frozen=True)
class Search:
    """`vector` is None if the query could not be embedded: then words alone decide."""

    connection: sqlite3.Connection
    vectors: "SqliteVectors"
    query: Query
    vector: "Vectors | None"
    corpus: Corpus
    visible: Sequence[int] | None  # the only passages that the viewer sees, if they are few
    hidden: Sequence[int]  # passages that the viewer must not see

    def hits(self, *, limit: int, conditions: Conditions) -> list[Hit]:
        among = matching(self.connection, conditions) if conditions else self.visible
        near = self._by_meaning(max(scoring.MIN_SEMANTIC_CANDIDATES, 2 * limit), among)
        shares = self._by_words(among)
        candidates = self._contenders(list(dict.fromkeys([*near, *shares])), shares, limit)
        ranked = (one for one in self._ranked(candidates, shares) if one.match.is_hit)
        best = scoring.best_per_note(ranked, limit)
        best = scoring.with_shown(best, self._texts([one.note for one in best]), query_tokens(self.query.text))
        notes = note_table.get_many(self.connection, [ranked.note for ranked in best])
        return scoring.to_hits(best, notes, self.corpus.passages)

    def _by_meaning(self, count: int, among: Sequence[int] | None) -> list[int]:
        if self.vector is None:
            return []
        return self.vectors.nearest(self.connection, self.vector, count, among=among, without=self.hidden)

    def _by_words(self, among: Sequence[int] | None) -> dict[int, float]:
        """Passages and their share of the query's words, as `ranking` defines it."""
        text = self.query.text
        passages, length, audiences = self.corpus
        look_up = partial(words.frequencies, self.connection, audiences)
        tokens = query_tokens(text)
        terms = with_corrections(text, tokens, look_up(tokens), look_up)
        frequencies = terms.frequencies
        if not frequencies:
            return {}
        weights = scoring.term_weights(frequencies, passages)
        rarest = {term: weights[term] for term in scoring.rarest_terms(frequencies)}
        lookups = private_terms.lookups(terms.weighed(rarest), audiences)
        lengths = partial(self.vectors.lengths, self.connection)
        found = words.covered(self.connection, lookups, length / passages, lengths, among)
        total = scoring.total_weight(terms.terms, weights, passages)
        return {passage: covered / total for passage, covered in found.items()}

    def _contenders(self, candidates: Sequence[int], shares: dict[int, float], limit: int) -> Sequence[int]:
        estimates = None if self.vector is None else self.vectors.estimates(self.vector, candidates)
        return contenders(candidates, shares, estimates, limit) if estimates else candidates

    def _ranked(self, passages: Sequence[int], shares: dict[int, float]) -> Iterator[RankedPassage]:
        cosines = {} if self.vector is None else self.vectors.cosines(self.connection, self.vector, passages)
        verbatim = self._verbatim(scoring.perhaps_verbatim(passages, shares))
        found = self.connection.execute(
            "SELECT id, note, start, stop, question FROM passages WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(passages),),
        )
        for passage, note, start, stop, question in found:
            match = Match(cosines.get(passage), shares.get(passage, 0.0), passage in verbatim)
            yield RankedPassage(note, start, stop, match, question)

    def _texts(self, notes: Sequence[int]) -> list[TextPassage]:
        """The passages of those of the notes whose text has several."""
        found = self.connection.execute(
            "SELECT p.id, p.note, p.start, p.stop, w.tokens FROM passages p JOIN words w ON w.rowid = p.id"
            " WHERE p.question IS NULL AND p.note IN (SELECT note FROM passages WHERE note IN"
            " (SELECT value FROM json_each(?)) AND (part > 0 OR question IS NOT NULL))",
            (json.dumps(notes),),
        ).fetchall()
        ids = [row[0] for row in found]
        cosines = self.vectors.cosines(self.connection, self.vector, ids) if ids and self.vector is not None else {}
        return [
            TextPassage(note, start, stop, cosines.get(passage), frozenset(map(private_terms.plain, tokens.split())))
            for passage, note, start, stop, tokens in found
        ]

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
