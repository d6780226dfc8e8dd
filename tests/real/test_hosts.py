"""knowledge-gateway in Codex and in Gemini CLI, as far as they go without an account: they connect and list."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.app.processes import BIN as OURS
from tests.app.processes import http_server
from tests.real.clients import BIN, run

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]

GATEWAY = str(OURS / "knowledge-gateway")
TOOLS = {
    "save_knowledge",
    "search_knowledge",
    "get_knowledge",
    "list_knowledge",
    "update_knowledge",
    "delete_knowledge",
}


class Codex:
    """`codex app-server`, which editors talk to: JSON, a line each."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def ask(self, number: int, method: str, **params: Any) -> dict[str, Any]:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps({"id": number, "method": method, "params": params}) + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            message = json.loads(line)
            if message.get("id") == number:
                result: dict[str, Any] = message["result"]
                return result
        raise AssertionError("Codex ended")


@contextmanager
def codex(home: Path) -> Iterator[Codex]:
    process = subprocess.Popen(
        [BIN / "codex", "app-server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
        cwd=home,
        env=os.environ | {"HOME": str(home)},
    )
    try:
        client = Codex(process)
        client.ask(1, "initialize", clientInfo={"name": "chie-tests", "title": "tests", "version": "1"})
        yield client
    finally:
        process.kill()
        process.communicate()


def test_codex_starts_the_server_and_lists_all_it_offers(tmp_path: Path, home: Path) -> None:
    config = tmp_path / "codex" / ".codex" / "config.toml"
    config.parent.mkdir(parents=True)
    with http_server("chie", "serve") as address:
        config.write_text(
            f'[mcp_servers.ours]\ncommand = "{GATEWAY}"\nenv = {{ CHIE_HOME = "{home}" }}\nstartup_timeout_sec = 60\n'
            f'[mcp_servers.app]\nurl = "{address}/mcp/knowledge"\nstartup_timeout_sec = 60\n',
            encoding="utf-8",
        )
        listed = run("codex", "mcp", "list", home=tmp_path / "codex")
        with codex(tmp_path / "codex") as client:
            servers = {one["name"]: one for one in client.ask(2, "mcpServerStatus/list")["data"]}
    assert "ours" in listed
    assert set(servers) == {"ours", "app"}
    for server in servers.values():
        assert set(server["tools"]) == TOOLS
        assert server["serverInfo"]["name"] == "knowledge-gateway"
        assert [one["uriTemplate"] for one in server["resourceTemplates"]] == ["note://{id}"]
        assert [one["uri"] for one in server["resources"]] == ["ui://knowledge/search.html"]


def test_gemini_connects_over_stdio_and_http(tmp_path: Path, home: Path) -> None:
    """In a folder that is trusted; it gives a server five seconds unless told otherwise."""
    person = tmp_path / "gemini"
    (person / ".gemini").mkdir(parents=True)
    (person / ".gemini" / "trustedFolders.json").write_text(json.dumps({str(person / "project"): "TRUST_FOLDER"}))
    (person / "project").mkdir()

    def gemini(*words: str) -> str:
        return run("gemini", "mcp", *words, home=person, folder=person / "project")

    with http_server("chie", "serve") as address:
        gemini("add", "--timeout", "60000", "-e", f"CHIE_HOME={home}", "ours", GATEWAY)
        gemini("add", "--timeout", "60000", "--transport", "http", "app", f"{address}/mcp/knowledge")
        listed = gemini("list")
    connected = [line for line in listed.splitlines() if line.startswith("✓") and line.endswith("Connected")]
    assert [line.split(":")[0] for line in connected] == ["✓ ours", "✓ app"], listed
