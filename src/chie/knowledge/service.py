"""What can be done with notes: who may do it, when it was done, and what "not found" means."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal

from chie.access.audit import record
from chie.access.identity import current_user, known_user
from chie.errors import ConflictError, ForbiddenError, NotFoundError, ValidationError
from chie.knowledge import rules
from chie.knowledge.note import (
    AuthorKind,
    Found,
    Hit,
    Note,
    Page,
    Saved,
    Similar,
    TagCount,
    new_id,
    now,
)
from chie.knowledge.store.base import NoteStore

SIMILAR = 3
RELATED = 5
QUOTED = 400  # characters of a note that say what it is about
NEAR = 0.35  # a lower score is shared words, not a shared matter
TRIES = 3

Kept = Literal["saved", "unchanged", "newer"]


class KnowledgeService:
    def __init__(self, store: NoteStore, *, clock: Callable[[], datetime] = now) -> None:
        self.store = store
        self._clock = clock

    def save(
        self,
        content: str,
        *,
        title: str | None = None,
        tags: Sequence[str] | None = None,
        source: str | None = None,
        private: bool = False,
        author_kind: AuthorKind = "agent",
    ) -> Saved:
        content = rules.good_content(content)
        user = known_user()
        moment = self._clock()
        note = Note(
            id=new_id(),
            title=rules.good_title(title, content),
            content=content,
            tags=rules.good_tags(tags),
            source=rules.good_source(source),
            user_id=user.id,
            author_kind=author_kind,
            private=private,
            created_at=moment,
            updated_at=moment,
        )
        similar = self.store.similar(note, limit=SIMILAR, viewer=user.id)
        notice = self.store.save(note)
        record("note.created", note.id)
        return _saved(note, similar=similar, notice=notice)

    def update(
        self,
        note_id: str,
        *,
        content: str | None = None,
        title: str | None = None,
        tags: Sequence[str] | None = None,
        private: bool | None = None,
        seen: datetime | None = None,
    ) -> Saved:
        """Changes only what is given. If somebody else writes in between, it starts again from their version,
        unless the caller says which version was `seen`, by its `updated_at`: then it is a conflict.
        """
        if content is None and title is None and tags is None and private is None:
            raise ValidationError("nothing to change: give content, title, tags or private")
        for attempt in range(TRIES):
            stored = self.get(note_id)
            _refuse_stranger(stored, private=private)
            _refuse_unseen(stored, seen)
            note = rules.changed(stored, content=content, title=title, tags=tags, moment=self._clock())
            note = note if private is None else replace(note, private=private)
            try:
                notice = self.store.save(note, replacing=stored)
            except ConflictError:
                if attempt == TRIES - 1:
                    raise
            else:
                record("note.changed", note.id)
                return _saved(note, notice=notice)
        raise AssertionError("unreachable")

    def get(self, note_id: str) -> Note:
        note_id = rules.given_id(note_id)
        note = self.find(note_id) if rules.is_plain(note_id) else None  # PostgreSQL and UTF-8 fail at some of the rest
        if note is None:
            raise _not_found()
        return note

    def find(self, note_id: str) -> Note | None:
        """None also where it is somebody else's own: nobody shall learn that it exists."""
        note = self.store.get(note_id)
        return note if note is not None and _is_visible(note) else None

    def delete(self, note_id: str) -> None:
        note = self.get(note_id)
        _refuse_stranger(note)
        if not self.store.delete(note.id):
            raise _not_found()
        record("note.deleted", note.id)

    def browse(self, *, tag: str | None = None, limit: int = 20, cursor: str | None = None) -> Page:
        tag, limit, viewer = rules.good_tag(tag or "") or None, rules.good_limit(limit), current_user().id
        return self.store.browse(tag=tag, limit=limit, cursor=cursor or None, viewer=viewer)

    def tags(self) -> Sequence[TagCount]:
        return self.store.tags(viewer=current_user().id)

    def count(self) -> int:
        """As many as whoever asks may see."""
        return self.store.count(viewer=current_user().id)

    def search(self, query: str, *, limit: int = 10, tags: Sequence[str] | None = None) -> Found:
        query, limit, tags = rules.good_query(query), rules.good_limit(limit), rules.good_tags(tags)
        return self.store.search(query, limit=limit, tags=tags, viewer=current_user().id)

    def keep(self, note: Note, *, overwrite: bool = False) -> Kept:
        """Take a note as it is, id and dates included. One that was changed here later is `newer` and left alone:
        whoever wrote into it would lose that without a word.
        """
        stored = self._stored(note)
        note = rules.cleaned(_owned(note, stored))
        if stored == note:
            return "unchanged"
        if stored is not None:
            _refuse_stranger(stored, private=note.private)
            if stored.updated_at > note.updated_at and not overwrite:
                return "unchanged" if _says_the_same(stored, note) else "newer"
        self.store.save(note, replacing=stored)
        record("note.imported", note.id)
        return "saved"

    def restore(self, note: Note) -> Note:
        """Bring a deleted note back, id and dates included; ConflictError where the id is in use."""
        stored = self._stored(note)
        note = rules.cleaned(_owned(note, stored))
        self.store.save(note)
        record("note.restored", note.id)
        return note

    def _stored(self, note: Note) -> Note | None:
        """What has the note's id now; somebody else's own is not there, and cannot be written over either."""
        stored = self.store.get(rules.good_id(note.id))
        if stored is not None and not _is_visible(stored):
            raise _not_found()
        return stored

    def related(self, note_id: str, *, limit: int = RELATED) -> list[Hit]:
        """Other notes on the same matter, whether or not they say the same."""
        note = self.get(note_id)
        words = f"{note.title}\n{note.content[:QUOTED]}"
        found = self.store.search(words, limit=rules.good_limit(limit) + 1, tags=(), viewer=current_user().id)
        return [hit for hit in found.hits if hit.id != note.id and hit.score >= NEAR][:limit]


def _is_visible(note: Note) -> bool:
    return not note.private or note.user_id == current_user().id


def _refuse_stranger(note: Note, *, private: bool | None = None) -> None:
    """The team's notes are read by all, and changed by whoever wrote them or by an admin; only the author hides one."""
    user = current_user()
    if note.user_id != user.id and not user.admin:
        raise ForbiddenError(
            f"this note is {note.user_id}'s: only its author or an admin may change or delete it. "
            "Ask one of them, or save a note of your own."
        )
    if note.user_id != user.id and private not in (None, note.private):
        raise ForbiddenError(f"this note is {note.user_id}'s: only its author may make it private, or the team's.")


def _says_the_same(stored: Note, note: Note) -> bool:
    return replace(note, created_at=stored.created_at, updated_at=stored.updated_at) == stored


def _owned(note: Note, stored: Note | None) -> Note:
    """One that is here keeps its author. Whoever brings another in becomes its author, but an admin may bring those
    of others."""
    user = known_user()
    author = stored.user_id if stored else note.user_id if user.admin else user.id
    return replace(note, user_id=author)


def _saved(note: Note, *, similar: Sequence[Similar] = (), notice: str | None = None) -> Saved:
    return Saved(
        id=note.id,
        title=note.title,
        tags=note.tags,
        user_id=note.user_id,
        private=note.private,
        created_at=note.created_at,
        updated_at=note.updated_at,
        similar=list(similar),
        notice=notice,
    )


def _refuse_unseen(stored: Note, seen: datetime | None) -> None:
    if seen is not None and stored.updated_at != seen:
        raise ConflictError(
            "somebody changed this note since you opened it, and nothing was written. "
            "Read it again, then repeat the change."
        )


def _not_found() -> NotFoundError:
    return NotFoundError(
        "knowledge not found: no note has this id. search_knowledge and list_knowledge show the ids that exist."
    )
