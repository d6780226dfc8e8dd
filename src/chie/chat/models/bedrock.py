"""Models of Amazon Bedrock, by boto3's Converse stream. boto3 blocks, so each answer is read in a thread of its own."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, closing, suppress
from functools import cached_property
from importlib.util import find_spec
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

from chie.chat.events import Usage
from chie.chat.models.base import (
    Call,
    CallResult,
    ChatModel,
    End,
    Message,
    ModelError,
    ModelSaid,
    Piece,
    Prompt,
    TextPiece,
    Thought,
    ToolSpec,
    ToolsSaid,
    UserSaid,
)
from chie.chat.models.bedrock_errors import explain
from chie.errors import ChieError, ConfigurationError

if TYPE_CHECKING:
    from botocore.client import BaseClient

logger = logging.getLogger(__name__)

CONNECT_SECONDS = 5
TOKENS = 8192

Put = Callable[[Any], None]


class BedrockModel(ChatModel):
    """`seconds` is how long Bedrock may be silent."""

    def __init__(self, model: str, *, region: str, profile: str | None = None, seconds: float = 180.0) -> None:
        self._model = model
        self._region = region
        self._profile = profile
        self._seconds = seconds

    @property
    def name(self) -> str | None:
        return self._model

    async def check(self) -> None:
        if find_spec("boto3") is None:
            raise ConfigurationError("Amazon Bedrock needs boto3. Install it: pip install 'chie[bedrock]'.")

    async def close(self) -> None:
        if "_client" in self.__dict__:
            self._client.close()

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        await self.check()
        reader = _Reader()
        async with aclosing(self._events(self._request(prompt))) as events:
            async for event in events:
                for piece in reader.read(event):
                    yield piece
        if not reader.stopped:
            raise self._error("broke off in the middle of its answer. Try again.")
        yield reader.end()

    async def _events(self, request: dict[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
        loop = asyncio.get_running_loop()
        events: asyncio.Queue[Any] = asyncio.Queue()

        def put(event: object) -> None:
            with suppress(RuntimeError):  # the loop has ended, and the listener with it
                loop.call_soon_threadsafe(events.put_nowait, event)

        line = _Line()
        Thread(target=self._pump, args=(request, put, line), daemon=True, name="bedrock").start()
        try:
            while (event := await events.get()) is not None:
                if isinstance(event, ChieError):
                    raise event
                yield event
        finally:
            line.hang_up()

    def _pump(self, request: dict[str, Any], put: Put, line: "_Line") -> None:
        try:
            answer = self._client.converse_stream(**request)  # type: ignore[attr-defined]
            with closing(answer["stream"]) as stream:
                line.hold(stream)
                for event in stream:
                    put(event)
            put(None)
        except Exception as error:  # noqa: BLE001  the thread's edge: it is raised again where it is awaited
            logger.warning("Amazon Bedrock in %s: %s: %s", self._region, type(error).__name__, error)
            put(self._error(explain(error, self._seconds)))

    def _error(self, what: str) -> ModelError:
        return ModelError(f"Amazon Bedrock in {self._region} ({self._model}) {what}")

    @cached_property
    def _client(self) -> "BaseClient":
        from boto3.session import Session
        from botocore.config import Config

        client: BaseClient = Session(profile_name=self._profile, region_name=self._region).client(
            "bedrock-runtime",
            config=Config(
                connect_timeout=CONNECT_SECONDS,
                read_timeout=self._seconds,
                max_pool_connections=64,
            ),
        )
        return client

    def _request(self, prompt: Prompt) -> dict[str, Any]:
        request: dict[str, Any] = {
            "modelId": self._model,
            "messages": [_message(message) for message in prompt.messages],
            "inferenceConfig": {"maxTokens": TOKENS},
        }
        if prompt.system:
            request["system"] = [{"text": prompt.system}]
        if prompt.tools:
            request["toolConfig"] = {"tools": [_tool(tool) for tool in prompt.tools]}
        return request


class _Line:
    """Lets the listener end a read that blocks another thread: to close a socket is not enough for that."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._stream: Any = None
        self._over = False

    def hold(self, stream: object) -> None:
        with self._lock:
            self._stream = stream
        if self._over:
            self.hang_up()

    def hang_up(self) -> None:
        with self._lock, suppress(ValueError, OSError, AttributeError):  # it may have ended by itself
            self._over = True
            self._stream._raw_stream.shutdown()  # noqa: SLF001  urllib3 offers it; botocore hides urllib3


LIMITS = ("max_tokens", "model_context_window_exceeded")
FILTERS = ("guardrail_intervened", "content_filtered")


class _Reader:
    """Converse's events to pieces. Text blocks have no start; a call's input comes in fragments of JSON."""

    def __init__(self) -> None:
        self.stopped = False
        self._reason: str | None = None
        self._usage: Usage | None = None
        self._calls: dict[int, Call] = {}
        self._thoughts: dict[int, dict[str, Any]] = {}

    def end(self) -> End:
        return End(self._usage, cut=self._reason in LIMITS, stopped=self._reason in FILTERS)

    def read(self, event: dict[str, Any]) -> Iterator[Piece]:
        match event:
            case {"contentBlockDelta": {"delta": {"text": text}}} if text:
                yield TextPiece(text)
            case {"contentBlockStart": {"contentBlockIndex": index, "start": {"toolUse": use}}}:
                self._calls[index] = Call(use["toolUseId"], use["name"], "")
            case {"contentBlockDelta": {"contentBlockIndex": index, "delta": {"toolUse": {"input": part}}}}:
                call = self._calls[index]
                self._calls[index] = Call(call.id, call.name, call.arguments + part)
            case {"contentBlockDelta": {"contentBlockIndex": index, "delta": {"reasoningContent": part}}}:
                self._think(index, part)
            case {"contentBlockStop": {"contentBlockIndex": index}}:
                yield from self._finish(index)
            case {"messageStop": stop}:
                self.stopped = True
                self._reason = stop.get("stopReason")
            case {"metadata": {"usage": usage}}:
                self._usage = Usage(input_tokens=usage["inputTokens"], output_tokens=usage["outputTokens"])

    def _think(self, index: int, part: dict[str, Any]) -> None:
        block = self._thoughts.setdefault(index, {})
        for name, value in part.items():
            block[name] = block[name] + value if name in block else value

    def _finish(self, index: int) -> Iterator[Piece]:
        if index in self._calls:
            yield self._calls.pop(index)
        if index in self._thoughts:
            block = self._thoughts.pop(index)
            secret = block.pop("redactedContent", None)
            yield Thought({"redactedContent": secret} if secret else {"reasoningText": block})


def _message(message: Message) -> dict[str, Any]:
    match message:
        case UserSaid(content):
            return {"role": "user", "content": [{"text": content}]}
        case ModelSaid(content, calls, thoughts):
            words = [{"text": content}] if content.strip() else []  # blank ones are refused
            blocks = [{"reasoningContent": thought.block} for thought in thoughts]
            return {"role": "assistant", "content": [*blocks, *words, *map(_call, calls)]}
        case ToolsSaid(results):
            return {"role": "user", "content": [_result(result) for result in results]}


def _call(call: Call) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": call.id, "name": call.name, "input": call.parsed() or {}}}


def _result(result: CallResult) -> dict[str, Any]:
    status = "error" if result.is_error else "success"
    return {"toolResult": {"toolUseId": result.id, "content": [{"text": result.content}], "status": status}}


def _tool(tool: ToolSpec) -> dict[str, Any]:
    return {"toolSpec": {"name": tool.name, "description": tool.description, "inputSchema": {"json": tool.schema}}}
