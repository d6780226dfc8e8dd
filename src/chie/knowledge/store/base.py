"""The port to wherever notes live. `tests/contract/note_store.py` says in full what an adapter must do."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chie.knowledge.note import ANONYMOUS, Found, Note, Page, Similar, TagCount

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors


@dataclass(frozen=True, kw_only=True)
class Health:
    """A store that answers; one that does not raises StorageError instead."""

    notes: int
    search: str = "by meaning and by words"


@dataclass(frozen=True, kw_only=True)
class Pin:
    """A note as a map shows it."""

    id: str
    title: str
    tags: list[str]


@dataclass(frozen=True, kw_only=True)
class Outline:
    """Notes beside the vectors of their first passages, a row each; `revision` changes whenever any of it does."""

    revision: str
    pins: list[Pin]
    vectors: "Vectors"


class NoteStore(ABC):
    """Keeps whole notes and finds them by meaning; how it makes and keeps vectors is its own business.

    Whoever lists or searches is a `viewer`, by user id, and is never shown another's private note. `get`, `delete` and
    `walk` know no viewer: whoever calls them has to.
    """

    @abstractmethod
    def save(self, note: Note, *, replacing: Note | None = None) -> str | None:
        """Keep the note, on disk before this returns, found by the very next search.

        `replacing` is the note as it was read; ConflictError if the stored one is no longer that, or, without it,
        if the id is taken. Returns a notice when the note can for now be found by its words only.
        """

    @abstractmethod
    def get(self, note_id: str) -> Note | None: ...

    @abstractmethod
    def delete(self, note_id: str) -> bool:
        """Whether there was such a note."""

    def take(self, notes: Sequence[Note]) -> None:
        """Keep copies of another store's notes, over whatever has their ids."""
        for note in notes:
            self.save(note, replacing=self.get(note.id))

    def readings(self, notes: Sequence[Note]) -> "dict[str, Vectors]":  # noqa: ARG002
        """What the present model made of these notes' passages, by the text that it read, as far as it is kept."""
        return {}

    def finish(self) -> None:  # noqa: B027 - most stores leave nothing undone
        """Do now what would otherwise be done in the background, after many notes have come at once."""

    @abstractmethod
    def walk(self, *, after: str | None, limit: int) -> Sequence[Note]:
        """Every note in the order of the ids, private ones too, from the one behind `after` on: to copy them all."""

    @abstractmethod
    def browse(self, *, tag: str | None, limit: int, cursor: str | None, viewer: str = ANONYMOUS) -> Page:
        """Newest first. ValidationError for a cursor that no page gave."""

    @abstractmethod
    def search(self, query: str, *, limit: int, tags: Sequence[str], viewer: str = ANONYMOUS) -> Found:
        """The best passages of at most `limit` notes that carry all the tags, best first."""

    @abstractmethod
    def similar(self, note: Note, *, limit: int, viewer: str = ANONYMOUS) -> Sequence[Similar]:
        """Other notes that say nearly the same."""

    @abstractmethod
    def count(self, *, viewer: str = ANONYMOUS) -> int: ...

    @abstractmethod
    def tags(self, *, viewer: str = ANONYMOUS) -> Sequence[TagCount]:
        """Every tag once, whatever its case; the most used first."""

    @abstractmethod
    def outline(self, *, limit: int, known: str | None = None, viewer: str = ANONYMOUS) -> Outline | None:
        """The newest notes that the present model has read; None where `known` is still the revision."""

    @abstractmethod
    def check(self) -> Health: ...

    @abstractmethod
    def close(self) -> None: ...
