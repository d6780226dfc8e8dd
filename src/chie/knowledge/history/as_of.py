"""Search as of a moment: what the notes said then, deleted ones included.

Notes that have not changed since are found through the store's index. The others are ranked from their stored versions,
which are embedded for this one search as far as the notes have changed, and therefore at most `MAX_CHANGED` of them.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import accumulate, islice

from chie.errors import NotFoundError, ValidationError
from chie.knowledge.history import supersession
from chie.knowledge.history.versions import Version
from chie.knowledge.note import Found, Hit, Note, NoteLink
from chie.knowledge.rules import VERSION_STEP
from chie.knowledge.search.query import SearchQuery
from chie.knowledge.search.tokens import fold
from chie.knowledge.store.base import NoteStore
from chie.knowledge.viewer import Viewer
from chie.messages.catalogue import Message
from chie.unicode import normal

MAX_CHANGED = 200  # earlier versions that one search compares
MAX_CHARACTERS = 2_000_000  # of them together
_DATE = re.compile(r"(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2}))?)?")
MAX_READ = 5_000  # earlier versions that one search reads


def parse_moment(text: str) -> datetime:
    """A date means the end of that day, month or year, in UTC."""
    text = normal(text).strip()
    try:
        if date := _DATE.fullmatch(text):
            return _end_of(*(int(part) if part else None for part in date.groups())) - VERSION_STEP
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValidationError("knowledge.at_invalid") from error


def _end_of(year: int | None, month: int | None, day: int | None) -> datetime:
    first = datetime(year or 0, month or 1, day or 1, tzinfo=UTC)
    if day:
        return first + timedelta(days=1)
    return first.replace(month=first.month + 1) if month and month < 12 else first.replace(year=first.year + 1, month=1)


class SearchAsOf:
    def __init__(
        self,
        store: NoteStore,
        viewer: Viewer,
        query: SearchQuery,
        tags: Sequence[str],
        moment: datetime,
        *,
        trash_begins: datetime,
    ) -> None:
        """Notes that were deleted until the trash begins are gone, whether they have been purged or not."""
        if not store.keeps_versions:
            raise NotFoundError("knowledge.versions_not_kept")
        self._store = store
        self._viewer = viewer
        self._query = query
        self._tags = tags
        self._moment = moment
        self._trash_begins = trash_begins

    def search(self, limit: int) -> Found:
        unchanged = self._unchanged(limit)
        hits = sorted([*unchanged.hits, *self._earlier], key=self._order, reverse=True)
        notice = unchanged.notice
        if len(self._compared) < len(self._chosen) or len(self._changed) == MAX_READ:
            notice = Message("knowledge.as_of_incomplete", limit=len(self._compared))
        return Found(hits=hits[:limit], notice=notice)

    def newer(self, ids: Sequence[str]) -> dict[str, list[NoteLink]]:
        """The notes that superseded these then."""
        links: dict[str, list[NoteLink]] = {}
        for note in self._then:
            for older in set(note.supersedes).intersection(ids):
                links.setdefault(older, []).append(NoteLink(id=note.id, title=note.title))
        for older, newer in supersession.newer_notes(self._store, self._viewer, ids).items():
            if unchanged := [link for link in newer if self._is_unchanged(link.id)]:
                links.setdefault(older, []).extend(unchanged)
        return links

    @cached_property
    def _changed(self) -> dict[str, Version]:
        """The versions of then that have ended since."""
        return {version.note_id: version for version in self._store.versions_at(self._moment, limit=MAX_READ)}

    @cached_property
    def _then(self) -> list[Note]:
        """What changed and deleted notes said then, as far as the viewer could and still may read it, in all spaces."""
        notes = [version.note for version in self._changed.values() if version.note and not version.note.proposal]
        return [note for note in notes if self._viewer.whole.sees(note) and self._may_still_see(note.id)]

    @cached_property
    def _chosen(self) -> list[Note]:
        return [note for note in self._then if self._accepts(note)]

    @cached_property
    def _compared(self) -> list[Note]:
        """As many as one search can compare: all of their passages are read for the words of the query."""
        lengths = accumulate(len(note.content) for note in self._chosen)
        fitting = sum(length <= MAX_CHARACTERS for length in islice(lengths, MAX_CHANGED))
        return self._chosen[: max(fitting, 1)]

    @cached_property
    def _earlier(self) -> Sequence[Hit]:
        """Ranked once, however often the search is repeated with another limit."""
        return self._store.rank_notes(self._query.text, self._compared)

    def _unchanged(self, limit: int) -> Found:
        size = limit + len(self._changed)
        filters = self._query.filters
        last = self._moment + VERSION_STEP
        filters = replace(filters, before=min(filters.before or last, last))
        found = self._store.search(
            self._query.text, limit=min(size, 1_000), tags=self._tags, filters=filters, viewer=self._viewer
        )
        hits = [hit for hit in found.hits if hit.id not in self._changed and hit.created_at <= self._moment]
        return replace(found, hits=hits[:limit])

    def _may_still_see(self, note_id: str) -> bool:
        """A note that has become private since, or has moved to another space, is hidden with its past, also in the
        trash."""
        note = self._store.get(note_id)
        if note is None:
            trashed = self._store.trashed(note_id)
            note = trashed.note if trashed and trashed.change.at > self._trash_begins else None
        return note is not None and self._viewer.whole.sees(note)

    def _is_unchanged(self, note_id: str) -> bool:
        note = self._store.get(note_id)
        return note is not None and note_id not in self._changed and note.created_at <= self._moment

    def _accepts(self, note: Note) -> bool:
        wanted = {fold(tag) for tag in self._tags}
        tagged = wanted <= {fold(tag) for tag in note.tags}
        return tagged and self._viewer.sees(note) and self._query.filters.accept(note)

    def _order(self, hit: Hit) -> tuple[bool, float, datetime]:
        return hit.confident, hit.score, hit.created_at
