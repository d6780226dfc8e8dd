"""Saves the new events of all runs every quarter of a second, in one transaction."""

import asyncio
import logging
from collections.abc import Iterable, Mapping

from chie.chat.runs.command_handler import CommandHandler
from chie.chat.runs.run import Run
from chie.chat.sessions.answers import AnswerStore
from chie.chat.sessions.entities import EventChunk
from chie.errors import ChieError

SAVE_SECONDS = 0.25

logger = logging.getLogger(__name__)


class EventSaver:
    def __init__(
        self, answers: AnswerStore, commands: CommandHandler, runs: Mapping[str, Run], *, interval: float
    ) -> None:
        self._answers = answers
        self._commands = commands
        self._runs = runs
        self._interval = interval

    async def save_events(self) -> None:
        """Runs while there are runs."""
        while self._runs:
            await asyncio.sleep(self._interval)
            unsaved = {run: chunk for run in self._runs.values() if not run.finishing and (chunk := run.unsaved())}
            if unsaved and not await self._save(unsaved):
                await self._save_each(unsaved)

    async def _save_each(self, unsaved: dict[Run, EventChunk]) -> None:
        """One answer whose events cannot be saved ends, and keeps no other from being saved."""
        for run, chunk in unsaved.items():
            if not run.finishing and not await self._save({run: chunk}):
                run.fail()

    async def _save(self, unsaved: dict[Run, EventChunk]) -> bool:
        """False after an error that will not end by itself."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        for run in unsaved:
            run.saving = done
        try:
            uncertain = any(run.save_uncertain for run in unsaved)
            saved = await self._answers.save(list(unsaved.values()), replace_events=uncertain)
            for run, chunk in unsaved.items():
                run.mark_saved(chunk.last)
            lose_leases(self._runs, saved.lost)
            self._commands.report_queue(has_commands=saved.has_commands)
        except Exception as error:
            code = error.code if isinstance(error, ChieError) else type(error).__name__
            logger.exception("cannot save events of %d answers [%s]", len(unsaved), code)
            for run in unsaved:
                run.save_uncertain = True
            return isinstance(error, ChieError)
        else:
            return True
        finally:
            for run in unsaved:
                run.saving = None
            done.set_result(None)


def lose_leases(runs: Mapping[str, Run], message_ids: Iterable[str]) -> None:
    for message_id in message_ids:
        if message_id in runs:
            runs[message_id].lose_lease()
