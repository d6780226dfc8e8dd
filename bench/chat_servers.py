"""The processes that `bench.chat` measures: a model that streams, a bare relay in front of it, and Chie in front of it.

    python -m bench.chat_servers upstream|relay|chie [UPSTREAM]

Each prints its URL on one line.
"""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastapi import FastAPI

WORD = "知恵 "
_LIST = json.dumps({"object": "list", "data": [{"id": "m", "object": "model"}]})
MODELS = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(_LIST)}\r\n\r\n{_LIST}".encode()
USAGE = {"prompt_tokens": 12, "total_tokens": 12}
CHUNK = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m"}


def main() -> None:
    kind, *rest = sys.argv[1:]
    if kind == "upstream":
        asyncio.run(serve_upstream())
        return
    from chie.cli import gc_frozen_afterwards

    with gc_frozen_afterwards():
        from chie.http.server import run_http

        app = {"relay": relay, "chie": chie}[kind](rest[0])
    run_http(app, host="127.0.0.1", port=0, announce=lambda url: print(url, flush=True))


async def serve_upstream() -> None:
    """An OpenAI-protocol server on bare sockets; the prompt is `tokens milliseconds`."""
    server = await asyncio.start_server(_answer, "127.0.0.1", 0, backlog=512)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = next(
                (int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0
            )
            if not length:
                writer.write(MODELS)
                continue
            body = json.loads(await reader.readexactly(length))
            tokens, pause = _wanted(body["messages"][-1]["content"])
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
            for _ in range(tokens):
                await asyncio.sleep(pause / 1_000)
                if writer.is_closing():  # the answer was stopped
                    return
                _write(writer, {"index": 0, "delta": {"content": WORD}, "finish_reason": None})
            _write(writer, {"index": 0, "delta": {}, "finish_reason": "stop"})
            if body.get("stream_options", {}).get("include_usage"):
                _write_chunk(writer, choices=[], usage=USAGE | {"completion_tokens": tokens})
            writer.write(b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


def _wanted(prompt: str) -> tuple[int, int]:
    """The tokens of an answer and the milliseconds between them; a title, which has a prompt of its own, is three."""
    parts = prompt.split()
    return (int(parts[0]), int(parts[1])) if prompt[:1].isdigit() else (3, 0)


def _write(writer: asyncio.StreamWriter, choice: dict[str, Any]) -> None:
    _write_chunk(writer, choices=[choice])


def _write_chunk(writer: asyncio.StreamWriter, **fields: Any) -> None:
    data = f"data: {json.dumps(CHUNK | fields)}\n\n".encode()
    writer.write(b"%x\r\n%s\r\n" % (len(data), data))


async def _tokens(client: Any, message: str) -> AsyncGenerator[str, None]:
    messages = [{"role": "user", "content": message}]
    stream = await client.chat.completions.create(model="m", messages=messages, stream=True)
    async with stream:
        async for chunk in stream:
            if chunk.choices and (content := chunk.choices[0].delta.content):
                yield content


def _client(upstream: str) -> Any:
    from openai import AsyncOpenAI

    return AsyncOpenAI(base_url=f"{upstream}/v1", api_key="none", timeout=120, max_retries=0)


def relay(upstream: str) -> "FastAPI":
    """The lower bound: FastAPI, the same SDK, the same events; nothing is saved and streams cannot be resumed."""
    from fastapi import FastAPI
    from fastapi.responses import StreamingResponse
    from pydantic import BaseModel

    class Ask(BaseModel):
        message: str

    app, client = FastAPI(), _client(upstream)

    async def events(message: str) -> AsyncIterator[str]:
        number = 0
        async for token in _tokens(client, message):
            number += 1
            data = json.dumps({"type": "message", "content": token}, ensure_ascii=False)
            yield f"id: {number}\nevent: message\ndata: {data}\n\n"
        yield "event: done\ndata: {}\n\n"

    @app.post("/api/chat/stream")
    async def ask(body: Ask) -> StreamingResponse:
        return StreamingResponse(events(body.message), media_type="text/event-stream")

    return app


def chie(upstream: str) -> "FastAPI":
    """Chie with its sessions, and an agent that does no more than the relay."""
    from bench.chat_agent import OneAgent, SdkAgent
    from chie.app import create_app

    return create_app({}, nullcontext(OneAgent(SdkAgent(partial(_tokens, _client(upstream))))))


if __name__ == "__main__":
    main()
