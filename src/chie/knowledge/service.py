"""The rules of the room: what a good note is, who and when, and what "not found" means."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from chie.access.audit import record
from chie.access.identity import current_user, known_user
from chie.errors import ConflictError, ForbiddenError, NotFoundError, ValidationError
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

TITLE_FROM_CONTENT = 30

MAX_CONTENT = 200_000
MAX_TITLE = 300
MAX_TAGS = 50
MAX_TAG = 100
MAX_SOURCE = 2_000
MAX_QUERY = 10_000
MAX_LIMIT = 100
SIMILAR = 3
RELATED = 5
QUOTED = 400  # characters of a note that say what it is about
NEAR = 0.35  # a lower score is shared words, not a shared matter
TRIES = 3

# Everything below a space but tab and line ends, and halves of surrogate pairs, which no encoding can write.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


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
        content = _content(content)
        user = known_user()
        moment = self._clock()
        note = Note(
            id=new_id(),
            title=_title(title, content),
            content=content,
            tags=_tags(tags),
            source=_line("source", source, MAX_SOURCE),
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
            note = _changed(stored, content=content, title=title, tags=tags, moment=self._clock())
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
        note = self.find(_id(note_id))
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
        viewer = current_user().id
        return self.store.browse(tag=tag or None, limit=_limit(limit), cursor=cursor or None, viewer=viewer)

    def tags(self) -> Sequence[TagCount]:
        return self.store.tags(viewer=current_user().id)

    def count(self) -> int:
        """As many as whoever asks may see."""
        return self.store.count(viewer=current_user().id)

    def search(self, query: str, *, limit: int = 10, tags: Sequence[str] | None = None) -> Found:
        if not query.strip():
            raise ValidationError("query is required: say in a few words or a sentence what to look for")
        if len(query) > MAX_QUERY:
            raise ValidationError(f"query is too long: at most {MAX_QUERY:,} characters")
        if _CONTROL.search(query):
            raise ValidationError("query has control characters: send plain text")
        viewer = current_user().id
        return self.store.search(query.strip(), limit=_limit(limit), tags=_tags(tags), viewer=viewer)

    def keep(self, note: Note) -> bool:
        """Take a note as it is, id and dates included; False where it was here already, just so."""
        stored = self._stored(note)
        note = _cleaned(_owned(note, stored))
        if stored == note:
            return False
        if stored is not None:
            _refuse_stranger(stored, private=note.private)
        self.store.save(note, replacing=stored)
        record("note.imported", note.id)
        return True

    def restore(self, note: Note) -> Note:
        """Bring a deleted note back, id and dates included; ConflictError where the id is in use."""
        stored = self._stored(note)
        note = _cleaned(_owned(note, stored))
        self.store.save(note)
        record("note.restored", note.id)
        return note

    def _stored(self, note: Note) -> Note | None:
        """What has the note's id now; somebody else's own is not there, and cannot be written over either."""
        stored = self.store.get(_id(note.id))
        if stored is not None and not _is_visible(stored):
            raise _not_found()
        return stored

    def related(self, note_id: str, *, limit: int = RELATED) -> list[Hit]:
        """Other notes on the same matter, whether or not they say the same."""
        note = self.get(note_id)
        words = f"{note.title}\n{note.content[:QUOTED]}"
        found = self.store.search(words, limit=_limit(limit) + 1, tags=(), viewer=current_user().id)
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


def _owned(note: Note, stored: Note | None) -> Note:
    """Whoever brings a note in is its author, unless it has one here; an admin may bring those of others."""
    user = known_user()
    return note if user.admin else replace(note, user_id=stored.user_id if stored else user.id)


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


def _changed(
    note: Note,
    *,
    content: str | None,
    title: str | None,
    tags: Sequence[str] | None,
    moment: datetime,
) -> Note:
    """A title that was made from the content follows it; a title that somebody chose stays."""
    text = note.content if content is None else _content(content)
    if title is None and note.title != _title(None, note.content):
        title = note.title
    return replace(
        note,
        content=text,
        title=_title(title, text),
        tags=note.tags if tags is None else _tags(tags),
        updated_at=moment,
    )


def _cleaned(note: Note) -> Note:
    """A note from elsewhere, held to the rules of our own."""
    content = _content(note.content)
    return replace(
        note,
        id=_id(note.id),
        content=content,
        title=_title(note.title, content),
        tags=_tags(note.tags),
        source=_line("source", note.source, MAX_SOURCE),
        status=_line("status", note.status, MAX_TAG),
    )


def _refuse_unseen(stored: Note, seen: datetime | None) -> None:
    if seen is not None and stored.updated_at != seen:
        raise ConflictError(
            "somebody changed this note since you opened it, and nothing was written. "
            "Read it again, then repeat the change."
        )


def _content(content: str) -> str:
    content = content.strip()
    if not content:
        raise ValidationError("content is required: write down what was found out")
    if len(content) > MAX_CONTENT:
        raise ValidationError(
            f"content is too long: {len(content):,} characters, at most {MAX_CONTENT:,}. Split it into several notes."
        )
    if found := _CONTROL.search(content):
        raise ValidationError(
            f"content is not plain text: it has a control character (U+{ord(found.group()):04X}) "
            f"at position {found.start()}. Remove such characters (terminal colours are some), "
            "and save what a binary file means rather than its bytes."
        )
    return content


def _title(title: str | None, content: str) -> str:
    return _line("title", title, MAX_TITLE) or " ".join(content[:TITLE_FROM_CONTENT].split())


def _tags(tags: Sequence[str] | None) -> list[str]:
    """In the order given, each once whatever its case, without the `#` that people type."""
    cleaned = [_line("tags", tag.strip().lstrip("#"), MAX_TAG) for tag in tags or ()]
    unique: dict[str, str] = {}
    for tag in filter(None, cleaned):
        unique.setdefault(tag.casefold(), tag)
    if len(unique) > MAX_TAGS:
        raise ValidationError(f"too many tags: {len(unique):,}, at most {MAX_TAGS}. Keep the telling ones.")
    return list(unique.values())


def _line(name: str, text: str | None, longest: int) -> str | None:
    text = " ".join((text or "").split())
    if len(text) > longest:
        raise ValidationError(f"{name} is too long: at most {longest:,} characters")
    if _CONTROL.search(text):
        raise ValidationError(f"{name} has control characters: send plain text")
    return text or None


def _id(note_id: str) -> str:
    note_id = note_id.strip()
    if not note_id:
        raise ValidationError("id is required: search_knowledge and list_knowledge show the ids")
    return note_id


def _limit(limit: int) -> int:
    if not 1 <= limit <= MAX_LIMIT:
        raise ValidationError(f"limit must be between 1 and {MAX_LIMIT}")
    return limit


def _not_found() -> NotFoundError:
    return NotFoundError(
        "knowledge not found: no note has this id. search_knowledge and list_knowledge show the ids that exist."
    )
