"""`chie doctor`, with and without problems, against real servers."""

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest
from click.testing import CliRunner, Result
from tests.app.processes import BIN, http_server
from tests.fakes.bedrock import refuse, serving
from tests.fakes.embeddings_server import EmbeddingsServer
from tests.fakes.n8n import KEY, FakeN8n
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.postgres import new_database, run_server

from chie.cli import main
from chie.doctor.finding import Finding
from chie.doctor.runner import Check, Report, run_checks
from chie.errors import ServiceError
from chie.installation.commands import install_extra, upgrade_chie
from chie.messages.catalogue import Message

NOWHERE = "http://127.0.0.1:9"
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def isolated_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the developer's own models, MCP clients and credentials."""
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("PATH", str(BIN), prepend=os.pathsep)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setattr("chie.setup.local_servers.LM_STUDIO", f"{NOWHERE}/v1")
    monkeypatch.setattr("chie.setup.local_servers.OLLAMA", f"{NOWHERE}/v1")
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)


def chie(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def findings(*arguments: str) -> dict[str, dict[str, Any]]:
    result = chie("doctor", "--json", *arguments)
    body = json.loads(result.stdout)
    assert result.exit_code == (0 if body["ok"] else 1)
    return {finding["check"]: finding for finding in body["findings"]}


def test_unused_installation_has_no_problems_and_stays_empty(home: Path) -> None:
    found = findings()
    assert {name for name, finding in found.items() if finding["state"] == "problem"} == set()
    assert found["bedrock-kb"]["state"] == found["n8n"]["state"] == found["PostgreSQL"]["state"] == "off"
    assert found["embedding model"]["state"] == "ok"
    assert found["models"]["state"] == "warning"
    assert not home.exists()


def test_installation_in_use_is_summarized(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chie("notes", "save", "x")
    chie("connect", "cursor", "--yes")
    home.joinpath("servers.json").write_text(
        json.dumps(
            {"peer": {"command": sys.executable, "args": ["-m", "tests.fakes.peer", "modern"], "cwd": str(ROOT)}}
        )
    )
    monkeypatch.setenv("N8N_API_KEY", KEY)
    with OpenAIServer(models=("qwen3-8b",)) as model, FakeN8n(2) as n8n, http_server("chie", "serve") as url:
        monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
        monkeypatch.setenv("N8N_URL", n8n.url)
        found = findings("--port", url.rpartition(":")[2])
    states = {name: finding["state"] for name, finding in found.items()}
    assert "problem" not in states.values(), found
    assert found["database"]["code"] == "doctor.database_ok"
    assert found["database"]["params"]["notes"] == 1
    assert found["knowledge"]["message"].startswith("Healthy (notes: 1")
    assert found["OpenAI-compatible server"]["message"] == "Responds. Models: 1, including qwen3-8b."
    assert found["n8n"]["message"] == f"Healthy (n8n: {n8n.url})."
    assert found["MCP server peer"]["params"] == {"count": 11}
    assert found["port"]["message"] == f"Chie is running at {url}."
    assert found["Cursor"]["params"] == {"servers": ["knowledge"]}


def test_each_problem_has_a_fix_and_shows_no_secret(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home.mkdir()
    (home / "chie.db").write_bytes(b"no database at all " * 1000)
    (home / "servers.json").write_text(
        '{"bad": {"command": "/no/such/program"}, "far": {"url": "http://127.0.0.1:9/mcp"}}'
    )
    monkeypatch.setenv("OPENAI_BASE_URL", "http://user:sesame@127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-sesame-sesame")
    monkeypatch.setenv("N8N_URL", NOWHERE)
    monkeypatch.setenv("N8N_API_KEY", "n8n-sesame-sesame")
    monkeypatch.setenv("BEDROCK_KB_ID", "KB12345678")
    monkeypatch.setenv("CHIE_EMBEDDING_URL", f"{NOWHERE}/v1")
    monkeypatch.setenv("CHIE_DATABASE_URL", "postgresql://user:sesame@127.0.0.1:9/chie")
    found = findings()
    fixes = {name: finding["fix"] for name, finding in found.items() if finding["state"] == "problem"}
    assert fixes == {
        "database": "chie restore FILE",
        "PostgreSQL": 'pg_isready --dbname="$CHIE_DATABASE_URL"',
        "embedding model": "unset CHIE_EMBEDDING_URL",
        "knowledge": 'pg_isready --dbname="$CHIE_DATABASE_URL"',
        "bedrock-kb": 'export BEDROCK_KB_ID="…" BEDROCK_MODEL_ARN="…" AWS_REGION="…" AWS_PROFILE="…"',
        "n8n": 'export N8N_URL="…" N8N_API_KEY="…"',
        "OpenAI-compatible server": 'export OPENAI_BASE_URL="http://127.0.0.1:1234/v1"',
        "MCP server bad": f'"${{EDITOR:-vi}}" "{home / "servers.json"}"',
        "MCP server far": f'"${{EDITOR:-vi}}" "{home / "servers.json"}"',
    }
    assert "BEDROCK_MODEL_ARN" in found["bedrock-kb"]["message"]
    lines = chie("doctor").output
    assert "sesame" not in json.dumps(found) + lines
    assert "✗ n8n" in lines
    assert "→ chie restore FILE" in lines
    assert "\x1b[" not in lines


def test_invalid_files_are_reported_with_the_position(home: Path, tmp_path: Path) -> None:
    home.mkdir()
    (home / "agents.json").write_text('{"agents": [\n  {"id": "x" "kind": "openai"}]}')
    config = tmp_path / "user" / ".cursor" / "mcp.json"
    config.parent.mkdir(parents=True)
    config.write_text("{\n  nope\n}")
    found = findings()
    assert found["agents.json, servers.json"]["state"] == "problem"
    assert "line 2, column" in found["agents.json, servers.json"]["message"]
    assert found["Cursor"]["state"] == "warning"
    assert "line 2, column 3" in found["Cursor"]["message"]


def test_client_with_a_missing_program_is_a_problem(tmp_path: Path) -> None:
    chie("connect", "kiro", "--server", "n8n", "--yes")
    config = tmp_path / "user" / ".kiro" / "settings" / "mcp.json"
    config.write_text(config.read_text().replace(str(BIN / "chie"), "/gone/chie"))
    assert findings()["Kiro"]["fix"] == "chie connect kiro --server n8n"


def test_foreign_servers_are_ignored(tmp_path: Path) -> None:
    chie("connect", "kiro", "--http", "https://team.example/notes", "--yes")
    config = tmp_path / "user" / ".kiro" / "settings" / "mcp.json"
    entries = json.loads(config.read_text())["mcpServers"]
    entries |= {
        "notion": {"url": "https://mcp.notion.com/mcp"},
        "files": {"command": "/gone/x", "args": ["/home/chie"]},
    }
    entries |= {"odd": {"command": "x", "args": 5}, "odder": {"url": "http://[host]:1/mcp"}}
    entries |= {"n8n": {"command": ["x"], "url": "http://127.0.0.1:8080/mcp/n8n"}}
    config.write_text(json.dumps({"mcpServers": entries}))
    assert findings()["Kiro"]["message"] == "Connected to knowledge, n8n."


@pytest.mark.parametrize(
    ("statement", "state", "fix"),
    [
        ("PRAGMA user_version = 999", "problem", None),
        ("UPDATE alembic_version SET version_num = '9999'", "problem", None),
        ("UPDATE alembic_version SET version_num = '0000'", "warning", "chie db upgrade"),
    ],
)
def test_schema_of_another_version_is_reported(home: Path, statement: str, state: str, fix: str | None) -> None:
    chie("db", "upgrade")
    with closing(sqlite3.connect(home / "chie.db")) as database, database:
        database.execute(statement)
    found = findings()["database"]
    assert (found["state"], found["fix"]) == (state, fix or upgrade_chie())


def test_database_is_the_file_in_the_url(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home.mkdir()
    (home / "chie.db").write_bytes(b"nobody reads this " * 1000)
    monkeypatch.setenv("CHIE_DATABASE_URL", f"sqlite:///{tmp_path}/team.db")
    chie("notes", "save", "x")
    result = json.loads(chie("doctor", "--json").stdout)
    found = [finding["message"] for finding in result["findings"] if finding["check"] == "database"]
    assert found == [f"{tmp_path}/team.db is intact (notes: 1, conversations: 0, messages: 0)."]


def test_database_readable_by_others_is_reported(home: Path) -> None:
    chie("notes", "save", "x")
    assert "permissions" not in findings()
    home.chmod(0o755)
    (home / "chie.db").chmod(0o644)
    found = findings()["permissions"]
    assert (found["state"], found["fix"]) == ("warning", f'chmod go-rwx "{home / "chie.db"}"*')
    assert (found["code"], found["params"]) == ("doctor.database_readable_by_others", {"path": str(home / "chie.db")})
    home.chmod(0o700)
    assert "permissions" not in findings()


def test_interrupted_restore_is_reported(home: Path) -> None:
    left = home / ".restoring-abc"
    left.mkdir(parents=True)
    found = findings()["home"]
    assert (found["state"], found["fix"]) == ("warning", f'rm -r "{left}"')


@pytest.mark.skipif(os.geteuid() == 0, reason="root can write everywhere")
def test_unwritable_home_is_a_problem(home: Path) -> None:
    home.mkdir()
    home.chmod(0o500)
    assert findings()["home"]["state"] == "problem"


def test_home_below_a_file_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("CHIE_HOME", str(tmp_path / "file" / "home"))
    assert findings()["home"]["fix"] == f'mv "{tmp_path / "file"}" "{tmp_path / "file"}.old"'


def test_invalid_setting_is_a_problem_only_for_its_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("N8N_TIMEOUT", "soon")
    found = findings()
    assert found["n8n"]["state"] == "problem"
    assert "N8N_TIMEOUT" in found["n8n"]["message"]
    assert found["embedding model"]["state"] == "ok"


def test_unreachable_anthropic_url_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-sesame")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", NOWHERE)
    found = findings()
    assert found["Anthropic"]["state"] == "problem"
    assert found["LM Studio"]["state"] == found["Ollama"]["state"] == "off"


def test_missing_package_is_fixed_by_installing_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer(models=("qwen3-8b",)) as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
        monkeypatch.setattr("chie.setup.endpoints.find_spec", lambda _: None)
        assert findings()["OpenAI-compatible server"]["fix"] == install_extra("openai")


def test_bedrock_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEDROCK_KB_ID", "KB12345678")
    monkeypatch.setenv("BEDROCK_MODEL_ARN", "arn:aws:bedrock:us-east-1::foundation-model/m")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAENVIRONMENT00000")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "environment-secret")
    with serving() as bedrock:
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME", bedrock.url)
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK", NOWHERE)
        assert findings()["bedrock-kb"]["state"] == "ok"
        bedrock.replies(refuse(403, "AccessDeniedException"))
        found = findings()
    assert bedrock.operations == ["Retrieve", "Retrieve"]
    assert found["bedrock-kb"]["state"] == "problem"
    assert found["Amazon Bedrock"]["state"] == "problem"
    assert found["Amazon Bedrock"]["fix"] == "aws configure"
    assert "environment-secret" not in json.dumps(found)


def test_embeddings_server_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    with EmbeddingsServer() as server:
        monkeypatch.setenv("CHIE_EMBEDDING_URL", server.url)
        assert findings()["embedding model"]["code"] == "doctor.embedding_ok"


def test_postgres_schema_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    servers = run_server()
    try:
        monkeypatch.setenv("CHIE_DATABASE_URL", new_database(next(servers)))
        assert findings()["PostgreSQL"]["fix"] == "chie db upgrade"
        assert chie("db", "upgrade").exit_code == 0
        assert findings()["PostgreSQL"]["state"] == "ok"
    finally:
        servers.close()  # type: ignore[attr-defined]


@pytest.fixture
def foreign_server() -> Iterator[int]:
    """An HTTP server on the port that is not Chie."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"hi")

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


def test_port_of_another_program_is_reported(foreign_server: int) -> None:
    found = findings("--port", str(foreign_server))["port"]
    assert (found["state"], found["fix"]) == ("warning", "chie serve --port 0")


def test_chie_with_authentication_is_recognized() -> None:
    chie("users", "add", "aki")
    with http_server("chie", "serve") as url:
        assert findings("--port", url.rpartition(":")[2])["port"]["params"] == {"url": url}


OK = Finding("ok", "ok", Message("doctor.agents_ok"))


def run(*checks: Check) -> Report:
    return run_checks(checks)


async def _ok() -> Sequence[Finding]:
    return [OK]


async def _hanging() -> Sequence[Finding]:
    await asyncio.Event().wait()
    return []


async def _broken() -> Sequence[Finding]:
    raise KeyError("a bug, with a secret in it")


async def _failing() -> Sequence[Finding]:
    raise ServiceError("doctor.search_failed", problem="It is down.")


def test_hanging_or_failing_check_does_not_stop_the_others() -> None:
    report = run(
        Check("hanging", _hanging, "kill it", timeout_seconds=0.05),
        Check("broken", _broken, "fix it"),
        Check("failing", _failing, "wait"),
        Check("ok", _ok, ""),
    )
    assert report.findings == [
        Finding("hanging", "problem", Message("doctor.check_timeout", seconds="0.05"), "kill it"),
        Finding("broken", "problem", Message("doctor.check_failed", error="KeyError"), "fix it"),
        Finding("failing", "problem", Message("doctor.search_failed", problem="It is down."), "wait"),
        OK,
    ]
    assert report.unfinished
    assert not report.ok


THREAD = "async def stuck(): await asyncio.to_thread(threading.Event().wait)"
LOOP = "async def stuck(): threading.Event().wait()"
CLIENT_FILES = "from chie.doctor.clients import check_clients as stuck"


@pytest.mark.parametrize(("stuck", "others_seen"), [(THREAD, True), (LOOP, False), (CLIENT_FILES, True)])
def test_hanging_check_does_not_keep_the_process_alive(tmp_path: Path, stuck: str, *, others_seen: bool) -> None:
    """Needs a process of its own, which must exit. One client's file is a pipe without a writer."""
    config = tmp_path / "user" / ".cursor" / "mcp.json"
    config.parent.mkdir(parents=True)
    os.mkfifo(config)
    script = (
        "import threading, asyncio, chie.doctor.cli as cli\n"
        "from chie.doctor.finding import Finding\n"
        "from chie.doctor.runner import Check\n"
        "from chie.messages.catalogue import Message\n"
        "async def first(): return [Finding('first', 'ok', Message('doctor.home_ok', path='came first'))]\n"
        "async def other():\n"
        "    await asyncio.sleep(0.01)\n"
        "    return [Finding('other', 'ok', Message('doctor.home_ok', path='came after'))]\n"
        f"{stuck}\n"
        "runs = {'first': first, 'stuck': stuck, 'other': other}\n"
        "cli.all_checks = lambda port: [Check(name, run, 'wait', timeout_seconds=1) for name, run in runs.items()]\n"
        "cli.doctor([])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert str(Message("doctor.check_timeout", seconds="1")) in done.stdout
    assert "came first" in done.stdout
    assert ("came after" in done.stdout) is others_seen


def test_running_ollama_is_reported_as_running_without_the_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chie.setup.endpoints.find_spec", lambda _: None)
    with OpenAIServer() as ollama:
        monkeypatch.setattr("chie.setup.local_servers.OLLAMA", ollama.base_url)
        found = findings()["Ollama"]
    assert (found["state"], found["code"]) == ("problem", "setup.package_missing")
    assert found["fix"] == install_extra("openai")


@pytest.mark.req("AG-5")
def test_endpoints_of_the_page_are_checked_without_their_keys(home: Path) -> None:
    with OpenAIServer() as peer, http_server("chie", "serve") as url, httpx2.Client(timeout=60) as client:
        for name, at in (("仕事", peer.base_url), ("Down", f"{NOWHERE}/v1")):
            body = {"kind": "openai", "name": name, "url": at, "api_key": "sk-zanzibar-0123456789"}
            assert client.post(f"{url}/api/endpoints", json=body, headers={"Origin": url}).status_code == 201
        found = findings()
        assert (found["仕事"]["state"], found["Down"]["state"]) == ("ok", "problem")
        assert "models" not in found, "a model responds"
        assert "sk-zanzibar" not in json.dumps(found)
        (home / "secret.key").unlink()
        assert "Enter it again" in findings()["仕事"]["message"], "the key cannot be read"
