"""The part of the SQL stores that keeps earlier versions of notes."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from chie.knowledge.history.versions import Version, VersionRow
from chie.knowledge.note import Note
from chie.knowledge.store.base import NoteStore
from chie.knowledge.store.note_traces import NoteTraces
from chie.knowledge.store.version_table import VersionTable
from chie.knowledge.viewer import Viewer

T = TypeVar("T")

PURGE_SIZE = 200  # notes whose trash has expired and that one transaction deletes


class VersionedStore(NoteStore):
    keeps_versions = True
    _versions: VersionTable
    _traces: NoteTraces

    @abstractmethod
    def _read(self, work: Callable[[Any], T]) -> T:
        """The result of `work`, which gets a connection in a transaction."""

    @abstractmethod
    def _change(self, work: Callable[[Any], T]) -> T: ...

    @abstractmethod
    def _locked(self, connection: Any, note_id: str) -> Note | None:  # noqa: ANN401
        """The stored note, which nobody changes or deletes until the transaction ends."""

    def version_number(self, note_id: str) -> int:
        return self._read(lambda connection: self._versions.number(connection, note_id))

    def versions(self, note_id: str, *, below: int | None = None, limit: int) -> list[Version]:
        return self._read(lambda connection: self._versions.of_note(connection, note_id, below=below, limit=limit))

    def trash(self, *, viewer: Viewer, after: datetime, limit: int) -> list[Version]:
        return self._read(lambda connection: self._versions.trash(connection, viewer, after=after, limit=limit))

    def trashed(self, note_id: str) -> Version | None:
        return self._read(lambda connection: self._versions.trashed(connection, note_id))

    def versions_at(self, moment: datetime, *, limit: int) -> list[Version]:
        return self._read(lambda connection: self._versions.at(connection, moment, limit))

    def purge(self, note_id: str, *, deleted: bool) -> bool:
        done = self._change(lambda connection: self._purged(connection, note_id, deleted=deleted))
        if done:
            self._erase()
        return done

    def purge_deleted(self, before: datetime) -> bool:
        def work(connection: Any) -> int:  # noqa: ANN401
            expired = self._versions.expired(connection, before, PURGE_SIZE)
            for note_id in expired:
                self._purged(connection, note_id, deleted=True)
            return len(expired)

        number = self._change(work)
        if number:
            self._erase()
        return number == PURGE_SIZE

    def _purged(self, connection: Any, note_id: str, *, deleted: bool) -> bool:  # noqa: ANN401
        """False for a note that is not `deleted`, or deleted, as the caller takes it to be."""
        if deleted:
            self._versions.hold(connection, note_id)
        stored = self._locked(connection, note_id)
        if (stored is None) != deleted:
            return False
        earlier = self._versions.of_note(connection, note_id, below=None, limit=2**31 - 1)
        self._traces.remove(connection, note_id, [version.note for version in earlier if version.note], stored)
        return self._versions.purge(connection, note_id) > 0 or not deleted

    def _erase(self) -> None:
        """Overwrite deleted rows where the store can; a database server does so by itself in time."""

    def walk_versions(self, *, after: tuple[str, int] | None, limit: int) -> list[VersionRow]:
        return self._read(lambda connection: self._versions.walk(connection, after=after or ("", 0), limit=limit))

    def put_versions(self, note_id: str, rows: Sequence[VersionRow]) -> None:
        def work(connection: Any) -> None:  # noqa: ANN401
            self._versions.purge(connection, note_id)
            self._versions.put(connection, rows)

        self._change(work)

    def superseding(self, ids: Sequence[str]) -> dict[str, list[str]]:
        return self._read(lambda connection: self._versions.superseding(connection, ids)) if ids else {}
