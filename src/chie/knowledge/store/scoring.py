"""Search steps that the SQL stores share: choosing the terms to look up, and turning passages into hits."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import log

from chie.knowledge import ranking
from chie.knowledge.note import Hit, Note

MIN_SEMANTIC_CANDIDATES = 50  # notes
MAX_LEXICAL_CANDIDATES = 100  # passages
MAX_POSTINGS = 4000  # index entries that one search reads

# BM25, the same in both stores. SQLite's FTS5 uses these parameters too, but counts notes that the viewer must not see.
K1, B = 1.2, 0.75
MIN_TERM_WEIGHT = 1e-6  # of a term that occurs in at least half of all passages


@dataclass(frozen=True)
class ScoredPassage:
    """`note` is the store's row number of the note."""

    note: int
    start: int
    stop: int
    score: float


def rarest_terms(frequencies: Mapping[str, int]) -> list[str]:
    """The rarest terms whose postings stay within MAX_POSTINGS, at least one; frequent terms say little."""
    known = sorted(frequencies, key=lambda term: (frequencies[term], term))
    costs = accumulate(frequencies[term] for term in known)
    affordable = [term for term, cost in zip(known, costs, strict=True) if cost <= MAX_POSTINGS]
    return affordable or known[:1]


def term_weights(frequencies: Mapping[str, int], passages: int) -> dict[str, float]:
    """The BM25 weight of each of the rarest terms; both arguments count visible passages only."""
    rarities = {
        term: log((passages - frequencies[term] + 0.5) / (frequencies[term] + 0.5))
        for term in rarest_terms(frequencies)
    }
    return {term: rarity if rarity > 0 else MIN_TERM_WEIGHT for term, rarity in rarities.items()}


def word_scores(
    terms: Sequence[str], found: Sequence[tuple[int, float]], terms_of_best: Iterable[str]
) -> dict[int, float]:
    """Each passage's share of words, as `ranking` defines it, from BM25 scores with the best first."""
    covered = len(set(terms).intersection(terms_of_best)) / len(terms)
    return {passage: covered * score / found[0][1] for passage, score in found}


def best_per_note(passages: Iterable[ScoredPassage], limit: int) -> list[ScoredPassage]:
    """The best passage of each of the `limit` best notes."""
    best: dict[int, ScoredPassage] = {}
    for scored in passages:
        if scored.note not in best or scored.score > best[scored.note].score:
            best[scored.note] = scored
    return sorted(best.values(), key=lambda scored: (-scored.score, scored.note))[:limit]


def to_hit(note: Note, scored: ScoredPassage) -> Hit:
    passage = note.content[scored.start : scored.stop]
    return Hit(
        id=note.id,
        title=note.title,
        content=passage.strip(),
        score=ranking.display_score(scored.score),
        tags=note.tags,
        source=note.source,
        status=note.status,
        user_id=note.user_id,
        private=note.private,
        created_at=note.created_at,
        updated_at=note.updated_at,
        partial=len(passage) < len(note.content),
    )
