"""A model over OpenAI's protocol that can be killed and started again: `python -m tests.soak.model PORT`.

The last question is an instruction: `tool` calls a tool first, `words` streams a number of words. Each answer ends
with the question's mark, so that a mix-up shows.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

PAUSE = 0.01
CHUNK = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "soak"}


async def models(_: Request) -> Response:
    return JSONResponse({"object": "list", "data": [{"id": "soak", "object": "model"}]})


async def complete(request: Request) -> Response:
    body = await request.json()
    question = [message["content"] for message in body["messages"] if message["role"] == "user"][-1]
    kind, number, mark = question.split()
    if kind == "tool" and body["messages"][-1]["role"] != "tool":
        names = [tool["function"]["name"] for tool in body.get("tools", [])]
        return _stream(_call(next((name for name in names if name.endswith("whoami")), "whoami")))
    return _stream(_words(int(number), mark))


async def _words(count: int, mark: str) -> AsyncIterator[dict[str, Any]]:
    for word in range(count):
        yield {"content": f"知恵{word} "}
    yield {"content": mark}


async def _call(name: str) -> AsyncIterator[dict[str, Any]]:
    yield {"tool_calls": [{"index": 0, "id": "t", "type": "function", "function": {"name": name, "arguments": "{}"}}]}


def _stream(deltas: AsyncIterator[dict[str, Any]]) -> Response:
    async def frames() -> AsyncIterator[bytes]:
        called = False
        async for delta in deltas:
            called = called or "tool_calls" in delta
            yield _frame({"delta": delta, "finish_reason": None})
            await asyncio.sleep(PAUSE)
        yield _frame({"delta": {}, "finish_reason": "tool_calls" if called else "stop"})
        yield b"data: [DONE]\n\n"

    return StreamingResponse(frames(), media_type="text/event-stream")


def _frame(choice: dict[str, Any]) -> bytes:
    return f"data: {json.dumps({**CHUNK, 'choices': [{'index': 0, **choice}]})}\n\n".encode()


app = Starlette(
    routes=[Route("/v1/models", models), Route("/v1/chat/completions", complete, methods=["POST"])],
)

if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error")
