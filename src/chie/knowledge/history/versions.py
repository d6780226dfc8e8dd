"""Earlier versions of notes, as stores keep them."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from chie.knowledge.note import ImportedFile, Note, now

ChangeKind = Literal["changed", "moved", "deleted", "restored"]
"""A note is `moved` if nothing but its space has changed."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """What ends a version of a note: who did what, and when. A note that does not exist is `restored` from the trash
    alone."""

    kind: ChangeKind = "changed"
    by: str
    at: datetime


@dataclass(frozen=True, kw_only=True)
class Version:
    """What a note was from `began_at` until `change`. `note` is None for the time between a deletion and a restoration,
    `file` is the file that a deleted note was imported from."""

    note_id: str
    number: int
    began_at: datetime
    change: Change
    note: Note | None
    file: ImportedFile | None = None


@dataclass(frozen=True, kw_only=True)
class VersionRow:
    """A version as it is stored, for copies from one store to another. `reader` is the note's audience, and the only
    word on its space: that in the body may have been deleted since. `folded_title` is set if the next version has
    another title or other readers: links to the former title lead to the note."""

    note: str
    number: int
    began_at: datetime
    ended_at: datetime
    ended_by: str
    change: ChangeKind
    reader: str | None
    base: int | None
    body: bytes | None
    folded_title: str | None


def change_of(note: Note) -> Change:
    """Of a caller that names nobody: the author's, now."""
    return Change(kind="changed", by=note.user_id, at=now())


def kind_of(stored: Note, note: Note) -> ChangeKind:
    """Of a change that is no restoration."""
    moved = stored.space != note.space and not is_new_version(replace(stored, space=note.space), note)
    return "moved" if moved else "changed"


def is_new_version(stored: Note, note: Note) -> bool:
    """Dates and confirmations alone make no new version."""
    same = replace(
        note,
        created_at=stored.created_at,
        updated_at=stored.updated_at,
        confirmed_by=stored.confirmed_by,
        confirmed_at=stored.confirmed_at,
    )
    return same != stored
