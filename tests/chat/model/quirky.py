"""A server that sends these events, or this document, and nothing else."""

import json
from collections.abc import Iterator
from typing import Any

from tests.fakes.model_server import Say, say
from tests.fakes.openai_server import OpenAIServer

from chie.chat.models.base import Piece, Prompt, UserSaid
from chie.chat.models.endpoint import Endpoint
from chie.chat.models.openai import OpenAIModel

HI = Prompt(system="", messages=[UserSaid("hi")])


class Quirky(OpenAIServer):
    """What is bytes is sent as it is; the rest as events."""

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


async def answer(server: OpenAIServer) -> list[Piece]:
    model = OpenAIModel(Endpoint(server.base_url), "m", seconds=5)
    try:
        return [piece async for piece in model.stream(HI)]
    finally:
        await model.close()
