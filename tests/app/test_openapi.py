"""The OpenAPI document of the whole app is correct. The chat's part has a test of its own, with more examples."""

from collections.abc import Iterator

import pytest
from tests.app.processes import http_server
from tests.bedrock_kb.conftest import KB_ID, MODEL_ARN
from tests.contract.openapi import try_routes
from tests.fakes.bedrock import serving as serve_bedrock
from tests.fakes.n8n import KEY, FakeN8n

from chie.app import create_app
from chie.servers import load_servers

EXAMPLES = 2
ASK_OTHERS = (
    "/api/n8n",
    "/api/bedrock-kb",
    "/api/setup/endpoints",
)  # what those refuse is a 500 here, with their words
CHAT = ("/api/chat", "/api/sessions", "/api/agents", "/api/models", "/api/mcp", "/v1/")


@pytest.fixture
def configured(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with FakeN8n() as n8n, serve_bedrock() as bedrock:
        for name, value in {
            "N8N_URL": n8n.url,
            "N8N_API_KEY": KEY,
            "BEDROCK_KB_ID": KB_ID,
            "BEDROCK_MODEL_ARN": MODEL_ARN,
            "AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME": bedrock.url,
            "AWS_ACCESS_KEY_ID": "AKIAEXAMPLE",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_ENDPOINT_URL_BEDROCK": "http://127.0.0.1:9",
        }.items():
            monkeypatch.setenv(name, value)
        yield


@pytest.mark.usefixtures("configured")
def test_routes_conform_to_the_document() -> None:
    with http_server("chie", "serve") as address:
        tried = try_routes(
            address, examples=EXAMPLES, chosen=lambda path: not path.startswith(CHAT), ask_others=ASK_OTHERS
        )
    assert tried > 25 * EXAMPLES


@pytest.mark.usefixtures("configured")
def test_every_route_documents_its_errors() -> None:
    document = create_app(load_servers()).openapi()
    answers = {
        f"{method} {path}": set(route["responses"])
        for path, routes in document["paths"].items()
        for method, route in routes.items()
    }
    assert len(answers) >= 40
    assert [route for route, codes in answers.items() if "422" in codes or not {"400", "500"} <= codes] == []
