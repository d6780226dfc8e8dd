"""The port to note storage. `tests/contract/note_store.py` specifies what an adapter must do."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from chie.knowledge.anchors.anchor import Anchor, AnchorReport
from chie.knowledge.history.versions import Change, Version, VersionRow
from chie.knowledge.links.text import ID_PREFIX
from chie.knowledge.note import AuthorCount, Found, Hit, ImportedFile, Note, NoteLink, Page, Similar, TagCount
from chie.knowledge.review.findings import ReviewNote
from chie.knowledge.search.query import NO_FILTERS, Filters
from chie.knowledge.store.records import NoteRecords
from chie.knowledge.store.spaces import SpaceStore, TeamOnly
from chie.knowledge.viewer import ANYBODY, Viewer
from chie.messages.catalogue import Message

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors


@dataclass(frozen=True, kw_only=True)
class Health:
    """The state of a working store; a failing one raises StorageError instead."""

    notes: int
    search: str = "by meaning and by words"


@dataclass(frozen=True, kw_only=True)
class MapNote:
    """A note as a map shows it."""

    id: str
    title: str
    tags: list[str]


@dataclass(frozen=True, kw_only=True)
class MapData:
    """Notes and the vectors of their first passages, row by row. `revision` changes whenever either does."""

    revision: str
    notes: list[MapNote]
    vectors: "Vectors"


@dataclass(frozen=True)
class Similarity:
    """The cosine of a query to the best passage of a note's text, and to its best question, if it has any."""

    text: float
    question: float | None


class NoteStore(ABC):
    """Stores whole notes and finds them by meaning. Each adapter creates and stores vectors in its own way.

    Lists and searches take a `viewer` and never return a note that it does not see. `get`, `delete` and
    `walk` take none: their caller checks permissions.
    """

    records: NoteRecords
    spaces: SpaceStore = TeamOnly()

    keeps_versions = False
    """Whether changed and deleted notes are kept as they were. Without, the methods on versions know none."""

    @abstractmethod
    def save(self, note: Note, *, replacing: Note | None = None, change: Change | None = None) -> Message | None:
        """Store the note durably, so that the next search finds it. What is replaced is kept as a version that ends
        with `change`; by default the author changes it now.

        `replacing` is the note as it was read; ConflictError if the stored note differs from it or, without it, if
        the id is taken, be it by another author's note in the trash. Returns a notice if the note can only be found by
        its words for now.
        """

    def replace_all(
        self,
        replacements: Sequence[tuple[Note | None, Note]],
        *,
        change: Change,
        deleting: Sequence[Note] = (),
        unchanged: Sequence[Note] = (),  # noqa: ARG002 - needs a transaction
    ) -> Message | None:
        """Replace notes, each given as it was read (None if it is new) and as it becomes, and delete others. All or
        none in one transaction, if the store has transactions; ConflictError if one of the stored notes differs, be it
        one that this relies on and leaves `unchanged`."""
        notices = [self.save(note, replacing=stored, change=change) for stored, note in replacements]
        for note in deleting:
            self.delete(note.id, expected=note, change=replace(change, kind="deleted"))
        return next(filter(None, notices), None)

    @abstractmethod
    def get(self, note_id: str) -> Note | None: ...

    @abstractmethod
    def delete(self, note_id: str, *, expected: Note | None = None, change: Change | None = None) -> bool:
        """Return whether the note existed. Its last version is kept in the trash. ConflictError if the stored note
        differs from the `expected` one."""

    def version_number(self, note_id: str) -> int | None:  # noqa: ARG002
        """Of the current version, counted from 1; None if the store keeps no versions."""
        return None

    def versions(self, note_id: str, *, below: int | None = None, limit: int) -> Sequence[Version]:  # noqa: ARG002
        """Earlier versions, latest first, private ones included. `below` continues a list."""
        return ()

    def trash(self, *, viewer: Viewer, after: datetime, limit: int) -> Sequence[Version]:  # noqa: ARG002
        """The last versions of notes deleted later than `after`, latest first; other users' private ones are left
        out."""
        return ()

    def trashed(self, note_id: str) -> Version | None:  # noqa: ARG002
        """The last version of a deleted note until it is purged, however long ago it was deleted. Only a note of the
        same author may take its id."""
        return None

    def versions_at(self, moment: datetime, *, limit: int) -> Sequence[Version]:  # noqa: ARG002
        """The versions of that moment that have ended since, those that ended last first; all users'."""
        return ()

    def purge(self, note_id: str, *, deleted: bool) -> bool:  # noqa: ARG002
        """Delete all earlier versions of a note and what else quotes them for good, be it one that exists or a
        `deleted` one; return whether it is what the caller says. Otherwise nothing is deleted: the trash has the only
        copy of a note."""
        return False

    def purge_deleted(self, before: datetime) -> bool:  # noqa: ARG002
        """Delete all versions of notes that were deleted until then, of some at a time; return whether there may be
        more."""
        return False

    def walk_versions(self, *, after: tuple[str, int] | None, limit: int) -> Sequence[VersionRow]:  # noqa: ARG002
        """Up to `limit` versions after this note and number, in that order."""
        return ()

    def put_versions(self, note_id: str, rows: Sequence[VersionRow]) -> None:  # noqa: B027
        """Replace all earlier versions of a note by those of another store."""

    def rank_notes(self, query: str, notes: Sequence[Note]) -> Sequence[Hit]:  # noqa: ARG002
        """Notes that are not stored, such as earlier versions, ranked as a search would, best first. Without a query,
        all of them, newest first."""
        return ()

    def superseding(self, ids: Sequence[str]) -> Mapping[str, Sequence[str]]:  # noqa: ARG002
        """The ids of the notes that supersede these, by the id of the older one, as far as the store knows."""
        return {}

    def put_copies(self, notes: Sequence[Note]) -> None:
        """Store copies of another store's notes, replacing any that have the same ids. Keeps no versions. ConflictError
        as in `save` for an id in the trash."""
        for note in notes:
            self.save(note, replacing=self.get(note.id))

    def embeddings(self, notes: Sequence[Note]) -> "dict[str, Vectors]":  # noqa: ARG002
        """Stored vectors of these notes' passages by the text that was embedded, as far as the store has them."""
        return {}

    def imported_files(self, *, user_id: str | None = None) -> dict[str, ImportedFile]:  # noqa: ARG002
        """Where the user's notes, or all notes, were imported from, by note id, as far as the store remembers it."""
        return {}

    def remember_files(self, files: Mapping[str, ImportedFile]) -> None:  # noqa: B027 - Vector Search has no place for it
        """Remember by note id where notes were imported from, until they are deleted."""

    def similarities(self, query: str, notes: Sequence[Note]) -> "dict[str, Similarity]":  # noqa: ARG002
        """How similar each note is to the query by id, as far as the store has vectors to tell."""
        return {}

    def signatures(self, *, viewer: Viewer, limit: int) -> Sequence[str]:  # noqa: ARG002
        """The errors that notes explain, those of the newest notes first."""
        return ()

    def by_signature(self, signatures: Sequence[str], *, viewer: Viewer, limit: int) -> Sequence[Note]:  # noqa: ARG002
        """Notes that explain one of these errors, newest first, as far as the store can look them up."""
        return ()

    def by_source_file(self, name: str, *, viewer: Viewer, limit: int) -> Sequence[Note]:  # noqa: ARG002
        """Notes whose source ends in this file name (`sources.file_name`), newest first."""
        return ()

    def count_sources(self, part: str, *, viewer: Viewer) -> int:  # noqa: ARG002
        """The number of notes whose source contains this text, regardless of case."""
        return 0

    def proposals(self, *, viewer: Viewer, limit: int) -> Sequence[Note]:  # noqa: ARG002
        """Proposals that wait for a decision, oldest first; other users' private ones are left out."""
        return ()

    def count_proposals(self, *, viewer: Viewer) -> int:  # noqa: ARG002
        return 0

    def shown(self, session: str) -> set[str]:  # noqa: ARG002
        """The ids that `remember_shown` has stored for a session of an assistant."""
        return set()

    def remember_shown(  # noqa: B027 - as far as the store has a place for it
        self, session: str, notes: Sequence[str], *, at: datetime, forget_before: datetime
    ) -> None:
        """Remember which notes a session was shown, and forget what is older than `forget_before`."""

    def review_notes(self, *, viewer: Viewer | None = None) -> Sequence[ReviewNote]:  # noqa: ARG002
        """All notes that the viewer sees and does not know to be superseded, or all, without proposals, as far as the
        store supports the review."""
        return ()

    def first_vectors(self) -> "tuple[list[str], Vectors] | None":
        """The ids of all notes that the current model has embedded, and the vectors of their first passages."""
        return None

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """By the store's own model. Raises EmbeddingError."""
        raise NotImplementedError

    def resolve_links(self, targets: Sequence[str], *, viewer: Viewer) -> Mapping[str, NoteLink]:
        """The notes that links lead to, by target (`links.text.targets_in`): by id, by title, or by a title that the
        note had. Of several notes with a title it is the oldest. Without a table of links, by id alone."""
        found = ((target, self.get(target[len(ID_PREFIX) :])) for target in targets if target.startswith(ID_PREFIX))
        return {target: NoteLink(id=note.id, title=note.title) for target, note in found if note and viewer.sees(note)}

    def titled(self, titles: Sequence[str], *, viewer: Viewer) -> Sequence[NoteLink]:  # noqa: ARG002
        """Notes that have one of these folded titles now, the oldest first."""
        return ()

    def linking(self, targets: Sequence[str], *, viewer: Viewer, limit: int) -> Sequence[NoteLink]:  # noqa: ARG002
        """Notes that link to one of these targets, newest first, as far as the store keeps links."""
        return ()

    def former_titles(self, note_id: str, *, viewer: Viewer) -> Sequence[str]:  # noqa: ARG002
        """Titles, folded, that the note had in earlier versions that the viewer could have read."""
        return ()

    def link_rows(self, *, viewer: Viewer, limit: int) -> Sequence[tuple[NoteLink, str]]:  # noqa: ARG002
        """Notes with their links' targets, the newest notes first."""
        return ()

    def tags_of(self, note_ids: Sequence[str]) -> Mapping[str, list[str]]:  # noqa: ARG002
        """The tags of these notes, as far as the store keeps links. The caller checks who may see them."""
        return {}

    def anchored(self, repository: str, *, viewer: Viewer, limit: int, after: str = "") -> Sequence[Note]:  # noqa: ARG002
        """Notes anchored to code of this repository, after the id `after`, in the order of ids."""
        return ()

    def anchor_reports(self, note_ids: Sequence[str] | None = None) -> dict[str, AnchorReport]:  # noqa: ARG002
        """What has become of the code of these notes, or of all, by id. A report on an earlier anchor of the note does
        not count."""
        return {}

    def report_anchors(  # noqa: B027 - as far as the store has a place for it
        self, reports: Mapping[str, tuple[Anchor, AnchorReport]]
    ) -> None:
        """Store reports by note id, with the anchors that they are about. Those on an anchor that the note no longer
        has are ignored, and those on an earlier commit than the stored one."""

    def changed_anchors(self, *, viewer: Viewer, limit: int) -> Sequence[tuple[Note, AnchorReport]]:  # noqa: ARG002
        """Notes whose code has changed or is gone, the latest changes first."""
        return ()

    def finish_background_work(self) -> None:  # noqa: B027 - most stores have none
        """Do background work now, after many notes were added at once."""

    @abstractmethod
    def walk(self, *, after: str | None, limit: int) -> Sequence[Note]:
        """Up to `limit` notes after the id `after`, in the order of ids, private ones included."""

    @abstractmethod
    def browse(self, *, tag: str | None, limit: int, cursor: str | None, viewer: Viewer = ANYBODY) -> Page:
        """Newest first. ValidationError for an invalid cursor."""

    @abstractmethod
    def search(
        self,
        query: str,
        *,
        limit: int,
        tags: Sequence[str] = (),
        filters: Filters = NO_FILTERS,
        viewer: Viewer = ANYBODY,
    ) -> Found:
        """The best passages of at most `limit` notes that have all the tags and pass the filters, best first. Without
        a query, the newest of them: they match certainly, so their score is 1."""

    @abstractmethod
    def similar(self, note: Note, *, limit: int, viewer: Viewer = ANYBODY) -> Sequence[Similar]:
        """Other notes that say nearly the same."""

    @abstractmethod
    def count(self, *, viewer: Viewer = ANYBODY) -> int: ...

    @abstractmethod
    def tags(self, *, viewer: Viewer = ANYBODY) -> Sequence[TagCount]:
        """Every tag once, regardless of case, most used first."""

    @abstractmethod
    def authors(self, *, viewer: Viewer = ANYBODY) -> Sequence[AuthorCount]:
        """The users who wrote notes, those with most notes first."""

    @abstractmethod
    def map_data(self, *, limit: int, known: str | None = None, viewer: Viewer = ANYBODY) -> MapData | None:
        """The newest notes that the current model has embedded; None if `known` is still the revision."""

    @abstractmethod
    def check(self, *, viewer: Viewer | None = None) -> Health:
        """Counts the notes visible to the viewer, or all notes."""

    @abstractmethod
    def close(self) -> None: ...
