"""Whose the id of a note is: that of the note that has it, or that had it and is in the trash."""

from chie.access.identity import known_user
from chie.errors import NotFoundError
from chie.knowledge import rules, validation
from chie.knowledge.history import supersession
from chie.knowledge.note import Note
from chie.knowledge.store.base import NoteStore
from chie.knowledge.viewer import Viewer


def stored_note(store: NoteStore, viewer: Viewer, note_id: str) -> Note | None:
    """The note with this id. Another user's private note counts as not found and cannot be overwritten."""
    stored = store.get(validation.valid_id(note_id))
    if stored is not None and not viewer.sees(stored):
        raise NotFoundError("knowledge.note_not_found")
    return stored


def may_use_id(store: NoteStore, note_id: str, author: str) -> bool:
    """Whether the id is unused or belongs to a note of the same author, be it in the trash, so that an import cannot
    end up in a note that somebody else stored under its id, or be superseded by one that waited for it."""
    deleted, user = store.trashed(note_id), known_user()
    stored = deleted.note if deleted else store.get(note_id)
    others = [stored] if stored else map(store.get, store.superseding([note_id]).get(note_id, ()))
    return {other.user_id for other in others if other} <= {author if user.admin else user.id}


def owned(store: NoteStore, viewer: Viewer, note: Note, stored: Note | None) -> Note:
    """A note that arrives with an id, validated, as that of the author whose the id is."""
    note = validation.cleaned(rules.owned(note, stored or _deleted_note(store, viewer, note.id)))
    known = stored is not None and stored.supersedes == note.supersedes
    return note if known or not note.supersedes else supersession.permitted(store, viewer, note)


def _deleted_note(store: NoteStore, viewer: Viewer, note_id: str) -> Note | None:
    """The note in the trash with this id, however long ago it was deleted. For those who may not change it, the id is
    in use in the same way as that of a note that exists."""
    version = store.trashed(validation.valid_id(note_id))
    if version is None or version.note is None:
        return None
    if not viewer.sees(version.note):
        raise NotFoundError("knowledge.note_not_found")
    rules.require_permission(version.note, viewer)
    return version.note
