"""Steps that the SQLite and PostgreSQL stores share because both embed notes themselves."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from chie.knowledge.embedding.base import Embedder, EmbeddingError
from chie.knowledge.history.versions import Change
from chie.knowledge.note import Hit, Note
from chie.knowledge.search.passages import Passage, index_tokens, split
from chie.knowledge.search.ranking import Match, Query
from chie.knowledge.search.tokens import query_tokens
from chie.knowledge.store import scoring
from chie.knowledge.store.base import Similarity
from chie.knowledge.store.degraded import indexing_in_progress, searched_by_words
from chie.knowledge.store.linked import LinkedStore
from chie.knowledge.store.scoring import RankedPassage
from chie.messages.catalogue import Message

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors

PassageKey: TypeAlias = tuple[str, int]
"""A note's id and the position of a passage among the note's."""

PROBE_TEXT = "知恵"
MAX_EMBEDDED = 200  # passages of earlier versions, for one search


class EmbeddingModel:
    """The embedder, and the name under which a store keeps its vectors: id and dimension."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.name: str | None = None
        self.dimension = 0

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """Raises EmbeddingError. The first call determines the name."""
        vectors = self._embedder.embed(texts)
        if self.name is None:
            self.dimension = vectors.shape[1]
            self.name = f"{self._embedder.id}:{self.dimension}"
        return vectors

    def ensure_name(self) -> None:
        """Raises EmbeddingError if the dimension is unknown and the model is not available."""
        if self.name is None:
            self.embed([PROBE_TEXT])


class SqlNoteStore(LinkedStore):
    def __init__(self, model: EmbeddingModel) -> None:
        self._model = model

    def save(self, note: Note, *, replacing: Note | None = None, change: Change | None = None) -> Message | None:
        return self._apply([(replacing, note)], change)

    def replace_all(
        self,
        replacements: Sequence[tuple[Note | None, Note]],
        *,
        change: Change,
        deleting: Sequence[Note] = (),
        unchanged: Sequence[Note] = (),
    ) -> Message | None:
        return self._apply(replacements, change, deleting, unchanged)

    @abstractmethod
    def _apply(
        self,
        replacements: Sequence[tuple[Note | None, Note]],
        change: Change | None,
        deleting: Sequence[Note] = (),
        unchanged: Sequence[Note] = (),
    ) -> Message | None:
        """Store, replace and delete notes in one transaction, as `save` and `replace_all` say."""

    def embeddings(self, notes: Sequence[Note]) -> "dict[str, Vectors]":
        self._model.ensure_name()
        stored = self._passage_vectors([note.id for note in notes])
        return {
            passage.text: stored[note.id, part]
            for note in notes
            for part, passage in enumerate(split(note))
            if (note.id, part) in stored
        }

    def similarities(self, query: str, notes: Sequence[Note]) -> dict[str, Similarity]:
        vectors, _ = self._embed([query])
        if vectors is None or not notes:
            return {}
        stored = self._passage_vectors([note.id for note in notes])
        found = {}
        for note in notes:
            cosines: tuple[list[float], list[float]] = ([], [])
            for part, passage in enumerate(split(note)):
                if (vector := stored.get((note.id, part))) is not None:
                    cosines[passage.question is not None].append(float(vector @ vectors[0]))
            of_text, of_questions = cosines
            if of_text:
                found[note.id] = Similarity(max(of_text), max(of_questions, default=None))
        return found

    def rank_notes(self, query: str, notes: Sequence[Note]) -> list[Hit]:
        if not query or not notes:
            newest = sorted(notes, key=lambda note: (note.created_at, note.id), reverse=True)
            return scoring.listed(newest)
        passages = [(number, passage) for number, note in enumerate(notes) for passage in split(note)]
        terms, asked = query_tokens(query), Query(query)
        total = sum(map(scoring.part_of_word, terms)) or 1.0
        shares = []
        for number, passage in passages:
            known = set(index_tokens(notes[number], passage.text))
            shares.append(sum(scoring.part_of_word(term) for term in terms if term in known) / total)
        cosines = self._cosines(query, [passage.text for _, passage in passages], _foremost(passages, shares), notes)
        ranked = []
        for (number, passage), words in zip(passages, shares, strict=True):
            match = Match(cosines.get(passage.text), words, asked.occurs_in(passage.text))
            if match.is_hit:
                ranked.append(RankedPassage(number, passage.start, passage.end, match, passage.question))
        best = scoring.best_per_note(ranked, len(notes))
        return scoring.to_hits(best, dict(enumerate(notes)), max(len(passages), self.check().notes))

    def _cosines(
        self, query: str, texts: Sequence[str], order: Sequence[int], notes: Sequence[Note]
    ) -> dict[str, float]:
        """How similar texts of earlier versions are to the query. What a note still says has a vector; of the others,
        those that come first in this order are embedded."""
        current = [note for note_id in dict.fromkeys(note.id for note in notes) if (note := self.get(note_id))]
        wanted = set(texts)
        try:
            known = {text: vector for text, vector in self.embeddings(current).items() if text in wanted}
            missing = [texts[at] for at in order if texts[at] not in known][:MAX_EMBEDDED]
            first, *vectors = self._model.embed([query, *missing])
        except EmbeddingError:
            return {}
        known |= dict(zip(missing, vectors, strict=True))
        return {text: float(vector @ first) for text, vector in known.items()}

    def embed(self, texts: Sequence[str]) -> "Vectors":
        return self._model.embed(texts)

    @abstractmethod
    def _passage_vectors(self, note_ids: Sequence[str]) -> "dict[PassageKey, Vectors]":
        """Stored vectors of the current model."""

    @abstractmethod
    def _start_backfill(self) -> None: ...

    def _embed(self, texts: Sequence[str]) -> "tuple[Vectors | None, Message | None]":
        """Vectors, or the reason why there are none."""
        try:
            return self._model.embed(texts), None
        except EmbeddingError as error:
            return None, error.reason

    def _search_notice(self, failure: Message | None, missing: int, hidden: int) -> Message | None:
        """`hidden` of the missing passages belong to notes that the viewer does not see, and are not counted."""
        if failure:
            return searched_by_words(failure)
        if missing:
            self._start_backfill()
        return indexing_in_progress(missing - hidden) if missing > hidden else None


def backfill_texts(found: Sequence[tuple[int, str, int]], notes: Mapping[str, Note | None]) -> dict[int, str]:
    """The text to embed for each passage id, given with the note's id and the passage's position; passages of notes
    that were deleted meanwhile are left out."""
    texts = {note_id: [passage.text for passage in split(note)] for note_id, note in notes.items() if note}
    return {passage: texts[note_id][part] for passage, note_id, part in found if part < len(texts.get(note_id, ()))}


def _foremost(passages: Sequence[tuple[int, Passage]], shares: Sequence[float]) -> list[int]:
    """The passages in the order in which they are worth embedding: the best of each note by their words, then the
    second best."""
    ranks: Counter[int] = Counter()
    order = []
    for at in sorted(range(len(passages)), key=lambda at: -shares[at]):
        note = passages[at][0]
        order.append((ranks[note], at))
        ranks[note] += 1
    return [at for _, at in sorted(order, key=lambda one: one[0])]
