"""Compares notes with their nearest neighbours, a slice at a time, and keeps what it finds."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING

from chie.database.cursor import utc_text
from chie.knowledge.embedding.base import EmbeddingError
from chie.knowledge.note import Note
from chie.knowledge.review.findings import FoundPair, ReviewNote
from chie.knowledge.review.text import Text
from chie.knowledge.review.verdict import MIN_COSINE, judge
from chie.knowledge.review.vocabulary import Vocabulary
from chie.knowledge.store.base import NoteStore
from chie.knowledge.store.review_records import ReviewRecords

if TYPE_CHECKING:
    from datetime import datetime

    from chie.knowledge.embedding.base import Vectors

MAX_NEIGHBOURS = 4  # of each note that are compared with it
BATCH = 2  # notes between two looks at the clock
MAX_JUDGED = 20_000  # pairs whose judgement is remembered; two notes are often among the nearest of each other
MAX_COMPARED = 1_500  # characters of a note; a comparison takes the square of it


@dataclass(frozen=True)
class _Matrix:
    rows: dict[str, int]
    ids: list[str]
    vectors: "Vectors"


class Scan:
    """One per process. Nothing runs by itself: every request for the review does a slice of the work that is left."""

    def __init__(self, store: NoteStore, records: ReviewRecords) -> None:
        self._store = store
        self._records = records
        self._vocabulary = Vocabulary(store.embed)
        self._judged: dict[tuple[str, datetime, str, datetime], FoundPair | None] = {}
        self._running = Lock()

    def pending(self) -> set[str]:
        """The notes that were not compared in their present version."""
        return {note.id for note in self._outdated(self._store.review_notes())}

    def advance(self, seconds: float) -> set[str]:
        """Compare notes for about so long. Returns those that are left; another request that is at it already counts.
        They are notes of all users: callers must not show how many there are."""
        if not self._running.acquire(blocking=False):
            return self.pending()
        try:
            return self._advance(seconds)
        except EmbeddingError:
            return set()
        finally:
            self._running.release()

    def _advance(self, seconds: float) -> set[str]:
        notes = {note.id: note for note in self._store.review_notes()}
        self._forget_deleted(notes.keys())
        waiting = self._outdated(list(notes.values()))
        if not waiting:
            return set()
        found = self._store.first_vectors()
        if found is None:
            return set()
        matrix = _Matrix({note: at for at, note in enumerate(found[0])}, *found)
        embedded = [note for note in waiting if note.id in matrix.rows]
        partners = self._partners()
        done, deadline = 0, monotonic() + seconds
        while done < len(embedded) and (done == 0 or monotonic() < deadline):
            batch = embedded[done : done + BATCH]
            pairs = [pair for note in batch for pair in self._compared(note, notes, matrix, partners[note.id])]
            for pair in pairs:
                partners[pair.a].add(pair.b)
                partners[pair.b].add(pair.a)
            self._records.store_pairs({note.id: utc_text(note.updated_at) for note in batch}, pairs)
            done += len(batch)
        return {note.id for note in embedded[done:]}

    def _outdated(self, notes: Sequence[ReviewNote]) -> list[ReviewNote]:
        """Newest first: what somebody has just written is what they are asked about."""
        checked = self._records.checked()
        waiting = [note for note in notes if checked.get(note.id) != utc_text(note.updated_at)]
        return sorted(waiting, key=lambda note: note.updated_at, reverse=True)

    def _forget_deleted(self, existing: Collection[str]) -> None:
        gone = sorted(self._records.checked().keys() - set(existing))
        if gone:
            self._records.forget_notes(gone)

    def _partners(self) -> defaultdict[str, set[str]]:
        found: defaultdict[str, set[str]] = defaultdict(set)
        for pair in self._records.pairs():
            found[pair.a].add(pair.b)
            found[pair.b].add(pair.a)
        return found

    def _compared(
        self, note: ReviewNote, notes: dict[str, ReviewNote], matrix: _Matrix, partners: Collection[str]
    ) -> list[FoundPair]:
        """Compares the note with its nearest ones and its partners: a note may be nearest to one that has nearer ones,
        and the pair must not be lost when that one is compared."""
        stored = self._store.get(note.id)
        if stored is None:
            return []
        found = []
        for other_id, cosine in _neighbours(note.id, matrix, partners):
            other = notes.get(other_id)
            if other is None or (note.owner and other.owner and note.owner != other.owner):
                continue
            theirs = self._store.get(other_id)
            if theirs is not None and (pair := self._judgement(stored, theirs, cosine)):
                found.append(pair)
        return found

    def _judgement(self, note: Note, other: Note, cosine: float) -> FoundPair | None:
        first, second = (note, other) if note.id < other.id else (other, note)
        key = (first.id, first.updated_at, second.id, second.updated_at)
        if key not in self._judged:
            if len(self._judged) >= MAX_JUDGED:
                self._judged.clear()
            self._judged[key] = self._pair(first, second, cosine)
        return self._judged[key]

    def _pair(self, first: Note, second: Note, cosine: float) -> FoundPair | None:
        judgement = judge(_text(first), _text(second), cosine=cosine, likeness=self._vocabulary.likeness)
        if judgement is None:
            return None
        conflict = judgement.conflict
        here, there = (conflict.here, conflict.there) if conflict else ("", "")
        reason = conflict.difference if conflict else "same"
        return FoundPair(
            a=first.id,
            b=second.id,
            kind=judgement.verdict,
            probability=judgement.probability,
            reason=reason,
            here=here,
            there=there,
        )


def _neighbours(note: str, matrix: _Matrix, partners: Collection[str]) -> list[tuple[str, float]]:
    import numpy as np

    cosines = matrix.vectors @ matrix.vectors[matrix.rows[note]]
    cosines[matrix.rows[note]] = -1.0
    count = min(MAX_NEIGHBOURS, len(cosines) - 1)
    if count < 1:
        return []
    nearest = np.argpartition(-cosines, count - 1)[:count].tolist()
    rows = {*nearest, *(matrix.rows[partner] for partner in partners if partner in matrix.rows)}
    return [(matrix.ids[row], float(cosines[row])) for row in sorted(rows) if cosines[row] >= MIN_COSINE]


def _text(note: Note) -> Text:
    return Text(note.title, note.content[:MAX_COMPARED])
