"""Search by words alone and by meaning alone, over the same passages as ours: both parts of our rank on their own."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from math import log

import numpy as np

from bench.labelled import LabelledNote
from chie.knowledge.embedding.base import Embedder
from chie.knowledge.note import Note
from chie.knowledge.search.passages import index_tokens, split
from chie.knowledge.search.tokens import query_tokens
from chie.knowledge.store.scoring import K1, B
from chie.knowledge.validation import valid_title

Rank = Callable[[str], Sequence[str]]
"""The ids of the labelled notes that a query finds, best first."""

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
DEPTH = 10


def by_meaning(notes: Sequence[LabelledNote], embedder: Embedder) -> Rank:
    """Cosine."""
    passages = [(note.id, passage.text) for note in notes for passage in split(as_note(note))]
    matrix = embedder.embed([text for _, text in passages])
    owners = [owner for owner, _ in passages]
    return lambda query: _best(owners, matrix @ embedder.embed([query])[0])


def by_words(notes: Sequence[LabelledNote]) -> Rank:
    """BM25 with the tokens of our index."""
    stored = [as_note(note) for note in notes]
    passages = [(note.id, Counter(index_tokens(note, passage.text))) for note in stored for passage in split(note)]
    postings: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for at, (_, counts) in enumerate(passages):
        for token, often in counts.items():
            postings[token].append((at, often))
    lengths = np.array([counts.total() for _, counts in passages])
    owners = [owner for owner, _ in passages]
    norms = K1 * (1 - B + B * lengths / lengths.mean())

    def rank(query: str) -> list[str]:
        scores = np.zeros(len(passages))
        for token in query_tokens(query):
            found = postings.get(token, ())
            rarity = log(1 + (len(passages) - len(found) + 0.5) / (len(found) + 0.5))
            for at, often in found:
                scores[at] += rarity * often * (K1 + 1) / (often + norms[at])
        return _best(owners, scores)

    return rank


def as_note(note: LabelledNote) -> Note:
    title = valid_title(note.title, note.content)
    return Note(
        id=note.id,
        title=title,
        content=note.content,
        tags=list(note.tags),
        questions=list(note.questions),
        created_at=MOMENT,
        updated_at=MOMENT,
    )


def _best(owners: Sequence[str], scores: "np.typing.NDArray[np.float64]") -> list[str]:
    order = np.argsort(-scores, kind="stable")
    best = dict.fromkeys(owners[at] for at in order[: 8 * DEPTH] if scores[at] > 0)
    return list(best)[:DEPTH]
