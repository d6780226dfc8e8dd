"""Imports conversations in batches, each in a transaction. Repeating an import adds only what is new."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass, field
from typing import IO, Any

from chie.access.audit import record
from chie.access.identity import known_user
from chie.chat.imports.entities import SkippedConversation
from chie.chat.imports.export_file import ExportFile, Found
from chie.chat.imports.rows import SessionRows
from chie.chat.sessions import attachment_table, imported
from chie.chat.sessions.connection import Connection
from chie.chat.sessions.database import Database
from chie.database.engine import is_sqlite

BATCH, BATCH_SIZE = 20, 4 * 1024**2  # conversations, and their characters
MAX_SKIPPED = 200  # that are listed


@dataclass(frozen=True, kw_only=True)
class Skipped:
    """A conversation that was left out. Without a title it is the rest of the file."""

    title: str
    detail: str
    code: str
    params: dict[str, Any]


@dataclass(kw_only=True)
class ImportReport:
    """`conversations` were read so far: `new` ones, those `extended` by messages, `existing` ones and skipped ones."""

    done: bool = False
    conversations: int = 0
    new: int = 0
    extended: int = 0
    existing: int = 0
    messages: int = 0
    skipped_count: int = 0
    skipped: list[Skipped] = field(default_factory=list)

    def skip(self, found: SkippedConversation) -> None:
        self.skipped_count += 1
        if len(self.skipped) < MAX_SKIPPED:
            reason = found.reason
            params = reason.json_params()
            self.skipped.append(Skipped(title=found.title, detail=str(reason), code=reason.code, params=params))


class Importer:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def run(self, file: IO[bytes], *, agent_id: str, dry_run: bool = False) -> AsyncGenerator[ImportReport, None]:
        """The same report after every batch, and from time to time while a large part is read. ValidationError if the
        file is no export. A dry run writes nothing.

        A batch is stored as a whole or not at all, so an import that was cut off is completed by another one.
        """
        report, seen = ImportReport(), dict[str, set[str]]()
        source = ExportFile(file)
        batches = _Batches(source.conversations(), known_user().id, agent_id)
        try:
            while (batch := await asyncio.to_thread(batches.next)) is not None:
                for skipped in batch.skipped:
                    report.skip(skipped)
                report.conversations += len(batch.skipped) + len(batch.sessions)
                await self._add(batch.sessions, report, seen, dry_run=dry_run)
                yield report
        finally:
            source.stop()  # the thread may go on after a cancellation
        report.done = True
        if not dry_run:
            record("sessions.imported", None)
        yield report

    async def _add(
        self, batch: list[SessionRows], report: ImportReport, seen: dict[str, set[str]], *, dry_run: bool
    ) -> None:
        saver = _Saver(known_user().id, on_sqlite=is_sqlite(self._database.url))

        async def change(connection: Connection) -> list[tuple[str, set[str], bool]]:
            return [await saver.save(connection, one) for one in batch]

        if dry_run:
            async with self._database.read() as connection:
                results = [await saver.compare(connection, one, seen) for one in batch]
        else:
            results = await self._database.write(change) if batch else []
        for session_id, new, is_new in results:
            report.new += is_new
            report.extended += bool(new) and not is_new
            report.existing += not new and not is_new
            report.messages += len(new)
            seen.setdefault(session_id, set()).update(new)


@dataclass
class _Batch:
    sessions: list[SessionRows] = field(default_factory=list)
    skipped: list[SkippedConversation] = field(default_factory=list)
    size: int = 0

    def is_full(self) -> bool:
        return len(self.sessions) + len(self.skipped) >= BATCH or self.size > BATCH_SIZE


class _Batches:
    def __init__(self, found: Iterator[Found | None], user_id: str, agent_id: str) -> None:
        self._found = found
        self._user_id = user_id
        self._agent_id = agent_id

    def next(self) -> _Batch | None:
        """None at the end. May be empty, so that its caller learns that reading goes on."""
        batch, is_last = _Batch(), True
        for found in self._found:
            is_last = False
            if isinstance(found, SkippedConversation):
                batch.skipped.append(found)
            elif found is not None:
                batch.sessions.append(SessionRows.of(self._user_id, self._agent_id, found))
                batch.size += batch.sessions[-1].size
            if found is None or batch.is_full():
                break
        return None if is_last else batch


class _Saver:
    def __init__(self, user_id: str, *, on_sqlite: bool) -> None:
        self._user_id = user_id
        self._on_sqlite = on_sqlite

    async def compare(
        self, connection: Connection, rows: SessionRows, seen: dict[str, set[str]]
    ) -> tuple[str, set[str], bool]:
        """The session, the messages that are new, and whether the session is. `seen` are those earlier in the file."""
        session_id = rows.session["id"]
        known = await imported.known_messages(connection, session_id, user_id=self._user_id)
        there = (known or set()) | seen.get(session_id, set())
        return session_id, {row["id"] for row, _ in rows.messages} - there, known is None and session_id not in seen

    async def save(self, connection: Connection, rows: SessionRows) -> tuple[str, set[str], bool]:
        session_id = rows.session["id"]
        known = await imported.known_messages(connection, session_id, user_id=self._user_id, lock=True)
        if known is None:
            await imported.insert_session(connection, rows.session)
        new = [(row, files) for row, files in rows.messages if row["id"] not in (known or ())]
        if new:
            await imported.insert_messages(connection, [row for row, _ in new])
            await imported.renew(connection, session_id, rows.session["updated_at"])
        for row, files in new:
            if files:
                saved = [await self._file(connection, file) for file in files]
                await imported.link_files(connection, row["id"], saved)
        return session_id, {row["id"] for row, _ in new}, known is None

    async def _file(self, connection: Connection, columns: dict[str, Any]) -> str:
        data = columns["text"].encode("utf-8")
        own = {**columns, "user_id": self._user_id}
        return await attachment_table.save(connection, own, data, on_sqlite=self._on_sqlite, linked=True)
