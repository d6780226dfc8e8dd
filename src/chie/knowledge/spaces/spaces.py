"""Use cases of spaces: admins make them, say who may read and write in them, and bind repositories to them."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace

from chie.access.audit import record
from chie.anchors.names import folders_of, repository_name
from chie.errors import ConflictError, ForbiddenError, NotFoundError, ValidationError
from chie.knowledge.note import TEAM
from chie.knowledge.rules import is_admin
from chie.knowledge.service import KnowledgeService
from chie.knowledge.spaces.space import Access, Space

MAX_TITLE = 100
MAX_REPOSITORY = 300
BATCH = 100
MAX_ROUNDS = 20  # in which the notes of a space are moved that others keep saving in it

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


@dataclass(frozen=True, kw_only=True)
class SeenSpace:
    """A space as a user sees it; only admins see `everybody` and `grants`."""

    name: str
    title: str
    access: Access
    notes: int
    everybody: Access | None = None
    grants: dict[str, Access] | None = None


class Spaces:
    def __init__(self, service: KnowledgeService) -> None:
        self._service = service
        self._store = service.store

    def list(self) -> list[SeenSpace]:
        """Those that the current user may read, the team's first."""
        viewer = self._service.viewer()
        found = [space for space in self._store.spaces.all() if space.name in viewer.spaces]
        return [
            SeenSpace(
                name=space.name,
                title=space.title,
                access="write" if space.name in viewer.writable else "read",
                notes=self._store.count(viewer=viewer.within([space.name])),
                everybody=space.everybody if is_admin() else None,
                grants=dict(space.grants) if is_admin() else None,
            )
            for space in sorted(found, key=lambda space: (space.name != TEAM, space.name))
        ]

    def save(self, name: str, *, title: str | None = None, everybody: Access | None = None) -> None:
        """Make a space, or change the one of this name; None leaves a field as it is."""
        try:
            self.change(name, title=title, everybody=everybody)
        except NotFoundError:
            self.create(name, title=title, everybody=everybody or "none")

    def create(self, name: str, *, title: str | None = None, everybody: Access = "none") -> None:
        _require_admin()
        if not self._store.spaces.add(_valid_name(name), title=_valid_title(title or "") or name, everybody=everybody):
            raise ConflictError("knowledge.space_exists", space=name)
        record("space.saved", name)

    def change(self, name: str, *, title: str | None = None, everybody: Access | None = None) -> None:
        _require_admin()
        title = None if title is None else _valid_title(title) or name
        if not self._store.spaces.change(_valid_name(name), title=title, everybody=everybody):
            raise self._unknown()
        record("space.saved", name)

    def grant(self, name: str, user_id: str, access: Access) -> None:
        _require_admin()
        user_id = user_id.strip()
        if not user_id or not user_id.isprintable():
            raise ValidationError("knowledge.space_user_invalid")
        if not self._store.spaces.grant(name, user_id, access):
            raise self._unknown()
        record("space.granted" if access != "none" else "space.revoked", name)

    def delete(self, name: str, *, move_to: str | None = None) -> int:
        """Delete a space, and return how many notes were moved out of it. One with notes, deleted notes or earlier
        versions is kept unless they are to be moved; private notes stay private to their authors."""
        _require_admin()
        target = move_to if move_to != name else None
        if name == TEAM or not self._find(name) or (target and not self._find(target)):
            raise self._unknown()
        while self._store.purge_deleted(self._service.trash_begins()):
            pass
        moved, left = 0, self._store.spaces.delete(name, move_to=target)
        for _ in range(MAX_ROUNDS if target else 0):  # meanwhile, somebody may save more notes in the space
            if target is None or left is None:
                break
            moved += self._move(name, target)
            left = self._store.spaces.delete(name, move_to=target)
        if left is not None:
            raise ConflictError("knowledge.space_not_empty", space=name, **asdict(left))
        record("space.deleted", name)
        return moved

    def repositories(self) -> dict[str, str]:
        """Of the spaces that the current user may read."""
        readable = self._service.viewer().spaces
        return {name: space for name, space in self._store.spaces.repositories().items() if space in readable}

    def bind(self, repository: str, space: str | None) -> str:
        """Bind a repository to a space, or to none, and return the repository's name."""
        _require_admin()
        name = repository_name(repository)
        if not name or len(name) > MAX_REPOSITORY or not name.isprintable():
            raise ValidationError("knowledge.repository_invalid")
        if not self._store.spaces.bind(name, space):
            raise self._unknown()
        for stored in self._store.spaces.repositories():  # as an earlier version named it
            if stored != name and repository_name(stored) == name:
                self._store.spaces.bind(stored, None)
        record("space.bound" if space else "space.unbound", space)
        return name

    def space_of(self, remote: str, folder: str = "") -> str | None:
        """The space that a repository, or a folder above this one, is bound to, if the current user may read it."""
        stored = self._store.spaces.repositories()
        if not stored:
            return None
        bound = {repository_name(name): space for name, space in stored.items()} | stored
        names = [repository_name(remote), *folders_of(folder)]
        space = next((bound[name] for name in names if name in bound), None)
        return space if space in self._service.viewer().spaces else None

    def _unknown(self) -> NotFoundError:
        return NotFoundError("knowledge.space_not_found", spaces=sorted(self._service.viewer().spaces))

    def _find(self, name: str) -> Space | None:
        return next((space for space in self._store.spaces.all() if space.name == name), None)

    def _move(self, name: str, target: str) -> int:
        moved, after = 0, None
        while notes := self._store.walk(after=after, limit=BATCH):
            moved += self._move_some([note.id for note in notes if note.space == name], name, target)
            after = notes[-1].id
        return moved

    def _move_some(self, ids: Sequence[str], name: str, target: str) -> int:
        """One that is changed meanwhile is left for the next round. A move changes the date, as that of a single note
        does: an earlier export names the deleted space, and must not take the note into a new one of that name."""
        moved = 0
        for note_id in ids:
            note = self._store.get(note_id)
            if note is None or note.space != name:
                continue
            with suppress(ConflictError):
                after = replace(note, space=target, updated_at=self._service.next_version(note))
                self._store.save(after, replacing=note, change=self._service.change("moved"))
                record("note.moved", note_id)
                moved += 1
        return moved


def _require_admin() -> None:
    if not is_admin():
        raise ForbiddenError("knowledge.spaces_for_admins")


def _valid_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValidationError("knowledge.space_name_invalid")
    return name


def _valid_title(title: str) -> str:
    title = " ".join(title.split())
    if len(title) > MAX_TITLE or not (not title or title.isprintable()):
        raise ValidationError("knowledge.space_title_invalid", limit=MAX_TITLE)
    return title
