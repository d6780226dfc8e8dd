"""Amazon Bedrock's Converse stream: frames of the vnd.amazon.eventstream encoding."""

import binascii
import json
import struct
from collections.abc import Iterator
from typing import Any

from tests.fakes.model_server import ModelServer, Say, halves

_CODES = {
    400: "ValidationException",
    401: "UnrecognizedClientException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    429: "ThrottlingException",
    500: "InternalServerException",
}


class ConverseServer(ModelServer):
    kind = "bedrock"
    content_type = "application/vnd.amazon.eventstream"

    def frames(self, step: Say) -> Iterator[bytes]:
        yield event("messageStart", {"role": "assistant"})
        blocks: list[tuple[dict[str, Any] | None, list[dict[str, Any]]]] = []
        if step.thought:
            thoughts = [{"reasoningContent": {"text": part}} for part in halves(step.thought)]
            blocks.append((None, [*thoughts, {"reasoningContent": {"signature": "signed"}}]))
        if step.pieces:
            blocks.append((None, [{"text": piece} for piece in step.pieces]))
        for call in step.calls:
            parts = [{"toolUse": {"input": part}} for part in halves(call.arguments)]
            blocks.append(({"toolUse": {"toolUseId": call.id, "name": call.name}}, parts))
        for index, (start, deltas) in enumerate(blocks):
            if start:
                yield event("contentBlockStart", {"contentBlockIndex": index, "start": start})
            for delta in deltas:
                yield event("contentBlockDelta", {"contentBlockIndex": index, "delta": delta})
            yield event("contentBlockStop", {"contentBlockIndex": index})
        reason = step.reason(limit="max_tokens", filtered="content_filtered", calls="tool_use", end="end_turn")
        yield event("messageStop", {"stopReason": reason})
        usage = {"inputTokens": 7, "outputTokens": 3, "totalTokens": 10}
        yield event("metadata", {"usage": usage, "metrics": {"latencyMs": 1}})

    def opening(self, text: str) -> Iterator[bytes]:
        yield event("messageStart", {"role": "assistant"})
        yield event("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": text}})

    def turns(self, request: dict[str, Any]) -> list[tuple[str, str]]:
        return [(m["role"], block["text"]) for m in request["messages"] for block in m["content"] if "text" in block]

    def results(self, request: dict[str, Any]) -> list[tuple[str, str]]:
        blocks = [block["toolResult"] for m in request["messages"] for block in m["content"] if "toolResult" in block]
        return [(block["toolUseId"], block["content"][0]["text"]) for block in blocks]

    def tools(self, request: dict[str, Any]) -> list[str]:
        listed = request.get("toolConfig", {}).get("tools", [])
        return [tool["toolSpec"]["name"] for tool in listed if "toolSpec" in tool]

    def refusal(self, status: int, words: str) -> tuple[dict[str, str], bytes]:
        body = json.dumps({"message": words}).encode()
        return {"content-type": "application/json", "x-amzn-errortype": _CODES[status]}, body


def event(name: str, body: dict[str, Any]) -> bytes:
    return frame({":event-type": name, ":message-type": "event"}, body)


def fault(name: str) -> bytes:
    """An error in the middle of a stream."""
    return frame({":exception-type": name, ":message-type": "exception"}, {"message": "slow down"})


def frame(headers: dict[str, str], body: dict[str, Any]) -> bytes:
    payload = json.dumps(body).encode()
    names = {**headers, ":content-type": "application/json"}
    head = b"".join(
        bytes([len(name)]) + name.encode() + b"\x07" + struct.pack("!H", len(value)) + value.encode()
        for name, value in names.items()
    )
    prelude = struct.pack("!II", 16 + len(head) + len(payload), len(head))
    prelude += struct.pack("!I", binascii.crc32(prelude))
    whole = prelude + head + payload
    return whole + struct.pack("!I", binascii.crc32(whole))
