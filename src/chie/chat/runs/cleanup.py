"""Deletes what has become old: soon after the app has started, and every hour. Nothing waits for it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping

INTERVAL_SECONDS = 3_600.0
RETRY_SECONDS = 300.0

logger = logging.getLogger(__name__)


class CleanUp:
    def __init__(self, steps: Mapping[str, Callable[[], Awaitable[None]]]) -> None:
        """By what each deletes."""
        self._steps = steps

    async def repeat(self) -> None:
        """Runs until it is cancelled."""
        while True:
            done = [await self._delete(name) for name in self._steps]
            await asyncio.sleep(INTERVAL_SECONDS if all(done) else RETRY_SECONDS)

    async def _delete(self, name: str) -> bool:
        """A step that fails keeps no other from its work."""
        try:
            await self._steps[name]()
        except Exception:
            logger.exception("cannot delete %s yet; trying again later", name)
            return False
        return True
