"""Start-up time: from spawn to `tools/list` and to the first answer, against an empty FastMCP server."""

import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from bench.figure import Figure
from bench.stdio import Server
from bench.table import table

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
EMPTY_NAME, OURS = "an empty FastMCP server", "Chie"
STEPS = ("spawn to tools/list", "spawn to first answer", "CPU to tools/list", "CPU to first answer")
LIMITS = {STEPS[0]: 1.15}


def measure(command: list[str | Path], tool: str, arguments: dict[str, str], home: str) -> tuple[float, ...]:
    with Server(command, CHIE_HOME=home) as server:
        server.request("tools/list")
        listed, listed_cpu = server.elapsed(), server.cpu()
        server.call(tool, **arguments)
        return listed, server.elapsed(), listed_cpu, server.cpu()


def main() -> list[Figure]:
    """The best of all rounds. Our first call opens the database, loads the model and searches."""
    bin_ = Path(sys.executable).parent
    with tempfile.TemporaryDirectory() as home:
        empty = Path(home) / "empty.py"
        empty.write_text(EMPTY)
        runs: dict[str, list[tuple[float, ...]]] = defaultdict(list)
        for _ in range(ROUNDS):  # alternately, so that load affects both
            runs[EMPTY_NAME].append(measure([sys.executable, empty], "nothing", {}, home))
            runs[OURS].append(measure([bin_ / "knowledge-gateway"], "search_knowledge", {"query": "検索"}, home))
    figures = []
    for at, step in enumerate(STEPS):
        theirs, ours = (min(run[at] for run in runs[who]) for who in (EMPTY_NAME, OURS))
        figures += [Figure(step, EMPTY_NAME, theirs, "s"), Figure(step, OURS, ours, "s")]
        figures.append(Figure(f"{step}, ratio", OURS, ours / theirs, "×", LIMITS.get(step)))
    return figures


if __name__ == "__main__":
    print(table(main()))
