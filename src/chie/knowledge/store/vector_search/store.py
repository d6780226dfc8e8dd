"""Notes in a Collection of Google's Vector Search 2.0, which makes the vectors itself.

What the service cannot do is done here by reading more of it: it sorts nothing and counts no tags.
`docs/vector-search.md` says what that costs.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence

from chie.database.cursor import decode_position, encode_position
from chie.errors import ChieError, ConflictError, ValidationError
from chie.knowledge import ranking
from chie.knowledge.note import ANONYMOUS, Found, Note, Page, Similar, TagCount
from chie.knowledge.store.base import Health, NoteStore, Outline, Pin
from chie.knowledge.store.vector_search import objects
from chie.knowledge.store.vector_search.client import Data, VectorSearchClient
from chie.knowledge.store.vector_search.config import CollectionConfig
from chie.knowledge.store.vector_search.errors import CHANGED
from chie.knowledge.store.vector_search.filters import HEADS, all_of, looking, of_notes, seen_by
from chie.knowledge.store.vector_search.order import Order, Place, first
from chie.knowledge.store.vector_search.search import Search, semantic, similarity
from chie.knowledge.tokens import fold

NEWEST = Order("created", descending=True)
BY_ID = Order("place")

MAPPED = 1_000  # notes on the map: each costs a whole vector to fetch
AT_ONCE = 100  # whole notes, or vectors, in one answer

TAIL_MISSING = (
    "Saved; but for now only the beginning of this long note is found by a search, because its later parts could not "
    "be written. Save it again to write them. The reason: {reason}"
)
OLD_LEFT = (
    "Saved; but parts of this note as it was before could not be deleted. No search shows them, and the next change of "
    "the note deletes them. The reason: {reason}"
)


class VectorSearchStore(NoteStore):
    def __init__(self, config: CollectionConfig, *, client: VectorSearchClient | None = None) -> None:
        self._client = client or VectorSearchClient(config)

    def save(self, note: Note, *, replacing: Note | None = None) -> str | None:
        head = objects.head(note)
        if replacing is None:
            self._create(note, head)
        else:
            self._replace(note, head, replacing)
        try:
            self._client.create_all(objects.passages(note))
        except ChieError as error:
            return TAIL_MISSING.format(reason=error.message)
        try:
            if replacing is not None:
                self._delete_older(note.id, head["revision"])
        except ChieError as error:
            return OLD_LEFT.format(reason=error.message)
        return None

    def get(self, note_id: str) -> Note | None:
        stored = self._client.get(objects.head_id(note_id))
        return None if stored is None else objects.note_of(stored.data)

    def delete(self, note_id: str) -> bool:
        """The head goes last: until then the note is there, and can be deleted again."""
        if self._client.get(objects.head_id(note_id)) is None:
            return False
        self._client.delete_all([objects.object_id(data) for data in self._later(note_id)])
        self._client.delete(objects.head_id(note_id))
        return True

    def walk(self, *, after: str | None, limit: int) -> list[Note]:
        start = None if after is None else Place(objects.place(after), after)
        found = first(self._client, [HEADS], BY_ID, limit=limit, fields=["note", "place"], after=start)
        notes = {note.id: note for part in _parts([data["note"] for data in found]) for note in self._whole(part)}
        return [notes[data["note"]] for data in found if data["note"] in notes]

    def browse(self, *, tag: str | None, limit: int, cursor: str | None, viewer: str = ANONYMOUS) -> Page:
        conditions = [HEADS, *looking(viewer, [] if tag is None else [tag])]
        after = None if cursor is None else _place(cursor)
        found = first(self._client, conditions, NEWEST, limit=limit + 1, fields=objects.HEADING, after=after)
        shown = found[:limit]
        following = _cursor(NEWEST.place(shown[-1])) if len(found) > limit else None
        return Page(notes=[objects.heading_of(data) for data in shown], next_cursor=following)

    def search(self, query: str, *, limit: int, tags: Sequence[str], viewer: str = ANONYMOUS) -> Found:
        return Found(hits=Search(self._client, query, viewer, tags).hits(limit))

    def similar(self, note: Note, *, limit: int, viewer: str = ANONYMOUS) -> list[Similar]:
        """By the first passage alone, read as a document like those it is compared with."""
        where = all_of(HEADS, seen_by(viewer), {"note": {"$ne": note.id}})
        asked = semantic(objects.embedded(note), "RETRIEVAL_DOCUMENT", where, limit, ["note", "title"])
        return [
            Similar(id=one.data["note"], title=one.data["title"], score=ranking.shown(similarity(one)))
            for one in self._client.search(asked)
            if similarity(one) >= ranking.SAME
        ]

    def count(self, *, viewer: str = ANONYMOUS) -> int:
        return self._client.count(all_of(HEADS, seen_by(viewer)))

    def tags(self, *, viewer: str = ANONYMOUS) -> list[TagCount]:
        """Counted here, from the tags of all notes: spelt as most do."""
        spelt: Counter[str] = Counter()
        carried: Counter[str] = Counter()
        for data in self._client.every(all_of(HEADS, seen_by(viewer)), ["tags"]):
            spelt.update(data["tags"])
            carried.update({fold(tag) for tag in data["tags"]})
        ordered = sorted(spelt.items(), key=lambda item: (item[1], [-ord(letter) for letter in item[0]]))
        spelling = {fold(tag): tag for tag, _ in ordered}
        counted = sorted(carried.items(), key=lambda item: (-item[1], item[0]))
        return [TagCount(tag=spelling[tag], count=number) for tag, number in counted]

    def outline(self, *, limit: int, known: str | None = None, viewer: str = ANONYMOUS) -> Outline | None:
        import numpy as np

        fields = ["note", "title", "tags", "revision", "created"]
        conditions = [HEADS, seen_by(viewer)]
        found = first(self._client, conditions, NEWEST, limit=min(limit, MAPPED), fields=fields)
        revision = _digest(f"{data['note']} {data['revision']}" for data in found)
        if revision == known:
            return None
        vectors = self._vectors([data["note"] for data in found])
        drawn = [data for data in found if data["note"] in vectors]
        return Outline(
            revision=revision,
            pins=[Pin(id=data["note"], title=data["title"], tags=list(data["tags"])) for data in drawn],
            vectors=np.array([vectors[data["note"]] for data in drawn], np.float32),
        )

    def check(self) -> Health:
        return Health(notes=self._client.count(HEADS))

    def close(self) -> None:
        self._client.close()

    def _create(self, note: Note, head: Data) -> None:
        """A taken id is ours where the answer to a first attempt was lost: then what is stored is this very note."""
        if not self._client.create(objects.head_id(note.id), head) and self.get(note.id) != note:
            raise ConflictError("a note with this id exists already. Update that one instead.")

    def _replace(self, note: Note, head: Data, replacing: Note) -> None:
        """As with `_create`, a version that is not the one read may be our own."""
        stored = self._client.get(objects.head_id(note.id))
        if stored is None or objects.note_of(stored.data) != replacing:
            raise ConflictError(CHANGED)
        if not self._client.update(objects.head_id(note.id), head, stored.etag) and self.get(note.id) != note:
            raise ConflictError(CHANGED)

    def _delete_older(self, note_id: str, revision: str) -> None:
        """Of every earlier revision, for an attempt before this one may have failed. Somebody may have changed the note
        since we wrote it: the head is read after the passages were listed, and those that are its own are left."""
        older = [data for data in self._later(note_id) if data["revision"] != revision]
        if not older:
            return
        head = self._client.get(objects.head_id(note_id))
        now = None if head is None else head.data["revision"]
        self._client.delete_all([objects.object_id(data) for data in older if data["revision"] != now])

    def _later(self, note_id: str) -> list[Data]:
        """The note's passages behind the head, of whatever revision, as far as it takes to name them."""
        where = all_of({"note": {"$eq": note_id}}, {"part": {"$gt": 0}})
        return list(self._client.every(where, ["note", "part", "revision"]))

    def _whole(self, note_ids: Sequence[str]) -> list[Note]:
        found = self._client.every(all_of(HEADS, of_notes(note_ids)), ["*"])
        return [objects.note_of(data) for data in found]

    def _vectors(self, note_ids: Sequence[str]) -> dict[str, Sequence[float]]:
        found = {}
        for part in _parts(note_ids):
            for data, vector in self._client.vectors(all_of(HEADS, of_notes(part)), ["note"], objects.VECTOR):
                found[data["note"]] = vector
        return found


def _parts(items: Sequence[str]) -> list[Sequence[str]]:
    return [items[start : start + AT_ONCE] for start in range(0, len(items), AT_ONCE)]


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _cursor(last: Place) -> str:
    return encode_position(str(last.number), last.note)


def _place(cursor: str) -> Place:
    number, note = decode_position(cursor)
    try:
        return Place(int(number), note)
    except ValueError as error:
        raise ValidationError("database.cursor_invalid") from error
