"""How long a host waits for us: from spawn to `tools/list` and to the first answer, against an empty FastMCP server."""

import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from bench.stdio import Server

ROUNDS = 12
EMPTY = """
from fastmcp import FastMCP
server = FastMCP("empty")
@server.tool
def nothing() -> str:
    "Do nothing."
    return ""
server.run(show_banner=False)
"""
STEPS = ("tools/list", "first call", "CPU to tools/list", "CPU to first call")


def measure(command: list[str | Path], tool: str, arguments: dict[str, str], home: str) -> tuple[float, ...]:
    with Server(command, CHIE_HOME=home) as server:
        server.request("tools/list")
        listed, listed_cpu = server.elapsed(), server.cpu()
        server.call(tool, **arguments)
        return listed, server.elapsed(), listed_cpu, server.cpu()


def main() -> None:
    bin_ = Path(sys.executable).parent
    with tempfile.TemporaryDirectory() as home:
        empty = Path(home) / "empty.py"
        empty.write_text(EMPTY)
        runs: dict[str, list[tuple[float, ...]]] = defaultdict(list)
        for _ in range(ROUNDS):  # taken in turns, so that a busy machine is busy for both
            runs["empty"].append(measure([sys.executable, empty], "nothing", {}, home))
            runs["ours"].append(measure([bin_ / "knowledge-gateway"], "search_knowledge", {"query": "検索"}, home))
    print(f"Best of {ROUNDS}, seconds. The first call of ours opens the database, loads the model and searches.\n")
    print("| | empty FastMCP server | knowledge-gateway | ratio | aim |\n|---|---|---|---|---|")
    for at, step in enumerate(STEPS):
        theirs, ours = (min(run[at] for run in runs[who]) for who in ("empty", "ours"))
        aim = "≤ 1.15" if at == 0 else ""
        print(f"| {step} | {theirs:.2f} | {ours:.2f} | {ours / theirs:.2f} | {aim} |")


if __name__ == "__main__":
    main()
