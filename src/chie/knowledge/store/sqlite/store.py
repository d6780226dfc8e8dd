"""The embedded store: one file, a scan of all vectors in memory, and the words beside them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from chie.knowledge import ranking
from chie.knowledge.embedding.base import Embedder, EmbeddingError
from chie.knowledge.note import ANONYMOUS, Found, Note, Page, Similar, TagCount
from chie.knowledge.passages import reading, split
from chie.knowledge.ranking import Question
from chie.knowledge.store.base import Health, NoteStore, Outline, Pin
from chie.knowledge.store.degraded import FOUND_BY_WORDS, SAVED_WITHOUT_MEANING, STILL_READING
from chie.knowledge.store.sqlite import rows
from chie.knowledge.store.sqlite.backfill import Backfill
from chie.knowledge.store.sqlite.file import SqliteFile
from chie.knowledge.store.sqlite.search import Search
from chie.knowledge.store.sqlite.vectors import SqliteVectors

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors


class SqliteStore(NoteStore):
    def __init__(self, path: Path, embedder: Embedder) -> None:
        self._file = SqliteFile(path)
        self._vectors = SqliteVectors(embedder)
        self._backfill = Backfill(self._file, self._vectors)

    def save(self, note: Note, *, replacing: Note | None = None) -> str | None:
        passages = split(note)
        readings = [reading(note, passage) for passage in passages]
        vectors, failure = self._embed(readings)
        with self._file.write() as connection:
            ids = rows.insert(connection, note, passages, readings, replacing=replacing)
            if vectors is not None:
                self._vectors.insert(connection, ids, vectors)
        return SAVED_WITHOUT_MEANING.format(reason=failure) if failure else None

    def get(self, note_id: str) -> Note | None:
        with self._file.read() as connection:
            return rows.get(connection, note_id)

    def delete(self, note_id: str) -> bool:
        with self._file.write() as connection:
            return rows.remove(connection, note_id)

    def take(self, notes: Sequence[Note]) -> None:
        """In one transaction."""
        cut = [(note, split(note)) for note in notes]
        texts = [[reading(note, passage) for passage in passages] for note, passages in cut]
        vectors, _ = self._embed([text for one in texts for text in one])
        with self._file.write() as connection:
            ids = []
            for (note, passages), one in zip(cut, texts, strict=True):
                stored = rows.get(connection, note.id)
                ids.extend(rows.insert(connection, note, passages, one, replacing=stored))
            if vectors is not None:
                self._vectors.insert(connection, ids, vectors)

    def readings(self, notes: Sequence[Note]) -> "dict[str, Vectors]":
        self._vectors.know_model()
        with self._file.read() as connection:
            known = self._vectors.of_notes(connection, [note.id for note in notes])
        return {
            reading(note, passage): known[note.id, passage.start, passage.end]
            for note in notes
            for passage in split(note)
            if (note.id, passage.start, passage.end) in known
        }

    def walk(self, *, after: str | None, limit: int) -> list[Note]:
        with self._file.read() as connection:
            return rows.walk(connection, after=after, limit=limit)

    def browse(self, *, tag: str | None, limit: int, cursor: str | None, viewer: str = ANONYMOUS) -> Page:
        with self._file.read() as connection:
            return rows.page(connection, tag=tag, limit=limit, cursor=cursor, viewer=viewer)

    def search(self, query: str, *, limit: int, tags: Sequence[str], viewer: str = ANONYMOUS) -> Found:
        vectors, failure = self._embed([query])
        vector = None if vectors is None else vectors[0]
        with self._file.read() as connection:
            search = Search(connection, self._vectors, Question.of(query), vector, rows.hidden(connection, viewer))
            hits = search.hits(limit=limit, tags=tags)
            missing = 0 if vector is None else self._vectors.missing(connection)
        return Found(hits=hits, notice=self._notice(failure, missing))

    def similar(self, note: Note, *, limit: int, viewer: str = ANONYMOUS) -> list[Similar]:
        """By the first passage alone: two notes that say the same begin alike."""
        vectors, _ = self._embed([reading(note, split(note)[0])])
        if vectors is None:
            return []
        with self._file.read() as connection:
            hidden = rows.hidden(connection, viewer)
            near = self._vectors.nearest(connection, vectors[0], limit + 1, without=hidden)
            cosines = self._vectors.cosines(connection, vectors[0], near)
            titles = rows.titles(connection, [p for p, cosine in cosines.items() if cosine >= ranking.SAME])
        found = [
            Similar(id=note_id, title=title, score=ranking.shown(cosines[passage]))
            for passage, (note_id, title) in titles.items()
            if note_id != note.id
        ]
        return sorted(found, key=lambda similar: -similar.score)[:limit]

    def count(self, *, viewer: str = ANONYMOUS) -> int:
        with self._file.read() as connection:
            return rows.count(connection, viewer)

    def tags(self, *, viewer: str = ANONYMOUS) -> list[TagCount]:
        with self._file.read() as connection:
            return rows.tags(connection, viewer)

    def outline(self, *, limit: int, known: str | None = None, viewer: str = ANONYMOUS) -> Outline | None:
        self._vectors.know_model()
        with self._file.read() as connection:
            revision = self._vectors.revision(connection)
            if revision == known:
                return None
            notes, vectors = self._vectors.first_passages(connection, limit, viewer)
            pins = rows.pins(connection, notes)
        return Outline(revision=revision, pins=[Pin(id=i, title=t, tags=g) for i, t, g in pins], vectors=vectors)

    def check(self) -> Health:
        with self._file.read() as connection:
            return Health(notes=rows.count(connection))

    def close(self) -> None:
        self._backfill.close()
        self._file.close()

    def _embed(self, texts: Sequence[str]) -> "tuple[Vectors | None, str | None]":
        """Vectors, or the reason why there are none."""
        try:
            return self._vectors.embed(texts), None
        except EmbeddingError as error:
            return None, error.message

    def _notice(self, failure: str | None, missing: int) -> str | None:
        if failure:
            return FOUND_BY_WORDS.format(reason=failure)
        if missing:
            self._backfill.start()
            return STILL_READING.format(missing=missing)
        return None
