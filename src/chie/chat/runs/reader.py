"""Reading an answer from an offset on: from memory while it is generated here, from the database otherwise."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Self

from chie.chat.runs.notifier import Notifier
from chie.chat.runs.retry import retry_storage
from chie.chat.runs.run import Run
from chie.chat.sessions.answer_builder import error_events
from chie.chat.sessions.answers import AnswerStore
from chie.chat.sessions.entities import EventChunk, Message, StoredEvent
from chie.errors import NotFoundError

HEARTBEAT_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive events; `first` is the number of the first one. Without events it is a heartbeat."""

    first: int
    items: Sequence[StoredEvent]


HEARTBEAT = Batch(0, ())


class EventReader:
    """Every event after `after`, once and in order, until the answer ends or is deleted. Used as a context manager.

    Its caller sets the pace: the reader holds no events but the chunks of its last query.
    """

    def __init__(
        self, message_id: str, after: int, *, run: Run | None, answers: AnswerStore, notifier: Notifier
    ) -> None:
        self._message_id = message_id
        self._after = after
        self._run = run
        self._answers = answers
        self._subscription = notifier.subscribe(message_id)
        self._chunks: deque[EventChunk] = deque()
        self._last_batch = monotonic()
        self._deleted = False

    def __enter__(self) -> Self:
        self._subscription.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._subscription.__exit__()

    @property
    def position(self) -> int:
        """The number of the last event that was read."""
        return self._after

    async def next(self) -> Batch | None:
        """The next events, `HEARTBEAT` after a silence, or None at the end."""
        if self._deleted:
            return None
        try:
            return await (self._next_live(self._run) if self._run else self._next_stored())
        except NotFoundError as error:
            self._deleted = True
            return Batch(self._after + 1, error_events(error))

    async def _next_live(self, run: Run) -> Batch | None:
        while True:
            if batch := self._next_chunk():
                return batch
            if self._after < run.base:
                await self._fetch()
            elif items := run.events_after(self._after):
                self._after += len(items)
                return Batch(self._after - len(items) + 1, items)
            elif run.ended:
                return None
            elif not await run.wait_for_events():
                return HEARTBEAT

    async def _next_stored(self) -> Batch | None:
        """Follows another process's progress as it is saved."""
        while True:
            if batch := self._next_chunk():
                self._last_batch = monotonic()
                return batch
            answer = await self._fetch()
            if not self._chunks:
                if answer.status != "streaming":
                    return None
                await self._subscription.wait()
            if monotonic() - self._last_batch >= HEARTBEAT_SECONDS:
                self._last_batch = monotonic()
                return HEARTBEAT

    def _next_chunk(self) -> Batch | None:
        if not self._chunks:
            return None
        chunk = self._chunks.popleft()
        start = max(self._after + 1, chunk.first)
        self._after = chunk.last
        return Batch(start, chunk.items[start - chunk.first :])

    async def _fetch(self) -> Message:
        answer, chunks = await retry_storage(
            lambda: self._answers.events(self._message_id, self._after), self._message_id
        )
        self._chunks.extend(chunks)
        return answer
