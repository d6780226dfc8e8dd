"""An OpenAI-compatible server that sends exactly the given events or bytes."""

import json
from collections.abc import Iterator
from typing import Any

from tests.fakes.model_server import Say, say
from tests.fakes.openai_server import OpenAIServer

from chie.chat.models.base import Prompt
from chie.chat.models.chunks import Chunk
from chie.chat.models.messages import UserMessage
from chie.chat.models.openai import OpenAIModel
from chie.chat.models.openai_endpoint import OpenAIEndpoint

HI = Prompt(system="", messages=[UserMessage("hi")])


class Quirky(OpenAIServer):
    """Bytes are sent unchanged, everything else as events."""

    def __init__(self, *events: dict[str, Any] | str | bytes) -> None:
        super().__init__(say())
        self.events = events

    def frames(self, step: Say) -> Iterator[bytes]:  # noqa: ARG002
        for event in self.events:
            if isinstance(event, bytes):
                yield event
            else:
                yield f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n".encode()


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


async def answer(server: OpenAIServer) -> list[Chunk]:
    model = OpenAIModel(OpenAIEndpoint(server.base_url), "m", timeout=5)
    try:
        return [item async for item in model.stream(HI)]
    finally:
        await model.close()
