"""Sends queued messages: the next one when an answer is complete, or one at once when the user says so.

A process may end between storing an answer and sending what waits for it, so every process looks for such messages.
"""

import asyncio
import logging

from chie.access.identity import User, acting_as, local_user
from chie.access.known_users import known_users
from chie.chat.runs.manager import RunManager
from chie.chat.runs.run import Run
from chie.chat.runs.starter import RunStarter
from chie.chat.sessions.entities import QueuedMessage
from chie.chat.sessions.queue import MessageQueue
from chie.errors import ChieError, ServiceError, StorageError
from chie.logging import request_id

INTERVAL_SECONDS = 5.0

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

    async def send_overdue(self) -> None:
        """Runs until it is cancelled. Of several processes that find the same message one sends it."""
        while not self._runs.is_closing:
            try:
                for user_id, queued in await self._queue.overdue():
                    if sender := sender_of(user_id):
                        with acting_as(sender):
                            await self._try_to_send(queued)
            except ChieError as error:
                logger.warning("cannot look for queued messages: %s [%s]", error.message, error.code)
            await asyncio.sleep(INTERVAL_SECONDS)

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
        except ChieError as error:
            logger.warning("the queue of session %s waits: %s [%s]", session_id, error.message, error.code)
        else:
            if queued is not None:
                await self._try_to_send(queued)

    async def _try_to_send(self, queued: QueuedMessage) -> None:
        try:
            await self._send(queued)
        except ChieError as error:
            logger.warning("the queue of session %s waits: %s [%s]", queued.session_id, error.message, error.code)
        except Exception:
            logger.exception("the queue of session %s waits", queued.session_id)

    async def _send(self, queued: QueuedMessage) -> None:
        """An error of the database may end by itself, and the message is sent later; any other one is shown with it."""
        try:
            await self._starter.send_queued(queued)
        except StorageError:
            raise
        except ChieError as error:
            if error.code not in ("queue.not_found", "sessions.answer_in_progress"):  # sent or removed meanwhile
                await self._queue.hold(queued, error)
        except Exception:
            await self._queue.hold(queued, ServiceError("chat.agent_failed", request_id=request_id()))
            raise


def sender_of(user_id: str) -> User | None:
    """As whom a message is sent whose request has ended: without the rights of an admin, which a token gave to that
    request. None for a user who has been removed meanwhile."""
    local, known = local_user(), known_users()
    if known is not None and user_id not in known:
        return None
    return local if local.id == user_id else User(user_id)
