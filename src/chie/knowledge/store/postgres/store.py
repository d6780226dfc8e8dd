"""The store for many processes and hosts: notes, words and vectors in one PostgreSQL database."""

from collections.abc import Callable, Sequence
from threading import Lock
from typing import TYPE_CHECKING

from chie.database.url import PostgresUrl
from chie.errors import ConfigurationError
from chie.knowledge import ranking
from chie.knowledge.embedding.base import Embedder, EmbeddingError
from chie.knowledge.note import ANONYMOUS, Found, Note, Page, Similar, TagCount
from chie.knowledge.passages import reading, split
from chie.knowledge.ranking import Question
from chie.knowledge.store.base import Health, NoteStore, Outline, Pin
from chie.knowledge.store.degraded import FOUND_BY_WORDS, SAVED_WITHOUT_MEANING, STILL_READING
from chie.knowledge.store.postgres import corpus as counts
from chie.knowledge.store.postgres import rows
from chie.knowledge.store.postgres.backfill import Upkeep
from chie.knowledge.store.postgres.corpus import Change, Corpus
from chie.knowledge.store.postgres.rows import Draft
from chie.knowledge.store.postgres.search import Search
from chie.knowledge.store.postgres.vectors import PostgresVectors, Sight, literal, settings

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors
    from chie.knowledge.store.postgres.pool import Connection, PostgresServer


class PostgresStore(NoteStore):
    def __init__(self, url: PostgresUrl, embedder: Embedder) -> None:
        self._url = url
        self._opening = Lock()
        self._opened: PostgresServer | None = None
        self._vectors = PostgresVectors(embedder)
        self._upkeep = Upkeep(lambda: self._server, self._vectors)

    @property
    def _server(self) -> "PostgresServer":
        """The driver is loaded by the first thing that needs it."""
        with self._opening:
            if self._opened is None:
                try:
                    from chie.knowledge.store.postgres.pool import PostgresServer
                except ModuleNotFoundError as error:
                    raise ConfigurationError("database.driver_missing") from error
                self._opened = PostgresServer(self._url)
            return self._opened

    def save(self, note: Note, *, replacing: Note | None = None) -> str | None:
        draft = Draft.of(note)
        vectors, failure = self._embed(draft.readings)

        def work(connection: "Connection") -> None:
            change = Change()
            seq = rows.claim(connection, note, replacing, change)
            self._fill(connection, [(seq, draft)], vectors, change)

        self._write(work, with_vectors=vectors is not None)
        return SAVED_WITHOUT_MEANING.format(reason=failure) if failure else None

    def get(self, note_id: str) -> Note | None:
        return self._server.read(lambda connection: rows.get(connection, note_id))

    def delete(self, note_id: str) -> bool:
        def work(connection: "Connection") -> bool:
            change = Change()
            found = rows.remove(connection, note_id, change)
            if found:
                counts.apply(connection, change)
            return found

        return self._server.write(work)

    def take(self, notes: Sequence[Note]) -> None:
        """In one transaction; the rows are locked in one order, so that two who copy cannot wait for each other."""
        drafts = [Draft.of(note) for note in sorted(notes, key=lambda note: note.id)]
        vectors, _ = self._embed([text for draft in drafts for text in draft.readings])

        def work(connection: "Connection") -> None:
            change = Change()
            self._fill(
                connection, [(rows.seize(connection, draft.note, change), draft) for draft in drafts], vectors, change
            )

        self._write(work, with_vectors=vectors is not None)

    def readings(self, notes: Sequence[Note]) -> "dict[str, Vectors]":
        self._vectors.know_model()
        known = self._server.read(lambda connection: self._vectors.of_notes(connection, [note.id for note in notes]))
        return {
            reading(note, passage): known[note.id, passage.start, passage.end]
            for note in notes
            for passage in split(note)
            if (note.id, passage.start, passage.end) in known
        }

    def finish(self) -> None:
        if self._embed(["知恵"])[0] is not None:
            self._upkeep.run(lambda _: None)

    def walk(self, *, after: str | None, limit: int) -> list[Note]:
        return self._server.read(lambda connection: rows.walk(connection, after=after, limit=limit))

    def browse(self, *, tag: str | None, limit: int, cursor: str | None, viewer: str = ANONYMOUS) -> Page:
        return self._server.read(
            lambda connection: rows.page(connection, tag=tag, limit=limit, cursor=cursor, viewer=viewer)
        )

    def search(self, query: str, *, limit: int, tags: Sequence[str], viewer: str = ANONYMOUS) -> Found:
        if not all(map(rows.holds, tags)):
            return Found(hits=[])
        vectors, failure = self._embed([query])
        vector = None if vectors is None else vectors[0]
        sight = Sight(rows.labels(tags), viewer)

        def work(connection: "Connection") -> tuple[Search, Found]:
            corpus = counts.look(connection, self._vectors.model, viewer)
            search = Search(connection, self._vectors, corpus, Question.of(query), vector, sight)
            return search, Found(hits=search.hits(limit=limit))

        search, found = self._server.read(work, settings=settings())
        return Found(hits=found.hits, notice=self._notice(failure, search.corpus))

    def similar(self, note: Note, *, limit: int, viewer: str = ANONYMOUS) -> list[Similar]:
        """By the first passage alone: two notes that say the same begin alike."""
        vectors, _ = self._embed([reading(note, split(note)[0])])
        if vectors is None:
            return []
        found = self._server.read(
            lambda connection: self._alike(connection, vectors[0], limit + 1, viewer), settings=settings()
        )
        return [similar for similar in found if similar.id != note.id][:limit]

    def count(self, *, viewer: str = ANONYMOUS) -> int:
        return self._server.read(lambda connection: rows.count(connection, viewer))

    def tags(self, *, viewer: str = ANONYMOUS) -> list[TagCount]:
        return self._server.read(lambda connection: rows.tags(connection, viewer))

    def outline(self, *, limit: int, known: str | None = None, viewer: str = ANONYMOUS) -> Outline | None:
        self._vectors.know_model()

        def work(connection: "Connection") -> Outline | None:
            corpus = counts.look(connection, self._vectors.model)
            revision = f"{self._vectors.model}/{corpus.revision}"
            if revision == known:
                return None
            pins, vectors = self._vectors.first_passages(connection, corpus, limit, viewer)
            return Outline(revision=revision, pins=[Pin(id=i, title=t, tags=g) for i, t, g in pins], vectors=vectors)

        return self._server.read(work)

    def check(self) -> Health:
        return self._server.read(lambda connection: Health(notes=counts.look(connection, None).notes))

    def close(self) -> None:
        self._upkeep.close()
        if self._opened is not None:
            self._opened.close()

    def _write(self, work: "Callable[[Connection], None]", *, with_vectors: bool) -> None:
        if with_vectors:
            self._vectors.register(self._server)
        self._server.write(work)

    def _fill(
        self, connection: "Connection", drafts: Sequence[tuple[int, Draft]], vectors: "Vectors | None", change: Change
    ) -> None:
        ids = rows.insert_passages(connection, drafts, change)
        if vectors is not None:
            self._vectors.insert(connection, ids, vectors, change)
        counts.apply(connection, change)

    def _alike(self, connection: "Connection", vector: "Vectors", count: int, viewer: str) -> list[Similar]:
        corpus = counts.look(connection, self._vectors.model, viewer)
        near = self._vectors.nearest(connection, corpus, vector, count, Sight([], viewer))
        found = connection.execute(
            "SELECT n.id, n.title, -(v.vector <#> %(query)s::vector) AS cosine FROM knowledge_vectors v"
            " JOIN knowledge_notes n ON n.seq = v.note WHERE v.model = %(model)s AND v.passage = ANY(%(near)s)"
            " ORDER BY cosine DESC, v.passage",
            {"query": literal(vector), "model": corpus.model, "near": near},
        )
        return [
            Similar(id=note_id, title=title, score=ranking.shown(cosine))
            for note_id, title, cosine in found
            if cosine >= ranking.SAME
        ]

    def _embed(self, texts: Sequence[str]) -> "tuple[Vectors | None, str | None]":
        """Vectors, or the reason why there are none."""
        try:
            return self._vectors.embed(texts), None
        except EmbeddingError as error:
            return None, error.message

    def _notice(self, failure: str | None, corpus: Corpus) -> str | None:
        if failure:
            return FOUND_BY_WORDS.format(reason=failure)
        if corpus.missing or self._upkeep.wants_index(corpus):
            self._upkeep.start()
        return STILL_READING.format(missing=corpus.missing) if corpus.missing else None
