"""Real processes: stdout is only JSON-RPC, logs are files, and neither contains keys."""

import json
from pathlib import Path

import pytest
from tests.app.processes import StdioServer, http_server
from tests.fakes import patient
from tests.fakes.n8n import KEY, FakeN8n
from tests.n8n.caller import order_flow

from chie.files import MAX_LOG_BYTES


@pytest.fixture(autouse=True)
def configured(fake: FakeN8n, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("N8N_URL", fake.url)
    monkeypatch.setenv("N8N_API_KEY", KEY)


@pytest.mark.req("NW-9", "NW-10", "NW-8")
def test_stdout_is_the_protocol_and_errors_go_to_a_log_file(fake: FakeN8n, home: Path, tmp_path: Path) -> None:
    workflow = fake.add_workflow(**order_flow())
    with StdioServer("n8n-mcp-server") as server:
        assert len(server.request("tools/list")["tools"]) == 22
        found = server.call("get_workflow", id=workflow["id"])
        assert json.loads(found["content"][0]["text"])["name"] == "注文 flow"
        missing = server.call("get_workflow", id="missing")
        assert missing["isError"] is True
        assert missing["structuredContent"]["error_type"] == "NotFoundError"
        rest, errors = server.stop()
    assert (rest, errors) == ("", "")
    assert not (tmp_path / "logs").exists()
    assert home.stat().st_mode & 0o777 == 0o700
    lines = (home / "logs" / "n8n.log").read_text(encoding="utf-8").splitlines()
    (line,) = [json.loads(line) for line in lines]
    assert line["level"] == "ERROR"
    assert line["message"].startswith("[get_workflow] Error: Workflow 'missing' not found.")
    assert "Traceback" in line["stack"]
    assert KEY not in "".join(lines)


@pytest.mark.req("NW-10")
def test_log_folder_can_be_configured(monkeypatch: pytest.MonkeyPatch, home: Path, tmp_path: Path) -> None:
    monkeypatch.setenv("CHIE_LOG_DIR", str(tmp_path / "elsewhere"))
    with StdioServer("chie", "mcp", "n8n") as server:
        server.call("get_execution", id="7")
        server.stop()
    assert "[get_execution] Error" in (tmp_path / "elsewhere" / "n8n.log").read_text(encoding="utf-8")
    assert not (tmp_path / "logs").exists()
    assert not (home / "logs").exists()


@pytest.mark.req("NW-10")
def test_env_file_of_the_open_folder_does_not_move_the_log(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CHIE_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / ".env").write_text(f"CHIE_HOME={home}\n", encoding="utf-8")
    with StdioServer("n8n-mcp-server") as server:
        server.call("get_execution", id="7")
        server.stop()
    assert "[get_execution] Error" in (tmp_path / "data" / "chie" / "logs" / "n8n.log").read_text(encoding="utf-8")
    assert not home.exists()


@pytest.mark.req("NW-10-2")
@pytest.mark.parametrize("by_app", [False, True])
def test_log_is_neither_rotated_nor_deleted(by_app: bool, home: Path) -> None:
    log = home / "logs" / "n8n.log"
    log.parent.mkdir(parents=True)
    with log.open("wb") as file:
        file.truncate(MAX_LOG_BYTES + 1)  # another log is rotated at this size
    if by_app:
        with http_server("chie", "serve") as url:
            assert patient.get(f"{url}/api/n8n/workflows/missing").status_code == 404
    else:
        with StdioServer("chie", "mcp", "n8n") as server:
            server.call("get_workflow", id="missing")
            server.stop()
    assert log.stat().st_size > MAX_LOG_BYTES + 100
    assert not list(log.parent.glob("n8n.log.*"))


@pytest.mark.req("NW-10", "NW-8")
def test_serve_writes_the_errors_to_the_log_file_too(home: Path, tmp_path: Path) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    with http_server("chie", "serve") as url:
        answer = patient.post(
            f"{url}/mcp/n8n",
            json={**call, "params": {"name": "get_workflow", "arguments": {"id": "missing"}}},
            headers={"accept": "application/json, text/event-stream"},
        )
        assert answer.json()["result"]["isError"] is True
        assert patient.get(f"{url}/api/n8n/workflows/missing").status_code == 404
    line, page = map(json.loads, (home / "logs" / "n8n.log").read_text(encoding="utf-8").splitlines())
    assert page["message"].startswith("[draw_workflow] Error: Workflow 'missing' not found.")
    assert (page["level"], page["logger"], "Traceback" in page["stack"]) == ("ERROR", "chie.n8n.api_errors", True)
    assert (line["level"], line["logger"]) == ("ERROR", "chie.n8n.tool")
    assert line["message"].startswith("[get_workflow] Error: Workflow 'missing' not found.")
    assert "Traceback" in line["stack"]
    assert not (tmp_path / "logs").exists()


def test_server_works_without_a_writable_log(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file where a folder should be", encoding="utf-8")
    monkeypatch.setenv("CHIE_LOG_DIR", str(tmp_path / "file" / "logs"))
    with StdioServer("n8n-mcp-server") as server:
        assert server.call("n8n_health")["isError"] is False
        _, errors = server.stop()
    assert "logging to stderr instead" in errors


@pytest.mark.req("NW-9")
def test_http_for_development(fake: FakeN8n) -> None:
    with http_server("n8n-mcp-server", "--http") as url:
        listed = patient.post(
            f"{url}/mcp",
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_workflows"}},
            headers={"accept": "application/json, text/event-stream"},
        ).json()
        health = patient.get(f"{url}/health")
    assert json.loads(listed["result"]["content"][0]["text"])["count"] == 0
    assert health.json() == {"status": "healthy", "n8n": fake.url}


def test_unconfigured_process_names_the_missing_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("N8N_API_KEY")
    server = StdioServer("n8n-mcp-server")
    out, errors = server.process.communicate(timeout=60)
    assert (out, errors) == ("", "Error: not configured: N8N_API_KEY\n")
