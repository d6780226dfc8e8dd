"""What a server's program writes to stderr: logged, and the end of it kept for the day it dies."""

import logging
import os
from collections import deque
from functools import partial
from threading import Thread
from typing import Self

logger = logging.getLogger(__name__)

LINES = 5
LONGEST = 1_000  # characters; what is longer, or has no end at all, counts as several lines
SECONDS = 1.0


class LastWords:
    """A pipe to hand to a child. Nothing is stored but the last lines, however much the child says."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._lines: deque[str] = deque(maxlen=LINES)

    def __enter__(self) -> Self:
        reading, writing = os.pipe()
        self.file = os.fdopen(writing, "w", encoding="utf-8")
        self._thread = Thread(target=self._listen, args=(reading,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """A grandchild that outlives its parent may hold the pipe: it is waited for, but not for ever."""
        self.file.close()
        self._thread.join(SECONDS)

    def __str__(self) -> str:
        return " ".join(self._lines)

    def _listen(self, reading: int) -> None:
        with os.fdopen(reading, encoding="utf-8", errors="replace") as pipe:
            for line in iter(partial(pipe.readline, LONGEST), ""):
                self._lines.append(line.strip())
                logger.debug("%s says: %s", self._server, line.rstrip())
