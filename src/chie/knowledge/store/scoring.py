"""Search steps that the SQL stores share: choosing the terms to look up, and turning passages into hits."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import log
from typing import NamedTuple

from chie.knowledge.note import Hit, Note
from chie.knowledge.search import ranking
from chie.knowledge.search.passages import excerpt, shown
from chie.knowledge.search.ranking import Match

MIN_SEMANTIC_CANDIDATES = 50  # notes
MAX_LEXICAL_CANDIDATES = 100  # passages
MAX_POSTINGS = 4000  # index entries that one search reads
SHOWN_WORDS = 0.3  # how much words weigh beside the cosine when a note's passages are compared with each other
NEARLY_AS_FIT = 0.03  # both passages are shown

ELLIPSIS = "\n\n…\n\n"  # between passages that are shown together

# BM25, the same in both stores. SQLite's FTS5 uses these parameters too, but counts notes that the viewer must not see.
K1, B = 1.2, 0.75

# Bigrams cut Japanese words into several terms, and put particles between them; a Latin word is one term.
LATIN_WORD, PARTICLE, INTERROGATIVE = 2.0, 0.3, 0.1
_PARTICLE = re.compile(r"[ハガヲニデトノモヘヤカ][々\u4e00-\u9fff]|[々\u4e00-\u9fff][ハガヲニデトノモヘヤカ]")
_INTERROGATIVE = re.compile(r"[何誰]")
_JAPANESE = "\u2e80"  # the first of the letters that become bigrams


@dataclass(frozen=True)
class RankedPassage:
    """`note` is the store's row number of the note, `question` the position of the question that matched. `second` is
    another passage that is shown too, because it answers nearly as well."""

    note: int
    start: int
    stop: int
    match: Match
    question: int | None = None
    second: tuple[int, int] | None = None


class TextPassage(NamedTuple):
    """A passage of a note's text; `terms` are plain."""

    note: int
    start: int
    stop: int
    cosine: float | None
    terms: frozenset[str]


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


def with_shown(
    best: Sequence[RankedPassage], texts: Iterable[TextPassage], query_terms: Sequence[str]
) -> list[RankedPassage]:
    """Which passage of its note each hit shows. What finds a note may be one of its questions, or a passage that all
    the notes of the subject have; within the note, words that few of its passages have tell which one answers."""
    passages: dict[int, list[TextPassage]] = {}
    for text in texts:
        passages.setdefault(text.note, []).append(text)
    return [_with_shown(ranked, passages.get(ranked.note, []), set(query_terms)) for ranked in best]


def _with_shown(ranked: RankedPassage, passages: Sequence[TextPassage], query_terms: set[str]) -> RankedPassage:
    if not passages or (ranked.match.verbatim and ranked.question is None):
        return ranked
    having = Counter(term for passage in passages for term in passage.terms & query_terms)
    weights = {term: _rarity(having[term], len(passages)) for term in query_terms}
    total = sum(weights.values()) or 1.0

    fitness: dict[tuple[int, int], float] = {}
    for passage in passages:
        share = sum(weights[term] for term in passage.terms & query_terms) / total
        fit = (passage.cosine or 0.0) + SHOWN_WORDS * share
        fitness[passage.start, passage.stop] = max(fit, fitness.get((passage.start, passage.stop), 0.0))
    first, *others = sorted(fitness, key=lambda place: -fitness[place])
    second = others[0] if others and fitness[others[0]] >= fitness[first] - NEARLY_AS_FIT else None
    return replace(ranked, start=first[0], stop=first[1], second=second)


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
    return [_passage_hit(note, shown(note)[:1], score=1.0, confident=True) for note in notes]


def _hit(note: Note, ranked: RankedPassage, score: float, passages: int) -> Hit:
    confident = ranked.match.is_confident(passages)
    places = _joined(sorted(filter(None, ((ranked.start, ranked.stop), ranked.second))))
    hit = _passage_hit(note, places, score=score, confident=confident)
    return hit if ranked.question is None else replace(hit, question=note.questions[ranked.question])


def _joined(places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Neighbours become one."""
    return [(places[0][0], places[-1][1])] if places[0][1] >= places[-1][0] else places


def _passage_hit(note: Note, places: Sequence[tuple[int, int]], *, score: float, confident: bool) -> Hit:
    return Hit(
        id=note.id,
        title=note.title,
        content=ELLIPSIS.join(excerpt(note.content, *place) for place in places),
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
        partial=sum(stop - start for start, stop in places) < len(note.content),
    )
