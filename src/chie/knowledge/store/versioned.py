"""The part of the SQL stores that keeps earlier versions of notes."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from chie.knowledge.history.versions import Version, VersionRow
from chie.knowledge.note import Note
from chie.knowledge.store.base import NoteStore
from chie.knowledge.store.version_table import VersionTable
from chie.knowledge.viewer import Viewer

T = TypeVar("T")


class VersionedStore(NoteStore):
    keeps_versions = True
    _versions: VersionTable

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
        def work(connection: Any) -> bool:  # noqa: ANN401
            if (self._locked(connection, note_id) is None) != deleted:
                return False
            return self._versions.purge(connection, note_id) > 0 or not deleted

        return self._change(work)

    def purge_deleted(self, before: datetime) -> None:
        self._change(lambda connection: self._versions.purge_deleted(connection, before))

    def walk_versions(self, *, after: tuple[str, int] | None, limit: int) -> list[VersionRow]:
        return self._read(lambda connection: self._versions.walk(connection, after=after or ("", 0), limit=limit))

    def put_versions(self, note_id: str, rows: Sequence[VersionRow]) -> None:
        def work(connection: Any) -> None:  # noqa: ANN401
            self._versions.purge(connection, note_id)
            self._versions.put(connection, rows)

        self._change(work)

    def superseding(self, ids: Sequence[str]) -> dict[str, list[str]]:
        return self._read(lambda connection: self._versions.superseding(connection, ids)) if ids else {}
