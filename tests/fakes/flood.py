"""A program that speaks MCP by hand, so that it can send what no SDK would: `python -m tests.fakes.flood`."""

import json
import os
import sys
from typing import Any

MEGABYTE = 1_000_000
DEEP = 100_000
TOOLS = ("huge", "huge_id_last", "deep", "surrogates", "not_json", "not_utf8", "no_id", "pid")


def text(value: str) -> bytes:
    return json.dumps({"content": [{"type": "text", "text": value}]}).encode()


def call(request_id: int, tool: str) -> None:
    envelope = b'{"jsonrpc":"2.0","id":%d,"result":' % request_id
    match tool:
        case "huge":
            write(envelope + b'{"content":[{"type":"text","text":"', *[b"x" * MEGABYTE] * 100, b'"}]}}')
        case "huge_id_last":
            content = (b'{"result":{"content":[{"type":"text","text":"', *[b"x" * MEGABYTE] * 20)
            write(*content, b'"}]},"jsonrpc":"2.0","id":%d}' % request_id)
        case "deep":
            nested = b'{"a":' * DEEP + b"1" + b"}" * DEEP
            write(envelope, b'{"content":[],"structuredContent":', nested, b"}}")
        case "surrogates":
            write(envelope, b'{"content":[{"type":"text","text":"a\\ud83d b\\ud83d\\ude00 c\\\\ud83d \\udc00"}]}}')
        case "not_json":
            write(envelope, b'{"content":[}')
        case "not_utf8":
            write(envelope, b'{"content":[{"type":"text","text":"\xff\xfe caf\xe9"}]}}')
        case "no_id":
            write(b'{"jsonrpc":"2.0","method":"notifications/message","params":"', *[b"x" * MEGABYTE] * 20, b'"}')
            write(envelope, text("still here"), b"}")
        case _:
            write(envelope, text(str(os.getpid())), b"}")


def write(*parts: bytes) -> None:
    for part in parts:
        sys.stdout.buffer.write(part)
    sys.stdout.buffer.write(b"\n")
    sys.stdout.buffer.flush()


def answer(request: dict[str, Any]) -> None:
    match request["method"]:
        case "initialize":
            version = request["params"]["protocolVersion"]
            info = {"name": "flood", "version": "1"}
            result: Any = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            hints, schema = {"readOnlyHint": True}, {"type": "object", "properties": {}}
            result = {"tools": [{"name": name, "inputSchema": schema, "annotations": hints} for name in TOOLS]}
        case "tools/call":
            call(request["id"], request["params"]["name"])
            return
        case "resources/read" if request["params"]["uri"] == "ui://end":
            sys.exit()
        case "resources/read":
            result = {"contents": 5}
        case _:
            error = {"code": -32601, "message": "Method not found"}
            write(json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": error}).encode())
            return
    write(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode())


if __name__ == "__main__":
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            answer(message)
