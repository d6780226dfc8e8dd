"""The SQL of commands to the process that generates an answer. Callers own the transaction."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import delete, insert, select, update

from chie.chat.sessions.connection import Connection
from chie.chat.sessions.entities import new_id, now
from chie.chat.sessions.models import CommandRow

CommandKind = Literal["stop", "approve", "deny", "answer"]

TAKEN, DONE = "taken", "done"


@dataclass(frozen=True, kw_only=True)
class Command:
    command_id: str
    message_id: str
    kind: CommandKind
    call_id: str | None
    payload: str | None = None


@dataclass(frozen=True, kw_only=True)
class Reply:
    """`outcome` is `done`, or the type of the error that the owner replied with."""

    outcome: str
    error_code: str | None = None
    error_params: dict[str, Any] | None = None


async def insert_command(
    connection: Connection, message_id: str, kind: CommandKind, call_id: str | None, payload: str | None = None
) -> str:
    """The id of the new command."""
    command_id = new_id()
    about = {"id": command_id, "message_id": message_id, "kind": kind, "call_id": call_id}
    values = {**about, "created_at": now(), "payload": payload}
    await connection.execute(insert(CommandRow), values)
    return command_id


async def any_waiting(connection: Connection, message_ids: Sequence[str]) -> bool:
    statement = select(CommandRow.seq).where(*_waiting(message_ids)).limit(1)
    return (await connection.execute(statement)).first() is not None


async def take(connection: Connection, message_ids: Sequence[str]) -> list[Command]:
    """Mark all waiting commands of these answers as taken; oldest first."""
    statement = update(CommandRow).where(*_waiting(message_ids)).values(outcome=TAKEN).returning(CommandRow)
    rows = sorted(await connection.execute(statement), key=lambda row: int(row.seq))
    return [
        Command(command_id=row.id, message_id=row.message_id, kind=row.kind, call_id=row.call_id, payload=row.payload)
        for row in rows
    ]


async def set_reply(connection: Connection, command_id: str, reply: Reply) -> None:
    values = {
        "outcome": reply.outcome,
        "error_code": reply.error_code,
        "error_params": None if reply.error_params is None else json.dumps(reply.error_params, ensure_ascii=False),
    }
    await connection.execute(update(CommandRow).where(CommandRow.id == command_id).values(**values))


async def reply(connection: Connection, command_id: str) -> Reply | None:
    """None while the owner has not replied."""
    columns = (CommandRow.outcome, CommandRow.error_code, CommandRow.error_params)
    row = (await connection.execute(select(*columns).where(CommandRow.id == command_id))).first()
    if row is None or row.outcome in (None, TAKEN):
        return None
    params = json.loads(row.error_params) if row.error_params else None
    return Reply(outcome=row.outcome, error_code=row.error_code, error_params=params)


async def delete_command(connection: Connection, command_id: str) -> bool:
    """True if the command was still waiting."""
    statement = delete(CommandRow).where(CommandRow.id == command_id).returning(CommandRow.outcome)
    row = (await connection.execute(statement)).first()
    return row is not None and row.outcome is None


async def delete_older(connection: Connection, before: datetime) -> None:
    await connection.execute(delete(CommandRow).where(CommandRow.created_at < before))


def _waiting(message_ids: Sequence[str]) -> tuple[Any, ...]:
    return CommandRow.outcome.is_(None), CommandRow.message_id.in_(message_ids)
