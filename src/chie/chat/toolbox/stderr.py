"""The stderr of a server's program: logged, and its end kept for the error message if the program dies."""

import logging
import os
from collections import deque
from functools import partial
from threading import Thread
from typing import Self

logger = logging.getLogger(__name__)

MAX_LINES = 5
MAX_LINE_LENGTH = 1_000  # longer lines are split
JOIN_TIMEOUT_SECONDS = 1.0


class StderrTail:
    """A pipe to pass to a child process. Only the last lines are kept, however much the child writes."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._lines: deque[str] = deque(maxlen=MAX_LINES)

    def __enter__(self) -> Self:
        read_end, write_end = os.pipe()
        self.file = os.fdopen(write_end, "w", encoding="utf-8")
        self._thread = Thread(target=self._read, args=(read_end,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """A grandchild that outlives its parent may keep the pipe open, so the wait has a limit."""
        self.file.close()
        self._thread.join(JOIN_TIMEOUT_SECONDS)

    def __str__(self) -> str:
        return " ".join(self._lines)

    def _read(self, read_end: int) -> None:
        with os.fdopen(read_end, encoding="utf-8", errors="replace") as pipe:
            for line in iter(partial(pipe.readline, MAX_LINE_LENGTH), ""):
                self._lines.append(line.strip())
                logger.debug("%s stderr: %s", self._server, line.rstrip())
