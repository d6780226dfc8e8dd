"""The whole house behind one door."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.app.processes import http_server
from tests.fakes import patient

from chie.app import create_app
from chie.errors import ConfigurationError
from chie.knowledge.server import create_server
from chie.mcp_kit.server import Server
from chie.servers import SERVERS, load_servers

ADDRESS = "http://127.0.0.1:8080"

Rooms = dict[str, Server | ConfigurationError]


def test_where_no_page_was_built_a_plain_one_says_how_to_connect_in_both_languages(tmp_path: Path) -> None:
    with TestClient(create_app({"knowledge": create_server()}, page=tmp_path), base_url=ADDRESS) as client:
        page = client.get("/")
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert f"claude mcp add --transport http knowledge {ADDRESS}/mcp/knowledge" in page.text
        assert "MCP クライアントを接続する" in page.text
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert page.headers["x-content-type-options"] == "nosniff"


def test_behind_tls_the_plain_page_names_the_address_that_people_see(tmp_path: Path) -> None:
    with TestClient(create_app({"knowledge": create_server()}, page=tmp_path), base_url=ADDRESS) as client:
        page = client.get("/", headers={"x-forwarded-proto": "https"})
    assert "knowledge https://127.0.0.1:8080/mcp/knowledge" in page.text


def test_health_tells_each_rooms_state() -> None:
    rooms: Rooms = {"knowledge": create_server(), "other": ConfigurationError("not configured: OTHER_URL")}
    with TestClient(create_app(rooms), base_url=ADDRESS) as client:
        assert client.get("/health").json() == {
            "status": "healthy",
            "servers": {
                "knowledge": {"status": "healthy", "notes": 0, "search": "by meaning and by words"},
                "chat": {"status": "healthy", "sessions": 0},
                "other": {"status": "not configured: OTHER_URL"},
            },
        }


def test_requests_to_a_rooms_page_are_counted_under_their_whole_path() -> None:
    with TestClient(create_app({"knowledge": create_server()}), base_url=ADDRESS) as client:
        client.get("/api/knowledge/k-nobody")
        counted = client.get("/metrics").text
    assert 'chie_http_requests_total{method="GET",route="/api/knowledge/{note_id}",status="404"} 1.0' in counted


def test_a_room_that_is_not_configured_says_so_and_keeps_nobody_else_closed() -> None:
    rooms: Rooms = {"other": ConfigurationError("not configured: OTHER_URL"), "knowledge": create_server()}
    with TestClient(create_app(rooms), base_url=ADDRESS) as client:
        answer = client.post("/mcp/other", json={})
        assert (answer.status_code, answer.json()) == (503, {"detail": "not configured: OTHER_URL"})
        listed = client.post(
            "/mcp/knowledge",
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
            headers={"accept": "application/json, text/event-stream"},
        )
        assert len(listed.json()["result"]["tools"]) == 6


def test_an_unknown_path_is_a_plain_json_error() -> None:
    with TestClient(create_app({}), base_url=ADDRESS) as client:
        answer = client.get("/nowhere")
        assert (answer.status_code, answer.json()) == (
            404,
            {"detail": "nothing is at this path. GET /docs shows what there is."},
        )


@pytest.mark.parametrize("path", ["/", "/health", "/mcp/knowledge"])
def test_a_foreign_host_is_refused_on_every_surface(path: str) -> None:
    with http_server("chie", "serve") as address:
        strange = patient.get(f"{address}{path}", headers={"host": "evil.example"})
        foreign = patient.get(f"{address}{path}", headers={"origin": "http://evil.example"})
        assert (strange.status_code, foreign.status_code) == (421, 403)
        assert "not an address of Chie" in strange.json()["detail"]
        assert "another web site" in foreign.json()["detail"]


def test_every_server_that_is_listed_is_made_or_says_what_it_lacks() -> None:
    rooms = load_servers()
    lacking = {name: room.message for name, room in rooms.items() if isinstance(room, ConfigurationError)}
    assert set(rooms) == set(SERVERS)
    assert isinstance(rooms["knowledge"], Server)
    assert lacking == {
        "bedrock-kb": "not configured: BEDROCK_KB_ID, BEDROCK_MODEL_ARN",
        "n8n": "not configured: N8N_URL, N8N_API_KEY",
    }
