"""Converts HTML to Markdown in a child process, because a hostile page can occupy the parser for hours.

The process ends with the call: a time limit and a memory limit apply to it, and nothing of the parser is ever loaded
into the app itself.
"""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE

from chie.errors import ServiceError

MAX_CONVERSIONS = 2  # at the same time
MAX_MEMORY_BYTES = 1 << 30  # of each
MODULE = "chie.web_fetch.markdown"


class Converter:
    def __init__(self) -> None:
        self._slots = asyncio.Semaphore(MAX_CONVERSIONS)

    async def to_markdown(self, html: str, url: str) -> str:
        """Raises ServiceError if the page needs too much memory. Cancelling it ends the process."""
        async with self._slots:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",  # imports nothing from the current folder
                "-m",
                MODULE,
                url,
                str(MAX_MEMORY_BYTES),
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
            )
            try:
                output, _ = await process.communicate(html.encode("utf-8", errors="replace"))
            finally:
                if process.returncode is None:
                    process.kill()
                    await process.wait()
        if process.returncode != 0:
            raise ServiceError("web_fetch.page_too_complex")
        return output.decode("utf-8")
