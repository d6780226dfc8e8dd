"""What `make dist` builds, installed where nothing is, and run as its readers will run it."""

import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from release.build import PLUG_IN, ROOT, Built, build, make_sdist, make_wheel
from tests.fakes.vscode import compose
from tests.real.clients import run

from chie import __version__

pytestmark = [pytest.mark.real, pytest.mark.timeout(600)]

INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
TOOLS = 6


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(tmp_path_factory.mktemp("dist"))


def empty_environment(folder: Path) -> Path:
    """Neither pip nor setuptools in it."""
    venv.create(folder, with_pip=False)
    return folder / "bin" / "python"


def clean(**more: str) -> dict[str, str]:
    """Nothing of this checkout or its environment leads to our source."""
    kept = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}
    return kept | more


def tools_of(command: list[str | Path], folder: Path, **env: str) -> int:
    """Started as a host starts it."""
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        cwd=folder,
        env=clean(**env),
    ) as process:
        assert process.stdin
        assert process.stdout

        def ask(number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
            body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            print(json.dumps(body), file=process.stdin, flush=True)
            answer: dict[str, Any] = json.loads(process.stdout.readline())["result"]  # type: ignore[union-attr]
            return answer

        assert ask(1, "initialize", INITIALIZE)["serverInfo"] == {"name": "knowledge-gateway", "version": __version__}
        print('{"jsonrpc": "2.0", "method": "notifications/initialized"}', file=process.stdin, flush=True)
        count = len(ask(2, "tools/list", {})["tools"])
        saved = ask(3, "tools/call", {"name": "save_knowledge", "arguments": {"content": "包みから取り出した"}})
        assert not saved.get("isError"), saved
        found = ask(4, "tools/call", {"name": "search_knowledge", "arguments": {"query": "取り出す"}})
        assert "包みから取り出した" in found["content"][0]["text"]
        process.stdin.close()
    return count


@contextmanager
def app(command: list[str | Path], folder: Path) -> Iterator[str]:
    process = subprocess.Popen(
        [*command, "serve", "--port", "0"], stdout=subprocess.PIPE, text=True, encoding="utf-8", cwd=folder, env=clean()
    )
    try:
        assert process.stdout
        yield next(word for word in process.stdout.readline().split() if word.startswith("http://"))
    finally:
        process.terminate()
        process.communicate(timeout=20)


def test_the_wheel_runs_where_nothing_else_is(built: Built, tmp_path: Path) -> None:
    python = empty_environment(tmp_path / "env")
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", str(built.wheel)]
    subprocess.run(pip, check=True, env=clean())
    assert tools_of([python.parent / "knowledge-gateway"], tmp_path) == TOOLS
    with app([python.parent / "chie"], tmp_path) as address:
        assert '<div id="root"' in httpx2.get(address).text
        assert httpx2.get(f"{address}/health").json()["servers"]["knowledge"]["status"] == "healthy"
        assert "adk" not in {agent["agent_id"] for agent in httpx2.get(f"{address}/api/agents").json()["agents"]}
    subprocess.run([*pip[:-1], str(built.plug_in)], check=True, env=clean())
    with app([python.parent / "chie"], tmp_path) as address:
        agents = {agent["agent_id"]: agent for agent in httpx2.get(f"{address}/api/agents").json()["agents"]}
    assert agents["adk"]["reason_code"] == "models.api_key_missing"


def test_the_sdist_builds_the_same_package(built: Built, uv: Path, tmp_path: Path) -> None:
    with tarfile.open(built.sdist) as sdist:
        names = {name.split("/", 1)[1].split("/")[0] for name in sdist.getnames()}
    assert names == {"src", "README.md", "LICENSE", "pyproject.toml", "PKG-INFO", ".gitignore"}
    python = empty_environment(tmp_path / "env")
    subprocess.run([uv / "uv", "pip", "install", "--quiet", "--python", python, built.sdist], check=True, env=clean())
    version = subprocess.run([python.parent / "chie", "--version"], capture_output=True, text=True, check=True)
    assert version.stdout.strip() == f"chie, version {__version__}"
    assert tools_of([python.parent / "knowledge-gateway"], tmp_path) == TOOLS


def test_uvx_runs_both_commands_from_the_wheel(built: Built, uv: Path, tmp_path: Path) -> None:
    from_wheel: list[str | Path] = [uv / "uvx", "--quiet", "--from", built.wheel]
    assert tools_of([*from_wheel, "knowledge-gateway"], tmp_path) == TOOLS
    with app([*from_wheel, "chie"], tmp_path) as address:
        assert '<div id="root"' in httpx2.get(address).text


def test_vs_code_starts_the_server_from_server_json(built: Built, uv: Path, tmp_path: Path) -> None:
    """A folder of wheels stands in for the index that will hold the release; dependencies come from the real one."""
    [package] = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))["packages"]
    command = compose(package, {"CHIE_HOME": str(tmp_path / "notes")})
    index = {"UV_FIND_LINKS": str(built.wheel.parent), "UV_CACHE_DIR": str(tmp_path / "cache")}
    words: list[str | Path] = [uv / command.program, *command.arguments]
    assert tools_of(words, tmp_path, **index, **command.environment) == TOOLS
    assert (tmp_path / "notes" / "chie.db").is_file()


def test_the_bundle_is_valid_and_starts(built: Built, uv: Path, tmp_path: Path) -> None:
    home = tmp_path / "mcpb"
    unpacked = tmp_path / "bundle"
    run("mcpb", "unpack", str(built.bundle), str(unpacked), home=home)
    assert "schema validation passes" in run("mcpb", "validate", str(unpacked / "manifest.json"), home=home)
    packed = run("mcpb", "pack", str(unpacked), str(tmp_path / "again.mcpb"), home=home)
    assert f"chie-knowledge@{__version__}" in packed
    assert "Size" in run("mcpb", "info", str(built.bundle), home=home)
    config = json.loads((unpacked / "manifest.json").read_text(encoding="utf-8"))["server"]["mcp_config"]
    words = [word.replace("${__dirname}", str(unpacked)) for word in config["args"]]
    assert tools_of([uv / config["command"], "--quiet", *words], tmp_path) == TOOLS


def test_the_same_source_gives_the_same_files(built: Built, tmp_path: Path) -> None:
    again = (make_wheel(tmp_path), make_sdist(tmp_path), make_wheel(tmp_path, PLUG_IN))
    assert [hashlib.sha256(file.read_bytes()).hexdigest() for file in again] == [
        hashlib.sha256(file.read_bytes()).hexdigest() for file in (built.wheel, built.sdist, built.plug_in)
    ]
    assert re.fullmatch(r"chie-[\d.]+-py3-none-any\.whl", again[0].name)
