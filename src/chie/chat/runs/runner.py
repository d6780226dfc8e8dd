"""Generates one answer: passes the agent's events to the run, and stores how it ended."""

import asyncio
import json
import logging
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

from chie.chat.agents.base import Attachment, Turn
from chie.chat.agents.calls import model_name, stream_chat
from chie.chat.events import Done, Event, ToolCall, ToolResult, Usage
from chie.chat.interaction import interacting
from chie.chat.json_depth import is_too_deep
from chie.chat.metering import metering
from chie.chat.metrics import Metrics
from chie.chat.runs.agent_files import AgentInputs
from chie.chat.runs.interaction import RunInteraction
from chie.chat.runs.recovery import Recovery
from chie.chat.runs.retry import retry_storage
from chie.chat.runs.run import Run
from chie.chat.sessions.answer_builder import error_events
from chie.chat.sessions.answers import AnswerStore, SessionState
from chie.chat.sessions.entities import Message, Status, StoredEvent
from chie.chat.usage.recorder import Measured, UsageRecorder, Work
from chie.errors import ChieError, ServiceError, StorageError
from chie.logging import request_id
from chie.unicode import clean, clean_json

APPROVAL_TIMEOUT_SECONDS = 3_600.0
NO_ANSWER = "(This answer failed before it began.)"  # models expect an answer between two questions

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    status: Status
    last: list[StoredEvent]
    error: ChieError | None = None
    usage: Usage | None = None


class Runner:
    def __init__(
        self,
        answers: AnswerStore,
        metrics: Metrics,
        inputs: AgentInputs,
        usage: UsageRecorder,
        recovery: Recovery,
        *,
        max_characters: int,
    ) -> None:
        self._answers = answers
        self._inputs = inputs
        self._usage = usage
        self._recovery = recovery
        self._metrics = metrics
        self._max_characters = max_characters

    async def run(self, run: Run) -> Status:
        started = perf_counter()
        logger.info("agent %s answers message %s of session %s", run.agent_id, run.message_id, run.session_id)
        logger.debug("message %s asks: %s", run.message_id, run.pending.question)
        work = Work()
        with metering(work):
            outcome = await self._generate(run)
        run.end_reasoning()
        work.reported = outcome.usage
        try:
            await self._finish(run, outcome, self._usage.measure(work, run.agent))
        except Exception:
            logger.exception("cannot store the end of message %s", run.message_id)
            outcome = await self._give_up(run)
        finally:
            run.end()
            seconds = perf_counter() - started
            self._metrics.run_ended(run.agent_id, outcome.status, seconds)
            _log_outcome(run, outcome, seconds)
        return outcome.status

    async def _give_up(self, run: Run) -> Outcome:
        """The end of the answer cannot be stored, so what was saved of it has to do."""
        run.finishing = True
        error = ServiceError("chat.agent_failed", request_id=request_id())
        try:
            await self._recovery.fail(run.message_id, error)
        except Exception:
            logger.exception("message %s is ended once its lease has expired", run.message_id)
        outcome = _failed("failed", error)
        run.end(outcome.last)
        return outcome

    async def _generate(self, run: Run) -> Outcome:
        try:
            with interacting(RunInteraction(run)):
                done = await self._stream(run)
        except ChieError as error:
            return _failed("failed", error)
        except asyncio.CancelledError:
            if run.task is not None:
                run.task.uncancel()  # the run must still be saved
            return _cancelled(run)
        except Exception:
            logger.exception("agent %s raised an unexpected error", run.agent_id)
            return _failed("failed", ServiceError("chat.agent_failed", request_id=request_id()))
        return Outcome("complete", [_done(run, done)], usage=done["usage"])

    async def _stream(self, run: Run) -> Done:
        async def approve(call: ToolCall) -> bool:
            return await _approval(run, call)

        started, done = perf_counter(), Done(type="done", usage=None)
        question = run.pending.question
        *earlier, asked = await self._inputs.files(run.pending)
        turns, project = agent_history(run.pending.history, earlier), await self._inputs.project(run.pending)
        answer = stream_chat(run.agent, question, turns, run.session_id, approve, attachments=asked, project=project)
        async with aclosing(answer) as events:
            async for event in events:
                if not run.count:
                    self._metrics.first_event(run.agent_id, perf_counter() - started)
                if event["type"] == "message" or event["type"] == "reasoning":
                    add = run.add_text if event["type"] == "message" else run.add_reasoning
                    if not add(clean(event["content"]), self._max_characters):
                        logger.warning("message %s is cut at CHIE_ANSWER_LIMIT", run.message_id)
                        return Done(type="done", usage=None, finish="length")
                elif event["type"] == "done":
                    done = event
                elif event["type"] == "summary":
                    run.add(_storable(event))
                else:
                    self._add_tool_event(run, event)
        return done

    def _add_tool_event(self, run: Run, event: ToolCall | ToolResult) -> None:
        run.end_reasoning()
        if event["type"] == "tool_call":
            run.tool_started[event["id"]] = perf_counter()
            logger.info("message %s calls tool %s", run.message_id, event["name"])
            logger.debug("arguments of tool %s: %s", event["name"], event["arguments"])
            if "approval" in event:
                run.expect_approval(event["id"])
        else:
            self._end_tool_call(run, event)
        run.add(_storable(event))

    def _end_tool_call(self, run: Run, event: ToolResult) -> None:
        if started := run.tool_started.pop(event["id"], None):
            event["duration_ms"] = round((perf_counter() - started) * 1_000)
        level = logging.WARNING if event["is_error"] else logging.INFO
        code = f" [{event['code']}]" if "code" in event else ""
        logger.log(level, "tool %s %s%s", event["name"], "failed" if event["is_error"] else "succeeded", code)
        self._metrics.tool_ended(event["name"], is_error=event["is_error"])

    async def _finish(self, run: Run, outcome: Outcome, measured: Measured) -> None:
        run.finishing = True
        while run.saving is not None:
            await asyncio.wait({run.saving})
        for item in outcome.last:
            if isinstance(item, dict) and "usage" in item:
                item["usage"] = measured.usage
            run.answer.add(item)
        final = run.answer.final(outcome.status, error=outcome.error, usage=measured.usage)
        final = replace(final, model=model_name(run.agent))
        rest = run.unsaved_with(outcome.last)

        async def save() -> SessionState | None:
            try:
                return await self._answers.finish(final, rest, measured.record, replace_events=run.save_uncertain)
            except StorageError:
                run.save_uncertain = True
                raise

        try:
            run.saved = await retry_storage(save, run.message_id)
        except StorageError as error:
            logger.exception("cannot save the end of message %s [%s]", run.message_id, error.code)
            run.end(error_events(error))
        else:
            run.end(outcome.last if run.saved else error_events(ServiceError("chat.lease_lost")))


def _storable(event: Event) -> dict[str, Any]:
    """Without what JSON cannot express, such as infinity, and without NUL, which the database does not take. Raises
    ValueError for what could not be shown again."""
    if any(map(is_too_deep, event.values())):
        raise ValueError("the event is nested too deeply")
    # Cleaned as a value: as JSON text, a NUL is an escape sequence.
    stored: dict[str, Any] = clean_json(json.loads(json.dumps(event), parse_constant=lambda _: None))
    return stored


def agent_history(messages: list[Message], files: Sequence[list[Attachment]] = ()) -> list[Turn]:
    """The branch before the question, in the form that agents take. `files` are those of each message."""
    turns = zip(messages, files or [[] for _ in messages], strict=True)
    return [_turn(message, own) for message, own in turns if message.content or own or message.role == "assistant"]


def _turn(message: Message, files: list[Attachment]) -> Turn:
    turn = Turn(role=message.role, content=message.content if files else message.content or NO_ANSWER)
    if message.parts:
        turn["parts"] = message.parts
    if files:
        turn["attachments"] = files
    return turn


async def _approval(run: Run, call: ToolCall) -> bool:
    # Not `wait_for`: before Python 3.12 it may swallow a cancellation that comes together with the approval.
    try:
        async with asyncio.timeout(APPROVAL_TIMEOUT_SECONDS):
            return await run.approval(call["id"])
    except TimeoutError:
        return False
    finally:
        run.tool_started[call["id"]] = perf_counter()  # waiting for the user is not the tool's time


def _cancelled(run: Run) -> Outcome:
    if run.stopped:
        return Outcome("stopped", [_done(run, Done(type="done", usage=None))])
    if run.lease_lost:
        return _failed("interrupted", ServiceError("chat.lease_lost"))
    if run.failed or not run.interrupted:  # or a library of the agent has cancelled the task
        return _failed("failed", ServiceError("chat.agent_failed", request_id=request_id()))
    return _failed("interrupted", ServiceError("chat.interrupted_by_shutdown"))


def _failed(status: Status, error: ChieError) -> Outcome:
    return Outcome(status, error_events(error), error)


def _done(run: Run, done: Done) -> dict[str, Any]:
    event = {"type": "done", "message_id": run.message_id, "session_id": run.session_id, "usage": done["usage"]}
    return event | {"finish": done["finish"]} if "finish" in done else event


def _log_outcome(run: Run, outcome: Outcome, seconds: float) -> None:
    level = logging.WARNING if outcome.error else logging.INFO
    reason = f": {outcome.error.message} [{outcome.error.code}]" if outcome.error else ""
    text = "message %s is %s after %.2f s and %d events%s"
    logger.log(level, text, run.message_id, outcome.status, seconds, run.count, reason)
