"""The whole app: its page, its health and its error responses."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.app.processes import BIN, http_server
from tests.fakes import patient

from chie.app import create_app
from chie.errors import ConfigurationError
from chie.knowledge.server import create_server
from chie.mcp_kit.server import Server
from chie.servers import SERVERS, load_servers

ADDRESS = "http://127.0.0.1:8080"

Servers = dict[str, Server | ConfigurationError]


def test_plain_start_page_without_a_built_page(tmp_path: Path) -> None:
    with TestClient(create_app({"knowledge": create_server()}, page=tmp_path), base_url=ADDRESS) as client:
        page = client.get("/")
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert f"claude mcp add --scope user --transport http knowledge {ADDRESS}/mcp/knowledge" in page.text
        assert "MCP クライアントを接続する" in page.text
        assert f"{BIN / 'chie'} notes search" in page.text  # in a clone, chie is not on the PATH
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert page.headers["x-content-type-options"] == "nosniff"


def test_start_page_shows_the_public_url_behind_tls(tmp_path: Path) -> None:
    with TestClient(create_app({"knowledge": create_server()}, page=tmp_path), base_url=ADDRESS) as client:
        page = client.get("/", headers={"x-forwarded-proto": "https"})
    assert "knowledge https://127.0.0.1:8080/mcp/knowledge" in page.text


def test_health_shows_the_state_of_each_server() -> None:
    servers: Servers = {"knowledge": create_server(), "other": ConfigurationError("access.allowed_hosts_missing")}
    with TestClient(create_app(servers), base_url=ADDRESS) as client:
        assert client.get("/health").json() == {
            "status": "healthy",
            "servers": {
                "knowledge": {"status": "healthy", "notes": 0, "search": "by meaning and by words"},
                "chat": {"status": "healthy", "sessions": 0},
                "other": {"status": ConfigurationError("access.allowed_hosts_missing").message},
            },
        }


def test_requests_to_an_included_router_are_counted_under_the_full_path() -> None:
    with TestClient(create_app({"knowledge": create_server()}), base_url=ADDRESS) as client:
        client.get("/api/knowledge/k-nobody")
        counted = client.get("/metrics").text
    assert 'chie_http_requests_total{method="GET",route="/api/knowledge/{note_id}",status="404"} 1.0' in counted


def test_unconfigured_server_responds_503_and_the_others_work() -> None:
    servers: Servers = {"other": ConfigurationError("access.allowed_hosts_missing"), "knowledge": create_server()}
    with TestClient(create_app(servers), base_url=ADDRESS) as client:
        answer = client.post("/mcp/other", json={})
        assert (answer.status_code, answer.json()["code"]) == (503, "access.allowed_hosts_missing")
        listed = client.post(
            "/mcp/knowledge",
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
            headers={"accept": "application/json, text/event-stream"},
        )
        assert len(listed.json()["result"]["tools"]) == 6


def test_unknown_path_is_a_json_404() -> None:
    with TestClient(create_app({}), base_url=ADDRESS) as client:
        answer = client.get("/nowhere")
        assert (answer.status_code, answer.json()) == (
            404,
            {
                "detail": "Nothing is at this path. `GET /docs` lists all paths.",
                "code": "http.path_not_found",
                "params": {},
            },
        )


@pytest.mark.parametrize("path", ["/", "/health", "/mcp/knowledge"])
def test_foreign_host_and_origin_are_rejected(path: str) -> None:
    with http_server("chie", "serve") as address:
        strange = patient.get(f"{address}{path}", headers={"host": "evil.example"})
        foreign = patient.get(f"{address}{path}", headers={"origin": "http://evil.example"})
        assert (strange.status_code, foreign.status_code) == (421, 403)
        assert strange.json()["code"] == "access.host_not_allowed"
        assert foreign.json()["code"] == "access.origin_not_allowed"


def test_every_server_is_created_or_names_its_missing_settings() -> None:
    servers = load_servers()
    missing = {name: error.message for name, error in servers.items() if isinstance(error, ConfigurationError)}
    assert set(servers) == set(SERVERS)
    assert isinstance(servers["knowledge"], Server)
    assert missing == {
        "bedrock-kb": "not configured: BEDROCK_KB_ID, BEDROCK_MODEL_ARN",
        "n8n": "not configured: N8N_URL, N8N_API_KEY",
    }
