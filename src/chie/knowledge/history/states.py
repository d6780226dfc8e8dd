"""Takes a decision back: notes become what they were, as long as their versions are kept."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from chie.errors import ConflictError, NotFoundError
from chie.knowledge.note import Note
from chie.knowledge.records import NoteState
from chie.knowledge.service import KnowledgeService
from chie.knowledge.store.base import NoteStore


def state_of(store: NoteStore, note: Note) -> NoteState:
    """Of a note that is stored now."""
    return NoteState.of(note, store.version_number(note.id))


def put_back(
    service: KnowledgeService,
    before: Sequence[NoteState],
    after: Sequence[NoteState],
    *,
    require: Callable[[Note], None],
    outdated: str,
    kept: Sequence[Note] = (),
) -> list[Note]:
    """Store the notes as they were `before`, all or none, with their dates. ConflictError with the code `outdated` if
    they are not as they were `after`, where a note that is missing was deleted, or if their versions were deleted.
    `require` raises unless the current user may change a note, and is asked about both states. `kept` are the notes of
    a store that keeps no versions."""
    store, expected = service.store, {state.id: state for state in after}
    replacements = []
    for state in before:
        stored = store.get(state.id)
        note = _note_in(store, state, stored) or next((one for one in kept if one.id == state.id), None)
        if note is None or (stored and state_of(store, stored)) != expected.get(state.id):
            raise ConflictError(outdated)
        for one in filter(None, (note, stored)):
            require(one)
        replacements.append((stored, note))
    if replacements:
        try:
            store.replace_all(replacements, change=service.change("restored"))
        except (ConflictError, NotFoundError) as error:
            raise ConflictError(outdated) from error
    return [note for _, note in replacements]


def _note_in(store: NoteStore, state: NoteState, stored: Note | None) -> Note | None:
    """None if the version is not kept any more. A confirmation makes no version."""
    if not store.keeps_versions or state.version < 1:
        return None
    if stored is not None and store.version_number(stored.id) == state.version:
        return replace(
            stored,
            created_at=state.created_at,
            updated_at=state.updated_at,
            confirmed_by=state.confirmed_by,
            confirmed_at=state.confirmed_at,
        )
    kept = store.versions(state.id, below=state.version + 1, limit=1)
    # One that was deleted is the last in the trash, unless it was restored, changed and deleted again.
    version = store.trashed(state.id) if stored is None else next(iter(kept), None)
    note = version.note if version else None
    return note if version and note and NoteState.of(note, version.number) == state else None
