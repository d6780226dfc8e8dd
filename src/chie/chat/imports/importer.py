"""Imports conversations in batches, each in a transaction. Repeating an import adds only what is new."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import IO, Any

from chie.access.audit import record
from chie.access.identity import known_user
from chie.chat.imports.entities import ImportedConversation, SkippedConversation
from chie.chat.imports.export_file import Found, conversations
from chie.chat.imports.rows import message_rows, session_id_of, session_row
from chie.chat.sessions import attachment_table, imported
from chie.chat.sessions.connection import Connection
from chie.chat.sessions.database import Database
from chie.database.engine import is_sqlite

BATCH = 20
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

    async def run(self, file: IO[bytes], *, agent_id: str, dry_run: bool = False) -> AsyncIterator[ImportReport]:
        """The same report after every batch. ValidationError if the file is no export. A dry run writes nothing."""
        report, seen = ImportReport(), dict[str, set[str]]()
        found = conversations(file)
        while batch := await asyncio.to_thread(_next, found):
            for one in batch:
                report.conversations += 1
                if isinstance(one, SkippedConversation):
                    report.skip(one)
            readable = [one for one in batch if isinstance(one, ImportedConversation)]
            await self._add(readable, report, agent_id, seen, dry_run=dry_run)
            yield report
        report.done = True
        if not dry_run:
            record("sessions.imported", None)
        yield report

    async def _add(
        self,
        batch: list[ImportedConversation],
        report: ImportReport,
        agent_id: str,
        seen: dict[str, set[str]],
        *,
        dry_run: bool,
    ) -> None:
        user_id = known_user().id
        saver = _Saver(user_id, agent_id, on_sqlite=is_sqlite(self._database.url))

        async def change(connection: Connection) -> list[tuple[str, set[str], bool]]:
            return [await saver.save(connection, one) for one in batch]

        if dry_run:
            async with self._database.read() as connection:
                results = [await saver.compare(connection, one, seen) for one in batch]
        else:
            results = await self._database.write(change)
        for session_id, new, is_new in results:
            report.new += is_new
            report.extended += bool(new) and not is_new
            report.existing += not new and not is_new
            report.messages += len(new)
            seen.setdefault(session_id, set()).update(new)


class _Saver:
    def __init__(self, user_id: str, agent_id: str, *, on_sqlite: bool) -> None:
        self._user_id = user_id
        self._agent_id = agent_id
        self._on_sqlite = on_sqlite

    async def compare(
        self, connection: Connection, conversation: ImportedConversation, seen: dict[str, set[str]]
    ) -> tuple[str, set[str], bool]:
        """The session, the messages that are new, and whether the session is. `seen` are those earlier in the file."""
        session_id = session_id_of(self._user_id, conversation)
        known = await imported.known_messages(connection, session_id, user_id=self._user_id)
        rows = message_rows(self._user_id, conversation)
        there = (known or set()) | seen.get(session_id, set())
        return session_id, {row["id"] for row, _ in rows} - there, known is None and session_id not in seen

    async def save(self, connection: Connection, conversation: ImportedConversation) -> tuple[str, set[str], bool]:
        session_id = session_id_of(self._user_id, conversation)
        known = await imported.known_messages(connection, session_id, user_id=self._user_id, lock=True)
        rows = message_rows(self._user_id, conversation)
        if known is None:
            row = session_row(self._user_id, self._agent_id, conversation)
            await imported.insert_session(connection, row)
        new = [(row, files) for row, files in rows if row["id"] not in (known or ())]
        if new:
            await imported.insert_messages(connection, [row for row, _ in new])
            await imported.renew(connection, session_id, conversation.updated_at)
        for row, files in new:
            if files:
                saved = [await self._file(connection, file) for file in files]
                await imported.link_files(connection, row["id"], saved)
        return session_id, {row["id"] for row, _ in new}, known is None

    async def _file(self, connection: Connection, columns: dict[str, Any]) -> str:
        data = columns["text"].encode("utf-8")
        own = {**columns, "user_id": self._user_id}
        return await attachment_table.save(connection, own, data, on_sqlite=self._on_sqlite)


def _next(found: Iterator[Found]) -> list[Found]:
    return list(islice(found, BATCH))
