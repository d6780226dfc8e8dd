"""Sends queued messages: the next one when an answer is complete, or one at once when the user says so."""

import asyncio
import logging

from chie.chat.runs.manager import RunManager
from chie.chat.runs.run import Run
from chie.chat.runs.starter import RunStarter
from chie.chat.sessions.entities import QueuedMessage
from chie.chat.sessions.queue import MessageQueue
from chie.errors import ChieError, NotFoundError, StorageError

logger = logging.getLogger(__name__)


class QueueSender:
    """A message is taken from the queue in the transaction that stores it as a question, so it is sent once, however
    many processes and tabs try."""

    def __init__(self, queue: MessageQueue, starter: RunStarter, runs: RunManager) -> None:
        self._queue = queue
        self._starter = starter
        self._runs = runs
        self._tasks: set[asyncio.Task[None]] = set()
        runs.on_complete(self._start)

    async def send_if_due(self, queued: QueuedMessage) -> None:
        """The answer may have ended while the message was being queued."""
        if queued.status == "complete":
            await self._send_next(queued.session_id, queued.parent_id)

    async def send_now(self, session_id: str, message_id: str, *, stop: bool) -> Run:
        """`stop` ends the answer that the message waits for; without it ConflictError until that has ended."""
        queued = await self._queue.get(session_id, message_id)
        if queued.status == "streaming" and stop:
            await self._runs.stop(queued.parent_id)
        return await self._starter.send_queued(queued)

    async def close(self) -> None:
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _start(self, run: Run) -> None:
        """The task inherits the user of the run."""
        if run.saved is None or not run.saved.has_queued:
            return
        task = asyncio.create_task(self._send_next(run.session_id, run.message_id), name=f"queue-{run.session_id}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _send_next(self, session_id: str, answer_id: str) -> None:
        try:
            queued = await self._queue.next_after(session_id, answer_id)
            if queued is not None:
                await self._send(queued)
        except ChieError as error:
            logger.warning("the queue of session %s waits: %s [%s]", session_id, error.message, error.code)

    async def _send(self, queued: QueuedMessage) -> None:
        try:
            await self._starter.send_queued(queued)
        except NotFoundError as error:
            if error.code != "queue.not_found":  # sent or removed in the meantime
                await self._queue.hold(queued, error)
        except StorageError:
            raise
        except ChieError as error:
            await self._queue.hold(queued, error)
