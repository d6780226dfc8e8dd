"""What a new title of a note changes in the texts that link to the old one."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from chie.errors import ForbiddenError, NotFoundError
from chie.knowledge import rules
from chie.knowledge.links.text import folded_title, renamed
from chie.knowledge.note import Note
from chie.knowledge.store.base import NoteStore
from chie.knowledge.viewer import Viewer

MAX_RENAMED = 200  # notes; the other ones lead to the note by its former title


def renamed_links(
    store: NoteStore, viewer: Viewer, stored: Note, note: Note, next_version: Callable[[Note], datetime]
) -> list[tuple[Note, Note]]:
    """The notes that link to the old title and that the current user may change, as they are and as they become. None
    if another note has that title too. A text that others read gets no title that they must not."""
    old = folded_title(stored.title)
    if old == folded_title(note.title) or any(one.id != note.id for one in store.titled([old], viewer=viewer)):
        return []
    changed = []
    for link in store.linking([old], viewer=viewer, limit=MAX_RENAMED):
        other = store.get(link.id)
        if other is None or other.id == note.id or not _may_change(other, viewer) or not _may_name(store, other, note):
            continue
        content = renamed(other.content, stored.title, note.title)
        if content != other.content:
            changed.append((other, replace(other, content=content, updated_at=next_version(other))))
    return changed


def _may_change(note: Note, viewer: Viewer) -> bool:
    if not viewer.sees(note):
        return False
    try:
        rules.require_permission(note, viewer)
    except (ForbiddenError, NotFoundError):
        return False
    return True


def _may_name(store: NoteStore, other: Note, note: Note) -> bool:
    """Whether all who read the other note may read this one."""
    if note.reader is not None:
        return (note.space, note.reader) == (other.space, other.reader)
    return note.space == other.space or any(
        space.everybody != "none" for space in store.spaces.all() if space.name == note.space
    )
