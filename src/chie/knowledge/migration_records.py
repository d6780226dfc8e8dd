"""Copies what stores keep beside notes: spaces, files, anchors, versions, decisions, marks and the rest.

Like the passes over notes, a pass copies what differs, and one that copies nothing has verified the rest. Where nobody
can tell which store is right, the target is: it may be in use already.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Protocol

from chie.knowledge.anchors.anchor import Anchor, AnchorReport
from chie.knowledge.history.versions import VersionRow
from chie.knowledge.spaces.space import TEAM_SPACE
from chie.knowledge.store.base import NoteStore
from chie.knowledge.store.record_copies import TABLES, RecordCopies

BATCH_SIZE = 100


class CopiedIds(Protocol):
    """The migration's journal."""

    @property
    def ids(self) -> set[str]: ...

    def add(self, ids: Iterable[str]) -> None: ...


@dataclass
class RecordCounts:
    """By kind: how many the source has, how many were copied, and how many the target has in another way and keeps."""

    total: Counter[str] = field(default_factory=Counter)
    copied: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class RecordMigration:
    source: NoteStore
    target: NoteStore
    journal: CopiedIds

    def copy(self) -> RecordCounts:
        """One pass."""
        counts = RecordCounts()
        self.copy_spaces(counts)
        self._copy_files(counts)
        self._copy_anchor_reports(counts)
        self._copy_versions(counts)
        ours, theirs = self.source.records, self.target.records
        if isinstance(ours, RecordCopies) and isinstance(theirs, RecordCopies):
            for name in TABLES:
                _copy_table(ours, theirs, name, counts)
        return counts

    def copy_spaces(self, counts: RecordCounts) -> None:
        """With their grants and repositories, before the notes that are in them. A space that is in the target already
        was perhaps changed there: a grant that was revoked must not come back."""
        known = {space.name: space for space in self.target.spaces.all()}
        for space in self.source.spaces.all():
            theirs, mark = known.get(space.name), f"/space/{space.name}"  # no id of a note has a slash
            is_ours = theirs in (None, TEAM_SPACE) or mark in self.journal.ids
            if _is_copied(counts, "spaces", same=theirs == space, copying=is_ours):
                self.journal.add([mark])
                self.target.spaces.save(space)
        bound = self.target.spaces.repositories()
        for repository, name in self.source.spaces.repositories().items():
            same, is_new = bound.get(repository) == name, repository not in bound
            if _is_copied(counts, "bound repositories", same=same, copying=is_new):
                self.target.spaces.bind(repository, name)

    def _copy_files(self, counts: RecordCounts) -> None:
        """So that the next import into the target recognises the files."""
        known, new = self.target.imported_files(), {}
        for note_id, file in self.source.imported_files().items():
            is_new = note_id not in known and self.target.get(note_id) is not None
            if _is_copied(counts, "imported files", same=known.get(note_id) == file, copying=is_new):
                new[note_id] = file
        if new:
            self.target.remember_files(new)

    def _copy_anchor_reports(self, counts: RecordCounts) -> None:
        known, found = self.target.anchor_reports(), dict[str, tuple[Anchor, AnchorReport]]()
        for note_id, report in self.source.anchor_reports().items():
            note, theirs, stored = self.source.get(note_id), self.target.get(note_id), known.get(note_id)
            if note is None or note.anchor is None:
                continue
            is_newer = stored is None or stored.committed_at < report.committed_at
            copying = theirs is not None and theirs.anchor == note.anchor and is_newer
            if _is_copied(counts, "reports on anchors", same=stored == report, copying=copying):
                found[note_id] = (note.anchor, report)
        if found:
            self.target.report_anchors(found)

    def _copy_versions(self, counts: RecordCounts) -> None:
        """Earlier versions and deleted notes. A note that was changed or written in the target keeps its own."""
        for note_id, group in groupby(_all_versions(self.source), key=lambda row: row.note):
            rows = list(group)
            stored = self.target.walk_versions(after=(note_id, 0), limit=len(rows) + 1)
            same = [row for row in stored if row.note == note_id] == rows
            copying = self.source.get(note_id) == self.target.get(note_id) and not self._is_foreign_trash(note_id)
            if _is_copied(counts, "earlier versions", same=same, copying=copying, number=len(rows)):
                self.target.put_versions(note_id, rows)

    def _is_foreign_trash(self, note_id: str) -> bool:
        """Whether the id is in the target's trash, but another author's than in the source's."""
        ours, theirs = self.source.trashed(note_id), self.target.trashed(note_id)
        if ours is None or ours.note is None or theirs is None or theirs.note is None:
            return False
        return ours.note.user_id != theirs.note.user_id


def _copy_table(source: RecordCopies, target: RecordCopies, name: str, counts: RecordCounts) -> None:
    kind, after, size = name.replace("_", " "), None, len(TABLES[name].key)
    while rows := source.rows(name, after=after, limit=BATCH_SIZE):
        lacking, different = target.compare(name, rows)
        if lacking:
            target.put(name, lacking)
        for counter, number in ((counts.total, len(rows)), (counts.copied, len(lacking)), (counts.kept, different)):
            if number:
                counter[kind] += number
        after = rows[-1][:size]


def _is_copied(counts: RecordCounts, kind: str, *, same: bool, copying: bool, number: int = 1) -> bool:
    """Count it, and return whether to copy it."""
    counts.total[kind] += number
    if same:
        return False
    (counts.copied if copying else counts.kept)[kind] += number
    return copying


def _all_versions(store: NoteStore) -> Iterator[VersionRow]:
    after = None
    while part := store.walk_versions(after=after, limit=BATCH_SIZE):
        yield from part
        after = (part[-1].note, part[-1].number)
