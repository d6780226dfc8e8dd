"""SQL for links between notes, the same in SQLite and PostgreSQL.

A row of the table is what a text links to (`links.text.targets_in`): a folded title or the id of a note, whether such
a note exists or not. A title leads to the oldest note that has it, or else to the oldest that had it in a version
that the viewer could have read.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from chie.knowledge.links.text import ID_PREFIX, folded_title, targets_in
from chie.knowledge.note import Note, NoteLink, audience
from chie.knowledge.store.version_table import VersionTable
from chie.knowledge.viewer import Viewer

FILL_BATCH_SIZE = 500  # notes


@dataclass(frozen=True)
class LinkTable:
    """`connection` is that of the store's driver; every write is part of the caller's transaction."""

    prefix: str  # of the table's names
    versions: VersionTable
    mark: str  # of a value
    elements: str  # SQL for the rows of a list, one column `value`
    stored_list: Callable[[Sequence[str]], Any]
    read_list: Callable[[Any], list[str]]
    visible: Callable[[Viewer, str], tuple[str, list[Any]]]

    @property
    def notes(self) -> str:
        return f"{self.prefix}notes"

    @property
    def links(self) -> str:
        return f"{self.prefix}links"

    def write(self, connection: Any, seq: int, note: Note, *, replacing: bool = False) -> None:  # noqa: ANN401
        """With the note's row, whose number is `seq`."""
        if replacing:
            self.run(connection, f"DELETE FROM {self.links} WHERE note = ?", seq)
        self._insert(connection, seq, note.content)

    def resolve(self, connection: Any, targets: Sequence[str], viewer: Viewer) -> dict[str, NoteLink]:  # noqa: ANN401
        """The notes that these targets lead to."""
        targets = [target for target in targets if "\0" not in target]  # PostgreSQL has none
        found = self._by_id(connection, [one for one in targets if one.startswith(ID_PREFIX)], viewer)
        for lookup in (self._by_title, self._by_former_title):
            missing = [target for target in targets if target not in found]
            for target, note_id, title in lookup(connection, missing, viewer) if missing else ():
                found.setdefault(target, NoteLink(id=note_id, title=title))
        return found

    def titled(self, connection: Any, titles: Sequence[str], viewer: Viewer) -> list[NoteLink]:  # noqa: ANN401
        """Notes that have one of these titles now, the oldest first."""
        return [NoteLink(id=row[1], title=row[2]) for row in self._by_title(connection, titles, viewer)]

    def linking(self, connection: Any, targets: Sequence[str], viewer: Viewer, limit: int) -> list[NoteLink]:  # noqa: ANN401
        """Notes that link to one of these targets, newest first."""
        seen, values = self.visible(viewer, "n.")
        found = self.run(
            connection,
            f"SELECT DISTINCT n.id, n.title, n.created_at FROM {self.links} l JOIN {self.notes} n ON n.seq = l.note"
            f" WHERE l.target IN (SELECT value FROM {self.elements}) AND {seen}"
            " ORDER BY n.created_at DESC, n.id DESC LIMIT ?",
            self.stored_list(targets),
            *values,
            limit,
        )
        return [NoteLink(id=row[0], title=row[1]) for row in found]

    def former_titles(self, connection: Any, note_id: str, viewer: Viewer) -> list[str]:  # noqa: ANN401
        """Folded titles that the note had in versions that the viewer could have read."""
        found = self.run(
            connection,
            f"SELECT DISTINCT folded_title FROM {self.versions.versions} WHERE note = ? AND folded_title IS NOT NULL"
            f" AND coalesce(reader, '') IN (SELECT value FROM {self.elements}) ORDER BY 1",
            note_id,
            self.stored_list(viewer.audiences),
        )
        return [row[0] for row in found]

    def rows(self, connection: Any, viewer: Viewer, limit: int) -> list[tuple[NoteLink, str]]:  # noqa: ANN401
        """Notes with what they link to, the newest notes first."""
        seen, values = self.visible(viewer, "n.")
        found = self.run(
            connection,
            f"SELECT n.id, n.title, l.target FROM {self.notes} n JOIN {self.links} l ON l.note = n.seq WHERE {seen}"
            " ORDER BY n.created_at DESC, n.id DESC, l.target LIMIT ?",
            *values,
            limit,
        )
        return [(NoteLink(id=row[0], title=row[1]), row[2]) for row in found]

    def tags_of(self, connection: Any, note_ids: Sequence[str]) -> dict[str, list[str]]:  # noqa: ANN401
        statement = f"SELECT id, tags FROM {self.notes} WHERE id IN (SELECT value FROM {self.elements})"
        return {row[0]: self.read_list(row[1]) for row in self.run(connection, statement, self.stored_list(note_ids))}

    def fill(self, connection: Any) -> None:  # noqa: ANN401
        """For notes and versions that were written before there were links in tables, or with other rules."""
        self.run(connection, f"DELETE FROM {self.links}")
        for seq, title, content in self._all_notes(connection):
            self.run(connection, f"UPDATE {self.notes} SET folded_title = ? WHERE seq = ?", folded_title(title), seq)
            self._insert(connection, seq, content)
        current = self.run(
            connection,
            f"SELECT id, title, space, CASE WHEN private OR proposal THEN user_id END FROM {self.notes}"
            f" WHERE id IN (SELECT note FROM {self.versions.versions})",
        )
        titles = {row[0]: (row[1], audience(row[2], row[3])) for row in current}
        self.versions.fill_titles(connection, titles)

    def _insert(self, connection: Any, seq: int, content: str) -> None:  # noqa: ANN401
        if targets := targets_in(content):
            statement = f"INSERT INTO {self.links} (target, note) SELECT value, ? FROM {self.elements}"
            self.run(connection, statement, seq, self.stored_list(targets))

    def _all_notes(self, connection: Any) -> Iterator[tuple[int, str, str]]:  # noqa: ANN401
        last = 0
        while found := self.run(
            connection,
            f"SELECT seq, title, content FROM {self.notes} WHERE seq > ? ORDER BY seq LIMIT ?",
            last,
            FILL_BATCH_SIZE,
        ):
            yield from found
            last = found[-1][0]

    def _by_id(self, connection: Any, targets: Sequence[str], viewer: Viewer) -> dict[str, NoteLink]:  # noqa: ANN401
        if not targets:
            return {}
        seen, values = self.visible(viewer, "")
        found = self.run(
            connection,
            f"SELECT id, title FROM {self.notes} WHERE id IN (SELECT value FROM {self.elements}) AND {seen}",
            self.stored_list([target.removeprefix(ID_PREFIX) for target in targets]),
            *values,
        )
        return {f"{ID_PREFIX}{row[0]}": NoteLink(id=row[0], title=row[1]) for row in found}

    def _by_title(self, connection: Any, targets: Sequence[str], viewer: Viewer) -> list[Any]:  # noqa: ANN401
        seen, values = self.visible(viewer, "")
        return self.run(
            connection,
            f"SELECT folded_title, id, title FROM {self.notes}"
            f" WHERE folded_title IN (SELECT value FROM {self.elements}) AND {seen} ORDER BY created_at, id",
            self.stored_list(targets),
            *values,
        )

    def _by_former_title(self, connection: Any, targets: Sequence[str], viewer: Viewer) -> list[Any]:  # noqa: ANN401
        seen, values = self.visible(viewer, "n.")
        return self.run(
            connection,
            f"SELECT v.folded_title, n.id, n.title FROM {self.versions.versions} v JOIN {self.notes} n ON n.id = v.note"
            f" WHERE v.folded_title IN (SELECT value FROM {self.elements})"
            f" AND coalesce(v.reader, '') IN (SELECT value FROM {self.elements}) AND {seen}"
            " ORDER BY n.created_at, n.id",
            self.stored_list(targets),
            self.stored_list(viewer.audiences),
            *values,
        )

    def run(self, connection: Any, statement: str, *values: Any) -> list[Any]:  # noqa: ANN401
        done = connection.execute(statement.replace("?", self.mark), values)
        return list(done.fetchall()) if done.description else []
