"""Cold start on Cloud Run: the container's command from its start to /health and to the first tool result, and from
SIGTERM, after which Cloud Run allows ten seconds, to its exit. Against an empty FastMCP server on HTTP.

Notes are in an emulator of Vector Search on loopback. Pulling the image and starting the machine are not measured.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import httpx2
from tests.deploy.container import instruction
from tests.fakes.vector_search import vector_search

from bench.figure import Figure
from chie.knowledge.store.vector_search.config import CollectionConfig
from chie.knowledge.store.vector_search.provision import CollectionProvisioner

STEPS = ("start to /health", "start to the first call", "SIGTERM to the end")
ROUNDS = 6
NAME = "chie.example.run.app"
ACCEPT = {"accept": "application/json, text/event-stream", "host": NAME}
EMPTY = """
import socket, uvicorn
from fastmcp import FastMCP
from starlette.responses import JSONResponse
server = FastMCP("empty")
@server.custom_route("/health", methods=["GET"])
async def health(request):
    return JSONResponse({"status": "healthy"})
@server.tool
def list_knowledge() -> str:
    "Do nothing."
    return ""
listener = socket.create_server(("0.0.0.0", 0))
print(f"http://0.0.0.0:{listener.getsockname()[1]}", flush=True)
app = server.http_app(stateless_http=True, json_response=True)
uvicorn.Server(uvicorn.Config(app, log_config=None)).run(sockets=[listener])
"""


@contextmanager
def started(command: Sequence[str | Path], env: dict[str, str]) -> Iterator[str]:
    process = subprocess.Popen(
        command, env=os.environ | env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        assert process.stdout
        found = re.search(r"http://0\.0\.0\.0:(\d+)", line := process.stdout.readline())
        assert found, line
        yield f"http://127.0.0.1:{found[1]}"
    finally:
        process.terminate()
        process.communicate()


def measure(command: Sequence[str | Path], env: dict[str, str], mcp: str) -> tuple[float, float, float]:
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "list_knowledge", "arguments": {}},
    }
    began = monotonic()
    with started(command, env) as url, httpx2.Client(timeout=60) as client:
        assert client.get(f"{url}/health", headers=ACCEPT).status_code == 200
        healthy = monotonic() - began
        assert client.post(f"{url}{mcp}", json=message, headers=ACCEPT).status_code == 200
        called = monotonic()
    return healthy, called - began, monotonic() - called


def main() -> list[Figure]:
    bin_ = Path(sys.executable).parent
    ours: list[str | Path] = [bin_ / instruction("ENTRYPOINT")[0], "mcp", "knowledge", "--http", "--host", "0.0.0.0"]  # noqa: S104
    app: list[str | Path] = [bin_ / instruction("ENTRYPOINT")[0], *instruction("CMD")]
    with tempfile.TemporaryDirectory() as home, vector_search() as service:
        collection = CollectionConfig(project="p", location="l", collection="notes", emulator=service.address)
        CollectionProvisioner(config=collection).provision()
        empty = Path(home) / "empty.py"
        empty.write_text(EMPTY)
        env = {
            "CHIE_HOME": home,
            "PORT": "0",
            "PYTHONUNBUFFERED": "1",
            "CHIE_KNOWLEDGE_STORE": "vector-search",
            "GOOGLE_CLOUD_PROJECT": collection.project,
            "VECTOR_SEARCH_LOCATION": collection.location,
            "VECTOR_SEARCH_COLLECTION": collection.collection,
            "CHIE_VECTOR_SEARCH_EMULATOR": service.address,
            "CHIE_BEHIND_PROXY_AUTH": "1",
            "CHIE_ALLOWED_HOSTS": NAME,
        }
        runs: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
        for _ in range(ROUNDS):  # alternately, so that load affects all of them
            runs["empty"].append(measure([sys.executable, empty], env, "/mcp"))
            runs["ours"].append(measure(ours, env, "/mcp"))
            runs["app"].append(measure(app, env, "/mcp/knowledge"))
    return [figure for at, step in enumerate(STEPS) for figure in _figures(step, at, runs)]


def _figures(step: str, at: int, runs: Mapping[str, Sequence[tuple[float, float, float]]]) -> list[Figure]:
    """The best of all rounds, because slower ones show the load of the machine."""
    theirs, own, whole = (min(run[at] for run in runs[who]) for who in ("empty", "ours", "app"))
    return [
        Figure(step, "an empty FastMCP server", theirs, "s"),
        Figure(step, "Chie", own, "s"),
        Figure(step, "the whole app", whole, "s"),
        Figure(f"{step}, ratio", "Chie", own / theirs, "×", aim=1.5 if at == 0 else None),
        Figure(f"{step}, ratio", "the whole app", whole / theirs, "×"),
    ]


if __name__ == "__main__":
    main()
