"""Supersession: a note may replace others, which searches then leave out unless nothing else fits."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from chie.errors import ForbiddenError, NotFoundError, ValidationError
from chie.knowledge import rules, validation
from chie.knowledge.note import Found, Hit, Note, NoteLink
from chie.knowledge.store.base import NoteStore
from chie.knowledge.viewer import Viewer


def newer_notes(store: NoteStore, viewer: Viewer, ids: Sequence[str]) -> dict[str, list[NoteLink]]:
    """The notes that supersede these, by the id of the older one, in whichever space the viewer is looking. A note that
    the viewer does not see, or that is only proposed, supersedes nothing for them."""
    found = {
        older: [_link(store, viewer.whole, newer) for newer in ids] for older, ids in store.superseding(ids).items()
    }
    known = {older: [link for link in links if link] for older, links in found.items()}
    return {older: links for older, links in known.items() if links}


def older_notes(store: NoteStore, viewer: Viewer, note: Note) -> list[NoteLink]:
    """The notes that this one supersedes, as far as they exist and the viewer sees them."""
    return [link for older in note.supersedes if (link := _link(store, viewer, older))]


def search_current(
    search: Callable[[int], Found], newer: Callable[[Sequence[str]], dict[str, list[NoteLink]]], limit: int
) -> Found:
    """The results of `search`, which takes a limit, without superseded notes. If none of the others is confident, the
    superseded ones come last and say by what they are superseded."""
    size = limit
    while True:
        found = search(size)
        links = newer([hit.id for hit in found.hits])
        current = [hit for hit in found.hits if hit.id not in links]
        if len(current) >= limit or len(found.hits) < size or size >= validation.MAX_LIMIT:
            break
        size = min(size + 2 * len(links) + 1, validation.MAX_LIMIT)
    if any(hit.confident for hit in current[:limit]):
        return replace(found, hits=current[:limit])
    old = [replace(hit, superseded_by=links[hit.id]) for hit in found.hits if hit.id in links]
    return replace(found, hits=_with_old(current, old, limit))


def valid_supersedes(store: NoteStore, viewer: Viewer, note: Note, ids: Iterable[str]) -> list[str]:
    """Ids for `note.supersedes`. Those that are not among them yet must exist, and the user may change them."""
    chosen = validation.valid_ids(ids)
    for older in chosen:
        if older == note.id:
            raise ValidationError("knowledge.supersedes_itself")
        if older not in note.supersedes:
            rules.require_permission(_existing(store, viewer, older), viewer)
    if note.id in _superseded_by_way_of(store, chosen):
        raise ValidationError("knowledge.supersedes_in_circle")
    return chosen


def newly_superseded(store: NoteStore, stored: Note, ids: Sequence[str] | None) -> list[Note]:
    """The notes that the stored one would supersede from now on. If one of them changes, it may come to supersede the
    stored one at the same time: searches would leave out both."""
    new = dict.fromkeys(validation.valid_ids(ids or ()))
    return [older for one in new if one not in stored.supersedes and (older := store.get(one))]


def permitted(store: NoteStore, viewer: Viewer, note: Note) -> Note:
    """An imported or restored note, without those that it must not supersede. Notes may be imported in any order, so
    one that does not exist yet stays. One in the trash may be restored, so it counts like one that exists."""
    return replace(note, supersedes=[older for older in note.supersedes if _may_supersede(store, viewer, note, older)])


def _may_supersede(store: NoteStore, viewer: Viewer, note: Note, older: str) -> bool:
    if older == note.id or note.id in _superseded_by_way_of(store, [older]):
        return False
    deleted = store.trashed(older)
    stored = deleted.note if deleted else store.get(older)
    if stored is None:
        return True
    with suppress(ForbiddenError, NotFoundError):
        if viewer.sees(stored):
            rules.require_permission(stored, viewer)
            return True
    return False


def _with_old(current: Sequence[Hit], old: Sequence[Hit], limit: int) -> list[Hit]:
    """At most half of the results, unless there are too few others."""
    kept = old[: max(limit - len(current), (limit + 1) // 2)]
    return [*current[: limit - len(kept)], *kept]


def _existing(store: NoteStore, viewer: Viewer, note_id: str) -> Note:
    note = store.get(note_id)
    if note is None or not viewer.sees(note):
        raise ValidationError("knowledge.superseded_not_found")
    return note


def _superseded_by_way_of(store: NoteStore, ids: Sequence[str]) -> set[str]:
    """The notes that these supersede, directly or not, and these themselves."""
    seen, waiting = set[str](), list(ids)
    while waiting:
        note_id = waiting.pop()
        if note_id not in seen:
            seen.add(note_id)
            note = store.get(note_id)
            waiting.extend(note.supersedes if note else ())
    return seen


def _link(store: NoteStore, viewer: Viewer, note_id: str) -> NoteLink | None:
    note = store.get(note_id)
    if note is None or note.proposal or not viewer.sees(note):
        return None
    return NoteLink(id=note.id, title=note.title)
