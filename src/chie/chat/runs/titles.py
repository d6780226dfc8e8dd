"""Names sessions after their first answer. Nothing waits for it, and a failure leaves the first words as the title."""

import asyncio
import logging
from collections.abc import Callable
from time import monotonic
from typing import Protocol, runtime_checkable

from chie.chat.metering import metering
from chie.chat.runs.run import Run
from chie.chat.sessions.titles import TitleStore, first_title
from chie.chat.usage.recorder import UsageRecorder, Work
from chie.errors import ChieError

TIMEOUT_SECONDS = 60.0
MAX_AT_ONCE = 2  # sessions that begin together must not compete with the answers of others
MAX_WAIT_SECONDS, STEP_SECONDS = 10.0, 0.1  # for the end of those answers

logger = logging.getLogger(__name__)


@runtime_checkable
class TitleWriter(Protocol):
    """An agent whose model can write titles."""

    async def suggest_title(self, *, question: str, answer: str) -> str | None: ...


class Titles:
    def __init__(self, store: TitleStore, usage: UsageRecorder) -> None:
        self._store = store
        self._usage = usage
        self._tasks: set[asyncio.Task[None]] = set()
        self._slots = asyncio.Semaphore(MAX_AT_ONCE)

    def start(self, run: Run, *, is_busy: Callable[[], bool]) -> None:
        """After an answer; only the first one of a session names it, unless it has a name. `is_busy` while others are
        being generated."""
        first = first_title(run.pending.question, run.pending.attachments)
        is_named = run.saved is None or run.saved.title != first
        if is_named or run.pending.history or not run.answer.content.strip() or not isinstance(run.agent, TitleWriter):
            return
        task = asyncio.create_task(self._name(run, run.agent, first, is_busy), name=f"title-{run.session_id}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _name(self, run: Run, agent: TitleWriter, first: str, is_busy: Callable[[], bool]) -> None:
        deadline = monotonic() + MAX_WAIT_SECONDS
        try:
            await asyncio.sleep(STEP_SECONDS)  # the time in which a client asks its next question
            async with self._slots:
                await _wait_while(is_busy, deadline)
                await self._replace(run, agent, first)
        except (ChieError, TimeoutError) as error:
            logger.info("session %s keeps its first words as its title: %s", run.session_id, error)
        except Exception:
            logger.exception("the title of session %s could not be written", run.session_id)

    async def _replace(self, run: Run, agent: TitleWriter, first: str) -> None:
        work, title = Work(), None
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                with metering(work):
                    title = await agent.suggest_title(question=run.pending.question or first, answer=run.answer.content)
        finally:  # a request that failed may have cost something too
            await self._store.replace(run.session_id, first, title, self._usage.measure(work, run.agent).record)


async def _wait_while(is_busy: Callable[[], bool], deadline: float) -> None:
    """Answers first: of many sessions that began together the last titles would compete with the next answers."""
    while is_busy() and monotonic() < deadline:  # noqa: ASYNC110  two at most wait here, for a tenth of a second each time
        await asyncio.sleep(STEP_SECONDS)
