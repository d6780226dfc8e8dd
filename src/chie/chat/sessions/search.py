"""The SQL that finds the passages of sessions that a search has found."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import select

from chie.chat.sessions.connection import Connection
from chie.chat.sessions.entities import Passage
from chie.chat.sessions.models import MessageRow
from chie.chat.sessions.passages import passage_of
from chie.unicode import fold


@dataclass
class _Messages:
    """The messages of a session, oldest first: which of them match, and the parent of each."""

    found: list[str]
    parents: dict[str, str | None]

    def best(self) -> str:
        """The first one of the newest branch, which is the one that the page shows; else the newest of all."""
        branch = set[str]()
        at = next(reversed(self.parents), None)
        while at is not None:
            branch.add(at)
            at = self.parents[at]
        return next((one for one in self.found if one in branch), self.found[-1])


async def passages(connection: Connection, session_ids: Sequence[str], query: str) -> dict[str, Passage]:
    """The passages by session; none for a session that matches by its title alone."""
    sessions = await _messages(connection, session_ids, query)
    best = {messages.best(): len(messages.found) - 1 for messages in sessions if messages.found}
    chosen = select(MessageRow.id, MessageRow.session_id, MessageRow.role, MessageRow.content)
    rows = (await connection.execute(chosen.where(MessageRow.id.in_(best)))).all()
    cut = await asyncio.to_thread(  # messages may be long
        lambda: [passage_of(row.id, row.role, row.content, query, more=best[row.id]) for row in rows]
    )
    return {row.session_id: passage for row, passage in zip(rows, cut, strict=True)}


async def _messages(connection: Connection, session_ids: Sequence[str], query: str) -> Iterable[_Messages]:
    matching = MessageRow.folded.contains(fold(query), autoescape=True).label("matching")
    statement = (
        select(MessageRow.session_id, MessageRow.id, MessageRow.parent_id, matching)
        .where(MessageRow.session_id.in_(session_ids))
        .order_by(MessageRow.session_id, MessageRow.seq)
    )
    found: dict[str, _Messages] = defaultdict(lambda: _Messages([], {}))
    for row in await connection.execute(statement):
        found[row.session_id].parents[row.id] = row.parent_id
        if row.matching:
            found[row.session_id].found.append(row.id)
    return found.values()
