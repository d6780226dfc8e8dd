"""The room's HTTP edge, behind the house's door, with the real SDK and Bedrock's protocol on loopback."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient
from tests.bedrock_kb.conftest import KB_ID, MODEL_ARN
from tests.fakes.bedrock import ANSWER, Bedrock, refuse

from chie.app import create_app
from chie.bedrock_kb.config import KBConfig
from chie.bedrock_kb.server import create_server
from chie.errors import ConfigurationError

ADDRESS = "http://127.0.0.1:8080"


@pytest.fixture
def page(bedrock: Bedrock, config: KBConfig) -> Iterator[TestClient]:
    assert bedrock.url
    with TestClient(create_app({"bedrock-kb": create_server(config)}), base_url=ADDRESS) as client:
        yield client


def test_the_page_sees_what_is_configured(page: TestClient) -> None:
    assert page.get("/api/bedrock-kb").json() == {"knowledge_base": KB_ID, "region": "us-east-1", "model": MODEL_ARN}


@pytest.mark.parametrize("question", ["How do I restart it?", "再起動の手順は？"])
def test_a_test_question_is_answered_with_its_sources(page: TestClient, bedrock: Bedrock, question: str) -> None:
    response = page.post("/api/bedrock-kb/ask", json={"query": question})
    assert response.status_code == 200, response.text
    assert response.json()["answer"] == ANSWER
    assert response.json()["citations"][0]["uri"] == "s3://docs/runbook.md"
    assert bedrock.calls[-1].params["input"]["text"] == question


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({"query": " "}, "query is required: "),
        ({}, "query is required."),
        ({"query": "x", "max_results": 0}, "max_results must be at least 1."),
        ({"query": "x" * 1_001}, "query is too long: "),
    ],
)
def test_a_wrong_question_is_400(page: TestClient, body: dict[str, object], detail: str) -> None:
    response = page.post("/api/bedrock-kb/ask", json=body)
    assert (response.status_code, response.json()["detail"][: len(detail)]) == (400, detail)


def test_what_bedrock_refuses_is_said_as_the_tool_says_it(page: TestClient, bedrock: Bedrock) -> None:
    bedrock.replies(refuse(404, "ResourceNotFoundException"))
    response = page.post("/api/bedrock-kb/ask", json={"query": "x"})
    assert response.status_code == 404
    assert "BEDROCK_KB_ID" in response.json()["detail"]


def test_a_room_that_is_not_configured_says_what_to_set() -> None:
    rooms = {"bedrock-kb": ConfigurationError("not configured: BEDROCK_KB_ID")}
    with TestClient(create_app(rooms), base_url=ADDRESS) as client:
        for answer in (client.get("/api/bedrock-kb"), client.post("/api/bedrock-kb/ask", json={"query": "x"})):
            assert (answer.status_code, answer.json()) == (503, {"detail": "not configured: BEDROCK_KB_ID"})
