"""Who may see and change a note, whose it is, and what becomes of its confirmation and its dates."""

from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta

from chie.access.identity import UNAUTHENTICATED, User, current_user, known_user
from chie.errors import ConflictError, ForbiddenError, NotFoundError
from chie.knowledge.note import TEAM, ImportedFile, Note, NoteOrigin
from chie.knowledge.spaces.space import Access, Space, smaller
from chie.knowledge.store.base import NoteStore
from chie.knowledge.viewer import Viewer

VERSION_STEP = timedelta(microseconds=1)  # the resolution of every store


def current_viewer(store: NoteStore) -> Viewer:
    """The current user, with the spaces that they may read and write. A caller without a token, on a public path, sees
    what all users see in the team's space."""
    user = current_user()
    known = {space.name: _access(user, space) for space in store.spaces.all()}
    if user == UNAUTHENTICATED:
        known = {TEAM: known[TEAM]}
    readable = frozenset(name for name, access in known.items() if access != "none")
    return Viewer(user.id, readable, frozenset(name for name in readable if known[name] == "write"))


def _access(user: User, space: Space) -> Access:
    """An admin may do everything, but a token never more than it is limited to."""
    granted: Access = "write" if user.admin else space.access_of(user.id)
    if user.spaces is None:
        return granted
    limit = dict(user.spaces).get(space.name)
    return smaller(granted, "write" if limit == "write" else "read" if limit == "read" else "none")


def chosen_space(viewer: Viewer, space: str | None) -> str:
    """The space to save a note in, which the viewer may write to."""
    name = default_space(viewer) if space is None else space.strip()
    require_write(viewer, name)
    return name


def looking_into(viewer: Viewer, spaces: Collection[str]) -> Viewer:
    """The viewer of a list or search that names spaces; one that cannot be read is empty."""
    return viewer.within(spaces) if spaces else viewer


def default_space(viewer: Viewer) -> str:
    """Where a note is saved that names no space: in the team's, unless the viewer may write to just one other."""
    others = viewer.writable - {TEAM}
    return next(iter(others)) if TEAM not in viewer.writable and len(others) == 1 else TEAM


def confirmation_after(stored: Note, note: Note, by: NoteOrigin) -> Note:
    if by == "person":
        return replace(note, confirmed_by=current_user().id, confirmed_at=note.updated_at)
    if (note.content, note.title) != (stored.content, stored.title):
        return replace(note, confirmed_by=None, confirmed_at=None)
    return note


def require_permission(note: Note, viewer: Viewer, *, private: bool | None = None) -> None:
    """Only the author or an admin may change a note, and only the author its visibility."""
    user = current_user()
    require_write(viewer, note.space)
    if note.user_id != user.id and not user.admin:
        raise ForbiddenError("knowledge.note_forbidden", author=note.user_id)
    if note.user_id != user.id and private not in (None, note.private):
        raise ForbiddenError("knowledge.visibility_forbidden", author=note.user_id)


def require_write(viewer: Viewer, space: str) -> None:
    if space not in viewer.spaces:
        raise NotFoundError("knowledge.space_not_found", spaces=sorted(viewer.spaces))
    if space not in viewer.writable:
        raise ForbiddenError("knowledge.space_read_only", space=space)


def is_unlimited() -> bool:
    """Whether the caller has no token that is limited to spaces: only then may it see and change what is the user's,
    not a space's, such as recorded searches."""
    return current_user().spaces is None


def require_unlimited() -> None:
    if not is_unlimited():
        raise ForbiddenError("knowledge.token_limited")


def is_admin() -> bool:
    """Of everything; an admin's token that is limited to spaces is not."""
    return current_user().admin and is_unlimited()


def require_any_write(viewer: Viewer) -> None:
    if not viewer.writable:
        raise ForbiddenError("knowledge.read_only")


def keeps(stored: Note, note: Note, fingerprint: str | None, previous: ImportedFile | None) -> bool:
    """Whether an import leaves the stored note as it is."""
    if previous is None:
        return stored.updated_at > note.updated_at
    edited = is_edited(stored, previous)
    if fingerprint == previous.fingerprint:
        return edited or stored.source == note.source  # a renamed file is the note's new source
    return edited and stored.updated_at > note.updated_at


def is_edited(stored: Note, previous: ImportedFile) -> bool:
    """Whether the note was changed since it was imported."""
    return stored.updated_at != previous.version


def following(stored: Note) -> datetime:
    """The next version after the stored one; the last possible date has none."""
    with suppress(OverflowError):
        return stored.updated_at + VERSION_STEP
    return stored.updated_at


def differs_only_in_dates(stored: Note, note: Note) -> bool:
    return replace(note, created_at=stored.created_at, updated_at=stored.updated_at) == stored


def owned(note: Note, stored: Note | None) -> Note:
    """A stored note keeps its author. The importing user becomes the author of a new one, unless they are an admin.
    Nobody confirms in another user's name."""
    user = known_user()
    author = stored.user_id if stored else note.user_id if user.admin else user.id
    known = stored is not None and (stored.confirmed_by, stored.content) == (note.confirmed_by, note.content)
    if not (user.admin or known or note.confirmed_by == user.id):
        note = replace(note, confirmed_by=None, confirmed_at=None)
    return replace(note, user_id=author)


def require_version(stored: Note, seen: datetime | None) -> None:
    if seen is not None and stored.updated_at != seen:
        raise ConflictError("knowledge.note_changed")
