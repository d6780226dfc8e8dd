"""Long sessions and many sessions: created once over HTTP, then copied in the database."""

import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

from tests.fakes import patient

TEXT = "**太字「です」。**\n\n- one\n- two\n\n```python\nprint('x')\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"


def long_session(home: Path, address: str, count: int) -> str:
    first = patient.post(f"{address}/api/chat/stream", json={"message": TEXT, "agent_id": "echo"})
    session = str(first.headers["x-chie-session"])
    with sqlite3.connect(home / "chie.db") as database:
        database.row_factory = sqlite3.Row
        rows = database.execute("SELECT * FROM messages WHERE session_id = ? ORDER BY seq", [session]).fetchall()
        parent = dict(rows[-1])["id"]
        for number in range(count - len(rows)):
            row = dict(rows[number % 2])
            del row["seq"]
            row |= {"id": str(uuid4()), "parent_id": parent}
            parent = row["id"]
            _insert(database, "messages", row)
    return session


def many_sessions(home: Path, address: str, count: int) -> None:
    patient.post(f"{address}/api/sessions", json={"title": "first"})
    with sqlite3.connect(home / "chie.db") as database:
        database.row_factory = sqlite3.Row
        pattern = dict(database.execute("SELECT * FROM sessions LIMIT 1").fetchone())
        for number in range(count):
            moment = datetime.now(UTC) - timedelta(hours=number)
            title = f"会話 {number}"
            row = {"id": str(uuid4()), "title": title, "folded": title, "updated_at": moment.strftime("%F %T.%f")}
            _insert(database, "sessions", pattern | row)


def _insert(database: sqlite3.Connection, table: str, row: dict[str, object]) -> None:
    marks = ", ".join("?" for _ in row)
    database.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", list(row.values()))  # noqa: S608
