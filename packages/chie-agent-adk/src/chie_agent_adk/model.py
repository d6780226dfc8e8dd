"""The Anthropic SDK behind Chie's port to language models."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from functools import cached_property
from importlib.util import find_spec
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
from chie.chat.models.endpoint import Names, require_sound
from chie.errors import ConfigurationError

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

logger = logging.getLogger(__name__)

CONNECT_SECONDS = 5.0
TOKENS = 8192
ADDRESS = "https://api.anthropic.com"
NAMES = Names("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "CHIE_ANTHROPIC_MODEL")

_ADVICE = {
    400: "does not take this request: the conversation may be too long. Start a new one.",
    401: "does not accept the key. Correct ANTHROPIC_API_KEY.",
    403: "does not allow this key to use the model. Correct ANTHROPIC_API_KEY or CHIE_ANTHROPIC_MODEL.",
    404: "does not know the model. Correct CHIE_ANTHROPIC_MODEL.",
    413: "finds the conversation too long. Start a new one.",
    429: "is busy, or the quota is used up. Wait a little, then try again.",
    529: "is overloaded. Wait a little, then try again.",
}
_KINDS = {"overloaded_error": 529, "rate_limit_error": 429, "invalid_request_error": 400}
LIMITS = ("max_tokens", "model_context_window_exceeded")


class AnthropicModel(ChatModel):
    """`seconds` is how long the server may be silent."""

    def __init__(self, model: str, *, api_key: str | None, base_url: str | None = None, seconds: float = 180.0) -> None:
        self._model = model
        self._key = api_key
        self._address = base_url
        self._seconds = seconds

    @property
    def name(self) -> str | None:
        return self._model

    async def check(self) -> None:
        if find_spec("anthropic") is None:
            raise ConfigurationError("This agent needs the Anthropic SDK. Install it: pip install anthropic.")
        if not self._key:
            raise ConfigurationError("Set ANTHROPIC_API_KEY to use this agent.")
        require_sound(self._address or ADDRESS, self._key, NAMES)

    async def close(self) -> None:
        if "_client" in self.__dict__:
            await self._client.close()

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        await self.check()
        reader = _Reader()
        client = await self._loaded()
        with self._in_our_words():
            async with await client.messages.create(**self._request(prompt)) as events:
                async for event in events:
                    for piece in reader.read(event):
                        yield piece
        if not reader.stopped:
            raise self._error("broke off in the middle of its answer. Try again.")
        yield reader.end()

    async def _loaded(self) -> "AsyncAnthropic":
        """The SDK takes a second to import; other answers go on meanwhile."""
        return self._client if "_client" in self.__dict__ else await asyncio.to_thread(lambda: self._client)

    @cached_property
    def _client(self) -> "AsyncAnthropic":
        import httpx2
        from anthropic import AsyncAnthropic

        timeout = httpx2.Timeout(self._seconds, connect=CONNECT_SECONDS)
        return AsyncAnthropic(api_key=self._key, base_url=self._address, timeout=timeout)

    def _request(self, prompt: Prompt) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": self._model,
            "messages": [_message(message) for message in prompt.messages],
            "max_tokens": TOKENS,
            "stream": True,
        }
        if prompt.system:
            request["system"] = prompt.system
        if prompt.tools:
            request["tools"] = [_tool(tool) for tool in prompt.tools]
            if not prompt.calls_allowed:
                request["tool_choice"] = {"type": "none"}
        return request

    @contextmanager
    def _in_our_words(self) -> Iterator[None]:
        import anthropic
        import httpx2

        try:
            yield
        except anthropic.APITimeoutError as error:
            raise self._silent() from error
        except anthropic.APIStatusError as error:
            logger.warning("Anthropic answered %d: %s", error.status_code, error.message[:300])
            raise self._error(_ADVICE.get(_status(error), "failed. Try again; the log has the reason.")) from error
        except anthropic.APIConnectionError as error:
            raise self._error("cannot be reached. Look at the network and ANTHROPIC_BASE_URL.") from error
        except httpx2.ReadTimeout as error:
            raise self._silent() from error
        except (httpx2.HTTPError, ValueError) as error:
            raise self._error("broke off in the middle of its answer. Try again.") from error

    def _silent(self) -> ModelError:
        return self._error(f"was silent for {self._seconds:g} seconds. Try again, or raise CHIE_MODEL_TIMEOUT.")

    def _error(self, what: str) -> ModelError:
        return ModelError(f"Anthropic's API{f' at {self._address}' if self._address else ''} {what}")


def _status(error: Any) -> int:  # noqa: ANN401
    """A fault within a stream comes with the stream's 200; its kind is in the body."""
    body = error.body if isinstance(error.body, dict) else {}
    kind = (body.get("error") or {}).get("type", "")
    status: int = _KINDS.get(kind, error.status_code)
    return status


class _Reader:
    """The SDK's events to pieces; a call's input comes in fragments of JSON."""

    def __init__(self) -> None:
        self.stopped = False
        self._reason: str | None = None
        self._input = 0
        self._output = 0
        self._calls: dict[int, Call] = {}
        self._thoughts: dict[int, dict[str, Any]] = {}

    def end(self) -> End:
        usage = Usage(input_tokens=self._input, output_tokens=self._output)
        return End(usage, cut=self._reason in LIMITS, stopped=self._reason == "refusal")

    def read(self, event: Any) -> Iterator[Piece]:  # noqa: ANN401
        match event.type:
            case "message_start":
                self._input = event.message.usage.input_tokens
            case "content_block_start":
                self._start(event.index, event.content_block)
            case "content_block_delta":
                yield from self._delta(event.index, event.delta)
            case "content_block_stop":
                yield from self._finish(event.index)
            case "message_delta":
                self._output = (event.usage and event.usage.output_tokens) or self._output
                self._reason = event.delta.stop_reason
            case "message_stop":
                self.stopped = True

    def _start(self, index: int, block: Any) -> None:  # noqa: ANN401
        if block.type == "tool_use":
            self._calls[index] = Call(block.id, block.name, "")
        elif block.type in ("thinking", "redacted_thinking"):
            self._thoughts[index] = block.model_dump(exclude_none=True)

    def _delta(self, index: int, delta: Any) -> Iterator[Piece]:  # noqa: ANN401
        match delta.type:
            case "text_delta" if delta.text:
                yield TextPiece(delta.text)
            case "input_json_delta":
                call = self._calls[index]
                self._calls[index] = Call(call.id, call.name, call.arguments + delta.partial_json)
            case "thinking_delta":
                self._thoughts[index]["thinking"] += delta.thinking
            case "signature_delta":
                self._thoughts[index]["signature"] = delta.signature

    def _finish(self, index: int) -> Iterator[Piece]:
        if index in self._calls:
            yield self._calls.pop(index)
        if index in self._thoughts:
            yield Thought(self._thoughts.pop(index))


def _message(message: Message) -> dict[str, Any]:
    match message:
        case UserSaid(content):
            return {"role": "user", "content": content}
        case ModelSaid(content, calls, thoughts):
            words = [{"type": "text", "text": content}] if content.strip() else []  # blank ones are refused
            blocks = [thought.block for thought in thoughts]
            return {"role": "assistant", "content": [*blocks, *words, *map(_call, calls)]}
        case ToolsSaid(results):
            return {"role": "user", "content": [_result(result) for result in results]}


def _call(call: Call) -> dict[str, Any]:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": call.parsed() or {}}


def _result(result: CallResult) -> dict[str, Any]:
    return {
        "type": "tool_result",
        "tool_use_id": result.id,
        "content": result.content,
        "is_error": result.is_error,
    }


def _tool(tool: ToolSpec) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
