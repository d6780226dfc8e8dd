"""Overhead of `kb_answer` over a bare boto3 call to the same server, and 32 concurrent calls.

The server speaks Bedrock's protocol on loopback, in its own process; `model` is its response time. The
client is an MCP client in this process that requests no progress. For the overhead the scores are off, so that both
sides make the same API call; the default, with a concurrent search for the scores, is a figure of its own.
"""

import asyncio
import multiprocessing
import os
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from bench.figure import Figure
from bench.table import table

ROUNDS = 40
AT_ONCE = 32
CONFIG = ("us-east-1", "KB12345678", "arn:aws:bedrock:us-east-1::foundation-model/m")
KEYS = {
    "AWS_ACCESS_KEY_ID": "bench",
    "AWS_SECRET_ACCESS_KEY": "bench",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
}


def _serve(model: float, urls: "multiprocessing.Queue[str]") -> None:
    from tests.fakes.bedrock import GENERATED, Handler, answer, serving

    def reply(handler: Handler) -> None:
        time.sleep(model)
        answer(GENERATED)(handler)

    with serving() as bedrock:
        bedrock.default["RetrieveAndGenerate"] = reply
        urls.put(bedrock.url)
        time.sleep(600)


@contextmanager
def bedrock(model: float) -> Iterator[None]:
    """Bedrock on loopback for the SDK of this process."""
    spawn = multiprocessing.get_context("spawn")
    urls: multiprocessing.Queue[str] = spawn.Queue()
    process = spawn.Process(target=_serve, args=(model, urls), daemon=True)
    process.start()
    os.environ |= {"AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME": urls.get(), **KEYS}
    try:
        yield
    finally:
        process.terminate()
        process.join()


async def _timed(call: Callable[[], Awaitable[Any]]) -> float:
    began = time.perf_counter()
    await call()
    return time.perf_counter() - began


async def overhead(rounds: int = ROUNDS) -> tuple[float, float, float, float]:
    """Median seconds of a bare call, of `kb_answer` without and with scores, and of a tool that does nothing.

    They are measured alternately.
    """
    from fastmcp import Client, FastMCP

    from chie.bedrock_kb.bedrock_client import create_boto_client
    from chie.bedrock_kb.config import KBConfig
    from chie.bedrock_kb.requests import Question, answer_request
    from chie.bedrock_kb.server import create_server

    config = KBConfig(*CONFIG, scores=False)
    sdk, request = create_boto_client(config), answer_request(config, Question(query="How?"))

    async def bare() -> None:
        sdk.retrieve_and_generate(**request)

    server = FastMCP("empty")

    @server.tool
    def nothing(query: str) -> str:
        return query

    with_scores = create_server(replace(config, scores=True))
    async with Client(create_server(config)) as client, Client(with_scores) as scoring, Client(server) as idle:

        async def ours() -> None:
            assert not (await client.session.call_tool("kb_answer", {"query": "How?"})).is_error

        async def scored() -> None:
            assert not (await scoring.session.call_tool("kb_answer", {"query": "How?"})).is_error

        async def empty() -> None:
            await idle.session.call_tool("nothing", {"query": "How?"})

        calls = (bare, ours, scored, empty)
        for call in (*calls, *calls):
            await call()
        times = [[await _timed(call) for call in calls] for _ in range(rounds)]
    first, second, third, fourth = (statistics.median(column) for column in zip(*times, strict=True))
    return first, second, third, fourth


async def at_once(count: int = AT_ONCE) -> tuple[float, float]:
    """Seconds of the slowest of three single calls, and of many concurrent ones; each with new connections."""
    from fastmcp import Client

    from chie.bedrock_kb.config import KBConfig
    from chie.bedrock_kb.server import create_server

    async with Client(create_server(KBConfig(*CONFIG))) as client:

        async def ask() -> None:
            assert not (await client.session.call_tool("kb_answer", {"query": "How?"})).is_error

        await ask()
        single = max([await _timed(ask) for _ in range(3)])
        return single, await _timed(lambda: asyncio.gather(*(ask() for _ in range(count))))


def main() -> list[Figure]:
    figures = []
    for model, rounds in ((0.0, ROUNDS), (0.1, ROUNDS // 2)):
        with bedrock(model):
            bare, ours, scored, empty = (1000 * seconds for seconds in asyncio.run(overhead(rounds)))
        what = f"an answer, the model taking {model * 1000:.0f} ms"
        figures += [Figure(what, "bare boto3", bare, "ms"), Figure(what, "Chie", ours, "ms")]
        figures.append(Figure(f"{what}, added", "Chie", ours - bare, "ms", 5))
        figures.append(Figure(f"{what}, added", "a FastMCP tool that does nothing", empty, "ms"))
        figures.append(Figure(f"{what}, ratio", "Chie", ours / bare, "×", 1.2))
        floor = f"{what}, ratio to boto3 and that tool together"  # no MCP server can add less
        figures.append(Figure(floor, "Chie", ours / (bare + empty), "×", 1.2))
        figures.append(Figure(f"{what}, added by the search for scores", "Chie", scored - ours, "ms"))
    with bedrock(1.0):
        single, many = asyncio.run(at_once())
    what = f"{AT_ONCE} answers at once, ratio to the slowest single one"
    return [*figures, Figure(what, "Chie", many / single, "×", 1.3)]


if __name__ == "__main__":
    print(table(main()))
