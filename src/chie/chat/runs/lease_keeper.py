"""Renews the leases of this process's runs and ends the answers of dead processes, every few seconds."""

import asyncio
import logging

from chie.chat.runs.lease import RENEW_INTERVAL, LeasePolicy
from chie.chat.runs.manager import RunManager
from chie.chat.runs.recovery import Recovery
from chie.chat.sessions.answers import AnswerStore
from chie.errors import ChieError, StorageError

logger = logging.getLogger(__name__)


class LeaseKeeper:
    def __init__(self, answers: AnswerStore, runs: RunManager, recovery: Recovery) -> None:
        self._answers = answers
        self._runs = runs
        self._recovery = recovery
        self._policy = LeasePolicy()

    async def recover(self) -> None:
        """An error that is not the database's keeps no app from starting: `keep` tries again."""
        try:
            await self._recovery.recover(self._policy.duration)
        except StorageError:
            raise
        except Exception:
            logger.exception("cannot end the answers of dead processes; trying again")

    async def keep(self) -> None:
        """Runs until it is cancelled."""
        while True:
            await asyncio.sleep(RENEW_INTERVAL.total_seconds())
            try:
                self._runs.lose_leases(await self._answers.renew_leases(self._runs.message_ids))
                await self.recover()
            except ChieError as error:
                self._policy.restart_grace()
                logger.warning("cannot renew leases: %s [%s]", error.message, error.code)
