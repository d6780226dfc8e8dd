"""Carries out the commands that other processes send to the runs of this one."""

import json
import logging
from collections.abc import Mapping

from chie.chat.runs.command_queue import CommandQueue
from chie.chat.runs.notifier import Notifier
from chie.chat.runs.run import Run
from chie.chat.sessions.commands import Command
from chie.errors import ChieError, ConflictError, ServiceError

logger = logging.getLogger(__name__)


class CommandHandler:
    def __init__(self, queue: CommandQueue, notifier: Notifier, owner: str, runs: Mapping[str, Run]) -> None:
        self._queue = queue
        self._notifier = notifier
        self._owner = owner
        self._runs = runs
        self._queue_is_empty = False

    def report_queue(self, *, has_commands: bool) -> None:
        """Every save learns whether commands are waiting, which spares the next poll of the queue."""
        self._queue_is_empty = not has_commands
        if has_commands:
            self._notifier.notify([self._owner])

    async def handle_commands(self) -> None:
        """Runs while there are runs."""
        with self._notifier.subscribe(self._owner) as subscription:
            while self._runs:
                notified = await subscription.wait()
                if notified or not self._queue_is_empty:
                    await self._handle_waiting()
                self._queue_is_empty = False

    async def _handle_waiting(self) -> None:
        try:
            commands = await self._queue.take(list(self._runs))
        except ChieError as error:
            logger.exception("cannot read the commands of other processes; retrying [%s]", error.code)
            return
        for command in commands:  # nobody else will see them again
            try:
                await self._queue.reply(command, self._outcome(command))
            except Exception:
                logger.exception("cannot reply to a command of another process")

    def _execute(self, command: Command) -> None:
        run = self._runs.get(command.message_id)
        if run is None:
            raise ConflictError("chat.answer_just_ended")
        if command.kind == "stop":
            run.stop()
        elif command.kind == "answer":
            run.answer_question(command.call_id or "", json.loads(command.payload or "{}"))
        else:
            run.decide(command.call_id or "", approved=command.kind == "approve")

    def _outcome(self, command: Command) -> ChieError | None:
        try:
            self._execute(command)
        except ChieError as error:
            return error
        except Exception:
            logger.exception("cannot carry out a command of another process")
            return ServiceError("chat.command_failed")
        return None
