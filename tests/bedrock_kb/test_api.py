"""The HTTP routes inside the app, with the real SDK and a fake Bedrock on loopback."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient
from tests.bedrock_kb.conftest import KB_ID, MODEL_ARN
from tests.fakes.bedrock import ANSWER, Bedrock, answer, refuse

from chie.app import create_app
from chie.bedrock_kb.config import KBConfig
from chie.bedrock_kb.server import create_server
from chie.errors import ConfigurationError

BASE_URL = "http://127.0.0.1:8080"


@pytest.fixture
def page(bedrock: Bedrock, config: KBConfig) -> Iterator[TestClient]:
    assert bedrock.url
    with TestClient(create_app({"bedrock-kb": create_server(config)}), base_url=BASE_URL) as client:
        yield client


def test_configuration_is_shown(page: TestClient) -> None:
    assert page.get("/api/bedrock-kb").json() == {"knowledge_base": KB_ID, "region": "us-east-1", "model": MODEL_ARN}


@pytest.mark.parametrize("question", ["How do I restart it?", "再起動の手順は？"])
def test_question_is_answered_with_sources(page: TestClient, bedrock: Bedrock, question: str) -> None:
    response = page.post("/api/bedrock-kb/ask", json={"query": question})
    assert response.status_code == 200, response.text
    assert response.json()["answer"] == ANSWER
    assert response.json()["citations"][0]["uri"] == "s3://docs/runbook.md"
    assert bedrock.calls[-1].params["input"]["text"] == question


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({"query": " "}, "query is required. "),
        ({}, "query is required."),
        ({"query": "x", "max_results": 0}, "max_results must be at least 1."),
        ({"query": "x" * 1_001}, "query is too long: "),
    ],
)
def test_invalid_question_is_400(page: TestClient, body: dict[str, object], detail: str) -> None:
    response = page.post("/api/bedrock-kb/ask", json=body)
    assert (response.status_code, response.json()["detail"][: len(detail)]) == (400, detail)


def test_bedrock_error_has_the_same_text_as_in_the_tool(page: TestClient, bedrock: Bedrock) -> None:
    bedrock.replies(refuse(404, "ResourceNotFoundException"))
    response = page.post("/api/bedrock-kb/ask", json={"query": "x"})
    assert response.status_code == 404
    assert "BEDROCK_KB_ID" in response.json()["detail"]


def test_unconfigured_server_is_503_with_the_missing_variable() -> None:
    error = ConfigurationError("bedrock_kb.not_configured", variables=["BEDROCK_KB_ID"])
    servers = {"bedrock-kb": error}
    with TestClient(create_app(servers), base_url=BASE_URL) as client:
        for response in (client.get("/api/bedrock-kb"), client.post("/api/bedrock-kb/ask", json={"query": "x"})):
            assert response.status_code == 503
            assert response.json() == {
                "detail": "not configured: BEDROCK_KB_ID",
                "code": "bedrock_kb.not_configured",
                "params": {"variables": ["BEDROCK_KB_ID"]},
            }


def test_notice_of_an_answer_has_a_code(page: TestClient, bedrock: Bedrock) -> None:
    bedrock.replies(answer({"output": {"text": " "}, "citations": []}))
    response = page.post("/api/bedrock-kb/ask", json={"query": "x"}).json()
    assert response["notice"].startswith("Bedrock returned an empty answer.")
    assert (response["notice_code"], response["notice_params"]) == ("bedrock_kb.answer_empty", {})
    usual = page.post("/api/bedrock-kb/ask", json={"query": "x"}).json()
    assert (usual["notice"], usual["notice_code"], usual["notice_params"]) == (None, None, None)
