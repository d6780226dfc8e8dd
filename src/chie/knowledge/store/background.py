"""Background work of a store, in one thread that starts on demand and ends with the store."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from threading import Event, Lock, Thread

from chie.errors import ChieError

BACKFILL_BATCH_SIZE = 32  # passages that are embedded in one transaction
BACKFILL_LEASE_SECONDS = 60
# Vectors of a model that a process has embedded passages with in this time are not deleted: that process may still run,
# and would embed them all again.
MODEL_LEASE_SECONDS = 24 * 60 * 60
PRUNE_BATCH_SIZE = 1000  # vectors that are deleted in one transaction

CLOSE_TIMEOUT_SECONDS = 5

logger = logging.getLogger(__name__)


class BackgroundTask(ABC):
    """`run` checks `stopped` between its steps."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.stopped = Event()
        self._starting = Lock()
        self._thread: Thread | None = None

    @abstractmethod
    def run(self, progress: Callable[[int], None]) -> None:
        """Do all the work; `progress` receives the number of passages left to embed."""

    def start(self) -> None:
        """Start the thread unless it is running."""
        with self._starting:
            if self._thread is None or not self._thread.is_alive():
                self._thread = Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()

    def close(self) -> None:
        self.stopped.set()
        if self._thread:
            self._thread.join(timeout=CLOSE_TIMEOUT_SECONDS)

    def _run(self) -> None:
        try:
            self.run(lambda left: logger.info("%d passages left to embed with the current model", left))
        except ChieError as error:
            logger.warning("%s stopped: %s (%s)", self._name, error, error.code)
