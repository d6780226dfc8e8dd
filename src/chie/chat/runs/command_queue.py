"""Commands to the process that generates an answer: rows that wait until that process takes them and replies."""

from collections.abc import Sequence
from datetime import timedelta

from chie.chat.sessions import commands, repository
from chie.chat.sessions.commands import DONE, Command, CommandKind, Reply
from chie.chat.sessions.connection import Connection
from chie.chat.sessions.database import Database
from chie.chat.sessions.entities import now
from chie.errors import ChieError, ConflictError, NotFoundError, ServiceError
from chie.messages.catalogue import Message

REPLY_ERRORS: dict[str, type[ChieError]] = {
    kind.__name__: kind for kind in (ConflictError, NotFoundError, ServiceError)
}
MAX_AGE = timedelta(hours=1)


class CommandQueue:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def send(
        self, message_id: str, kind: CommandKind, call_id: str | None = None, payload: str | None = None
    ) -> str | None:
        """The command's id; None if the answer has ended."""

        async def change(connection: Connection) -> str | None:
            owner = await repository.owner(connection, message_id)
            if owner is None:
                return None
            command_id = await commands.insert_command(connection, message_id, kind, call_id, payload)
            await self._database.notify(connection, [owner])
            return command_id

        return await self._database.write(change)

    async def take(self, message_ids: Sequence[str]) -> list[Command]:
        """The waiting commands for these answers, oldest first. A taken command can no longer be withdrawn."""
        async with self._database.read() as connection:
            if not await commands.any_waiting(connection, message_ids):
                return []
        return await self._database.write(lambda it: commands.take(it, message_ids))

    async def reply(self, command: Command, error: ChieError | None) -> None:
        reply = Reply(outcome=DONE)
        if error is not None:
            params = error.reason.json_params()
            reply = Reply(outcome=type(error).__name__, error_code=error.code, error_params=params)

        async def change(connection: Connection) -> None:
            await commands.set_reply(connection, command.command_id, reply)
            await self._database.notify(connection, [command.message_id])

        await self._database.write(change)

    async def is_done(self, command_id: str) -> bool:
        """False while there is no reply; an error in the reply is raised here."""
        async with self._database.read() as connection:
            reply = await commands.reply(connection, command_id)
        if reply is not None and reply.outcome in REPLY_ERRORS:
            raise REPLY_ERRORS[reply.outcome](Message(reply.error_code or "", **reply.error_params or {}))
        return reply is not None and reply.outcome == DONE

    async def withdraw(self, command_id: str) -> bool:
        """Delete the command; False if it had been taken."""
        return await self._database.write(lambda it: commands.delete_command(it, command_id))

    async def delete_old(self) -> None:
        """Remove commands whose sender died before the reply came."""
        before = now() - MAX_AGE
        await self._database.write(lambda it: commands.delete_older(it, before))
