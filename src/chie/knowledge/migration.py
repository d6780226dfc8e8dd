"""Copies all notes from one store to another while the first stays in use.

Each pass walks both stores in the order of ids, compares whole notes and copies what differs. Passes are repeated
until nothing differs, so changes made meanwhile are copied too, and the last pass verifies the result, with what is
kept beside the notes (`migration_records.py`). A journal of the copied ids survives a killed process, so that the next
run knows which notes are copies.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from chie.errors import ConflictError, StorageError
from chie.files import make_folder
from chie.knowledge.embedding.base import EmbeddingError
from chie.knowledge.embedding.precomputed import PrecomputedEmbedder
from chie.knowledge.migration_records import RecordCounts, RecordMigration
from chie.knowledge.note import Note
from chie.knowledge.store.base import NoteStore

BATCH_SIZE = 100
MAX_PASSES = 20  # after which notes change faster than they are copied

Pair = tuple[Note | None, Note | None]
Progress = Callable[[int], None]  # receives the number of notes compared since the last call


@dataclass
class MigrationReport:
    """`newer` notes were changed in the target since they were copied; they and `foreign` ones are left alone.
    `records` are those of the last pass, which copied none."""

    copied: int = 0
    deleted: int = 0
    same: int = 0
    newer: int = 0
    foreign: int = 0
    records: RecordCounts = field(default_factory=RecordCounts)

    @property
    def changed(self) -> int:
        return self.copied + self.deleted


@dataclass
class Journal:
    """The ids of copies, written to disk before the copies."""

    path: Path
    ids: set[str] = field(default_factory=set)

    @classmethod
    def open(cls, path: Path) -> "Journal":
        """An incomplete last line was being written when the process died, before anything was copied."""
        lines = path.read_text("utf-8").splitlines(keepends=True) if path.exists() else []
        return cls(path, {line[:-1] for line in lines if line.endswith("\n")})

    def add(self, ids: Iterable[str]) -> None:
        new = [note_id for note_id in ids if note_id not in self.ids]
        make_folder(self.path.parent)
        with self.path.open("a", encoding="utf-8") as file:
            file.write("".join(f"{note_id}\n" for note_id in new))
            file.flush()
            os.fsync(file.fileno())
        self.ids.update(new)

    def close(self) -> None:
        self.path.unlink(missing_ok=True)


@dataclass(frozen=True)
class Migration:
    source: NoteStore
    target: NoteStore
    embedder: PrecomputedEmbedder  # the target's
    journal: Journal

    @property
    def _records(self) -> RecordMigration:
        return RecordMigration(self.source, self.target, self.journal)

    def run(self, watch: Callable[[int], AbstractContextManager[Progress]]) -> MigrationReport:
        """`watch` returns a progress callback for the pass with the given number. The report is that of the last pass,
        with the copies and deletions of all passes."""
        copied = deleted = 0
        for number in range(MAX_PASSES):
            with watch(number) as progress:
                report = self._pass(progress)
            copied += report.copied
            deleted += report.deleted
            if not report.changed:
                report.records = self._records.copy()
                if report.records.copied.total():
                    continue
                self.target.finish_background_work()
                self.journal.close()
                report.copied, report.deleted = copied, deleted
                return report
        raise StorageError("knowledge.migration_outpaced")

    def _pass(self, progress: Progress) -> MigrationReport:
        self._records.copy_spaces(RecordCounts())
        report, batch = MigrationReport(), list[Note]()
        for ours, theirs in _pairs(self.source, self.target):
            if ours is None:
                self._handle_unpaired(theirs, report)
            elif ours == theirs:
                report.same += 1
            elif theirs and theirs.updated_at > ours.updated_at:
                report.newer += 1
            else:
                batch.append(ours)
            if len(batch) == BATCH_SIZE:
                self._copy(batch, report)
                batch = []
            progress(ours is not None)
        self._copy(batch, report)
        return report

    def _handle_unpaired(self, theirs: Note | None, report: MigrationReport) -> None:
        """A note in the target only: a copy whose original was deleted, or a note that was written there."""
        if theirs and theirs.id in self.journal.ids:
            self.target.delete(theirs.id)
            self.target.purge(theirs.id, deleted=True)
            report.deleted += 1
        else:
            report.foreign += 1

    def _copy(self, notes: list[Note], report: MigrationReport) -> None:
        if not notes:
            return
        self.journal.add(note.id for note in notes)
        try:
            self.embedder.use(self.source.embeddings(notes))
        except EmbeddingError:
            self.embedder.use({})  # the target handles a missing model itself
        try:
            self.target.put_copies(notes)
        except ConflictError:  # an id is another author's in the target's trash
            if len(notes) == 1:
                report.foreign += 1
                return
            for note in notes:
                self._copy([note], report)
        else:
            report.copied += len(notes)


def _pairs(source: NoteStore, target: NoteStore) -> Iterator[Pair]:
    """Each id once, with the notes of both stores."""
    ours, theirs = _all(source), _all(target)
    one, other = next(ours, None), next(theirs, None)
    while one or other:
        if one and (other is None or one.id < other.id):
            yield one, None
            one = next(ours, None)
        elif other and (one is None or other.id < one.id):
            yield None, other
            other = next(theirs, None)
        else:
            yield one, other
            one, other = next(ours, None), next(theirs, None)


def _all(store: NoteStore) -> Iterator[Note]:
    after = None
    while part := store.walk(after=after, limit=BATCH_SIZE):
        yield from part
        after = part[-1].id
