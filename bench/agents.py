"""What an agent adds to a model's stream: CPU per token of `OpenAIAgent` against the bare OpenAI SDK and against
reading the bytes by hand, on one scripted upstream in another process. Best of several rounds, taken in turns."""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

from bench.figure import Figure
from bench.table import table

TOKENS = 1000
ROUNDS = 5
SDK = "bare OpenAI SDK"

UPSTREAM = f"""
import sys, time
from tests.fakes.model_server import say
from tests.fakes.openai_server import OpenAIServer
server = OpenAIServer(*([say(*(["token "] * {TOKENS}))] * 1000))
with server:
    print(server.base_url, flush=True)
    sys.stdin.read()
"""

Reader = Callable[[str], Awaitable[int]]


async def by_hand(url: str) -> int:
    import httpx2

    count = 0
    body = {"model": "qwen3-8b", "messages": [{"role": "user", "content": "hi"}], "stream": True}
    async with (
        httpx2.AsyncClient(timeout=60) as client,
        client.stream("POST", f"{url}/chat/completions", json=body) as answer,
    ):
        async for line in answer.aiter_lines():
            if line.startswith("data: {"):
                choices = json.loads(line[6:])["choices"]
                count += bool(choices and choices[0]["delta"].get("content"))
    return count


async def bare_sdk(url: str) -> int:
    from openai import AsyncOpenAI

    count = 0
    async with AsyncOpenAI(base_url=url, api_key="none") as client:
        chunks = await client.chat.completions.create(
            model="qwen3-8b", messages=[{"role": "user", "content": "hi"}], stream=True
        )
        async for chunk in chunks:
            count += bool(chunk.choices and chunk.choices[0].delta.content)
    return count


async def agent(url: str) -> int:
    from chie.chat.agents.builtin import build_openai
    from chie.chat.agents.dependencies import AgentDependencies
    from chie.chat.agents.profile import Profile
    from chie.chat.settings import ChatSettings
    from chie.chat.toolbox.toolbox import Toolbox

    dependencies = AgentDependencies(ChatSettings(), Toolbox([]), [])
    made = build_openai(Profile(id="bench", base_url=url, model="qwen3-8b"), dependencies)
    count = 0
    async for event in made.stream_chat("hi", [], "bench"):
        count += event["type"] == "message"
    await made.close()
    return count


async def measure(url: str) -> dict[str, float]:
    readers: dict[str, Reader] = {"bytes read by hand": by_hand, SDK: bare_sdk, "Chie": agent}
    best: dict[str, float] = {}
    for _ in range(ROUNDS + 1):
        for name, reader in readers.items():
            began = time.process_time()
            assert await reader(url) == TOKENS, name
            spent = 1e6 * (time.process_time() - began) / TOKENS
            best[name] = min(best.get(name, spent), spent)
    return best


def main() -> list[Figure]:
    with subprocess.Popen(
        [sys.executable, "-c", UPSTREAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as upstream:
        assert upstream.stdout is not None
        url = upstream.stdout.readline().strip()
        best = asyncio.run(measure(url))
        with suppress(BrokenPipeError):
            upstream.communicate("")
    return [
        *(Figure("CPU a token", who, spent, "µs") for who, spent in best.items()),
        *(Figure("CPU a token, ratio to the bare SDK", who, spent / best[SDK], "×") for who, spent in best.items()),
    ]


if __name__ == "__main__":
    print(table(main()))
