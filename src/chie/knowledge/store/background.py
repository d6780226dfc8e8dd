"""Work that may wait: done by one thread, begun when something wants it, ended with the store."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from threading import Event, Lock, Thread

from chie.errors import ChieError

logger = logging.getLogger(__name__)


class Background(ABC):
    """Whoever does the work looks at `stopped` between its steps."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.stopped = Event()
        self._starting = Lock()
        self._thread: Thread | None = None

    @abstractmethod
    def run(self, progress: Callable[[int], None]) -> None:
        """All there is to do; `progress` is told how many passages are left to read."""

    def start(self) -> None:
        """Begin, unless it is under way."""
        with self._starting:
            if self._thread is None or not self._thread.is_alive():
                self._thread = Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()

    def close(self) -> None:
        self.stopped.set()
        if self._thread:
            self._thread.join(timeout=5)

    def _run(self) -> None:
        try:
            self.run(lambda left: logger.info("%d passages left to read for the present model", left))
        except ChieError as error:
            logger.warning("%s stopped: %s", self._name, error)
