"""Answers that another process generates: commands to it go through the database."""

import json
from collections.abc import Awaitable, Callable
from time import monotonic

from chie.chat.interaction import Answer
from chie.chat.runs.command_queue import CommandQueue
from chie.chat.runs.notifier import Notifier
from chie.chat.runs.recovery import Recovery
from chie.chat.sessions.answers import AnswerStore
from chie.chat.sessions.commands import CommandKind
from chie.chat.sessions.entities import Message
from chie.errors import ConflictError

REPLY_TIMEOUT_SECONDS = 5.0


class RemoteRuns:
    def __init__(self, answers: AnswerStore, queue: CommandQueue, notifier: Notifier, recovery: Recovery) -> None:
        self._answers = answers
        self._queue = queue
        self._notifier = notifier
        self._recovery = recovery

    async def stop(self, message_id: str) -> Message:
        """An owner that does not react loses the lease, so stopping works as long as the database does."""
        command_id = await self._queue.send(message_id, "stop")
        if command_id is not None:
            await self._wait_until(message_id, lambda: self._has_ended(message_id))
            if await self._queue.withdraw(command_id):
                await self._recovery.stop(message_id)
        return await self._answers.get(message_id)

    async def decide(self, message_id: str, call_id: str, *, approved: bool) -> None:
        await self._send(message_id, "approve" if approved else "deny", call_id)

    async def answer(self, message_id: str, question_id: str, answer: Answer) -> None:
        await self._send(message_id, "answer", question_id, json.dumps(answer, ensure_ascii=False))

    async def _send(self, message_id: str, kind: CommandKind, call_id: str, payload: str | None = None) -> None:
        command_id = await self._queue.send(message_id, kind, call_id, payload)
        if command_id is None:
            raise answer_ended(await self._answers.get(message_id))
        withdrawn = True
        try:
            if await self._wait_until(message_id, lambda: self._queue.is_done(command_id)):
                return
        finally:
            withdrawn = await self._queue.withdraw(command_id)
        answer = await self._answers.get(message_id)
        if answer.status != "streaming":
            raise answer_ended(answer)
        if withdrawn:
            raise ConflictError("chat.process_not_responding")
        raise ConflictError("chat.decision_unconfirmed")

    async def _wait_until(self, message_id: str, reached: Callable[[], Awaitable[bool]]) -> bool:
        """Whether the condition was reached before the timeout."""
        deadline = monotonic() + REPLY_TIMEOUT_SECONDS
        with self._notifier.subscribe(message_id) as subscription:
            while not (done := await reached()) and (left := deadline - monotonic()) > 0:
                await subscription.wait(left)
        return done

    async def _has_ended(self, message_id: str) -> bool:
        return (await self._answers.get(message_id)).status != "streaming"


def answer_ended(answer: Message) -> ConflictError:
    return ConflictError("chat.answer_ended", status=answer.status)
