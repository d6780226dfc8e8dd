"""One answer in the making: the events so far, and those who wait for more."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from chie.chat.sessions.answer import Answer, Item
from chie.chat.sessions.entities import Events
from chie.chat.sessions.turns import Beginning
from chie.errors import ConflictError, NotFoundError

WINDOW = 4_096  # events kept at hand; a reader who is further behind gets the saved ones from the database


class Run:
    """Events are numbered from 1. Readers keep nothing here but their place, however slow they are."""

    def __init__(self, beginning: Beginning) -> None:
        self.message_id = beginning.message_id
        self.session_id = beginning.session_id
        self.agent_id = beginning.agent.agent_id
        self.answer = Answer()
        self.task: asyncio.Task[None] | None = None
        self.saving: asyncio.Future[None] | None = None
        self.finishing = False
        self.ended = False
        self.stopping = False
        self.lost = False  # another process has ended the answer
        self.interrupted = False  # the house closes
        self.doubtful = False  # whether the last save arrived is not known
        self.base = 0
        self.tool_began: dict[str, float] = {}
        self._said = 0
        self._window: list[Item] = []
        self._saved = 0
        self._waiting: list[asyncio.Future[bool]] = []
        self._approvals: dict[str, asyncio.Future[bool]] = {}

    @property
    def count(self) -> int:
        return self.base + len(self._window)

    def add(self, item: Item) -> None:
        self._window.append(item)
        self.answer.add(item)
        if self._waiting:
            self.wake(news=True)

    def say(self, words: str, limit: int) -> bool:
        """False where the answer grows longer than the limit: then it ends there."""
        kept = words[: limit - self._said]
        self._said += len(kept)
        whole = len(kept) == len(words)
        if kept or whole:
            self.add(kept)
        return whole

    def wake(self, *, news: bool) -> None:
        """Without news it is a heartbeat."""
        waiting, self._waiting = self._waiting, []
        for reader in waiting:
            if not reader.done():
                reader.set_result(news)

    async def news(self) -> bool:
        """Wait for the next event; False is a heartbeat."""
        reader: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append(reader)
        try:
            return await reader
        finally:
            if not reader.done() or reader.cancelled():
                with suppress(ValueError):
                    self._waiting.remove(reader)

    def after(self, seq: int) -> Sequence[Item]:
        """Only for places that are still at hand: `seq` is not before `base`."""
        return self._window[seq - self.base :]

    def unsaved(self) -> Events | None:
        items = self._window[self._saved - self.base :]
        return Events(message_id=self.message_id, first=self._saved + 1, items=items) if items else None

    def rest(self, last: Sequence[Item]) -> Events:
        """All that is left to save, with the last events."""
        items = [*self._window[self._saved - self.base :], *last]
        return Events(message_id=self.message_id, first=self._saved + 1, items=items)

    def mark_saved(self, last: int) -> None:
        self._saved = last
        self.doubtful = False
        surplus = min(len(self._window) - WINDOW, last - self.base)
        if surplus > WINDOW:
            del self._window[:surplus]
            self.base += surplus

    def end(self, last: Sequence[Item]) -> None:
        """The last events are shown once they are on disk, so `done` means saved."""
        self._window.extend(last)
        self.ended = True
        self.wake(news=True)

    def stop(self) -> None:
        self.stopping = self._cancel() or self.stopping

    def lose(self) -> None:
        self.lost = self._cancel() or self.lost

    def interrupt(self) -> None:
        self.interrupted = self._cancel() or self.interrupted

    def _cancel(self) -> bool:
        """Once, for whichever reason comes first."""
        over = self.stopping or self.lost or self.interrupted or self.finishing
        return self.task is not None and not over and self.task.cancel()

    def expect_approval(self, call_id: str) -> "asyncio.Future[bool]":
        if call_id not in self._approvals:
            self._approvals[call_id] = asyncio.get_running_loop().create_future()
        return self._approvals[call_id]

    async def approval(self, call_id: str) -> bool:
        """Each word of the user counts once: models give the same id to calls of different rounds."""
        try:
            return await self.expect_approval(call_id)
        finally:
            self._approvals.pop(call_id, None)

    def decide(self, call_id: str, *, approved: bool) -> None:
        decision = self._approvals.get(call_id)
        if decision is None:
            raise NotFoundError("no tool call of this answer waits under this id: its tool_call event names it.")
        if not decision.done():
            decision.set_result(approved)
        elif decision.result() != approved:
            raise ConflictError("this tool call was decided already. Nothing was changed.")
