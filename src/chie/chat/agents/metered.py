"""Requests to a model, counted. A server that does not report its tokens gets an estimate."""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing

from chie.chat.agents.context_budget import size, text_tokens
from chie.chat.events import Usage, counted_usage
from chie.chat.metering import ModelRequest, count_request
from chie.chat.models.base import ChatModel, Prompt
from chie.chat.models.chunks import Call, Chunk, End, ReasoningDelta, TextDelta

_TEXTS = (TextDelta, ReasoningDelta)


async def stream(model: ChatModel, prompt: Prompt) -> AsyncGenerator[Chunk, None]:
    """As `model.stream`. A request that was refused costs nothing; one that broke off, or was stopped, does."""
    reported: Usage | None = None
    texts: list[str] = []
    started = False
    try:
        async with aclosing(model.stream(prompt)) as chunks:
            async for chunk in chunks:
                started = True
                if isinstance(chunk, _TEXTS):
                    texts.append(chunk.text)
                elif isinstance(chunk, End):
                    reported = chunk.usage
                elif isinstance(chunk, Call):
                    texts.append(f"{chunk.name}{chunk.arguments}")
                yield chunk
    finally:
        if started:
            usage = reported or _estimate(model, prompt, "".join(texts))
            count_request(ModelRequest(model=model.name or "?", host=model.host, is_local=model.is_local, usage=usage))


def _estimate(model: ChatModel, prompt: Prompt, made: str) -> Usage:
    """With the scale that was learnt from requests whose tokens the server has reported."""
    tools = sum(text_tokens(f"{tool.name}{tool.description}{json.dumps(tool.schema)}") for tool in prompt.tools)
    given = size(prompt.messages) + text_tokens(prompt.system) + tools
    usage = counted_usage(round(given * model.token_scale), round(text_tokens(made) * model.token_scale))
    return {**usage, "estimated": True}
