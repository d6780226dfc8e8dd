"""Tasks that nobody waits for: their unexpected errors are logged, and those that last go on."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from time import monotonic
from typing import Any

PAUSES = (0.25, 1.0, 5.0)  # shorter together than any lease that such a task renews

logger = logging.getLogger(__name__)


def start(work: Callable[[], Coroutine[Any, Any, None]], name: str) -> asyncio.Task[None]:
    """A task that runs `work` to its end. After an unexpected error, which is logged, `work` starts again."""
    return asyncio.create_task(_supervise(work, name), name=name)


def once(work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
    """A task whose unexpected error is logged."""
    task = asyncio.create_task(work, name=name)
    task.add_done_callback(_log_failure)
    return task


def _log_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()):
        logger.error("background task %s failed unexpectedly", task.get_name(), exc_info=error)


async def _supervise(work: Callable[[], Coroutine[Any, Any, None]], name: str) -> None:
    failures = 0
    while True:
        began = monotonic()
        try:
            return await work()
        except Exception:
            logger.exception("background task %s failed unexpectedly; it starts again", name)
        failures = failures + 1 if monotonic() - began < max(PAUSES) else 0
        await asyncio.sleep(PAUSES[min(failures, len(PAUSES) - 1)])
