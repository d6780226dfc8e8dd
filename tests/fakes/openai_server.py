"""OpenAI's streaming chat completions."""

import json
from collections import deque
from collections.abc import Iterator
from typing import Any

from tests.fakes.model_server import ModelServer, Say, Step, halves

USAGE = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}


class OpenAIServer(ModelServer):
    """`usages` are those of the next answers; None sends none."""

    kind = "openai"
    content_type = "text/event-stream"

    def __init__(self, *script: Step, models: tuple[str, ...] = ("text-embedding-nomic", "qwen3-8b", "other")) -> None:
        super().__init__(*script)
        self.models = models
        self.usages: deque[dict[str, Any] | None] = deque()

    @property
    def base_url(self) -> str:
        return f"{self.address}/v1"

    def listing(self) -> bytes | None:
        return json.dumps(
            {"object": "list", "data": [{"id": name, "object": "model"} for name in self.models]}
        ).encode()

    def frames(self, step: Say) -> Iterator[bytes]:
        yield _chunk({"role": "assistant", "content": ""})
        for part in halves(step.thought):
            yield _chunk({"reasoning_content": part})
        for piece in step.pieces:
            yield _chunk({"content": piece})
        for index, call in enumerate(step.calls):
            head = {"name": call.name, "arguments": ""}
            yield _chunk({"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": head}]})
            for part in halves(call.arguments):
                yield _chunk({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
        reason = step.reason(limit="length", filtered="content_filter", calls="tool_calls", end="stop")
        yield _chunk({}, finish=reason)
        usage = self.usages.popleft() if self.usages else USAGE
        if usage:
            yield _event({"choices": [], "usage": usage})
        yield b"data: [DONE]\n\n"

    def opening(self, text: str) -> Iterator[bytes]:
        yield _chunk({"role": "assistant", "content": ""})
        yield _chunk({"content": text})

    def turns(self, request: dict[str, Any]) -> list[tuple[str, str]]:
        said = [m for m in request["messages"] if m["role"] in ("user", "assistant") and m["content"]]
        return [(message["role"], message["content"]) for message in said]

    def results(self, request: dict[str, Any]) -> list[tuple[str, str]]:
        return [(m["tool_call_id"], m["content"]) for m in request["messages"] if m["role"] == "tool"]

    def tools(self, request: dict[str, Any]) -> list[str]:
        return [tool["function"]["name"] for tool in request.get("tools", [])]

    def refusal(self, status: int, words: str) -> tuple[dict[str, str], bytes]:  # noqa: ARG002
        body = {"error": {"message": words, "type": "x", "code": "y"}}
        return {"content-type": "application/json", "x-should-retry": "false"}, json.dumps(body).encode()


def _chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    return _event({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def _event(body: dict[str, Any]) -> bytes:
    whole = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "qwen3-8b", **body}
    return f"data: {json.dumps(whole)}\n\n".encode()
