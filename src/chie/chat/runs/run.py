"""One answer that is being generated: its events so far, its waiting readers, and its pending approvals."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from time import perf_counter
from typing import TYPE_CHECKING

from chie.chat.agents.base import BaseAgent
from chie.chat.interaction import Answer
from chie.chat.sessions.answer_builder import AnswerBuilder
from chie.chat.sessions.entities import EventChunk, PendingAnswer, StoredEvent
from chie.errors import ConflictError, NotFoundError

if TYPE_CHECKING:
    from chie.chat.sessions.answers import SessionState

WINDOW = 4_096  # events kept in memory; a reader that is further behind reads the database


class Run:
    """Events are numbered from 1. A reader keeps nothing here but its offset, however slow it is."""

    def __init__(self, pending: PendingAnswer, agent: BaseAgent) -> None:
        self.pending = pending
        self.agent = agent
        self.message_id = pending.message_id
        self.session_id = pending.session_id
        self.answer = AnswerBuilder()
        self.task: asyncio.Task[None] | None = None
        self.saving: asyncio.Future[None] | None = None
        self.finishing = False
        self.saved: SessionState | None = None  # once the end is
        self.ended = False
        self.stopped = False
        self.lease_lost = False
        self.failed = False  # its events cannot be saved
        self.interrupted = False  # by the shutdown of this process
        self.save_uncertain = False  # the last save failed, but may have been committed
        self.base = 0  # the number of the last event that has left the window
        self.tool_started: dict[str, float] = {}
        self._length = 0
        self._reasoning_since: float | None = None
        self._window: list[StoredEvent] = []
        self._saved = 0
        self._waiting: list[asyncio.Future[bool]] = []
        self._approvals: dict[str, asyncio.Future[bool]] = {}
        self._questions: dict[str, asyncio.Future[Answer]] = {}

    @property
    def agent_id(self) -> str:
        return self.agent.agent_id

    @property
    def count(self) -> int:
        return self.base + len(self._window)

    def add(self, item: StoredEvent) -> None:
        self._window.append(item)
        self.answer.add(item)
        if self._waiting:
            self._wake(has_events=True)

    def add_text(self, text: str, limit: int) -> bool:
        """False if the text had to be cut to keep the answer within `limit` characters."""
        if self._reasoning_since is not None:
            self.end_reasoning()
        kept = self._within(text, limit)
        is_whole = len(kept) == len(text)
        if kept or is_whole:
            self.add(kept)
        return is_whole

    def add_reasoning(self, text: str, limit: int) -> bool:
        """Counts towards the same limit."""
        if self._reasoning_since is None:
            self._reasoning_since = perf_counter()
        kept = self._within(text, limit)
        if kept:
            self.add({"type": "reasoning", "content": kept})
        return len(kept) == len(text)

    def end_reasoning(self) -> None:
        """Adds how long it took; does nothing if the model was not reasoning."""
        if self._reasoning_since is not None:
            milliseconds = round((perf_counter() - self._reasoning_since) * 1_000)
            self._reasoning_since = None
            self.add({"type": "reasoning", "content": "", "duration_ms": milliseconds})

    def _within(self, text: str, limit: int) -> str:
        kept = text[: limit - self._length]
        self._length += len(kept)
        return kept

    def send_heartbeat(self) -> None:
        self._wake(has_events=False)

    async def wait_for_events(self) -> bool:
        """True for new events or the end of the run, False for a heartbeat."""
        reader: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append(reader)
        try:
            return await reader
        finally:
            if not reader.done() or reader.cancelled():
                with suppress(ValueError):
                    self._waiting.remove(reader)

    def events_after(self, seq: int) -> Sequence[StoredEvent]:
        """`seq` must not be before `base`."""
        return self._window[seq - self.base :]

    def unsaved(self) -> EventChunk | None:
        items = self._window[self._saved - self.base :]
        return EventChunk(message_id=self.message_id, first=self._saved + 1, items=items) if items else None

    def unsaved_with(self, last: Sequence[StoredEvent]) -> EventChunk:
        """Everything that is left to save, including the last events."""
        items = [*self._window[self._saved - self.base :], *last]
        return EventChunk(message_id=self.message_id, first=self._saved + 1, items=items)

    def mark_saved(self, last: int) -> None:
        self._saved = last
        self.save_uncertain = False
        surplus = min(len(self._window) - WINDOW, last - self.base)
        if surplus > WINDOW:
            del self._window[:surplus]
            self.base += surplus

    def end(self, last: Sequence[StoredEvent] = ()) -> None:
        """Readers get the last events after these are stored, so `done` means saved."""
        self._window.extend(last)
        self.ended = True
        self._wake(has_events=True)

    def stop(self) -> None:
        self.stopped = self._cancel() or self.stopped

    def lose_lease(self) -> None:
        self.lease_lost = self._cancel() or self.lease_lost

    def fail(self) -> None:
        self.failed = self._cancel() or self.failed

    def interrupt(self) -> None:
        self.interrupted = self._cancel() or self.interrupted

    def _cancel(self) -> bool:
        """Cancel the task once; the first reason wins."""
        ending = self.stopped or self.lease_lost or self.failed or self.interrupted or self.finishing
        return self.task is not None and not ending and self.task.cancel()

    def _wake(self, *, has_events: bool) -> None:
        waiting, self._waiting = self._waiting, []
        for reader in waiting:
            if not reader.done():
                reader.set_result(has_events)

    def expect_approval(self, call_id: str) -> "asyncio.Future[bool]":
        if call_id not in self._approvals:
            self._approvals[call_id] = asyncio.get_running_loop().create_future()
        return self._approvals[call_id]

    async def approval(self, call_id: str) -> bool:
        """A decision counts once: models reuse the ids of calls in later rounds."""
        try:
            return await self.expect_approval(call_id)
        finally:
            self._approvals.pop(call_id, None)

    async def answer_to(self, question_id: str) -> Answer:
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._questions[question_id] = future
        try:
            return await future
        finally:
            del self._questions[question_id]

    def answer_question(self, question_id: str, answer: Answer) -> None:
        future = self._questions.get(question_id)
        if future is None:
            raise NotFoundError("chat.question_not_found")
        if not future.done():
            future.set_result(answer)

    def decide(self, call_id: str, *, approved: bool) -> None:
        decision = self._approvals.get(call_id)
        if decision is None:
            raise NotFoundError("chat.tool_call_not_found")
        if not decision.done():
            decision.set_result(approved)
        elif decision.result() != approved:
            raise ConflictError("chat.tool_call_decided")
