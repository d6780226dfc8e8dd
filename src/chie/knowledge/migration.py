"""All notes from one store to another, while people go on working in the first.

Both are walked side by side in the order of the ids and compared note by note, whole. What differs is copied, and the
walk is repeated until nothing differs any more: what changed meanwhile is caught up with, and the last walk is the
proof. A journal of what was copied outlives a killed process, so that the next one knows which notes are copies.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from chie.errors import StorageError
from chie.files import make_folder
from chie.knowledge.embedding.base import EmbeddingError
from chie.knowledge.embedding.precomputed import CarriedEmbedder
from chie.knowledge.note import Note
from chie.knowledge.store.base import NoteStore

BATCH = 100
WALKS = 20  # more, and notes change faster than they can be copied

Pair = tuple[Note | None, Note | None]
Progress = Callable[[int], None]  # told how many more notes were compared


@dataclass
class Report:
    """`newer` notes were changed in the target since they were copied and are left alone, as are `foreign` ones."""

    copied: int = 0
    deleted: int = 0
    same: int = 0
    newer: int = 0
    foreign: int = 0

    @property
    def changed(self) -> int:
        return self.copied + self.deleted


@dataclass
class Journal:
    """The ids of copies, on disk before the copies are."""

    path: Path
    ids: set[str] = field(default_factory=set)

    @classmethod
    def open(cls, path: Path) -> "Journal":
        """A last line without its end was being written when the process died, before anything was copied."""
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
    carried: CarriedEmbedder  # the target's
    journal: Journal

    def run(self, watch: Callable[[int], AbstractContextManager[Progress]]) -> Report:
        """`watch` is asked for every walk, by its number, whom to tell of its progress. The report is that of the last
        walk, with all that was copied and deleted on the way."""
        copied = deleted = 0
        for number in range(WALKS):
            with watch(number) as progress:
                report = self._walk(progress)
            copied += report.copied
            deleted += report.deleted
            if not report.changed:
                self.target.finish()
                self.journal.close()
                report.copied, report.deleted = copied, deleted
                return report
        raise StorageError(
            "notes change faster than they can be copied. Nothing is lost: what was copied stays there. "
            "Run the command again when fewer people write."
        )

    def _walk(self, progress: Progress) -> Report:
        report, batch = Report(), list[Note]()
        for ours, theirs in _pairs(self.source, self.target):
            if ours is None:
                self._met_alone(theirs, report)
            elif ours == theirs:
                report.same += 1
            elif theirs and theirs.updated_at > ours.updated_at:
                report.newer += 1
            else:
                batch.append(ours)
            if len(batch) == BATCH:
                self._copy(batch, report)
                batch = []
            progress(ours is not None)
        self._copy(batch, report)
        return report

    def _met_alone(self, theirs: Note | None, report: Report) -> None:
        """In the target only: a copy whose original was deleted since, or a note that was written there."""
        if theirs and theirs.id in self.journal.ids:
            self.target.delete(theirs.id)
            report.deleted += 1
        else:
            report.foreign += 1

    def _copy(self, notes: list[Note], report: Report) -> None:
        if not notes:
            return
        self.journal.add(note.id for note in notes)
        try:
            self.carried.carry(self.source.readings(notes))
        except EmbeddingError:
            self.carried.carry({})  # the target says itself what it can do without a model
        self.target.take(notes)
        report.copied += len(notes)


def _pairs(source: NoteStore, target: NoteStore) -> Iterator[Pair]:
    """Each id once, with the notes that the two stores have under it."""
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
    while part := store.walk(after=after, limit=BATCH):
        yield from part
        after = part[-1].id
