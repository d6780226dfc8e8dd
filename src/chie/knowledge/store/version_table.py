"""SQL for earlier versions of notes and for supersession, the same in SQLite and PostgreSQL."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, TypeAlias

from chie.errors import ConflictError, NotFoundError
from chie.knowledge.history.versions import Change, Version, VersionRow, is_new_version
from chie.knowledge.links.text import folded_title
from chie.knowledge.note import ImportedFile, Note, audience, space_of
from chie.knowledge.store import version_body
from chie.knowledge.store.version_body import Plain
from chie.knowledge.viewer import Viewer

_COLUMNS = "note, number, began_at, ended_at, ended_by, change, reader, base, body, folded_title"
TitleAndAudience: TypeAlias = tuple[str, str | None]
_VALUE = re.compile(r":([a-z_]+)")
_IN_TRASH = (
    "d.change = 'deleted' AND NOT EXISTS (SELECT 1 FROM {versions} l WHERE l.note = d.note AND l.number = d.number + 1)"
)


@dataclass(frozen=True)
class VersionTable:
    """`connection` is that of the store's driver; every write is part of the caller's transaction."""

    versions: str
    supersessions: str
    placeholder: str  # of a value, in the form that the driver knows
    stored_time: Callable[[datetime], Any]
    read_time: Callable[[Any], datetime]
    for_update: str = ""  # locks rows until the transaction ends, where writers are not alone anyway

    def end(
        self,
        connection: Any,  # noqa: ANN401
        stored: Note,
        change: Change,
        *,
        file: ImportedFile | None = None,
        following: Note | None = None,
    ) -> None:
        """Keep the note as it was until this change, after which it is the `following` one or deleted."""
        last = self._last(connection, stored.id)
        body = version_body.plain(stored, file)
        base, data = self._packed(connection, stored.id, last, body)
        self._insert(
            connection,
            VersionRow(
                note=stored.id,
                number=last.number + 1 if last else 1,
                began_at=last.ended_at if last else stored.created_at,
                ended_at=change.at,
                ended_by=change.by,
                change=change.kind,
                reader=stored.audience,
                base=base,
                body=data,
                folded_title=_former_title(stored, _key(following)),
            ),
        )

    def replace(self, connection: Any, stored: Note, note: Note, change: Change) -> None:  # noqa: ANN401
        if is_new_version(stored, note):
            self.end(connection, stored, change, following=note)

    def begin(self, connection: Any, note: Note, change: Change) -> ImportedFile | None:  # noqa: ANN401
        """When a note is added: if it was deleted, the time without it ends. Returns the file of a deleted note.
        ConflictError if the deleted note is another author's, to whom the id belongs until it is purged. NotFoundError
        if the note is restored and has been purged meanwhile."""
        self.hold(connection, note.id)
        last = self.trashed(connection, note.id)
        if last is None or last.note is None:
            if change.kind == "restored":
                raise NotFoundError("knowledge.trashed_note_not_found")
            return None
        if last.note.user_id != note.user_id:
            raise ConflictError("knowledge.note_exists")
        row = VersionRow(
            note=note.id,
            number=last.number + 1,
            began_at=last.change.at,
            ended_at=change.at,
            ended_by=change.by,
            change="restored",
            reader=None,
            base=None,
            body=None,
            folded_title=None,
        )
        self._insert(connection, row)
        return last.file

    def hold(self, connection: Any, note_id: str) -> None:  # noqa: ANN401
        """Of two transactions that purge and restore a deleted note, the second one sees what the first one did."""
        where = f"WHERE note = :note ORDER BY number DESC LIMIT 1{self.for_update}"
        self._run(connection, f"SELECT number FROM {self.versions} {where}", note=note_id).fetchone()

    def trashed(self, connection: Any, note_id: str) -> Version | None:  # noqa: ANN401
        """The last version of a deleted note, until it is purged."""
        last = self._last(connection, note_id)
        return self._read(connection, [last])[0] if last and last.change == "deleted" else None

    def number(self, connection: Any, note_id: str) -> int:  # noqa: ANN401
        """Of the current version."""
        last = self._last(connection, note_id)
        return last.number + 1 if last else 1

    def of_note(self, connection: Any, note_id: str, *, below: int | None, limit: int) -> list[Version]:  # noqa: ANN401
        """Latest first."""
        found = self._rows(
            connection,
            "WHERE note = :note AND number < :below ORDER BY number DESC LIMIT :size",
            note=note_id,
            below=below or 2**31 - 1,
            size=limit,
        )
        return self._read(connection, found)

    def trash(self, connection: Any, viewer: Viewer, *, after: datetime, limit: int) -> list[Version]:  # noqa: ANN401
        """The last versions of notes that were deleted later than `after`, latest first."""
        audiences = {f"reader_{'a' * number}": one for number, one in enumerate(viewer.audiences)}
        if not audiences:
            return []
        names = ", ".join(f":{name}" for name in audiences)
        where = (
            f"d WHERE {_IN_TRASH} AND ended_at > :after AND coalesce(reader, '') IN ({names})"
            " ORDER BY ended_at DESC, note LIMIT :size"
        ).format(versions=self.versions)
        found = self._rows(connection, where, after=self.stored_time(after), size=limit, **audiences)
        return self._read(connection, found)

    def at(self, connection: Any, moment: datetime, limit: int) -> list[Version]:  # noqa: ANN401
        """The versions of that moment that have ended since, those that ended last first."""
        found = self._rows(
            connection,
            "WHERE ended_at > :moment AND began_at <= :moment ORDER BY ended_at DESC, note LIMIT :size",
            moment=self.stored_time(moment),
            size=limit,
        )
        return self._read(connection, found)

    def walk(self, connection: Any, *, after: tuple[str, int], limit: int) -> list[VersionRow]:  # noqa: ANN401
        return self._rows(
            connection,
            "WHERE (note, number) > (:note, :number) ORDER BY note, number LIMIT :size",
            note=after[0],
            number=after[1],
            size=limit,
        )

    def put(self, connection: Any, rows: Iterable[VersionRow]) -> None:  # noqa: ANN401
        for row in rows:
            self._insert(connection, row)

    def purge(self, connection: Any, note_id: str) -> int:  # noqa: ANN401
        return int(self._run(connection, f"DELETE FROM {self.versions} WHERE note = :note", note=note_id).rowcount)

    def expired(self, connection: Any, before: datetime, limit: int) -> list[str]:  # noqa: ANN401
        """Notes that were deleted until then, the earliest first."""
        where = f"d.ended_at <= :before AND {_IN_TRASH} ORDER BY d.ended_at LIMIT :size".format(versions=self.versions)
        statement = f"SELECT d.note FROM {self.versions} d WHERE {where}"
        return [row[0] for row in self._run(connection, statement, before=self.stored_time(before), size=limit)]

    def fill_titles(self, connection: Any, current: Mapping[str, TitleAndAudience]) -> None:  # noqa: ANN401
        """For versions that were stored without their titles. `current` are the notes that exist, by id."""
        notes = self._run(connection, f"SELECT DISTINCT note FROM {self.versions}").fetchall()
        for (note_id,) in notes:
            following = current.get(note_id)
            for version in self.of_note(connection, note_id, below=None, limit=2**31 - 1):
                title = version.note and _former_title(version.note, following)
                if title is not None:
                    where = "WHERE note = :note AND number = :number"
                    statement = f"UPDATE {self.versions} SET folded_title = :title {where}"
                    self._run(connection, statement, title=title, note=note_id, number=version.number)
                following = _key(version.note)

    def move_space(self, connection: Any, space: str, target: str) -> None:  # noqa: ANN401
        """Who may read in the target may read what was in the space. The space in the bodies is never read."""
        former, new = (audience(name, "") or "" for name in (space, target))
        self._run(
            connection,
            f"UPDATE {self.versions} SET reader = nullif(:new || substr(reader, :owner), '')"
            " WHERE substr(reader, 1, :size) = :former",
            new=new,
            owner=len(former) + 1,
            size=len(former),
            former=former,
        )

    def in_space(self, connection: Any, space: str) -> tuple[int, int]:  # noqa: ANN401
        """The number of deleted notes, and that of earlier versions of notes that exist or were elsewhere later."""
        former = audience(space, "") or ""
        is_deleted = _IN_TRASH.format(versions=self.versions)
        statement = (
            f"SELECT count(*) FILTER (WHERE {is_deleted}), count(*) FROM {self.versions} d"
            " WHERE substr(reader, 1, :size) = :former"
        )
        deleted, total = self._run(connection, statement, size=len(former), former=former).fetchone()
        return int(deleted), int(total) - int(deleted)

    def superseding(self, connection: Any, ids: Sequence[str]) -> dict[str, list[str]]:  # noqa: ANN401
        """The notes that supersede these, by the id of the older one."""
        found: dict[str, list[str]] = {}
        for note_id in ids:
            statement = f"SELECT newer FROM {self.supersessions} WHERE older = :older ORDER BY newer"
            if newer := [row[0] for row in self._run(connection, statement, older=note_id)]:
                found[note_id] = newer
        return found

    def _packed(
        self,
        connection: Any,  # noqa: ANN401
        note_id: str,
        last: VersionRow | None,
        body: Plain,
    ) -> tuple[int | None, bytes]:
        data = version_body.whole(body)
        number = None if last is None else last.base or (last.number if last.body is not None else None)
        if number is None:
            return None, data
        base = self._bases(connection, {(note_id, number)})[note_id, number]
        smaller = version_body.difference(body, base)
        return (number, smaller) if len(smaller) <= version_body.WORTHWHILE * len(data) else (None, data)

    def _read(self, connection: Any, rows: Sequence[VersionRow]) -> list[Version]:  # noqa: ANN401
        bases = self._bases(connection, {(row.note, row.base) for row in rows if row.base is not None})
        return [_version(row, bases) for row in rows]

    def _bases(self, connection: Any, keys: set[tuple[str, int]]) -> dict[tuple[str, int], Plain]:  # noqa: ANN401
        found = {}
        for note_id, number in keys:
            (row,) = self._rows(connection, "WHERE note = :note AND number = :number", note=note_id, number=number)
            found[note_id, number] = version_body.read_whole(row.body or b"")
        return found

    def _last(self, connection: Any, note_id: str) -> VersionRow | None:  # noqa: ANN401
        found = self._rows(connection, "WHERE note = :note ORDER BY number DESC LIMIT 1", note=note_id)
        return found[0] if found else None

    def _insert(self, connection: Any, row: VersionRow) -> None:  # noqa: ANN401
        values = asdict(row)
        for name in ("began_at", "ended_at"):
            values[name] = self.stored_time(values[name])
        names = ", ".join(f":{name}" for name in values)
        self._run(connection, f"INSERT INTO {self.versions} ({_COLUMNS}) VALUES ({names})", **values)

    def _rows(self, connection: Any, rest: str, **values: Any) -> list[VersionRow]:  # noqa: ANN401
        found = self._run(connection, f"SELECT {_COLUMNS} FROM {self.versions} {rest}", **values)
        names = _COLUMNS.split(", ")
        rows = [dict(zip(names, row, strict=True)) for row in found]
        for row in rows:
            row["began_at"], row["ended_at"] = self.read_time(row["began_at"]), self.read_time(row["ended_at"])
        return [VersionRow(**row) for row in rows]

    def _run(self, connection: Any, statement: str, **values: Any) -> Any:  # noqa: ANN401
        return connection.execute(_VALUE.sub(self.placeholder, statement), values)


def _key(note: Note | None) -> TitleAndAudience | None:
    return (note.title, note.audience) if note else None


def _former_title(stored: Note, following: TitleAndAudience | None) -> str | None:
    """The title that links to the note may still have, unless the note itself still has it."""
    return None if _key(stored) == following else folded_title(stored.title)


def _version(row: VersionRow, bases: dict[tuple[str, int], Plain]) -> Version:
    note, file = None, None
    if row.body is not None:
        if row.base is None:
            body = version_body.read_whole(row.body)
        else:
            body = version_body.read_difference(row.body, bases[row.note, row.base])
        note, file = version_body.parse(row.note, body)
        note = replace(note, space=space_of(row.reader))
    change = Change(kind=row.change, by=row.ended_by, at=row.ended_at)
    return Version(note_id=row.note, number=row.number, began_at=row.began_at, change=change, note=note, file=file)
