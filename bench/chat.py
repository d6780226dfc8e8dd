"""The cost of saving every token: Chie against a bare relay in front of the same model, in one run.

`chat` is the chat module with an agent that does what the relay does; `Chie` is the whole app with its own agent.

    python -m bench.chat [--postgres] [--quick] [--before PROGRAM]

Everything is saved as in real use. The relay uses FastAPI and the same SDK, and saves nothing. `--before` adds another
version of Chie, such as `/tmp/before/.venv/bin/chie`, to the same run.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench import process
from bench.chat_load import ASSISTANT, CHAT, OPENAI, Endpoint, Load, ask, count_kept
from bench.figure import Figure
from bench.startup import EMPTY, EMPTY_NAME
from bench.startup import measure as start_mcp
from bench.table import table

TOKENS, PAUSE = 100, 20
STREAMS = (1, 16, 64)
TURNS, LONG_TURNS = 20, 3
LONG_TOKENS, SHORT_PAUSE = 700, 5
TITLE_SECONDS = 2  # after the last answer; titles wait for answers
NEW_TOKENS = 20
SHORT_LOADS = 10
START_ROUNDS = 3
ENDPOINTS = {"upstream": OPENAI, "app": ASSISTANT}
MODEL, RELAY, CHAT_MODULE, CHIE = "the model itself", "bare relay, saves nothing", "chat", "Chie"
BEFORE = "Chie before"
PROGRAM = Path(sys.executable).parent / "chie"
FIRST_AIMS = {1: 8, 64: 200}
CPU_AIM, TURN_AIM, START_AIM, IDLE_AIM, NEW_AIM = 250, 15, 1.5, 130, 1.2
SETTLE_SECONDS = 5  # a server that has printed its URL may still be loading


@dataclass(frozen=True)
class Server:
    name: str
    url: str
    pid: int
    endpoint: Endpoint = CHAT

    @property
    def saves(self) -> bool:
        return self.name in (CHAT_MODULE, CHIE)

    @property
    def cpu(self) -> float:
        return process.cpu(self.pid)

    @property
    def rss(self) -> float:
        return process.rss(self.pid)

    async def ask(self, tokens: int = TOKENS, pause: int = PAUSE) -> tuple[int, float, bool]:
        stream = await ask(self.url, self.endpoint, tokens, pause)
        return stream.tokens, stream.first, stream.done


@contextmanager
def running(
    name: str, kind: str, *arguments: str, env: dict[str, str] | None = None, workers: int = 1, program: Path = PROGRAM
) -> Iterator[Server]:
    """Starts a process that prints its URL."""
    command = [sys.executable, "-m", "bench.chat_servers", kind, *arguments]
    if kind == "app":
        command = [str(program), "serve", "--port", "0", "--workers", str(workers)]
        env = (env or {}) | {"OPENAI_BASE_URL": f"{arguments[0]}/v1"}
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | (env or {}))
    try:
        assert child.stdout is not None
        url = next(word for word in child.stdout.readline().split() if word.startswith("http"))
        yield Server(name, url, child.pid, ENDPOINTS.get(kind, CHAT))
    finally:
        child.terminate()
        child.wait(timeout=30)


async def load(server: Server, streams: int, tokens: int = TOKENS) -> Load:
    before = server.cpu
    found = await asyncio.gather(*(ask(server.url, server.endpoint, tokens, PAUSE) for _ in range(streams)))
    return Load(found, server.cpu - before, tokens)


async def turns(server: Server, count: int, tokens: int = 1, pause: int = 0) -> float:
    """CPU milliseconds of a turn, in sequence. What a session's first answer leads to, such as a title, comes after the
    last of them, since it waits for answers."""
    await asyncio.sleep(TITLE_SECONDS)
    before = server.cpu
    for _ in range(count):
        await server.ask(tokens, pause)
    return (server.cpu - before) / count * 1_000


async def _turns(servers: Sequence[Server], rounds: int) -> list[Figure]:
    """What a turn costs with all that it leads to, and what each token adds to it."""
    whole: dict[str, list[float]] = {server.name: [] for server in servers}
    further: dict[str, list[float]] = {server.name: [] for server in servers}
    for _ in range(rounds):
        for server in servers:
            before = server.cpu
            await turns(server, TURNS)
            await asyncio.sleep(TITLE_SECONDS)
            whole[server.name].append((server.cpu - before) / TURNS * 1_000)
            costs = [await turns(server, LONG_TURNS, tokens, SHORT_PAUSE) for tokens in (TOKENS, LONG_TOKENS)]
            further[server.name].append((costs[1] - costs[0]) / (LONG_TOKENS - TOKENS) * 1_000)
    figures = []
    for server in servers:
        figures.append(_of(server, "CPU a turn of one token", median(whole[server.name]), "ms", TURN_AIM))
        figures.append(_of(server, "CPU of each further token, 1 stream", median(further[server.name]), "µs"))
    return figures


async def measure(servers: list[Server], *, rounds: int) -> list[Figure]:
    """The first server is the model itself. All are measured alternately, so that load affects all of them."""
    await asyncio.sleep(SETTLE_SECONDS)
    idle = [_of(server, "memory, idle", server.rss, "MB", IDLE_AIM) for server in servers[1:]]
    for server in servers:
        tokens, _, done = await server.ask(3, 0)  # keep first-use costs out of the figures
        assert (tokens, done) == (3, True), f"{server.name} gave {tokens} tokens of 3"
    first = [_of(server, "memory, after the first answer", server.rss, "MB") for server in servers[1:]]
    loads = [figure for streams in STREAMS for figure in await _loads(servers, streams, rounds)]
    turn = await _turns(servers[1:], rounds)
    after = [_of(server, "memory, after the load", server.rss, "MB") for server in servers[1:]]
    return [*loads, *turn, *idle, *first, *after]


async def _loads(servers: list[Server], streams: int, rounds: int) -> list[Figure]:
    found: dict[str, list[Load]] = {server.name: [] for server in servers}
    for _ in range(rounds):
        for server in servers:
            found[server.name].append(await load(server, streams))
        if streams == 1:  # a single first token is mostly chance
            for server in servers * SHORT_LOADS:
                found[server.name].append(await load(server, 1, NEW_TOKENS))
    first = {name: median(one.first for one in loads) for name, loads in found.items()}
    direct, many = first[servers[0].name], f"{streams} stream{'s' * (streams > 1)}"
    figures = []
    for server in servers:
        loads, last = found[server.name], streams == STREAMS[-1]
        cost = min(one.cpu_per_token for one in loads if one.tokens == TOKENS)
        added = first[server.name] - direct
        figures.append(Figure(f"first token, {many}", server.name, first[server.name], "ms"))
        if server is not servers[0]:
            figures.append(_of(server, f"first token, {many}, added", added, "ms", FIRST_AIMS.get(streams)))
        figures.append(_of(server, f"CPU a token, {many}", cost, "µs", CPU_AIM if last else None))
        if last:
            figures.append(_of(server, f"answers lost, {many}", sum(one.lost for one in loads), "", 0))
    return figures


def _of(server: Server, what: str, value: float, unit: str, aim: float | None = None) -> Figure:
    """Only Chie has aims."""
    return Figure(what, server.name, value, unit, aim if server.name == CHIE else None)


async def new_sessions(servers: Sequence[Server], *, rounds: int, streams: int = STREAMS[-1]) -> list[Figure]:
    """Every stream starts a session. The first server is the model itself, the second the relay, the last is Chie."""
    what, chie = f"{streams} new sessions at once", servers[-1]
    loads: dict[str, list[Load]] = {server.name: [] for server in servers}
    before = await count_kept(chie.url)
    for _ in range(rounds):
        for server in servers:
            loads[server.name].append(await load(server, streams, NEW_TOKENS))
    kept = await count_kept(chie.url) - before
    first = {name: median(one.first for one in found) for name, found in loads.items()}
    added = {server.name: first[server.name] - first[servers[0].name] for server in servers[1:]}
    figures = [Figure(f"{what}, first token added", name, value, "ms") for name, value in added.items()]
    for server in servers[2:]:
        ratio = added[server.name] / added[servers[1].name]
        figures.append(_of(server, f"{what}, first token added, ratio to the relay", ratio, "×", NEW_AIM))
    for server in servers[1:]:
        cost = min(one.cpu for one in loads[server.name]) / streams * 1_000
        figures.append(Figure(f"{what}, CPU of each", server.name, cost, "ms"))
    expected = rounds * streams * sum(server.saves for server in servers)
    return [*figures, Figure(f"{what}, lost", chie.name, expected - kept, "", 0)]


def start_up(folder: Path, env: dict[str, str], upstream: str) -> list[Figure]:
    """The best of all rounds; a first start has an empty home folder. An empty FastMCP server is the lower bound."""
    empty = folder / "empty.py"
    empty.write_text(EMPTY)
    names = [f"{which} start to the first answer, CPU" for which in ("first", "next")]
    found: dict[str, list[float]] = {name: [] for name in (EMPTY_NAME, *names)}
    for number in range(START_ROUNDS):
        found[EMPTY_NAME].append(start_mcp([sys.executable, empty], "nothing", {}, str(folder))[-1])
        for what in names:
            with running(CHIE, "app", upstream, env=env | {"CHIE_HOME": str(folder / f"start-{number}")}) as chie:
                asyncio.run(count_kept(chie.url))
                found[what].append(chie.cpu)
    figures = [Figure(what, CHIE, min(found[what]), "s", START_AIM) for what in names]
    return [Figure(names[0], EMPTY_NAME, min(found[EMPTY_NAME]), "s"), *figures]


def main() -> list[Figure]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--postgres", action="store_true", help="keep conversations in PostgreSQL")
    parser.add_argument("--quick", action="store_true", help="one round instead of three")
    parser.add_argument("--before", type=Path, metavar="PROGRAM", help="the `chie` of another version to compare with")
    options, _ = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder, running(MODEL, "upstream") as upstream, ExitStack() as stack:
        env = {"CHIE_HOME": str(Path(folder) / "home")}
        if options.postgres:
            from tests.fakes.postgres import start_server

            env["CHIE_DATABASE_URL"] = start_server(Path(folder) / "pg", cleanup_mode="stop").get_uri()
        start = start_up(Path(folder), env, upstream.url)
        servers = [
            stack.enter_context(running(name, kind, upstream.url, env=env))
            for name, kind in {RELAY: "relay", CHAT_MODULE: "chie"}.items()
        ]
        if options.before:  # with a home of its own: it would not understand the other's database
            own = {"CHIE_HOME": str(Path(folder) / "before")}
            servers.append(stack.enter_context(running(BEFORE, "app", upstream.url, env=own, program=options.before)))
        servers.append(stack.enter_context(running(CHIE, "app", upstream.url, env=env)))
        rounds = 1 if options.quick else 3
        figures = asyncio.run(measure([upstream, *servers], rounds=rounds))
        return [*figures, *asyncio.run(new_sessions([upstream, *servers], rounds=rounds)), *start]


if __name__ == "__main__":
    print(table(main()))
