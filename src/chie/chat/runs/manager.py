"""Every run of this process. A run belongs to the process, not to a request: readers may leave and come back."""

import asyncio
import logging
from collections.abc import Callable, Iterable

from chie import background
from chie.chat.agents.base import BaseAgent
from chie.chat.interaction import Answer
from chie.chat.runs.command_handler import CommandHandler
from chie.chat.runs.command_queue import CommandQueue
from chie.chat.runs.notifier import Notifier
from chie.chat.runs.reader import HEARTBEAT_SECONDS, EventReader
from chie.chat.runs.remote import RemoteRuns, answer_ended
from chie.chat.runs.run import Run
from chie.chat.runs.runner import Runner
from chie.chat.runs.saver import SAVE_SECONDS, EventSaver, lose_leases
from chie.chat.runs.titles import Titles
from chie.chat.sessions.answers import AnswerStore
from chie.chat.sessions.entities import Message, PendingAnswer

STOP_TIMEOUT_SECONDS = 5.0
CLOSE_TIMEOUT_SECONDS = 10.0

logger = logging.getLogger(__name__)


class RunManager:
    def __init__(
        self,
        answers: AnswerStore,
        queue: CommandQueue,
        notifier: Notifier,
        remote: RemoteRuns,
        runner: Runner,
        *,
        owner: str,
        save_seconds: float = SAVE_SECONDS,
        titles: Titles | None = None,
    ) -> None:
        """Without `titles` no session is named."""
        self._answers = answers
        self._notifier = notifier
        self._remote = remote
        self._runner = runner
        self._runs: dict[str, Run] = {}
        self._commands = CommandHandler(queue, notifier, owner, self._runs)
        self._saver = EventSaver(answers, self._commands, self._runs, interval=save_seconds)
        self._background: dict[str, asyncio.Task[None]] = {}
        self._stops: set[asyncio.Task[Message]] = set()
        self._titles = titles
        self._on_complete: Callable[[Run], None] | None = None
        self._closing = False

    def on_complete(self, callback: Callable[[Run], None]) -> None:
        """Called in the task of each run that has ended with a complete answer, unless the process shuts down."""
        self._on_complete = callback

    @property
    def message_ids(self) -> list[str]:
        return list(self._runs)

    @property
    def is_closing(self) -> bool:
        return self._closing

    def start(self, pending: PendingAnswer, agent: BaseAgent) -> Run:
        """The task inherits the request's context, so its log lines carry the request id."""
        run = Run(pending, agent)
        self._runs[run.message_id] = run
        run.task = asyncio.create_task(self._run(run), name=f"run-{run.message_id}")
        self._start_background()
        if self._closing:
            asyncio.get_running_loop().call_soon(run.interrupt)  # after the task has started, so that it saves its end
        return run

    def reader(self, message_id: str, after: int = 0) -> EventReader:
        """Reads the events after `after`, wherever the answer is generated."""
        run = self._runs.get(message_id)
        return EventReader(message_id, after, run=run, answers=self._answers, notifier=self._notifier)

    async def stop(self, message_id: str) -> Message:
        """End the answer and keep what there is of it; does nothing to an answer that has ended."""
        run, answer = await self._find(message_id)
        if run is None:
            return await self._remote.stop(message_id) if answer.status == "streaming" else answer
        run.stop()
        if run.task is not None:
            await asyncio.wait({run.task}, timeout=STOP_TIMEOUT_SECONDS)
        return await self._answers.get(message_id)

    def begin_stop(self, message_id: str) -> "asyncio.Task[Message]":
        """As `stop`, for a caller that may be cancelled before the answer has ended."""
        task = asyncio.create_task(self.stop(message_id), name=f"stop-{message_id}")
        self._stops.add(task)
        task.add_done_callback(self._stops.discard)
        return task

    async def decide(self, message_id: str, call_id: str, *, approved: bool) -> None:
        """Approve or deny a tool call that waits for approval."""
        run, answer = await self._find(message_id)
        if run is not None:
            run.decide(call_id, approved=approved)
        elif answer.status == "streaming":
            await self._remote.decide(message_id, call_id, approved=approved)
        else:
            raise answer_ended(answer)
        logger.info("tool call of message %s: %s", message_id, "approved" if approved else "denied")

    async def answer(self, message_id: str, question_id: str, answer: Answer) -> None:
        """Answer a question that a server asks while its tool runs."""
        run, message = await self._find(message_id)
        if run is not None:
            run.answer_question(question_id, answer)
        elif message.status == "streaming":
            await self._remote.answer(message_id, question_id, answer)
        else:
            raise answer_ended(message)

    def lose_leases(self, message_ids: Iterable[str]) -> None:
        """Another process has ended these answers."""
        lose_leases(self._runs, message_ids)

    def interrupt(self) -> None:
        """Before shutdown: end every run, including one that starts later."""
        self._closing = True
        for run in self._runs.values():
            run.interrupt()

    async def close(self) -> None:
        self.interrupt()
        if self._titles:
            await self._titles.close()
        if tasks := {*self._stops, *(run.task for run in self._runs.values() if run.task is not None)}:
            await asyncio.wait(tasks, timeout=CLOSE_TIMEOUT_SECONDS)
        remaining = [*tasks, *self._background.values()]
        for task in remaining:
            task.cancel()
        await asyncio.gather(*remaining, return_exceptions=True)

    async def _run(self, run: Run) -> None:
        try:
            status = await self._runner.run(run)
        finally:
            del self._runs[run.message_id]
        if status != "complete" or self._closing:
            return
        if self._titles:
            self._titles.start(run, is_busy=lambda: bool(self._runs))
        if self._on_complete:
            self._on_complete(run)

    async def _find(self, message_id: str) -> tuple[Run | None, Message]:
        """The run is looked up first: one that ends during the query does not look like a remote one."""
        run = self._runs.get(message_id)
        return run, await self._answers.get(message_id)

    def _start_background(self) -> None:
        """These tasks end with the last run and are started again with the next."""
        tasks = {
            "saver": self._saver.save_events,
            "heartbeat": self._send_heartbeats,
            "commands": self._commands.handle_commands,
        }
        for name, task in tasks.items():
            if name not in self._background or self._background[name].done():
                self._background[name] = background.start(task, f"run-{name}")

    async def _send_heartbeats(self) -> None:
        while self._runs:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            for run in self._runs.values():
                run.send_heartbeat()
