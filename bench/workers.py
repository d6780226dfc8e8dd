"""Throughput and cost of several processes: `chie serve --workers` 1, 2 and 4 on one PostgreSQL, against one worker.

    python -m bench.workers [--quick]

The steady load is that of `bench.chat`; the full load is a model that never pauses, so that Chie is what is slow.
Then two processes on one database: how much later a reader sees a token through the process that does not write the
answer, and how long a stop through it takes, against the process that does.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from statistics import median

from bench.chat import PAUSE, TOKENS, Server, running
from bench.chat_load import CHAT, Load, ask, send
from bench.figure import Figure
from bench.process import TICK

WORKERS = (1, 2, 4)
STREAMS = 64
FULL_STREAM_TOKENS = 400  # without a pause
TRIES = 20

FIRST = "first token, 64 streams"
CPU = "CPU a token, 64 streams"
SPEED = "tokens a second, the model never pausing"

_names = count()


@dataclass
class Group:
    """A supervisor and its workers; one process alone is its own worker."""

    server: Server

    @property
    def workers(self) -> list[Server]:
        children = Path(f"/proc/{self.server.pid}/task/{self.server.pid}/children").read_text(encoding="ascii").split()
        return [replace(self.server, name="worker", pid=int(pid)) for pid in children if _is_worker(pid)] or [
            self.server
        ]

    @property
    def cpu(self) -> float:
        return sum(worker.cpu for worker in self.workers)

    @property
    def memory(self) -> list[tuple[float, float]]:
        """Resident and proportional MB of each worker."""
        return [(worker.rss, _proportional(worker.pid)) for worker in self.workers]


def _is_worker(pid: str) -> bool:
    return b"serve" in Path(f"/proc/{pid}/cmdline").read_bytes()


def _proportional(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1_024


def cpu_of_tree(pid: int) -> float:
    """PostgreSQL's own share: the server and its backends, including those that have ended."""
    total = 0.0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8", errors="replace").rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            total += int(fields[11]) + int(fields[12])
        elif int(stat.parent.name) == pid:
            total += sum(int(fields[at]) for at in (11, 12, 13, 14))
    return total / TICK


async def load(group: Group, tokens: int, pause: int) -> tuple[Load, float]:
    """The load and how long it took."""
    before, began = group.cpu, time.perf_counter()
    found = await asyncio.gather(*(ask(group.server.url, CHAT, tokens, pause) for _ in range(STREAMS)))
    return Load(found, group.cpu - before, tokens), time.perf_counter() - began


async def measure(group: Group, postgres: int, rounds: int) -> dict[str, tuple[float, str]]:
    """The figures for one number of workers, each with its unit."""
    await asyncio.gather(*(ask(group.server.url, CHAT, 3, 0) for _ in range(16)))
    idle = group.memory
    base = cpu_of_tree(postgres)
    steady = [(await load(group, TOKENS, PAUSE))[0] for _ in range(rounds)]
    database = (cpu_of_tree(postgres) - base) / (rounds * STREAMS * TOKENS) * 1_000_000
    full = [await load(group, FULL_STREAM_TOKENS, 0) for _ in range(rounds)]
    return {
        FIRST: (median(one.first for one in steady), "ms"),
        CPU: (min(one.cpu_per_token for one in steady), "µs"),
        "PostgreSQL's CPU a token": (database, "µs"),
        SPEED: (max(STREAMS * FULL_STREAM_TOKENS / seconds for _, seconds in full), ""),
        "tokens lost": (float(sum(one.lost for one in [*steady, *(one for one, _ in full)])), ""),
        "memory of a worker, idle": (median(one for one, _ in idle), "MB"),
        "memory of a worker": (median(one for one, _ in group.memory), "MB"),
        "of which its own": (median(one for _, one in group.memory), "MB"),
    }


async def across(writer: Server, other: Server) -> list[Figure]:
    """Measures a reader and a stop through each of the two processes."""
    found = []
    for name, through in (("the process that writes", writer), ("another process", other)):
        delays = [await _delay(writer, through) for _ in range(TRIES)]
        stops = [await _stop(writer, through) for _ in range(TRIES)]
        found += [
            Figure("delay of a token behind the client that asked", name, median(delays) * 1_000, "ms"),
            Figure("an answer is stopped in", name, median(stops) * 1_000, "ms"),
        ]
    return found


async def _delay(writer: Server, through: Server) -> float:
    """How much later a second reader gets the tenth token than the client that asked."""

    async def tenth(reader: asyncio.StreamReader) -> float:
        seen = 0
        while seen < 10 and (line := await reader.readline()):
            seen += line.startswith(b"event: message")
        return time.perf_counter()

    async def work(message_id: str, asked: asyncio.StreamReader) -> float:
        followed, writing = await send(through.url, "GET", f"/api/chat/stream/{message_id}", None)
        first, second = await asyncio.gather(tenth(asked), tenth(followed))
        writing.close()
        return second - first

    return await _with_answer(writer, 15, work)


async def _stop(writer: Server, through: Server) -> float:
    async def work(message_id: str, asked: asyncio.StreamReader) -> float:
        await asked.readuntil(b"event: message")
        began = time.perf_counter()
        answered, writing = await send(through.url, "POST", f"/api/chat/{message_id}/stop", {})
        body = (await answered.read()).split(b"\r\n\r\n", 1)[1]
        writing.close()
        assert json.loads(body)["status"] == "stopped", body
        return time.perf_counter() - began

    return await _with_answer(writer, 500, work)


async def _with_answer(
    writer: Server, tokens: int, work: Callable[[str, asyncio.StreamReader], Awaitable[float]]
) -> float:
    asked, writing = await send(writer.url, "POST", "/api/chat/stream", {"message": f"{tokens} {PAUSE}"})
    try:
        head = (await asked.readuntil(b"\r\n\r\n")).decode()
        message_id = next(line.split(": ")[1] for line in head.split("\r\n") if line.startswith("x-chie-message"))
        return await work(message_id, asked)
    finally:
        writing.close()


def main() -> list[Figure]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one round instead of three")
    options, _ = parser.parse_known_args()
    rounds = 1 if options.quick else 3
    from tests.fakes.postgres import start_server

    with tempfile.TemporaryDirectory() as folder, running("upstream", "upstream") as upstream, ExitStack() as stack:
        server = start_server(Path(folder) / "pg", cleanup_mode="delete")
        stack.callback(server.cleanup)

        def environment() -> dict[str, str]:
            name = f"bench_{next(_names)}"
            server.psql(f"CREATE DATABASE {name};")
            return {"CHIE_HOME": str(Path(folder) / name), "CHIE_DATABASE_URL": server.get_uri(name)}

        found: list[Figure] = []
        alone: dict[str, tuple[float, str]] = {}
        for workers in WORKERS:
            with running("app", "app", upstream.url, env=environment(), workers=workers) as app:
                values = asyncio.run(measure(Group(app), server.get_pid() or 0, rounds))
            who = f"{workers} worker{'s' * (workers > 1)}"
            found += [Figure(what, who, value, unit) for what, (value, unit) in values.items()]
            alone = alone or values
            found += [
                Figure(f"{what}, ratio to one", who, values[what][0] / alone[what][0], "×") for what in (CPU, SPEED)
            ]
        env = environment()
        with (
            running("app", "app", upstream.url, env=env) as writer,
            running("app", "app", upstream.url, env=env) as other,
        ):
            return [*found, *asyncio.run(across(writer, other))]


if __name__ == "__main__":
    main()
