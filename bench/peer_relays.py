"""Chie, LiteLLM's proxy and Open WebUI's back end between the same clients and the same model.

Chie saves everything as in real use; LiteLLM and Open WebUI's `/api/chat/completions` pass the answer on and save
nothing. Open WebUI as its page uses it, where it saves, costs more than is shown here.
"""

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from bench.chat import CHIE, MODEL, RELAY, Server, measure, running
from bench.chat_load import Endpoint, completion
from bench.figure import Figure
from bench.peers import PeerMissingError, installed, last_line, peers
from bench.table import table

ROUNDS = 2
START_TIMEOUT_SECONDS = 600  # Open WebUI takes fifteen CPU seconds, and more on a busy machine
ANSWERED = "start to the first answer, CPU"
LITELLM_ENV = {
    "LITELLM_MODE": "PRODUCTION",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
}
OPEN_WEBUI_ENV = {
    "WEBUI_AUTH": "False",
    "WEBUI_SECRET_KEY": "bench",
    "OFFLINE_MODE": "True",
    "HF_HUB_OFFLINE": "1",
    "ENABLE_OLLAMA_API": "False",
    "RAG_EMBEDDING_ENGINE": "openai",
    "ENABLE_VERSION_UPDATE_CHECK": "False",
}


@contextmanager
def litellm(upstream: str, home: Path) -> Iterator[Server]:
    """The configuration as JSON, which is valid YAML."""
    peer = installed("litellm")
    parameters = {"model": "openai/m", "api_base": f"{upstream}/v1", "api_key": "none"}
    config = home / "litellm.yaml"
    config.write_text(json.dumps({"model_list": [{"model_name": "m", "litellm_params": parameters}]}))
    port = free_port()
    command: list[str | Path] = [
        peer.program,
        "--config",
        config,
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--telemetry",
        "False",
    ]
    endpoint = Endpoint("/v1/chat/completions", completion, b'"content":"', b"[DONE]")
    with started(command, LITELLM_ENV, home, port, "/health/liveliness") as pid:
        yield Server(peer.label, f"http://127.0.0.1:{port}", pid, endpoint)


@contextmanager
def open_webui(upstream: str, home: Path) -> Iterator[Server]:
    peer, port = installed("open-webui"), free_port()
    env = OPEN_WEBUI_ENV | {"DATA_DIR": str(home), "OPENAI_API_BASE_URL": f"{upstream}/v1", "OPENAI_API_KEY": "none"}
    command: list[str | Path] = [peer.program, "serve", "--host", "127.0.0.1", "--port", str(port)]
    with started(command, env, home, port, "/health") as pid:
        url = f"http://127.0.0.1:{port}"
        token = fetch(f"{url}/api/v1/auths/signin", {"email": "", "password": ""})["token"]
        fetch(f"{url}/api/models", token=token)  # it loads its models on the first request for them
        yield Server(peer.label, url, pid, Endpoint("/api/chat/completions", completion, b'"content": "', token=token))


@contextmanager
def started(command: Sequence[str | Path], env: dict[str, str], home: Path, port: int, health: str) -> Iterator[int]:
    """Returns the process once it responds; raises PeerMissingError with the end of its output if it never does."""
    with (home / "output.txt").open("w+b") as output:
        child = subprocess.Popen(command, env=os.environ | env, cwd=home, stdout=output, stderr=subprocess.STDOUT)
        try:
            deadline = time.monotonic() + START_TIMEOUT_SECONDS
            while not answers(f"http://127.0.0.1:{port}{health}"):
                if child.poll() is not None:
                    raise PeerMissingError(f"it does not start: {last_line((home / 'output.txt').read_text())}")
                if time.monotonic() > deadline:
                    raise PeerMissingError(f"it did not respond within {START_TIMEOUT_SECONDS} seconds.")
                time.sleep(0.2)
            yield child.pid
        finally:
            child.kill()
            child.wait()


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310 - loopback
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def fetch(url: str, body: dict[str, str] | None = None, *, token: str = "") -> Any:
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, headers)  # noqa: S310 - loopback
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
        return json.load(answer)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def main() -> list[Figure]:
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        upstream = stack.enter_context(running(MODEL, "upstream"))
        env = {"CHIE_HOME": str(home / "chie")}
        servers = [stack.enter_context(running(RELAY, "relay", upstream.url))]
        servers.append(stack.enter_context(running(CHIE, "app", upstream.url, env=env)))
        missing = []
        for name, start in (("litellm", litellm), ("open-webui", open_webui)):
            (home / name).mkdir()
            print(f"- starting {name}", file=sys.stderr, flush=True)
            try:
                servers.append(stack.enter_context(start(upstream.url, home / name)))
            except PeerMissingError as error:
                missing.append(Figure(ANSWERED, peers()[name].label, None, why=str(error)))
        begun = [Figure(ANSWERED, server.name, server.cpu, "s") for server in servers]
        return [*asyncio.run(measure([upstream, *servers], rounds=ROUNDS)), *begun, *missing]


if __name__ == "__main__":
    print(table(main()))
