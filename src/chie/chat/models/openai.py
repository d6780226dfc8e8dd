"""Any OpenAI-compatible server, by the OpenAI SDK: LM Studio, Ollama, vLLM, OpenAI and others."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from chie.chat.models.base import (
    Call,
    ChatModel,
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
from chie.chat.models.chunk_parser import Completion, ReportedError
from chie.chat.models.sse import read_data
from chie.errors import ConfigurationError

if TYPE_CHECKING:
    from openai import AsyncOpenAI

    from chie.chat.models.endpoint import Endpoint

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
        completion = Completion()
        with self._in_our_words(completion):
            create = (await self._loaded()).chat.completions.with_streaming_response.create
            async with create(**self._request(prompt)) as answer, aclosing(read_data(answer.iter_bytes())) as events:
                async for data in events:
                    if text := completion.read(data):
                        yield TextPiece(text)
        if not completion.whole:
            raise self._broken(completion)
        for call in completion.calls():
            yield call
        yield completion.end()

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
    def _in_our_words(self, completion: Completion) -> Iterator[None]:
        import httpx2
        import openai

        try:
            yield
        except (openai.APITimeoutError, httpx2.TimeoutException) as error:
            if isinstance(error.__cause__, httpx2.ConnectTimeout):
                raise self._endpoint.away(error.__cause__) from error
            raise ModelError(
                f"The model server at {self._endpoint.address} was silent for {self._seconds:g} seconds. Try again, "
                "choose a smaller model, or raise CHIE_MODEL_TIMEOUT."
            ) from error
        except openai.APIStatusError as error:
            logger.warning("%s answered %d: %s", self._endpoint.address, error.status_code, error.message[:300])
            refused = self._endpoint.refused(error.status_code, self.name)
            self._found = None  # the model may have been unloaded: look again next time
            raise refused from error
        except openai.APIConnectionError as error:  # nothing was received yet
            raise self._endpoint.away(error.__cause__ or error) from error
        except httpx2.InvalidURL as error:
            raise self._endpoint.away(error) from error
        except ReportedError as error:
            logger.warning("%s reported an error: %s", self._endpoint.address, error)
            raise self._endpoint.reported(error.codes, self.name) from error
        except (openai.APIError, httpx2.HTTPError, LookupError, ValueError, TypeError, AttributeError) as error:
            logger.warning("%s sent what is no answer: %s", self._endpoint.address, error)
            raise self._broken(completion) from error

    def _broken(self, completion: Completion) -> ModelError:
        if not completion.begun:
            return self._endpoint.strange()
        return ModelError(
            f"The model server at {self._endpoint.address} broke off in the middle of its answer. Try again; "
            "if it stays so, look at that server's log."
        )


def _require_sdk() -> None:
    if find_spec("openai") is None:
        raise ConfigurationError("This agent needs the OpenAI SDK. Install it: pip install 'chie[openai]'.")


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
