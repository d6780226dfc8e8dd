"""Search steps that the SQL stores share: choosing the terms to look up, and turning passages into hits."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import log

from chie.knowledge import ranking
from chie.knowledge.note import Hit, Note
from chie.knowledge.passages import excerpt, shown
from chie.knowledge.ranking import Match

MIN_SEMANTIC_CANDIDATES = 50  # notes
MAX_LEXICAL_CANDIDATES = 100  # passages
MAX_POSTINGS = 4000  # index entries that one search reads

# BM25, the same in both stores. SQLite's FTS5 uses these parameters too, but counts notes that the viewer must not see.
K1, B = 1.2, 0.75

# Bigrams cut Japanese words into several terms, and put particles between them; a Latin word is one term.
LATIN_WORD, PARTICLE, INTERROGATIVE = 2.0, 0.3, 0.1
_PARTICLE = re.compile(r"[ハガヲニデトノモヘヤカ][々\u4e00-\u9fff]|[々\u4e00-\u9fff][ハガヲニデトノモヘヤカ]")
_INTERROGATIVE = re.compile(r"[何誰]")
_JAPANESE = "\u2e80"  # the first of the letters that become bigrams


@dataclass(frozen=True)
class RankedPassage:
    """`note` is the store's row number of the note, `question` the position of the question that matched."""

    note: int
    start: int
    stop: int
    match: Match
    question: int | None = None


def rarest_terms(frequencies: Mapping[str, int]) -> list[str]:
    """The rarest terms whose postings stay within MAX_POSTINGS, at least one; frequent terms say little."""
    known = sorted(frequencies, key=lambda term: (frequencies[term], term))
    costs = accumulate(frequencies[term] for term in known)
    affordable = [term for term, cost in zip(known, costs, strict=True) if cost <= MAX_POSTINGS]
    return affordable or known[:1]


def term_weights(frequencies: Mapping[str, int], passages: int) -> dict[str, float]:
    """The rarity of each term, by how much of a word it is; both arguments count visible passages only. It is positive
    in the smallest store."""
    return {term: part_of_word(term) * _rarity(number, passages) for term, number in frequencies.items()}


def total_weight(terms: Sequence[str], weights: Mapping[str, float], passages: int) -> float:
    """Of all terms of a query; one that no passage has is as rare as can be."""
    unknown = _rarity(0, passages)
    return sum(weights.get(term, part_of_word(term) * unknown) for term in terms)


def part_of_word(term: str) -> float:
    """How much a term says beside its rarity: a Latin word as much as two bigrams, a bigram with a particle (`ノ障`)
    less than one inside a word (`障害`), and what makes a question of a sentence (`何ガ`) next to nothing."""
    if term < _JAPANESE:
        return LATIN_WORD
    if _INTERROGATIVE.search(term):
        return INTERROGATIVE
    return PARTICLE if _PARTICLE.fullmatch(term) else 1.0


def _rarity(frequency: int, passages: int) -> float:
    return log(1 + (passages - frequency + 0.5) / (frequency + 0.5))


def least_terms(phrase_terms: Sequence[object]) -> int:
    """How many of a phrase's terms a note with the phrase has at least: see `phrase_terms`."""
    return len(phrase_terms) - 1 if len(phrase_terms) > 2 else len(phrase_terms)


def perhaps_verbatim(passages: Sequence[int], words: Mapping[int, float]) -> list[int]:
    """Passages that can have the whole query, because they have all of its words, if it has any."""
    return [passage for passage in passages if not words or words.get(passage, 0) >= ranking.MIN_PHRASE_COVERAGE]


def best_per_note(passages: Iterable[RankedPassage], limit: int) -> list[RankedPassage]:
    """The best passage of each of the `limit` best notes."""
    best: dict[int, RankedPassage] = {}
    for ranked in passages:
        if ranked.note not in best or ranked.match.rank > best[ranked.note].match.rank:
            best[ranked.note] = ranked
    return sorted(best.values(), key=lambda ranked: (-ranked.match.rank, ranked.note))[:limit]


def found_by_question(best: Iterable[RankedPassage]) -> list[int]:
    """The notes of which a question is best: `with_texts` needs the passages of their text."""
    return [ranked.note for ranked in best if ranked.question is not None]


def with_texts(best: Sequence[RankedPassage], texts: Iterable[RankedPassage]) -> list[RankedPassage]:
    """A question finds a note; what is shown is the passage of its text that is nearest to the query."""
    nearest = {ranked.note: ranked for ranked in best_per_note(texts, len(best))}
    return [
        ranked
        if ranked.question is None or ranked.note not in nearest
        else replace(ranked, start=nearest[ranked.note].start, stop=nearest[ranked.note].stop)
        for ranked in best
    ]


def to_hits(best: Sequence[RankedPassage], notes: Mapping[int, Note], passages: int) -> list[Hit]:
    """A hit that words rank above a more similar one gets the score of that one, so that scores never contradict the
    order."""
    hits: list[Hit] = []
    score = 0.0
    for ranked in reversed(best):
        score = max(score, ranked.match.similarity)
        hits.append(_hit(notes[ranked.note], ranked, score, passages))
    return hits[::-1]


def listed(notes: Iterable[Note]) -> list[Hit]:
    """Notes that were not compared with anything: they match the filters, which is all that was asked."""
    return [_passage_hit(note, *shown(note)[0], score=1.0, confident=True) for note in notes]


def _hit(note: Note, ranked: RankedPassage, score: float, passages: int) -> Hit:
    confident = ranked.match.is_confident(passages)
    hit = _passage_hit(note, ranked.start, ranked.stop, score=score, confident=confident)
    return hit if ranked.question is None else replace(hit, question=note.questions[ranked.question])


def _passage_hit(note: Note, start: int, stop: int, *, score: float, confident: bool) -> Hit:
    return Hit(
        id=note.id,
        title=note.title,
        content=excerpt(note.content, start, stop),
        score=ranking.display_score(score),
        confident=confident,
        tags=note.tags,
        source=note.source,
        status=note.status,
        user_id=note.user_id,
        space=note.space,
        private=note.private,
        proposal=note.proposal,
        confirmed_by=note.confirmed_by,
        anchor=note.anchor,
        created_at=note.created_at,
        updated_at=note.updated_at,
        partial=stop - start < len(note.content),
    )
