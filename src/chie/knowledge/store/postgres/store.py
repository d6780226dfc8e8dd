"""The store for several processes and hosts: notes, words and vectors in one PostgreSQL database."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from chie.database.url import PostgresUrl
from chie.errors import ConfigurationError, ConflictError
from chie.installation.commands import install_extra
from chie.knowledge.anchors.anchor import Anchor, AnchorReport
from chie.knowledge.embedding.base import Embedder
from chie.knowledge.history.versions import Change, change_of
from chie.knowledge.note import AuthorCount, Found, Hit, ImportedFile, Note, Page, Similar, TagCount
from chie.knowledge.review.findings import ReviewNote
from chie.knowledge.search.passages import split
from chie.knowledge.search.query import NO_FILTERS, Filters
from chie.knowledge.search.ranking import Query
from chie.knowledge.store import scoring
from chie.knowledge.store.base import Health, MapData, MapNote
from chie.knowledge.store.degraded import saved_without_vectors
from chie.knowledge.store.note_traces import NoteTraces
from chie.knowledge.store.postgres import (
    anchor_table,
    import_table,
    nearest,
    note_lists,
    note_table,
    recall_table,
    review_table,
    statistics,
)
from chie.knowledge.store.postgres.backfill import Backfill
from chie.knowledge.store.postgres.duplicates import near_duplicates
from chie.knowledge.store.postgres.filtering import newest, passage_filter
from chie.knowledge.store.postgres.note_table import Draft
from chie.knowledge.store.postgres.passage_filter import PassageFilter
from chie.knowledge.store.postgres.records import PostgresRecords
from chie.knowledge.store.postgres.search import Search
from chie.knowledge.store.postgres.space_table import PostgresSpaces
from chie.knowledge.store.postgres.statistics import StatisticsChange
from chie.knowledge.store.postgres.tables import LINKS, VERSIONS
from chie.knowledge.store.postgres.vectors import PostgresVectors
from chie.knowledge.store.sql_store import PROBE_TEXT, EmbeddingModel, PassageKey, SqlNoteStore
from chie.knowledge.viewer import ANYBODY, Viewer
from chie.messages.catalogue import Message

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors
    from chie.knowledge.store.postgres.pool import Connection, PostgresPool


T = TypeVar("T")


class PostgresStore(SqlNoteStore):
    _versions = VERSIONS
    _links = LINKS
    _traces = NoteTraces("knowledge_", "%s")

    def __init__(self, url: PostgresUrl, embedder: Embedder) -> None:
        super().__init__(EmbeddingModel(embedder))
        self._url = url
        self.records = PostgresRecords(lambda: self._pool)
        self._creating = Lock()
        self._created_pool: PostgresPool | None = None
        self.spaces = PostgresSpaces(lambda: self._pool)
        self._vectors = PostgresVectors(self._model)
        self._backfill = Backfill(lambda: self._pool, self._vectors)

    @property
    def _pool(self) -> "PostgresPool":
        """Created, and the driver imported, on first use."""
        with self._creating:
            if self._created_pool is None:
                try:
                    from chie.knowledge.store.postgres.pool import PostgresPool
                except ModuleNotFoundError as error:
                    raise ConfigurationError("database.driver_missing", command=install_extra("postgres")) from error
                self._created_pool = PostgresPool(self._url)
            return self._created_pool

    def _apply(
        self,
        replacements: Sequence[tuple[Note | None, Note]],
        ending: Change | None,
        deleting: Sequence[Note] = (),
        unchanged: Sequence[Note] = (),
    ) -> Message | None:
        drafts = [Draft.of(note) for _, note in replacements]
        vectors, failure = self._embed([passage.text for draft in drafts for passage in draft.passages])

        def work(connection: "Connection") -> None:
            change = StatisticsChange()
            seqs = []
            named = [*deleting, *unchanged, *(note for _, note in replacements)]
            if len(named) > 1:  # in the order of ids, so that two processes cannot deadlock
                for note_id in sorted(note.id for note in named):
                    note_table.get_locked(connection, note_id)
            for note in unchanged:
                _require_same(note_table.get_locked(connection, note.id), note)
            for note in deleting:
                _require_same(note_table.get_locked(connection, note.id), note)
                _delete(connection, note, ending, change)
            for replacing, note in replacements:
                seqs.append(note_table.write(connection, note, replacing, change))
                made = ending or change_of(note)
                if replacing:
                    VERSIONS.replace(connection, replacing, note, made)
                elif file := VERSIONS.begin(connection, note, made):
                    import_table.write(connection, {note.id: file})
            self._insert_passages(connection, list(zip(seqs, drafts, strict=True)), vectors, change)

        self._write(work, with_vectors=vectors is not None)
        return saved_without_vectors(failure) if failure else None

    def get(self, note_id: str) -> Note | None:
        return self._pool.read(lambda connection: note_table.get(connection, note_id))

    def delete(self, note_id: str, *, expected: Note | None = None, change: Change | None = None) -> bool:
        def work(connection: "Connection") -> bool:
            counts = StatisticsChange()
            stored = note_table.get_locked(connection, note_id)
            if stored is None:
                return False
            _require_same(stored, expected or stored)
            _delete(connection, stored, change, counts)
            statistics.apply(connection, counts)
            return True

        return self._pool.write(work)

    def imported_files(self, *, user_id: str | None = None) -> dict[str, ImportedFile]:
        return self._pool.read(lambda connection: import_table.read(connection, user_id))

    def remember_files(self, files: Mapping[str, ImportedFile]) -> None:
        self._pool.write(lambda connection: import_table.write(connection, files))

    def put_copies(self, notes: Sequence[Note]) -> None:
        """In one transaction. Rows are locked in the order of ids, so that two copying processes cannot deadlock."""
        drafts = [Draft.of(note) for note in sorted(notes, key=lambda note: note.id)]
        vectors, _ = self._embed([passage.text for draft in drafts for passage in draft.passages])

        def work(connection: "Connection") -> None:
            change = StatisticsChange()
            seqs = [note_table.overwrite(connection, draft.note, change) for draft in drafts]
            self._insert_passages(connection, list(zip(seqs, drafts, strict=True)), vectors, change)

        self._write(work, with_vectors=vectors is not None)

    def signatures(self, *, viewer: Viewer, limit: int) -> list[str]:
        return self._pool.read(lambda connection: recall_table.signatures(connection, viewer, limit))

    def by_signature(self, signatures: Sequence[str], *, viewer: Viewer, limit: int) -> list[Note]:
        return self._pool.read(lambda connection: recall_table.by_signature(connection, signatures, viewer, limit))

    def by_source_file(self, name: str, *, viewer: Viewer, limit: int) -> list[Note]:
        return self._pool.read(lambda connection: recall_table.by_source_file(connection, name, viewer, limit))

    def count_sources(self, part: str, *, viewer: Viewer) -> int:
        return self._pool.read(lambda connection: recall_table.count_sources(connection, part, viewer))

    def proposals(self, *, viewer: Viewer, limit: int) -> list[Note]:
        return self._pool.read(lambda connection: recall_table.proposals(connection, viewer, limit))

    def count_proposals(self, *, viewer: Viewer) -> int:
        return self._pool.read(lambda connection: recall_table.count_proposals(connection, viewer))

    def shown(self, session: str) -> set[str]:
        return self._pool.read(lambda connection: recall_table.shown(connection, session))

    def remember_shown(self, session: str, notes: Sequence[str], *, at: datetime, forget_before: datetime) -> None:
        self._pool.write(lambda connection: recall_table.remember_shown(connection, session, notes, at, forget_before))

    def review_notes(self, *, viewer: Viewer | None = None) -> list[ReviewNote]:
        return self._pool.read(lambda connection: review_table.notes(connection, viewer))

    def first_vectors(self) -> "tuple[list[str], Vectors]":
        self._model.ensure_name()
        return self._pool.read(self._vectors.first_of_all)

    def anchored(self, repository: str, *, viewer: Viewer, limit: int, after: str = "") -> list[Note]:
        return self._pool.read(lambda connection: anchor_table.anchored(connection, repository, viewer, after, limit))

    def anchor_reports(self, note_ids: Sequence[str] | None = None) -> dict[str, AnchorReport]:
        return self._pool.read(lambda connection: anchor_table.read(connection, note_ids))

    def report_anchors(self, reports: Mapping[str, tuple[Anchor, AnchorReport]]) -> None:
        self._pool.write(lambda connection: anchor_table.write(connection, reports))

    def changed_anchors(self, *, viewer: Viewer, limit: int) -> list[tuple[Note, AnchorReport]]:
        return self._pool.read(lambda connection: anchor_table.changed(connection, viewer, limit))

    def finish_background_work(self) -> None:
        if self._embed([PROBE_TEXT])[0] is not None:
            self._backfill.run(lambda _: None)

    def walk(self, *, after: str | None, limit: int) -> list[Note]:
        return self._pool.read(lambda connection: note_lists.walk(connection, after=after, limit=limit))

    def browse(self, *, tag: str | None, limit: int, cursor: str | None, viewer: Viewer = ANYBODY) -> Page:
        return self._pool.read(
            lambda connection: note_lists.page(connection, tag=tag, limit=limit, cursor=cursor, viewer=viewer)
        )

    def search(
        self,
        query: str,
        *,
        limit: int,
        tags: Sequence[str] = (),
        filters: Filters = NO_FILTERS,
        viewer: Viewer = ANYBODY,
    ) -> Found:
        if not all(map(note_table.is_storable, tags)):
            return Found(hits=[])
        if not query:
            return Found(hits=self._newest(limit, note_table.labels(tags), filters, viewer))
        vectors, failure = self._embed([query])
        vector = None if vectors is None else vectors[0]

        def passing(connection: "Connection") -> PassageFilter:
            return passage_filter(connection, note_table.labels(tags), filters, viewer)

        search = Search(Query(query), self._model.name, self._model.dimension, vector, viewer, filters, passing)
        stats, hits = search.run(self._pool, limit=limit)
        if not failure and (stats.outdated or self._backfill.needs_index(stats)):
            self._start_backfill()
        return Found(hits=hits, notice=self._search_notice(failure, stats.missing, stats.hidden_missing))

    def _newest(self, limit: int, labels: list[str], filters: Filters, viewer: Viewer) -> list[Hit]:
        def work(connection: "Connection") -> list[Note]:
            return newest(connection, passage_filter(connection, labels, filters, viewer), limit)

        return scoring.listed(self._pool.read(work))

    def similar(self, note: Note, *, limit: int, viewer: Viewer = ANYBODY) -> list[Similar]:
        """By the first passage alone: notes that say the same begin alike."""
        vectors, _ = self._embed([split(note)[0].text])
        if vectors is None:
            return []
        found = self._pool.read(
            lambda connection: near_duplicates(connection, self._model, vectors[0], limit + 1, viewer),
            settings=nearest.SEARCH_SETTINGS,
        )
        return [similar for similar in found if similar.id != note.id][:limit]

    def count(self, *, viewer: Viewer = ANYBODY) -> int:
        return self.check(viewer=viewer).notes

    def tags(self, *, viewer: Viewer = ANYBODY) -> list[TagCount]:
        return self._pool.read(lambda connection: note_lists.tags(connection, viewer))

    def authors(self, *, viewer: Viewer = ANYBODY) -> list[AuthorCount]:
        return self._pool.read(lambda connection: note_lists.authors(connection, viewer))

    def map_data(self, *, limit: int, known: str | None = None, viewer: Viewer = ANYBODY) -> MapData | None:
        self._model.ensure_name()

        def work(connection: "Connection") -> MapData | None:
            stats = statistics.read(connection, self._model.name, viewer)
            revision = f"{self._model.name}/{stats.revision}"
            if revision == known:
                return None
            rows, vectors = self._vectors.map_vectors(connection, stats, limit, viewer)
            notes = [MapNote(id=note_id, title=title, tags=tags) for note_id, title, tags in rows]
            return MapData(revision=revision, notes=notes, vectors=vectors)

        return self._pool.read(work)

    def check(self, *, viewer: Viewer | None = None) -> Health:
        return self._pool.read(lambda connection: Health(notes=statistics.read(connection, None, viewer).notes))

    def close(self) -> None:
        self._backfill.close()
        if self._created_pool is not None:
            self._created_pool.close()

    def _passage_vectors(self, note_ids: Sequence[str]) -> "dict[PassageKey, Vectors]":
        return self._pool.read(lambda connection: self._vectors.of_notes(connection, note_ids))

    def _read(self, work: "Callable[[Connection], T]") -> T:
        return self._pool.read(work)

    def _change(self, work: "Callable[[Connection], T]") -> T:
        return self._pool.write(work)

    def _locked(self, connection: "Connection", note_id: str) -> Note | None:
        return note_table.get_locked(connection, note_id)

    def _start_backfill(self) -> None:
        self._backfill.start()

    def _write(self, work: "Callable[[Connection], None]", *, with_vectors: bool) -> None:
        if with_vectors:
            self._vectors.register(self._pool)
        self._pool.write(work)

    def _insert_passages(
        self,
        connection: "Connection",
        drafts: Sequence[tuple[int, Draft]],
        vectors: "Vectors | None",
        change: StatisticsChange,
    ) -> None:
        ids = note_table.insert_passages(connection, drafts, change)
        if vectors is not None:
            self._vectors.insert(connection, ids, vectors, change)
        statistics.apply(connection, change)


def _require_same(stored: Note | None, expected: Note) -> None:
    if stored != expected:
        raise ConflictError("knowledge.note_changed")


def _delete(connection: "Connection", note: Note, change: Change | None, counts: StatisticsChange) -> None:
    file = import_table.of_note(connection, note.id)
    VERSIONS.end(connection, note, replace(change or change_of(note), kind="deleted"), file=file)
    note_table.remove(connection, note.id, counts)
