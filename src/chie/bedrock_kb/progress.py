"""Telling a client, while an answer is being written, that it is."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")

Report = Callable[[float, str], Awaitable[None]]

CHARACTERS = 100
SECONDS = 5.0


class Progress:
    """Hears the answer in its thread and reports in the event loop: at the first words, every hundred characters, and
    every few seconds in which nothing is heard, so that a client that gives up on silence does not.
    """

    def __init__(self, report: Report, *, seconds: float = SECONDS) -> None:
        self._report = report
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._steps = 0
        self._heard = 0
        self._told = 0
        self._abandoned = False

    def hear(self, text: str) -> bool:
        """Called in the thread; False when nobody waits for the answer any more."""
        if self._abandoned:
            return False
        self._heard += len(text)
        with suppress(RuntimeError):  # the loop may have closed in between
            self._loop.call_soon_threadsafe(self._news.set)
        return True

    async def accompany(self, work: Awaitable[T]) -> T:
        """The outcome of `work`, reported on until it is there."""
        task = asyncio.ensure_future(work)
        talk = asyncio.ensure_future(self._talk())
        try:
            await asyncio.wait({task, talk}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                talk.result()  # it ended because the client can no longer be told
            return await task
        finally:
            self._abandoned = True
            task.cancel()
            talk.cancel()

    async def _talk(self) -> None:
        await self._tell("Searching the knowledge base.")
        while True:
            try:
                async with asyncio.timeout(self._seconds):
                    await self._news.wait()
            except TimeoutError:
                await self._tell(f"Still waiting; {self._heard} characters of the answer so far.")
                continue
            self._news.clear()
            if not self._told or self._heard >= self._told + CHARACTERS:
                self._told = self._heard
                await self._tell(f"Writing the answer: {self._heard} characters so far.")

    async def _tell(self, message: str) -> None:
        self._steps += 1
        await self._report(self._steps, message)
