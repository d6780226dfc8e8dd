"""Agents that follow a script: real subclasses of BaseAgent, controlled by the question."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from chie.chat.agents.base import AgentInfo, Approve, BaseAgent, Turn
from chie.chat.agents.registry import AgentFactory
from chie.chat.events import Done, Event, ReasoningText, SummaryText, Text, ToolCall, ToolResult, Usage
from chie.chat.models.errors import ModelError
from chie.chat.toolbox.toolbox import Toolbox
from chie.errors import NotFoundError, ServiceError
from chie.messages.catalogue import Message

WORDS = ["知恵", "は", "力", "。", " ", "One ", "process, ", "four ", "modules."]
ANSWER = "".join(WORDS)
NO_MODEL = Message(
    "models.local_server_unreachable",
    url="http://127.0.0.1:1234/v1",
    error="ConnectError",
    setting="`OPENAI_BASE_URL`",
)
UNREACHABLE = str(NO_MODEL)


def text(content: str) -> Text:
    return Text(type="message", content=content)


def thought(content: str) -> ReasoningText:
    return ReasoningText(type="reasoning", content=content)


def done(usage: Usage | None = None) -> Done:
    return Done(type="done", usage=usage)


def call(name: str, *, needs_approval: bool = False) -> ToolCall:
    event = ToolCall(type="tool_call", id=f"call-{name}", name=name, arguments={"url": "http://example.test/", "n": 1})
    if needs_approval:
        event |= {"approval": "required", "definition": "0123456789abcdef"}
    return event


def result(name: str, content: str, *, is_error: bool = False) -> ToolResult:
    return ToolResult(type="tool_result", id=f"call-{name}", name=name, content=content, is_error=is_error)


class FakeAgent(BaseAgent):
    """Answers `WORDS`; records its arguments for the tests."""

    id = "scripted"
    available = True

    def __init__(self) -> None:
        self.requests: list[tuple[str, list[Turn], str]] = []
        self.closed = 0

    @property
    def agent_id(self) -> str:
        return self.id

    @property
    def name(self) -> str:
        return self.id.title()

    @property
    def description(self) -> str:
        return "An agent for tests."

    def supports_mcp(self) -> bool:
        return False

    async def get_agent_info(self) -> AgentInfo:
        return AgentInfo(
            agent_id=self.id,
            name=self.name,
            description=self.description,
            supports_mcp=self.supports_mcp(),
            available=self.available,
            reason=None if self.available else "Set OPENAI_BASE_URL.",
        )

    async def stream_chat(
        self, message: str, history: Sequence[Turn], session_id: str, *, approve: Approve | None = None
    ) -> AsyncGenerator[Event, None]:
        self.requests.append((message, list(history), session_id))
        try:
            async for event in self.script(message, approve):
                yield event
        finally:
            self.closed += 1

    async def script(self, message: str, approve: Approve | None) -> AsyncGenerator[Event, None]:  # noqa: ARG002
        for word in WORDS:
            yield text(word)
        yield done(Usage(input_tokens=12, output_tokens=len(WORDS)))


class EchoAgent(FakeAgent):
    id = "echo"

    async def script(self, message: str, approve: Approve | None) -> AsyncGenerator[Event, None]:  # noqa: ARG002
        yield text(message)
        yield done()


class ToolAgent(FakeAgent):
    """Calls one tool that succeeds and one that fails."""

    id = "tools"

    def supports_mcp(self) -> bool:
        return True

    async def script(self, message: str, approve: Approve | None) -> AsyncGenerator[Event, None]:  # noqa: ARG002
        yield text("Let me look. ")
        yield call("fetch")
        yield result("fetch", "見つかりました\nsecond line")
        yield call("broken")
        yield result("broken", "the server is gone", is_error=True)
        yield text("Found.")
        yield done(Usage(input_tokens=100, output_tokens=5))


class PensiveAgent(FakeAgent):
    """Thinks before it answers; its question may cut it off in mid-thought."""

    id = "pensive"

    async def script(self, message: str, approve: Approve | None) -> AsyncGenerator[Event, None]:  # noqa: ARG002
        for piece in ("まず", "条件を確かめる。\n", "Then compare."):
            yield thought(piece)
        if message == "cut":
            raise ModelError("models.reasoning_truncated", model="m")
        yield call("fetch")
        yield result("fetch", "見つかりました")
        yield thought("One is enough.")
        yield text("答えは")
        yield text("一つです。")
        yield done()


class ForgetfulAgent(FakeAgent):
    """Summarises the conversation before it answers; the question may stop it on the way."""

    id = "forgetful"

    async def script(self, message: str, approve: Approve | None) -> AsyncGenerator[Event, None]:  # noqa: ARG002
        yield SummaryText(type="summary", questions=2)
        if message == "stop":
            raise ServiceError(NO_MODEL)
        yield SummaryText(type="summary", questions=2, content="二つの\x00質問。\nTwo questions.")
        yield text("はい。")
        yield done()


class InventiveAgent(FakeAgent):
    """Calls a tool that does not exist, named by the question."""

    id = "inventive"

    async def script(self, message: str, approve: Approve | None) -> AsyncGenerator[Event, None]:  # noqa: ARG002
        yield call(message)
        yield result(message, "There is no tool with this name.", is_error=True)
        yield text("Alas.")
        yield done()


class CautiousAgent(FakeAgent):
    """Asks for approval before it deletes."""

    id = "cautious"

    async def script(self, message: str, approve: Approve | None) -> AsyncGenerator[Event, None]:  # noqa: ARG002
        asked = call("delete_everything", needs_approval=True)
        yield asked
        allowed = approve is not None and await approve(asked)
        yield result("delete_everything", "deleted" if allowed else "rejected by the user", is_error=not allowed)
        yield text("Done." if allowed else "I did not.")
        yield done()


class PersistentAgent(FakeAgent):
    """Asks twice with the same id, like models that number their calls from zero in every round."""

    id = "persistent"

    async def script(self, message: str, approve: Approve | None) -> AsyncGenerator[Event, None]:  # noqa: ARG002
        for _ in range(2):
            asked = call("drop_table", needs_approval=True)
            yield asked
            allowed = approve is not None and await approve(asked)
            yield result("drop_table", "dropped" if allowed else "rejected", is_error=not allowed)
        yield done()


class FailingAgent(FakeAgent):
    """Fails at once, or after some text if the question is `later`."""

    id = "failing"

    async def script(self, message: str, approve: Approve | None) -> AsyncGenerator[Event, None]:  # noqa: ARG002
        if message == "bug":
            raise RuntimeError("secret inside")
        if message == "later":
            yield text("So far ")
            yield text("so good")
        raise ServiceError(NO_MODEL)
        yield


class GatedAgent(FakeAgent):
    """Emits a word for each `allow` and ends at `finish`, so that tests control the progress of an answer."""

    id = "gated"

    def __init__(self) -> None:
        super().__init__()
        self._steps: asyncio.Queue[str | None] = asyncio.Queue()

    def allow(self, *words: str) -> None:
        for word in words:
            self._steps.put_nowait(word)

    def finish(self) -> None:
        self._steps.put_nowait(None)

    async def script(self, message: str, approve: Approve | None) -> AsyncGenerator[Event, None]:  # noqa: ARG002
        while (word := await self._steps.get()) is not None:
            yield text(word)
        yield done(Usage(input_tokens=1, output_tokens=1))


class EndlessAgent(FakeAgent):
    """Counts until it is stopped, like a slow model: ten milliseconds per number."""

    id = "endless"

    async def script(self, message: str, approve: Approve | None) -> AsyncGenerator[Event, None]:  # noqa: ARG002
        for number in range(1_000_000):
            yield text(f"{number} ")
            await asyncio.sleep(0.01)


class LongAgent(FakeAgent):
    """Many events as fast as possible; the question is their number."""

    id = "long"

    async def script(self, message: str, approve: Approve | None) -> AsyncGenerator[Event, None]:  # noqa: ARG002
        for number in range(int(message)):
            yield text(f"{number} ")
            if number % 100 == 0:
                await asyncio.sleep(0)
        yield done()


class OddAgent(FakeAgent):
    """Sends characters that databases and encoders reject."""

    id = "odd"

    async def script(self, message: str, approve: Approve | None) -> AsyncGenerator[Event, None]:  # noqa: ARG002
        yield text("nul\x00 half\ud83d lines\r\n\u2028end")
        yield result("odd", "\x00\ud83d")
        yield done()


class SickAgent(FakeAgent):
    id = "sick"
    available = False


KINDS: tuple[type[FakeAgent], ...] = (
    FakeAgent,
    EchoAgent,
    ToolAgent,
    PensiveAgent,
    ForgetfulAgent,
    CautiousAgent,
    PersistentAgent,
    FailingAgent,
    GatedAgent,
    EndlessAgent,
    LongAgent,
    InventiveAgent,
    OddAgent,
    SickAgent,
)

NO_AGENT = str(Message("agents.not_found", ids=[kind.id for kind in KINDS]))


def _tool(name: str) -> dict[str, Any]:
    return {"name": name, "description": f"To {name}.", "destructive": False}


SERVERS: list[dict[str, Any]] = [
    {"name": "knowledge", "state": "connected", "error": None, "tools": [_tool("search_knowledge"), _tool("broken")]},
    {"name": "time", "state": "failed", "error": "mcp-server-time is not installed.", "tools": []},
]


class FakeRegistry(AgentFactory):
    """The app's own registry with the agents above, and servers that follow a script."""

    def __init__(self, *agents: FakeAgent) -> None:
        super().__init__(Toolbox([]), agents or [kind() for kind in KINDS])

    def unregister(self, agent_id: str) -> None:
        """As after a restart without a plug-in."""
        del self._agents[agent_id]

    def server_states(self) -> list[dict[str, Any]]:
        return SERVERS

    async def reconnect_server(self, name: str) -> dict[str, Any]:
        for server in SERVERS:
            if server["name"] == name and server["error"]:
                raise ServiceError("toolbox.program_not_found", command="mcp-server-time")
            if server["name"] == name:
                return server
        raise NotFoundError("toolbox.server_not_found")
