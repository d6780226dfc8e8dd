"""Requests and notifications that a server sends while a tool runs, and the call to which each belongs.

Since protocol 2026-07-28 a request is part of a call's result, so it arrives in the call's own context. Before, nothing
on the wire says which call it belongs to: it is given to the only one that is running, and refused if there are several
of different runs, or one without a run, because the question of one user must not reach another.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit
from uuid import uuid4

import mcp_types

from chie.chat.events import Elicitation, ToolLog, ToolProgress
from chie.chat.interaction import CANCELLED, Answer, RunningCall, current_call

if TYPE_CHECKING:
    from mcp.client import ClientRequestContext
    from mcp.shared.dispatcher import ProgressFnT

MAX_TEXT = 2_000
MAX_LOGS = 50  # per call
MAX_SAMPLE = 50_000  # characters; the user agrees to the whole text, so a longer one is refused, not cut
MIN_PROGRESS_SECONDS = 0.2
MAX_SCHEMA_FIELDS = 50

P = TypeVar("P")
R = TypeVar("R")


def _reporting(
    answer: "Callable[[ServerRequests, P], Awaitable[R]]",
) -> "Callable[[ServerRequests, ClientRequestContext, P], Awaitable[R | mcp_types.ErrorData]]":
    """A callback for the SDK. It tells the server why there is no answer; an exception would fail the whole call."""

    @wraps(answer)
    async def callback(self: "ServerRequests", _: object, params: P) -> R | mcp_types.ErrorData:
        try:
            return await answer(self, params)
        except Exception as error:  # noqa: BLE001  whatever fails here must not end the connection
            return mcp_types.ErrorData(code=mcp_types.INTERNAL_ERROR, message=str(error))

    return callback


class ServerRequests:
    """Of one connection."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._running: list[RunningCall] = []
        self._without_run = 0  # calls over `/v1` and of views, and prompts and resources for the composer
        self._logs: dict[str, int] = {}

    @contextmanager
    def during(self, call: RunningCall | None) -> Iterator[None]:
        if call is None:
            self._without_run += 1
            try:
                yield
            finally:
                self._without_run -= 1
            return
        self._running.append(call)
        try:
            yield
        finally:
            self._running.remove(call)
            self._logs.pop(call.id, None)

    def progress_handler(self, call: RunningCall | None) -> "ProgressFnT":
        """Passes on a report at most every 0.2 seconds, and the last one.

        A call without a run asks for reports too: they keep a slow HTTP response from timing out.
        """
        last = 0.0

        async def report(progress: float, total: float | None, message: str | None) -> None:
            nonlocal last
            is_end = total is not None and progress >= total
            if call is None or (monotonic() - last < MIN_PROGRESS_SECONDS and not is_end):
                return
            last = monotonic()
            event = ToolProgress(type="tool_progress", id=call.id, progress=progress, total=total)
            call.interaction.report({**event, "message": message[:MAX_TEXT]} if message else event)

        return report

    async def log(self, message: "mcp_types.LoggingMessageNotificationParams") -> None:
        call = self._call()
        if call is None or self._logs.get(call.id, 0) >= MAX_LOGS:
            return
        self._logs[call.id] = self._logs.get(call.id, 0) + 1
        text = message.data if isinstance(message.data, str) else str(message.data)
        call.interaction.report(ToolLog(type="tool_log", id=call.id, level=str(message.level), text=text[:MAX_TEXT]))

    @_reporting
    async def elicit(self, params: "mcp_types.ElicitRequestParams") -> mcp_types.ElicitResult:
        call, question = self._call(), self._question(params)
        answer = CANCELLED if call is None or question is None else await self._ask(call, question)
        content = answer.get("content") if answer["action"] == "accept" else None
        return mcp_types.ElicitResult(action=answer["action"], content=content)

    @_reporting
    async def sample(self, params: "mcp_types.CreateMessageRequestParams") -> mcp_types.CreateMessageResult:
        """The model of the agent answers the server, after the user has agreed."""
        call = self._call()
        if call is None or call.sample is None:
            raise PermissionError("nobody can be asked")
        text = "\n\n".join(_spoken(message) for message in params.messages)
        shown = "\n\n".join(filter(None, (params.system_prompt, text)))
        if len(shown) > MAX_SAMPLE:
            raise ValueError(f"the request has more than {MAX_SAMPLE} characters")
        question = Elicitation(
            type="elicitation",
            id=uuid4().hex,
            call_id=call.id,
            server=self._server,
            mode="sampling",
            message=shown,
        )
        answer = await self._ask(call, question)
        if answer["action"] != "accept":
            raise PermissionError("the user did not agree")
        async with call.suspended():
            answered = await call.sample(params.system_prompt or "", text, params.max_tokens)
        content = mcp_types.TextContent(type="text", text=answered)
        return mcp_types.CreateMessageResult(role="assistant", model="chie", content=content)

    async def _ask(self, call: RunningCall, question: Elicitation) -> Answer:
        async with call.suspended():
            return await call.interaction.ask({**question, "call_id": call.id})

    def _call(self) -> RunningCall | None:
        own = current_call()
        if own is not None:
            return own
        runs = {id(call.interaction) for call in self._running}
        return self._running[-1] if len(runs) == 1 and not self._without_run else None

    def _question(self, params: "mcp_types.ElicitRequestParams") -> Elicitation | None:
        """None for a URL that must not be opened, and for a schema that no form can show."""
        question = Elicitation(
            type="elicitation",
            id=uuid4().hex,
            call_id="",
            server=self._server,
            mode="form",
            message=params.message[:MAX_TEXT],
        )
        if isinstance(params, mcp_types.ElicitRequestURLParams):
            parts = urlsplit(params.url)
            is_web = parts.scheme in ("http", "https") and bool(parts.hostname)
            return {**question, "mode": "url", "url": params.url} if is_web else None
        schema = dict(params.requested_schema)
        properties = schema.get("properties")
        if not isinstance(properties, dict) or len(properties) > MAX_SCHEMA_FIELDS:
            return None
        return {**question, "schema": schema}


def _spoken(message: Any) -> str:  # noqa: ANN401 - the SDK's, in two eras
    blocks = message.content if isinstance(message.content, list) else [message.content]
    return f"{message.role}: " + " ".join(getattr(block, "text", f"[{block.type}]") for block in blocks)
