"""What every store of our own does alike in a search: which words to look up, and how passages become hits."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from chie.knowledge import ranking
from chie.knowledge.note import Hit, Note

NEAR = 50  # notes taken by meaning, at the least
WORDS = 100  # passages taken by words
POSTINGS = 4000  # places where words stand that one search looks at


@dataclass(frozen=True)
class Scored:
    """A passage of a note, which is known by the store's own number for it."""

    note: int
    start: int
    stop: int
    score: float


def telling(asked: Sequence[str], standing_in: Mapping[str, int]) -> Sequence[str]:
    """The rarest words, as many as can be looked up in bounded time; common ones say little anyway."""
    known = sorted(standing_in, key=lambda word: (standing_in[word], word))
    costs = accumulate(standing_in[word] for word in known)
    affordable = [word for word, cost in zip(known, costs, strict=True) if cost <= POSTINGS]
    return affordable or known[:1] or asked


def weights(asked: Sequence[str], found: Sequence[tuple[int, float]], had: Iterable[str]) -> dict[int, float]:
    """Passages with their weight in words, as `ranking` defines it; `had` are the words of the first of them."""
    covered = len(set(asked).intersection(had)) / len(asked)
    return {passage: covered * score / found[0][1] for passage, score in found}


def best(passages: Iterable[Scored], limit: int) -> list[Scored]:
    """The best passage of each of the best notes."""
    of_note: dict[int, Scored] = {}
    for scored in passages:
        if scored.note not in of_note or scored.score > of_note[scored.note].score:
            of_note[scored.note] = scored
    return sorted(of_note.values(), key=lambda scored: (-scored.score, scored.note))[:limit]


def hit(note: Note, scored: Scored) -> Hit:
    passage = note.content[scored.start : scored.stop]
    return Hit(
        id=note.id,
        title=note.title,
        content=passage.strip(),
        score=ranking.shown(scored.score),
        tags=note.tags,
        source=note.source,
        status=note.status,
        user_id=note.user_id,
        private=note.private,
        created_at=note.created_at,
        updated_at=note.updated_at,
        partial=len(passage) < len(note.content),
    )
