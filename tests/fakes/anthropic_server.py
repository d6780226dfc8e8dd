"""Anthropic's streaming messages."""

import json
from collections.abc import Iterator
from typing import Any, ClassVar

from tests.fakes.model_server import ModelServer, Say, halves

USAGE = {"input_tokens": 7, "output_tokens": 1}


class AnthropicServer(ModelServer):
    kind = "anthropic"
    content_type = "text/event-stream"
    models: tuple[str, ...] = ("claude-opus-5", "claude-sonnet-5")
    contexts: ClassVar[dict[str, int]] = {}

    def listing(self) -> bytes | None:
        listed = [{"type": "model", "id": name, "lifecycle": "active"} for name in self.models]
        listed.append({"type": "model", "id": "claude-2", "lifecycle": "retired"})
        return json.dumps({"data": listed, "has_more": False}).encode()

    def described(self, path: str) -> bytes | None:
        """One model, with its context if it has one here."""
        name = path.rpartition("/")[2]
        model = {"type": "model", "id": name, "max_input_tokens": self.contexts.get(name)}
        return json.dumps(model).encode() if name in self.models else None

    def frames(self, step: Say) -> Iterator[bytes]:
        yield _start()
        blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
        if step.thought:
            thoughts = [{"type": "thinking_delta", "thinking": part} for part in halves(step.thought)]
            signed = {"type": "signature_delta", "signature": "signed"}
            blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, [*thoughts, signed]))
        if step.pieces:
            texts = [{"type": "text_delta", "text": piece} for piece in step.pieces]
            blocks.append(({"type": "text", "text": ""}, texts))
        for call in step.calls:
            parts = [{"type": "input_json_delta", "partial_json": part} for part in halves(call.arguments)]
            blocks.append(({"type": "tool_use", "id": call.id, "name": call.name, "input": {}}, parts))
        for index, (block, deltas) in enumerate(blocks):
            yield _event("content_block_start", index=index, content_block=block)
            yield _event("ping")
            for delta in deltas:
                yield _event("content_block_delta", index=index, delta=delta)
            yield _event("content_block_stop", index=index)
        reason = step.reason(limit="max_tokens", filtered="refusal", calls="tool_use", end="end_turn")
        yield _event("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage={"output_tokens": 3})
        yield _event("message_stop")

    def opening(self, text: str) -> Iterator[bytes]:
        yield _start()
        yield _event("content_block_start", index=0, content_block={"type": "text", "text": ""})
        yield _event("content_block_delta", index=0, delta={"type": "text_delta", "text": text})

    def turns(self, request: dict[str, Any]) -> list[tuple[str, str]]:
        return [(m["role"], block["text"]) for m in request["messages"] for block in _blocks(m) if "text" in block]

    def results(self, request: dict[str, Any]) -> list[tuple[str, str]]:
        blocks = [block for message in request["messages"] for block in _blocks(message)]
        return [(block["tool_use_id"], block["content"]) for block in blocks if block["type"] == "tool_result"]

    def tools(self, request: dict[str, Any]) -> list[str]:
        return [tool["name"] for tool in request.get("tools", [])]

    def refusal(self, status: int, words: str) -> tuple[dict[str, str], bytes]:  # noqa: ARG002
        body = {"type": "error", "error": {"type": "x_error", "message": words}}
        return {"content-type": "application/json", "x-should-retry": "false"}, json.dumps(body).encode()


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _start() -> bytes:
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": [],
        "model": "claude-sonnet-5",
        "stop_reason": None,
        "stop_sequence": None,
        "usage": USAGE,
    }
    return _event("message_start", message=message)


def _event(kind: str, **body: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **body})}\n\n".encode()
