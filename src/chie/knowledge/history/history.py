"""Use cases of earlier versions and of the trash: who may see, restore and delete them."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from typing import Literal

from chie.access.audit import record
from chie.access.identity import current_user
from chie.errors import NotFoundError
from chie.knowledge import rules, validation
from chie.knowledge.history.versions import Version
from chie.knowledge.note import Note, Saved
from chie.knowledge.service import KnowledgeService

PAGE = 50
MAX_TRASH = 100  # notes that are listed
_NOT_COMPARED = {"id", "created_at", "updated_at", "confirmed_by", "confirmed_at"}

VersionKind = Literal["created", "changed", "moved", "deleted", "restored"]


@dataclass(frozen=True, kw_only=True)
class VersionHeading:
    """One version in the list: who made it, when and how. `changes` are the fields that differ from the version before
    it, unless you could not read that one."""

    version: int
    kind: VersionKind
    by: str
    at: datetime
    title: str | None
    length: int
    changes: list[str]
    current: bool = False


@dataclass(frozen=True, kw_only=True)
class VersionPage:
    """Latest first; `next_below` continues the list."""

    versions: list[VersionHeading]
    next_below: int | None = None


@dataclass(frozen=True, kw_only=True)
class Trashed:
    """A deleted note in the list, and when it will be deleted for good."""

    id: str
    title: str
    tags: list[str]
    user_id: str
    private: bool
    proposal: bool
    length: int
    deleted_at: datetime
    deleted_by: str
    expires_at: datetime


@dataclass(frozen=True)
class _State:
    """`note` is None while the note was deleted."""

    number: int
    note: Note | None
    began_at: datetime
    current: bool = False


class History:
    def __init__(self, service: KnowledgeService) -> None:
        self._service = service
        self._store = service.store

    def versions(self, note_id: str, *, below: int | None = None, limit: int = PAGE) -> VersionPage:
        """Versions that were private or proposals are left out for everybody who could not see them then."""
        note, limit = self._get(note_id), validation.valid_limit(limit)
        rows = self._store.versions(note.id, below=below, limit=limit + 1)
        states = [_State(row.number, row.note, row.began_at) for row in rows]
        if below is None:
            began_at = rows[0].change.at if rows else note.created_at
            states.insert(0, _State(rows[0].number + 1 if rows else 1, note, began_at, current=True))
        made = {row.number + 1: row for row in rows}
        before = {state.number + 1: state for state in states}
        viewer = self._service.viewer()
        shown = [
            _heading(state, made.get(state.number), self._seen(before.get(state.number)))
            for state in states[:limit]
            if state.note is None or viewer.sees(state.note)
        ]
        return VersionPage(versions=shown, next_below=states[limit - 1].number if len(states) > limit else None)

    def version(self, note_id: str, number: int) -> Note:
        """The note as it was."""
        note = self._get(note_id)
        if number == self._store.version_number(note.id):
            return note
        found = self._store.versions(note.id, below=number + 1, limit=1) if 0 < number < 2**31 - 1 else ()
        if not found or found[0].number != number or found[0].note is None or self._seen_note(found[0].note) is None:
            raise NotFoundError("knowledge.version_not_found", version=number)
        return found[0].note

    def restore_version(self, note_id: str, number: int) -> Saved:
        """Make what the note said then its next version. Who may read it stays as it is now."""
        stored, old = self._get(note_id), self.version(note_id, number)
        rules.require_permission(stored, self._service.viewer())
        moment = self._service.next_version(stored)
        note = replace(
            stored,
            title=old.title,
            content=old.content,
            tags=old.tags,
            source=old.source,
            anchor=old.anchor,
            status=old.status,
            questions=old.questions,
            signatures=old.signatures,
            confirmed_by=current_user().id,
            confirmed_at=moment,
            updated_at=moment,
        )
        saved = self._service.replace(stored, note, kind="restored")
        record("note.restored", note.id)
        return saved

    def forget(self, note_id: str) -> None:
        """Delete all earlier versions of a note for good, such as one with a secret."""
        note = self._get(note_id)
        rules.require_permission(note, self._service.viewer())
        if not self._store.purge(note.id, deleted=False):
            raise NotFoundError("knowledge.note_not_found")
        record("note.history_deleted", note.id)

    def trash(self, *, limit: int = MAX_TRASH) -> list[Trashed]:
        """Deleted notes that can be restored, the latest first."""
        self._require_versions()
        viewer = self._service.viewer()
        kept_since = self._service.trash_begins()
        found = self._store.trash(viewer=viewer, after=kept_since, limit=validation.valid_limit(limit))
        days = timedelta(days=self._service.trash_days)
        return [
            _trashed(version.note, version, days) for version in found if version.note and viewer.sees(version.note)
        ]

    def trashed(self, note_id: str) -> Note:
        """The note as it was when it was deleted. NotFoundError also for another user's private note."""
        self._require_versions()
        note_id = validation.required_id(note_id)
        last = self._store.trashed(note_id) if validation.is_plain(note_id) else None
        expired = last is not None and last.change.at <= self._service.trash_begins()
        if last is None or last.note is None or expired or self._seen_note(last.note) is None:
            raise NotFoundError("knowledge.trashed_note_not_found")
        return last.note

    def restore_trashed(self, note_id: str) -> Note:
        """Restore a deleted note with its id and dates."""
        note = self.trashed(note_id)
        rules.require_permission(note, self._service.viewer())
        self._store.save(note, change=self._service.change("restored"))
        record("note.restored", note.id)
        return note

    def purge(self, note_id: str) -> None:
        """Delete a note in the trash, and all of its versions, for good."""
        note = self.trashed(note_id)
        rules.require_permission(note, self._service.viewer())
        if not self._store.purge(note.id, deleted=True):
            raise NotFoundError("knowledge.trashed_note_not_found")
        record("note.purged", note.id)

    def _get(self, note_id: str) -> Note:
        note = self._service.get(note_id)
        self._require_versions()
        return note

    def _require_versions(self) -> None:
        if not self._store.keeps_versions:
            raise NotFoundError("knowledge.versions_not_kept")

    def _seen(self, state: _State | None) -> _State | None:
        return state if state and state.note and self._seen_note(state.note) else None

    def _seen_note(self, note: Note) -> Note | None:
        return note if self._service.viewer().sees(note) else None


def _heading(state: _State, made: Version | None, before: _State | None) -> VersionHeading:
    """`made` is the version before, which ended when this one began."""
    note = state.note
    kind: VersionKind = made.change.kind if made else "created"
    return VersionHeading(
        version=state.number,
        kind=kind,
        by=made.change.by if made else note.user_id if note else "",
        at=made.change.at if made else state.began_at,
        title=note.title if note else None,
        length=len(note.content) if note else 0,
        changes=sorted(_changes(before.note, note)) if before and before.note and note else [],
        current=state.current,
    )


def _changes(before: Note, after: Note) -> Iterator[str]:
    for one in fields(Note):
        if one.name not in _NOT_COMPARED and getattr(before, one.name) != getattr(after, one.name):
            yield one.name


def _trashed(note: Note, version: Version, days: timedelta) -> Trashed:
    return Trashed(
        id=note.id,
        title=note.title,
        tags=note.tags,
        user_id=note.user_id,
        private=note.private,
        proposal=note.proposal,
        length=len(note.content),
        deleted_at=version.change.at,
        deleted_by=version.change.by,
        expires_at=version.change.at + days,
    )
