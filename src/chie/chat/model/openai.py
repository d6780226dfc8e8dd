"""Any OpenAI-compatible server, by the OpenAI SDK: LM Studio, Ollama, vLLM, OpenAI and others."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from chie.chat.events import Usage
from chie.chat.model.base import (
    Call,
    ChatModel,
    End,
    Message,
    ModelError,
    ModelSaid,
    Piece,
    Prompt,
    TextPiece,
    ToolSpec,
    ToolsSaid,
    UserSaid,
)
from chie.chat.model.sse import read_data
from chie.errors import ConfigurationError

if TYPE_CHECKING:
    from openai import AsyncOpenAI

    from chie.chat.model.endpoint import Endpoint

logger = logging.getLogger(__name__)

CONNECT_SECONDS = 5.0
RETRIES = 2


class OpenAIModel(ChatModel):
    """`seconds` is how long the server may be silent; `model` of None takes the first one it lists."""

    def __init__(self, endpoint: "Endpoint", model: str | None = None, *, seconds: float = 180.0) -> None:
        self._endpoint = endpoint
        self._wanted = model
        self._found: str | None = None
        self._seconds = seconds

    @property
    def name(self) -> str | None:
        return self._wanted or self._found

    async def check(self) -> None:
        _require_sdk()
        self._found = await self._endpoint.first_model() if self._wanted is None else None
        if self._wanted is not None:
            await self._endpoint.models()

    async def close(self) -> None:
        if "_client" in self.__dict__:
            await self._client.close()

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        _require_sdk()
        self._endpoint.require_sound()
        if self.name is None:
            self._found = await self._endpoint.first_model()
        reader = _Reader()
        client = await self._loaded()
        with self._in_our_words():
            create = client.chat.completions.with_streaming_response.create
            async with create(**self._request(prompt)) as answer, aclosing(read_data(answer.iter_bytes())) as events:
                async for data in events:
                    if text := reader.read(data):
                        yield TextPiece(text)
        if not reader.whole:
            raise self._broken()
        for call in reader.calls():
            yield call
        yield End(reader.usage, reader.cut)

    async def _loaded(self) -> "AsyncOpenAI":
        """The SDK takes a second to import; other answers go on meanwhile."""
        return self._client if "_client" in self.__dict__ else await asyncio.to_thread(lambda: self._client)

    @cached_property
    def _client(self) -> "AsyncOpenAI":
        import httpx2
        from openai import AsyncOpenAI

        return AsyncOpenAI(
            base_url=self._endpoint.address,
            api_key=self._endpoint.api_key or "none",
            timeout=httpx2.Timeout(self._seconds, connect=CONNECT_SECONDS),
            max_retries=0 if self._endpoint.is_local else RETRIES,
        )

    def _request(self, prompt: Prompt) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": self.name,
            "messages": list(_messages(prompt)),
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if prompt.tools:
            request["tools"] = [_function(tool) for tool in prompt.tools]
            if not prompt.calls_allowed:
                request["tool_choice"] = "none"
        return request

    @contextmanager
    def _in_our_words(self) -> Iterator[None]:
        import httpx2
        import openai

        try:
            yield
        except (openai.APITimeoutError, httpx2.TimeoutException) as error:
            raise ModelError(
                f"The model server at {self._endpoint.address} was silent for {self._seconds:g} seconds. Try again, "
                "choose a smaller model, or raise CHIE_MODEL_TIMEOUT."
            ) from error
        except openai.APIStatusError as error:
            logger.warning("%s answered %d: %s", self._endpoint.address, error.status_code, error.message[:300])
            refused = self._endpoint.refused(error.status_code, self.name)
            self._found = None  # the model may have been unloaded: look again next time
            raise refused from error
        except (openai.APIConnectionError, httpx2.HTTPError) as error:
            raise self._lost(error) from error
        except (openai.APIError, ValueError, KeyError, TypeError, AttributeError) as error:
            logger.warning("%s sent what is no answer: %s", self._endpoint.address, error)
            raise self._broken() from error

    def _lost(self, error: Exception) -> ModelError:
        import httpx2

        if isinstance(error.__cause__, httpx2.ConnectError | httpx2.ConnectTimeout):
            return self._endpoint.away(error.__cause__)
        return self._broken()

    def _broken(self) -> ModelError:
        return ModelError(
            f"The model server at {self._endpoint.address} broke off in the middle of its answer. Try again; "
            "if it stays so, look at that server's log."
        )


def _require_sdk() -> None:
    if find_spec("openai") is None:
        raise ConfigurationError("This agent needs the OpenAI SDK. Install it: pip install 'chie[openai]'.")


class _Reader:
    """Puts an answer together from its chunks. Servers number the fragments of calls or name them; some do neither."""

    def __init__(self) -> None:
        self.whole = False
        self.cut = False
        self.usage: Usage | None = None
        self._half = ""
        self._calls: list[dict[str, str]] = []
        self._by_index: dict[int, dict[str, str]] = {}

    def read(self, data: bytes) -> str:
        """The text of one chunk. Raises ValueError for what is an error or no chunk at all."""
        if data.startswith(b"[DONE]"):
            return ""
        chunk = json.loads(data)
        if chunk.get("error"):
            raise ValueError(str(chunk["error"]))
        if usage := chunk.get("usage"):
            asked, answered = usage.get("prompt_tokens"), usage.get("completion_tokens")
            self.usage = Usage(input_tokens=asked or 0, output_tokens=answered or 0)
        if not chunk.get("choices"):
            return ""
        choice = chunk["choices"][0]
        reason = choice.get("finish_reason")
        self.whole = self.whole or bool(reason)
        self.cut = self.cut or reason == "length"
        delta = choice.get("delta") or {}
        for fragment in delta.get("tool_calls") or ():
            self._add(fragment)
        return self._joined(delta.get("content") or "")

    def _joined(self, text: str) -> str:
        """Some servers cut an emoji or a rare kanji in two; the first half waits for the second."""
        text, self._half = self._half + text, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def _add(self, fragment: dict[str, Any]) -> None:
        index, name = fragment.get("index", len(self._calls)), fragment.get("id") or ""
        call = self._by_index.get(index)
        if call is None or (name and call["id"] and name != call["id"]):
            call = {"id": "", "name": "", "arguments": ""}
            self._by_index[index] = call
            self._calls.append(call)
        call["id"] = name or call["id"]
        function = fragment.get("function") or {}
        call["name"] = call["name"] or function.get("name") or ""
        call["arguments"] += function.get("arguments") or ""

    def calls(self) -> list[Call]:
        return [Call(call["id"], call["name"], call["arguments"]) for call in self._calls]


def _messages(prompt: Prompt) -> Iterator[dict[str, Any]]:
    if prompt.system:
        yield {"role": "system", "content": prompt.system}
    for message in prompt.messages:
        yield from _message(message)


def _message(message: Message) -> Iterator[dict[str, Any]]:
    match message:
        case UserSaid(content):
            yield {"role": "user", "content": content}
        case ModelSaid(content, ()):
            yield {"role": "assistant", "content": content}
        case ModelSaid(content, calls):
            yield {"role": "assistant", "content": content or None, "tool_calls": [_call(call) for call in calls]}
        case ToolsSaid(results):
            for result in results:
                yield {"role": "tool", "tool_call_id": result.id, "content": result.content}


def _call(call: Call) -> dict[str, Any]:
    """Some servers refuse a conversation that holds broken JSON, even if the model wrote it."""
    arguments = call.arguments if call.parsed() is not None and call.arguments else "{}"
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _function(tool: ToolSpec) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
    }
