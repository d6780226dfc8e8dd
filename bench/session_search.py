"""Searching 1,000 conversations for their passages, against the plain filter with LIKE that finds no passages.

Twenty messages in a conversation, every tenth of them 20,000 characters long; half of them Japanese. A word that every
conversation has fills a page of 100 at once, and each of them needs its passage; a word that one has reads all of them.
"""

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

from sqlalchemy import URL, exists, or_, select

from bench.figure import Figure
from bench.table import table
from chie.access.identity import ANONYMOUS
from chie.chat.sessions import repository
from chie.chat.sessions.database import Database
from chie.chat.sessions.entities import Message, Session, new_id
from chie.chat.sessions.models import MessageRow, SessionRow
from chie.chat.sessions.service import SessionService
from chie.chat.sessions.upgrade import upgrade
from chie.unicode import fold

SESSIONS, MESSAGES, PAGE, ROUNDS = 1_000, 20, 100, 7
SENTENCES = (
    "サーバーの再起動の後で接続が切れる障害について、ログを確認してから担当者に連絡してください。",
    "The connection pool is exhausted after a restart, so check the log before you call anybody. ",
)
QUERIES = {"in every conversation": "障害", "in one conversation": "唯一の目印", "in none": "absent words"}


def main() -> list[Figure]:
    with tempfile.TemporaryDirectory() as home:
        return asyncio.run(_measured(Path(home)))


async def _measured(home: Path) -> list[Figure]:
    url = URL.create("sqlite+aiosqlite", database=str(home / "chie.db"))
    upgrade(url)
    database = Database(url)
    await _fill(database)
    figures = []
    for what, query in QUERIES.items():
        plain, ours = await _compared(_plain(database, query), _ours(database, query))
        name = f"1,000 conversations, a word {what}"
        figures += [
            Figure(name, "LIKE, without passages", plain, "ms"),
            Figure(name, "Chie", ours, "ms"),
            Figure(name, "Chie to LIKE", ours / plain, "×"),
        ]
    await database.close()
    return figures


def _ours(database: Database, query: str) -> Callable[[], Awaitable[object]]:
    return lambda: SessionService(database).page(query=query, limit=PAGE)


def _plain(database: Database, query: str) -> Callable[[], Awaitable[object]]:
    matching = exists().where(
        MessageRow.session_id == SessionRow.id, MessageRow.folded.contains(fold(query), autoescape=True)
    )
    statement = select(SessionRow.id).where(
        SessionRow.user_id == ANONYMOUS, or_(SessionRow.folded.contains(fold(query), autoescape=True), matching)
    )
    statement = statement.order_by(SessionRow.updated_at.desc(), SessionRow.id.desc()).limit(PAGE + 1)

    async def run() -> None:
        async with database.read() as connection:
            (await connection.execute(statement)).all()

    return run


async def _compared(*works: Callable[[], Awaitable[object]]) -> list[float]:
    """Medians in milliseconds, measured in turn."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(ROUNDS):
        for work, taken in zip(works, times, strict=True):
            began = time.perf_counter()
            await work()
            taken.append((time.perf_counter() - began) * 1_000)
    return [median(taken) for taken in times]


async def _fill(database: Database) -> None:
    for number in range(SESSIONS):
        moment = datetime.now(UTC) - timedelta(minutes=number)
        session = Session(
            session_id=new_id(),
            title=f"conversation {number}",
            current_agent_id="a",
            created_at=moment,
            updated_at=moment,
        )
        await database.write(repository.new_session(session, _messages(session, moment, number)))


def _messages(session: Session, moment: datetime, number: int) -> list[Message]:
    messages: list[Message] = []
    for at in range(MESSAGES):
        text = SENTENCES[at % 2] * (400 if at % 10 == 9 else 12)
        messages.append(
            Message(
                message_id=new_id(),
                session_id=session.session_id,
                parent_id=messages[-1].message_id if messages else None,
                role="user" if at % 2 == 0 else "assistant",
                content=text + ("唯一の目印" if (number, at) == (SESSIONS // 2, MESSAGES // 2) else ""),
                status="complete",
                created_at=moment,
            )
        )
    return messages


if __name__ == "__main__":
    print(table(main()))
