"""Every answer that is being written in this process. It belongs to the house: a reader may leave and come back."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from chie.chat.events import Done, ToolCall, ToolResult, Usage, clean
from chie.chat.metrics import Metrics
from chie.chat.runs.command_queue import Orders
from chie.chat.runs.commands import Servant
from chie.chat.runs.reader import HEARTBEAT_SECONDS, Batch, read_live, read_stored
from chie.chat.runs.remote import Elsewhere, over
from chie.chat.runs.run import Run
from chie.chat.sessions.answer import Item, failure
from chie.chat.sessions.entities import Message, Status
from chie.chat.sessions.turns import Beginning, Turns
from chie.errors import ChieError, NotFoundError, StorageError
from chie.logging import request_id

SAVE_SECONDS = 0.25
APPROVAL_SECONDS = 3_600.0
STOP_SECONDS = 5.0
CLOSE_SECONDS = 10.0
RETRIES = (0.2, 1.0, 3.0, 10.0, 30.0)  # a database that restarts shall not cost an answer

SHUT_DOWN = (
    "Chie was stopped while this answer was being written. What was written is kept; "
    "POST /api/chat/{message_id}/regenerate asks for another."
)

ENDED_ELSEWHERE = (
    "another Chie process has ended this answer: it was stopped or deleted there, or nothing was heard from this one "
    "for too long. What was saved of it is kept."
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    status: Status
    last: list[Item]
    error: str | None = None
    usage: Usage | None = None


class Runs:
    def __init__(
        self,
        turns: Turns,
        orders: Orders,
        elsewhere: Elsewhere,
        metrics: Metrics,
        *,
        save_seconds: float = SAVE_SECONDS,
        characters: int,
    ) -> None:
        """`characters` is how long an answer may grow."""
        self._turns = turns
        self._elsewhere = elsewhere
        self._metrics = metrics
        self._save_seconds = save_seconds
        self._characters = characters
        self._runs: dict[str, Run] = {}
        self._servant = Servant(orders, self._runs)
        self._keepers: dict[str, asyncio.Task[None]] = {}
        self._closing = False

    def start(self, beginning: Beginning) -> Run:
        """The task takes the request's context along, so its log lines carry the request's name."""
        run = Run(beginning)
        self._runs[run.message_id] = run
        run.task = asyncio.create_task(self._work(run, beginning), name=f"run-{run.message_id}")
        for name, keep in (("saver", self._save_all), ("heartbeat", self._beat), ("servant", self._servant.obey)):
            if name not in self._keepers or self._keepers[name].done():
                self._keepers[name] = asyncio.create_task(keep(), name=f"run-{name}")
        if self._closing:
            asyncio.get_running_loop().call_soon(run.interrupt)  # once it has begun: it still has to save
        return run

    @property
    def message_ids(self) -> list[str]:
        return list(self._runs)

    async def follow(self, message_id: str, after: int = 0) -> AsyncGenerator[Batch, None]:
        """Every event later than `after`, once, in order, until the answer ends or is deleted."""
        run = self._runs.get(message_id)
        events = read_live(run, self._turns, after) if run else read_stored(self._turns, message_id, after)
        try:
            async with aclosing(events) as batches:
                async for batch in batches:
                    yield batch
                    after = max(after, batch.first + len(batch.items) - 1)
        except NotFoundError as error:
            yield Batch(after + 1, failure(error.message))

    async def stop(self, message_id: str) -> Message:
        """End it and keep the part; stopping what has ended changes nothing."""
        run, answer = await self._here(message_id)
        if run is None:
            return await self._elsewhere.stop(message_id) if answer.status == "streaming" else answer
        run.stop()
        if run.task is not None:
            await asyncio.wait({run.task}, timeout=STOP_SECONDS)
        return await self._turns.answer(message_id)

    async def decide(self, message_id: str, call_id: str, *, approved: bool) -> None:
        run, answer = await self._here(message_id)
        if run is not None:
            run.decide(call_id, approved=approved)
        elif answer.status == "streaming":
            await self._elsewhere.decide(message_id, call_id, approved=approved)
        else:
            raise over(answer)
        logger.info("tool call of message %s: %s", message_id, "approved" if approved else "refused")

    def lose(self, message_ids: Iterable[str]) -> None:
        """Others have ended these."""
        for message_id in message_ids:
            if message_id in self._runs:
                self._runs[message_id].lose()

    def interrupt(self) -> None:
        """The house is about to close: every answer ends here, also one that begins only now."""
        self._closing = True
        for run in self._runs.values():
            run.interrupt()

    async def close(self) -> None:
        self.interrupt()
        if tasks := {run.task for run in self._runs.values() if run.task is not None}:
            await asyncio.wait(tasks, timeout=CLOSE_SECONDS)
        keepers = [*tasks, *self._keepers.values()]
        for keeper in keepers:
            keeper.cancel()
        await asyncio.gather(*keepers, return_exceptions=True)

    async def _here(self, message_id: str) -> tuple[Run | None, Message]:
        """The run is looked up first: one that ends while the database is asked has not gone to another process."""
        run = self._runs.get(message_id)
        return run, await self._turns.answer(message_id)

    async def _work(self, run: Run, beginning: Beginning) -> None:
        began = perf_counter()
        logger.info("agent %s answers message %s of session %s", run.agent_id, run.message_id, run.session_id)
        logger.debug("message %s asks: %s", run.message_id, beginning.message)
        outcome = await self._outcome(run, beginning)
        try:
            await self._finish(run, outcome)
        finally:
            run.ended = True
            run.wake(news=True)
            del self._runs[run.message_id]
            seconds = perf_counter() - began
            self._metrics.run_ended(run.agent_id, outcome.status, seconds, outcome.usage)
            level = logging.WARNING if outcome.error else logging.INFO
            text = "message %s is %s after %.2f s and %d events%s"
            why = f": {outcome.error}" if outcome.error else ""
            logger.log(level, text, run.message_id, outcome.status, seconds, run.count, why)

    async def _outcome(self, run: Run, beginning: Beginning) -> Outcome:
        try:
            done = await self._pump(run, beginning)
        except ChieError as error:
            return Outcome("failed", failure(error.message), error.message)
        except asyncio.CancelledError:
            if run.task is not None:
                run.task.uncancel()  # it still has to save
            if run.stopping:
                return Outcome("stopped", [_done(run, Done(type="done", usage=None))])
            if run.lost:
                return Outcome("interrupted", failure(ENDED_ELSEWHERE), ENDED_ELSEWHERE)
            return Outcome("interrupted", failure(SHUT_DOWN), SHUT_DOWN)
        except Exception:
            logger.exception("agent %s failed in a way nobody expected", run.agent_id)
            message = (
                "the agent failed inside Chie. Try once more; if it fails again, "
                f"the server's log has the reason under request {request_id()}."
            )
            return Outcome("failed", failure(message), message)
        return Outcome("complete", [_done(run, done)], usage=done["usage"])

    async def _pump(self, run: Run, beginning: Beginning) -> Done:
        async def approve(call: ToolCall) -> bool:
            # Not `wait_for`: before Python 3.12 it may swallow a stop that comes together with the approval.
            try:
                async with asyncio.timeout(APPROVAL_SECONDS):
                    return await run.approval(call["id"])
            except TimeoutError:
                return False
            finally:
                run.tool_began[call["id"]] = perf_counter()  # the user's thinking is not the tool's time

        began, done = perf_counter(), Done(type="done", usage=None)
        stream = beginning.agent.stream_chat(
            beginning.message, beginning.history, beginning.session_id, approve=approve
        )
        async with aclosing(stream) as events:
            async for event in events:
                if not run.count:
                    self._metrics.first_event(run.agent_id, perf_counter() - began)
                if event["type"] == "message":
                    if not run.say(clean(event["content"]), self._characters):
                        logger.warning("message %s is cut at CHIE_ANSWER_LIMIT", run.message_id)
                        return Done(type="done", usage=None, finish="length")
                elif event["type"] == "done":
                    done = event
                else:
                    self._add_tool(run, event)
        return done

    def _add_tool(self, run: Run, event: ToolCall | ToolResult) -> None:
        if event["type"] == "tool_call":
            run.tool_began[event["id"]] = perf_counter()
            logger.info("tool %s is called for message %s", event["name"], run.message_id)
            logger.debug("tool %s takes %s", event["name"], event["arguments"])
            if "approval" in event:
                run.expect_approval(event["id"])
        else:
            if began := run.tool_began.pop(event["id"], None):
                event["duration_ms"] = round((perf_counter() - began) * 1_000)
            level = logging.WARNING if event["is_error"] else logging.INFO
            logger.log(level, "tool %s %s", event["name"], "failed" if event["is_error"] else "answered")
            self._metrics.tool_ended(event["name"], is_error=event["is_error"])
        run.add(json.loads(clean(json.dumps(event, ensure_ascii=False)), parse_constant=lambda _: None))

    async def _finish(self, run: Run, outcome: Outcome) -> None:
        run.finishing = True
        while run.saving is not None:
            await asyncio.wait({run.saving})
        for item in outcome.last:
            run.answer.add(item)
        ending = run.answer.ending(outcome.status, error=outcome.error, usage=outcome.usage)
        rest = run.rest(outcome.last)
        for pause in (*RETRIES, None):
            try:
                ours = await self._turns.finish(ending, rest, again=run.doubtful)
            except StorageError as error:
                logger.exception("the end of message %s is not saved yet", run.message_id)
                if pause is None:
                    return run.end(failure(error.message))
                run.doubtful = True
                await asyncio.sleep(pause)
            else:
                return run.end(outcome.last if ours else failure(ENDED_ELSEWHERE))
        return None

    async def _save_all(self) -> None:
        """While anybody answers: every quarter of a second, all answers' news in one transaction."""
        while self._runs:
            await asyncio.sleep(self._save_seconds)
            news = [(run, events) for run in self._runs.values() if not run.finishing and (events := run.unsaved())]
            if not news:
                continue
            done = asyncio.get_running_loop().create_future()
            for run, _ in news:
                run.saving = done
            try:
                stretches = [events for _, events in news]
                saved = await self._turns.save(stretches, again=any(run.doubtful for run, _ in news))
                for run, events in news:
                    run.mark_saved(events.last)
                self.lose(saved.lost)
                self._servant.note(asked=saved.asked)
            except ChieError:
                logger.exception("answers could not be saved; the next try follows")
                for run, _ in news:
                    run.doubtful = True
            finally:
                for run, _ in news:
                    run.saving = None
                done.set_result(None)

    async def _beat(self) -> None:
        while self._runs:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            for run in self._runs.values():
                run.wake(news=False)


def _done(run: Run, done: Done) -> dict[str, Any]:
    named = {"type": "done", "message_id": run.message_id, "session_id": run.session_id, "usage": done["usage"]}
    return named | {"finish": done["finish"]} if "finish" in done else named
