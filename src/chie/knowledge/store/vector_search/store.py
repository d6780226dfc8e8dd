"""Notes in a Collection of Google's Vector Search 2.0, which embeds them itself.

The service neither sorts nor counts tags, so this store reads more than it returns. `docs/vector-search.md` has the
cost.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from chie.database.cursor import decode_position, encode_position
from chie.errors import ChieError, ConflictError, ValidationError
from chie.knowledge.history.versions import Change
from chie.knowledge.note import AuthorCount, Found, Note, Page, Similar, TagCount
from chie.knowledge.search import ranking
from chie.knowledge.search.query import NO_FILTERS, Filters
from chie.knowledge.search.tokens import fold
from chie.knowledge.store.base import Health, MapData, MapNote, NoteStore
from chie.knowledge.store.memory_records import MemoryRecords
from chie.knowledge.store.scoring import listed
from chie.knowledge.store.vector_search import objects
from chie.knowledge.store.vector_search.client import MAX_PAGE_SIZE, Data, VectorSearchClient
from chie.knowledge.store.vector_search.config import CollectionConfig
from chie.knowledge.store.vector_search.filters import (
    HEADS,
    PROPOSALS,
    all_of,
    batches,
    of_notes,
    searchable,
    visible_to,
)
from chie.knowledge.store.vector_search.search import Search, semantic, similarity
from chie.knowledge.store.vector_search.sorted_pages import Position, SortOrder, first
from chie.knowledge.viewer import ANYBODY, Viewer
from chie.messages.catalogue import Message

NEWEST_FIRST = SortOrder("created", descending=True)
BY_ID = SortOrder("place")

MAX_MAP_NOTES = 1_000  # each costs the download of a whole vector


class VectorSearchStore(NoteStore):
    def __init__(self, config: CollectionConfig, *, client: VectorSearchClient | None = None) -> None:
        self._client = client or VectorSearchClient(config)
        self.records = MemoryRecords()
        self._shown: dict[str, dict[str, datetime]] = {}

    def save(
        self,
        note: Note,
        *,
        replacing: Note | None = None,
        change: Change | None = None,  # noqa: ARG002 - a Collection keeps no versions
    ) -> Message | None:
        head = objects.head(note)
        if replacing is None:
            self._create(note, head)
        else:
            self._replace(note, head, replacing)
        try:
            self._client.create_all(objects.passages(note))
        except ChieError as error:
            return Message("vector_search.passages_not_saved", reason=error.reason)
        try:
            if replacing is not None:
                self._delete_older(note.id, head["revision"])
        except ChieError as error:
            return Message("vector_search.old_passages_left", reason=error.reason)
        return None

    def get(self, note_id: str) -> Note | None:
        stored = self._client.get(objects.head_id(note_id))
        return None if stored is None else objects.note_of(stored.data)

    def delete(
        self,
        note_id: str,
        *,
        expected: Note | None = None,
        change: Change | None = None,  # noqa: ARG002 - it has no trash
    ) -> bool:
        """The head is deleted after the passages that it has: until then the note exists and can be deleted again. The
        other passages are of a failed attempt, or of a change that is being made: then the head is not deleted."""
        stored = self._client.get(objects.head_id(note_id))
        if stored is None:
            return False
        if expected is not None and objects.note_of(stored.data) != expected:
            raise ConflictError("knowledge.note_changed")
        own, others = list[str](), list[str]()
        for data in self._later_passages(note_id):
            (own if data["revision"] == stored.data["revision"] else others).append(objects.object_id(data))
        self._client.delete_all(own)
        if not self._client.delete(objects.head_id(note_id), stored.etag if expected else ""):
            raise ConflictError("knowledge.note_changed")
        self._client.delete_all(others)
        return True

    def walk(self, *, after: str | None, limit: int) -> list[Note]:
        start = None if after is None else Position(objects.sort_number(after), after)
        found = first(self._client, [HEADS], BY_ID, limit=limit, fields=["note", "place"], after=start)
        notes = {note.id: note for ids in batches([data["note"] for data in found]) for note in self._whole_notes(ids)}
        return [notes[data["note"]] for data in found if data["note"] in notes]

    def browse(self, *, tag: str | None, limit: int, cursor: str | None, viewer: Viewer = ANYBODY) -> Page:
        conditions = [HEADS, *searchable(viewer, [] if tag is None else [tag])]
        after = None if cursor is None else _decode(cursor)
        found = first(self._client, conditions, NEWEST_FIRST, limit=limit + 1, fields=objects.HEADING, after=after)
        shown = found[:limit]
        following = _encode(NEWEST_FIRST.position(shown[-1])) if len(found) > limit else None
        return Page(notes=[objects.heading_of(data) for data in shown], next_cursor=following)

    def search(
        self,
        query: str,
        *,
        limit: int,
        tags: Sequence[str] = (),
        filters: Filters = NO_FILTERS,
        viewer: Viewer = ANYBODY,
    ) -> Found:
        if not query:
            return Found(hits=listed(self._newest(limit, tags, filters, viewer)))
        return Found(hits=Search(self._client, query, viewer, tags, filters).hits(limit))

    def _newest(self, limit: int, tags: Sequence[str], filters: Filters, viewer: Viewer) -> list[Note]:
        conditions = [HEADS, *searchable(viewer, tags)]
        count = MAX_PAGE_SIZE if filters else limit
        found = first(self._client, conditions, NEWEST_FIRST, limit=count, fields=objects.WHOLE)
        return [note for note in map(objects.note_of, found) if filters.accept(note)][:limit]

    def similar(self, note: Note, *, limit: int, viewer: Viewer = ANYBODY) -> list[Similar]:
        """By the first passage alone, embedded as a document like those it is compared with."""
        where = all_of(HEADS, visible_to(viewer), {"note": {"$ne": note.id}})
        request = semantic(objects.embedded_text(note), "RETRIEVAL_DOCUMENT", where, limit, ["note", "title"])
        return [
            Similar(id=one.data["note"], title=one.data["title"], score=ranking.display_score(similarity(one)))
            for one in self._client.search(request)
            if similarity(one) >= ranking.NEAR_DUPLICATE_COSINE
        ]

    def count(self, *, viewer: Viewer = ANYBODY) -> int:
        return self._client.count(all_of(HEADS, visible_to(viewer)))

    def tags(self, *, viewer: Viewer = ANYBODY) -> list[TagCount]:
        """Counted from the tags of all notes, in their most frequent spelling."""
        spelt: Counter[str] = Counter()
        carried: Counter[str] = Counter()
        for data in self._client.every(all_of(HEADS, visible_to(viewer)), ["tags"]):
            spelt.update(data["tags"])
            carried.update({fold(tag) for tag in data["tags"]})
        ordered = sorted(spelt.items(), key=lambda item: (item[1], [-ord(letter) for letter in item[0]]))
        spelling = {fold(tag): tag for tag, _ in ordered}
        counted = sorted(carried.items(), key=lambda item: (-item[1], item[0]))
        return [TagCount(tag=spelling[tag], count=number) for tag, number in counted]

    def authors(self, *, viewer: Viewer = ANYBODY) -> list[AuthorCount]:
        """Counted from all notes."""
        found = Counter(data["user_id"] for data in self._client.every(all_of(HEADS, visible_to(viewer)), ["user_id"]))
        ordered = sorted(found.items(), key=lambda item: (-item[1], item[0]))
        return [AuthorCount(author=author, count=number) for author, number in ordered]

    def by_source_file(self, name: str, *, viewer: Viewer, limit: int) -> list[Note]:
        conditions = [HEADS, visible_to(viewer), {"source_file": {"$eq": name}}]
        found = first(self._client, conditions, NEWEST_FIRST, limit=limit, fields=objects.WHOLE)
        return [objects.note_of(data) for data in found]

    def proposals(self, *, viewer: Viewer, limit: int) -> list[Note]:
        found = self._client.every(all_of(HEADS, PROPOSALS), objects.WHOLE)
        notes = [note for note in map(objects.note_of, found) if viewer.may_decide(note)]
        return sorted(notes, key=lambda note: (note.created_at, note.id))[:limit]

    def count_proposals(self, *, viewer: Viewer) -> int:
        found = self._client.every(all_of(HEADS, PROPOSALS), ["private", "user_id"])
        mine = sum(not data["private"] or data["user_id"] == viewer.user for data in found)
        return mine if viewer.sees_team else 0

    def shown(self, session: str) -> set[str]:
        """Remembered by this process alone: a Collection has no place for it."""
        return set(self._shown.get(session, ()))

    def remember_shown(self, session: str, notes: Sequence[str], *, at: datetime, forget_before: datetime) -> None:
        new = {**dict.fromkeys(notes, at), **self._shown.get(session, {})}
        remembered = {**self._shown, session: new}.items()
        recent = {
            one: {note: when for note, when in known.items() if when >= forget_before} for one, known in remembered
        }
        self._shown = {one: known for one, known in recent.items() if known}

    def map_data(self, *, limit: int, known: str | None = None, viewer: Viewer = ANYBODY) -> MapData | None:
        import numpy as np

        fields = ["note", "title", "tags", "revision", "created"]
        conditions = [HEADS, visible_to(viewer)]
        found = first(self._client, conditions, NEWEST_FIRST, limit=min(limit, MAX_MAP_NOTES), fields=fields)
        revision = _digest(f"{data['note']} {data['revision']}" for data in found)
        if revision == known:
            return None
        vectors = self._vectors([data["note"] for data in found])
        drawn = [data for data in found if data["note"] in vectors]
        return MapData(
            revision=revision,
            notes=[MapNote(id=data["note"], title=data["title"], tags=list(data["tags"])) for data in drawn],
            vectors=np.array([vectors[data["note"]] for data in drawn], np.float32),
        )

    def check(self, *, viewer: Viewer | None = None) -> Health:
        return Health(notes=self._client.count(HEADS) if viewer is None else self.count(viewer=viewer))

    def close(self) -> None:
        self._client.close()

    def _create(self, note: Note, head: Data) -> None:
        """If the response to a first attempt was lost, the id is taken and the stored note is this one."""
        if not self._client.create(objects.head_id(note.id), head) and self.get(note.id) != note:
            raise ConflictError("knowledge.note_exists")

    def _replace(self, note: Note, head: Data, replacing: Note) -> None:
        """As in `_create`, an unexpected version may be our own."""
        stored = self._client.get(objects.head_id(note.id))
        if stored is None or objects.note_of(stored.data) != replacing:
            raise ConflictError("knowledge.note_changed")
        if not self._client.update(objects.head_id(note.id), head, stored.etag) and self.get(note.id) != note:
            raise ConflictError("knowledge.note_changed")

    def _delete_older(self, note_id: str, revision: str) -> None:
        """Delete passages of every earlier revision, because an earlier attempt may have failed. The note may have been
        changed again since: the head is read after the list, and its passages are kept."""
        older = [data for data in self._later_passages(note_id) if data["revision"] != revision]
        if not older:
            return
        head = self._client.get(objects.head_id(note_id))
        current = None if head is None else head.data["revision"]
        self._client.delete_all([objects.object_id(data) for data in older if data["revision"] != current])

    def _later_passages(self, note_id: str) -> list[Data]:
        """The ids of the note's passages after the first, of every revision."""
        where = all_of({"note": {"$eq": note_id}}, {"part": {"$gt": 0}})
        return list(self._client.every(where, ["note", "part", "revision"]))

    def _whole_notes(self, note_ids: Sequence[str]) -> list[Note]:
        found = self._client.every(all_of(HEADS, of_notes(note_ids)), objects.WHOLE)
        return [objects.note_of(data) for data in found]

    def _vectors(self, note_ids: Sequence[str]) -> dict[str, Sequence[float]]:
        found = {}
        for ids in batches(note_ids):
            for data, vector in self._client.vectors(all_of(HEADS, of_notes(ids)), ["note"], objects.VECTOR):
                found[data["note"]] = vector
        return found


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _encode(last: Position) -> str:
    return encode_position(str(last.number), last.note)


def _decode(cursor: str) -> Position:
    number, note = decode_position(cursor)
    try:
        return Position(int(number), note)
    except ValueError as error:
        raise ValidationError("database.cursor_invalid") from error
