"""The embedded store: one SQLite file, a full-text index, and a scan of all vectors in memory."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from chie.errors import ConflictError
from chie.knowledge.anchors.anchor import Anchor, AnchorReport
from chie.knowledge.embedding.base import Embedder
from chie.knowledge.history.versions import Change, change_of
from chie.knowledge.note import AuthorCount, Found, ImportedFile, Note, Page, Similar, TagCount
from chie.knowledge.review.findings import ReviewNote
from chie.knowledge.search import ranking
from chie.knowledge.search.passages import split
from chie.knowledge.search.query import NO_FILTERS, Filters
from chie.knowledge.search.ranking import Query
from chie.knowledge.store import scoring
from chie.knowledge.store.base import Health, MapData, MapNote
from chie.knowledge.store.degraded import saved_without_vectors
from chie.knowledge.store.note_traces import NoteTraces
from chie.knowledge.store.sql_store import PROBE_TEXT, EmbeddingModel, PassageKey, SqlNoteStore
from chie.knowledge.store.sqlite import anchor_table, import_table, note_table, recall_table, review_table
from chie.knowledge.store.sqlite.backfill import Backfill
from chie.knowledge.store.sqlite.file import SqliteFile
from chie.knowledge.store.sqlite.filtering import Conditions, newest
from chie.knowledge.store.sqlite.records import SqliteRecords
from chie.knowledge.store.sqlite.search import Search
from chie.knowledge.store.sqlite.space_table import SqliteSpaces
from chie.knowledge.store.sqlite.tables import LINKS, VERSIONS
from chie.knowledge.store.sqlite.vectors import SqliteVectors
from chie.knowledge.store.sqlite.words import corpus
from chie.knowledge.viewer import ANYBODY, Viewer
from chie.messages.catalogue import Message

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors


T = TypeVar("T")


class SqliteStore(SqlNoteStore):
    _versions = VERSIONS
    _links = LINKS
    _traces = NoteTraces("", "?")

    def __init__(self, path: Path, embedder: Embedder) -> None:
        super().__init__(EmbeddingModel(embedder))
        self._file = SqliteFile(path)
        self.records = SqliteRecords(self._file)
        self.spaces = SqliteSpaces(self._file)
        self._vectors = SqliteVectors(self._model)
        self._backfill = Backfill(self._file, self._vectors)
        self._index_checked = False

    def _apply(
        self,
        replacements: Sequence[tuple[Note | None, Note]],
        change: Change | None,
        deleting: Sequence[Note] = (),
        unchanged: Sequence[Note] = (),
    ) -> Message | None:
        cut = [split(note) for _, note in replacements]
        vectors, failure = self._embed([passage.text for passages in cut for passage in passages])
        with self._file.write() as connection:
            ids = []
            for note in unchanged:
                _require_same(note_table.get(connection, note.id), note)
            for (replacing, note), passages in zip(replacements, cut, strict=True):
                ids += note_table.insert(connection, note, passages, replacing=replacing)
                made = change or change_of(note)
                if replacing:
                    VERSIONS.replace(connection, replacing, note, made)
                elif file := VERSIONS.begin(connection, note, made):
                    import_table.write(connection, {note.id: file})
            if vectors is not None:
                self._vectors.insert(connection, ids, vectors)
            for note in deleting:
                _require_same(note_table.get(connection, note.id), note)
                _delete(connection, note, change)
        return saved_without_vectors(failure) if failure else None

    def get(self, note_id: str) -> Note | None:
        with self._file.read() as connection:
            return note_table.get(connection, note_id)

    def delete(self, note_id: str, *, expected: Note | None = None, change: Change | None = None) -> bool:
        with self._file.write() as connection:
            stored = note_table.get(connection, note_id)
            if stored is None:
                return False
            _require_same(stored, expected or stored)
            _delete(connection, stored, change)
            return True

    def imported_files(self, *, user_id: str | None = None) -> dict[str, ImportedFile]:
        with self._file.read() as connection:
            return import_table.read(connection, user_id)

    def remember_files(self, files: Mapping[str, ImportedFile]) -> None:
        with self._file.write() as connection:
            import_table.write(connection, files)

    def put_copies(self, notes: Sequence[Note]) -> None:
        """In one transaction."""
        cut = [(note, split(note)) for note in notes]
        vectors, _ = self._embed([passage.text for _, passages in cut for passage in passages])
        with self._file.write() as connection:
            ids = []
            for note, passages in cut:
                stored = note_table.get(connection, note.id)
                ids.extend(note_table.insert(connection, note, passages, replacing=stored))
                if stored is None:
                    VERSIONS.begin(connection, note, change_of(note))
            if vectors is not None:
                self._vectors.insert(connection, ids, vectors)

    def walk(self, *, after: str | None, limit: int) -> list[Note]:
        with self._file.read() as connection:
            return note_table.walk(connection, after=after, limit=limit)

    def browse(self, *, tag: str | None, limit: int, cursor: str | None, viewer: Viewer = ANYBODY) -> Page:
        with self._file.read() as connection:
            return note_table.page(connection, tag=tag, limit=limit, cursor=cursor, viewer=viewer)

    def search(
        self,
        query: str,
        *,
        limit: int,
        tags: Sequence[str] = (),
        filters: Filters = NO_FILTERS,
        viewer: Viewer = ANYBODY,
    ) -> Found:
        conditions = Conditions(tags, filters, viewer)
        if not query:
            with self._file.read() as connection:
                return Found(hits=scoring.listed(newest(connection, conditions, limit)))
        vectors, failure = self._embed([query])
        vector = None if vectors is None else vectors[0]
        with self._file.read() as connection:
            among, hidden = note_table.scope(connection, viewer)
            seen = corpus(connection, viewer)
            search = Search(connection, self._vectors, Query(query), vector, seen, among, hidden)
            hits = search.hits(limit=limit, conditions=conditions)
            missing = 0 if vector is None else self._vectors.missing(connection)
            concealed = self._concealed(connection, missing, among, hidden) if missing else 0
            self._check_index(connection)
        return Found(hits=hits, notice=self._search_notice(failure, missing, concealed))

    def similar(self, note: Note, *, limit: int, viewer: Viewer = ANYBODY) -> list[Similar]:
        """By the first passage alone: notes that say the same begin alike."""
        vectors, _ = self._embed([split(note)[0].text])
        if vectors is None:
            return []
        with self._file.read() as connection:
            among, hidden = note_table.scope(connection, viewer)
            near = self._vectors.nearest(connection, vectors[0], limit + 1, among=among, without=hidden)
            cosines = self._vectors.cosines(connection, vectors[0], near)
            same = [passage for passage, cosine in cosines.items() if cosine >= ranking.NEAR_DUPLICATE_COSINE]
            titles = note_table.titles(connection, same) if same else {}
        found = [
            Similar(id=note_id, title=title, score=ranking.display_score(cosines[passage]))
            for passage, (note_id, title) in titles.items()
            if note_id != note.id
        ]
        return sorted(found, key=lambda similar: -similar.score)[:limit]

    def count(self, *, viewer: Viewer = ANYBODY) -> int:
        with self._file.read() as connection:
            return note_table.count(connection, viewer)

    def tags(self, *, viewer: Viewer = ANYBODY) -> list[TagCount]:
        with self._file.read() as connection:
            return note_table.tags(connection, viewer)

    def authors(self, *, viewer: Viewer = ANYBODY) -> list[AuthorCount]:
        with self._file.read() as connection:
            return note_table.authors(connection, viewer)

    def map_data(self, *, limit: int, known: str | None = None, viewer: Viewer = ANYBODY) -> MapData | None:
        self._model.ensure_name()
        with self._file.read() as connection:
            revision = self._vectors.revision(connection)
            if revision == known:
                return None
            seqs, vectors = self._vectors.map_vectors(connection, limit, viewer)
            rows = note_table.map_rows(connection, seqs)
        notes = [MapNote(id=note_id, title=title, tags=tags) for note_id, title, tags in rows]
        return MapData(revision=revision, notes=notes, vectors=vectors)

    def check(self, *, viewer: Viewer | None = None) -> Health:
        with self._file.read() as connection:
            return Health(notes=note_table.count(connection, viewer))

    def close(self) -> None:
        self._backfill.close()
        self._file.close()

    def _passage_vectors(self, note_ids: Sequence[str]) -> "dict[PassageKey, Vectors]":
        with self._file.read() as connection:
            return self._vectors.of_notes(connection, note_ids)

    def signatures(self, *, viewer: Viewer, limit: int) -> list[str]:
        with self._file.read() as connection:
            return recall_table.signatures(connection, viewer, limit)

    def by_signature(self, signatures: Sequence[str], *, viewer: Viewer, limit: int) -> list[Note]:
        with self._file.read() as connection:
            return recall_table.by_signature(connection, signatures, viewer, limit)

    def by_source_file(self, name: str, *, viewer: Viewer, limit: int) -> list[Note]:
        with self._file.read() as connection:
            return recall_table.by_source_file(connection, name, viewer, limit)

    def count_sources(self, part: str, *, viewer: Viewer) -> int:
        with self._file.read() as connection:
            return recall_table.count_sources(connection, part, viewer)

    def proposals(self, *, viewer: Viewer, limit: int) -> list[Note]:
        with self._file.read() as connection:
            return recall_table.proposals(connection, viewer, limit)

    def count_proposals(self, *, viewer: Viewer) -> int:
        with self._file.read() as connection:
            return recall_table.count_proposals(connection, viewer)

    def shown(self, session: str) -> set[str]:
        with self._file.read() as connection:
            return recall_table.shown(connection, session)

    def remember_shown(self, session: str, notes: Sequence[str], *, at: datetime, forget_before: datetime) -> None:
        with self._file.write() as connection:
            recall_table.remember_shown(connection, session, notes, at, forget_before)

    def review_notes(self, *, viewer: Viewer | None = None) -> list[ReviewNote]:
        with self._file.read() as connection:
            return review_table.notes(connection, viewer)

    def first_vectors(self) -> "tuple[list[str], Vectors]":
        self._model.ensure_name()
        with self._file.read() as connection:
            return self._vectors.first_of_all(connection)

    def anchored(self, repository: str, *, viewer: Viewer, limit: int, after: str = "") -> list[Note]:
        with self._file.read() as connection:
            return anchor_table.anchored(connection, repository, viewer, after, limit)

    def anchor_reports(self, note_ids: Sequence[str] | None = None) -> dict[str, AnchorReport]:
        with self._file.read() as connection:
            return anchor_table.read(connection, note_ids)

    def report_anchors(self, reports: Mapping[str, tuple[Anchor, AnchorReport]]) -> None:
        with self._file.write() as connection:
            anchor_table.write(connection, reports)

    def changed_anchors(self, *, viewer: Viewer, limit: int) -> list[tuple[Note, AnchorReport]]:
        with self._file.read() as connection:
            return anchor_table.changed(connection, viewer, limit)

    def finish_background_work(self) -> None:
        self._embed([PROBE_TEXT])
        self._backfill.run(lambda _: None)

    def _concealed(
        self, connection: sqlite3.Connection, missing: int, among: list[int] | None, hidden: list[int]
    ) -> int:
        """The number of missing vectors that the viewer must not know of."""
        if among is None:
            return self._vectors.missing_among(connection, hidden)
        return missing - self._vectors.missing_among(connection, among)

    def _check_index(self, connection: sqlite3.Connection) -> None:
        """Once per process: only an upgrade leaves notes that were indexed by older rules."""
        if not self._index_checked:
            self._index_checked = True
            if note_table.has_outdated(connection):
                self._start_backfill()

    def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._file.read() as connection:
            return work(connection)

    def _change(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._file.write() as connection:
            return work(connection)

    def _locked(self, connection: sqlite3.Connection, note_id: str) -> Note | None:
        return note_table.get(connection, note_id)

    def _erase(self) -> None:
        self._file.erase()

    def _start_backfill(self) -> None:
        self._backfill.start()


def _require_same(stored: Note | None, expected: Note) -> None:
    if stored != expected:
        raise ConflictError("knowledge.note_changed")


def _delete(connection: sqlite3.Connection, note: Note, change: Change | None) -> None:
    file = import_table.remove(connection, note.id)
    VERSIONS.end(connection, note, replace(change or change_of(note), kind="deleted"), file=file)
    anchor_table.remove(connection, note.id)
    note_table.remove(connection, note.id)
