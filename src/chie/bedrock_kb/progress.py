"""MCP progress notifications while an answer is being generated."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")

Report = Callable[[float, str], Awaitable[None]]

REPORT_EVERY_CHARACTERS = 100
REPORT_EVERY_SECONDS = 5.0


class Progress:
    """Receives the answer in a worker thread and reports in the event loop.

    It reports the first text, then every hundred characters, and every few seconds without any text, so that clients
    with an idle timeout keep waiting.
    """

    def __init__(self, report: Report, *, seconds: float = REPORT_EVERY_SECONDS) -> None:
        self._report = report
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._received_text = asyncio.Event()
        self._steps = 0
        self._received = 0
        self._reported = 0
        self._abandoned = False

    def on_text(self, text: str) -> bool:
        """Called in the worker thread; False once the caller has stopped waiting."""
        if self._abandoned:
            return False
        self._received += len(text)
        with suppress(RuntimeError):  # the loop may have closed in between
            self._loop.call_soon_threadsafe(self._received_text.set)
        return True

    async def report_during(self, work: Awaitable[T]) -> T:
        """The result of `work`, with progress reported until it is available."""
        task = asyncio.ensure_future(work)
        reports = asyncio.ensure_future(self._report_repeatedly())
        try:
            await asyncio.wait({task, reports}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                reports.result()  # raises why the client can no longer be notified
            return await task
        finally:
            self._abandoned = True
            task.cancel()
            reports.cancel()

    async def _report_repeatedly(self) -> None:
        await self._send("Searching the knowledge base.")
        while True:
            try:
                async with asyncio.timeout(self._seconds):
                    await self._received_text.wait()
            except TimeoutError:
                await self._send(f"Still waiting; {self._received} characters of the answer so far.")
                continue
            self._received_text.clear()
            if not self._reported or self._received >= self._reported + REPORT_EVERY_CHARACTERS:
                self._reported = self._received
                await self._send(f"Writing the answer: {self._received} characters so far.")

    async def _send(self, message: str) -> None:
        self._steps += 1
        await self._report(self._steps, message)
