"""The first card: what was found, what to set, and a test that goes nowhere but where the operator said."""

import json
import tomllib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI, Request
from starlette.responses import JSONResponse, Response
from starlette.testclient import TestClient
from tests.fakes.chat import serving

from chie.access.users import UserFile
from chie.app import create_app
from chie.errors import ConfigurationError
from chie.knowledge.server import create_server
from chie.setup import endpoints

CLOSED = ConfigurationError("not configured: N8N_URL, N8N_API_KEY")
NOWHERE = "http://127.0.0.1:9"


@asynccontextmanager
async def house() -> AsyncIterator[httpx2.AsyncClient]:
    app = create_app({"knowledge": create_server(), "n8n": CLOSED})
    async with serving(app) as address, httpx2.AsyncClient(base_url=address, timeout=60) as client:
        yield client


@asynccontextmanager
async def model_server(answer: Any, *, status: int = 200, key: str | None = None) -> AsyncIterator[str]:
    """What a model server says when it is asked for its models; with `key`, only to who has it."""
    app = FastAPI()

    @app.get("/v1/models")
    @app.get("/foundation-models")
    def models(request: Request) -> Response:
        given = request.headers.get("authorization", "").removeprefix("Bearer ") or request.headers.get("x-api-key")
        if key is not None and given != key:
            return JSONResponse({"error": "no"}, 401)
        return JSONResponse(answer, status)

    async with serving(app) as address:
        yield address


@pytest.fixture(autouse=True)
def nobody_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """The developer's own LM Studio and AWS profile are no part of the test."""
    monkeypatch.setattr(endpoints, "LM_STUDIO", f"{NOWHERE}/v1")
    monkeypatch.setattr(endpoints, "OLLAMA", f"{NOWHERE}/v1")
    monkeypatch.setenv("HOME", str(tmp_path))


async def state_of(client: httpx2.AsyncClient, endpoint: str) -> dict[str, Any]:
    answer = (await client.get("/api/setup")).json()
    found: dict[str, Any] = next(entry for entry in answer["endpoints"] if entry["id"] == endpoint)
    return found


async def outcome_of(client: httpx2.AsyncClient, endpoint: str) -> dict[str, Any]:
    answer = await client.post(f"/api/setup/endpoints/{endpoint}/test")
    assert answer.status_code == 200, answer.text
    outcome: dict[str, Any] = answer.json()
    return outcome


async def test_without_anything_every_way_to_a_model_is_shown_with_what_to_set() -> None:
    async with house() as client:
        answer = (await client.get("/api/setup")).json()
    assert {entry["id"]: (entry["state"], entry["settings"]) for entry in answer["endpoints"]} == {
        "lm-studio": ("missing", []),
        "ollama": ("missing", ["OPENAI_BASE_URL"]),
        "openai": ("missing", ["OPENAI_API_KEY"]),
        "anthropic": ("missing", ["ANTHROPIC_API_KEY"]),
        "bedrock": ("missing", ["AWS_PROFILE", "AWS_REGION"]),
    }
    knowledge, n8n = answer["rooms"]
    assert (knowledge["name"], knowledge["open"], knowledge["reason"]) == ("knowledge", True, None)
    assert {tool["name"]: tool["destructive"] for tool in knowledge["tools"]}["delete_knowledge"] is True
    assert n8n == {"name": "n8n", "open": False, "reason": "not configured: N8N_URL, N8N_API_KEY", "tools": []}


async def test_a_model_server_on_this_machine_is_found_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    async with model_server({"data": [{"id": "qwen-日本語"}]}) as address, house() as client:
        monkeypatch.setattr(endpoints, "LM_STUDIO", f"{address}/v1")
        found = await state_of(client, "lm-studio")
        assert (found["state"], found["models"]) == ("found", ["qwen-日本語"])
        assert await outcome_of(client, "lm-studio") == {
            "ok": True,
            "models": ["qwen-日本語"],
            "problem": None,
            "install": None,
        }


async def test_a_server_that_answers_is_of_no_use_without_its_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    async with model_server({"data": [{"id": "qwen"}]}) as address, house() as client:
        monkeypatch.setattr(endpoints, "LM_STUDIO", f"{address}/v1")
        monkeypatch.setattr(endpoints, "find_spec", lambda _: None)
        outcome = await outcome_of(client, "lm-studio")
        setup = (await client.get("/api/setup")).json()
    command = "pip install 'chie[openai]'"
    assert outcome["problem"] == f"LM Studio answers. Now run this, then start Chie again: {command}"
    assert {entry["id"]: entry["install"] for entry in setup["endpoints"]} == {
        "lm-studio": command,
        "ollama": command,
        "openai": command,
        "anthropic": "pip install chie-agent-adk",
        "bedrock": "pip install 'chie[bedrock]'",
    }


async def test_without_the_plug_in_claude_answers_nobody_and_the_card_says_what_to_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A plain `pip install chie` has neither plug-in nor SDK; `make run` and the image have both."""
    async with model_server({"data": [{"id": "claude"}]}, key="sesame") as address, house() as client:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", address)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sesame")
        assert (await state_of(client, "anthropic"))["install"] is None
        monkeypatch.setattr(endpoints, "find_spec", lambda module: None if module == "chie_agent_adk" else module)
        assert (await state_of(client, "anthropic"))["install"] == "pip install chie-agent-adk"
        outcome = await outcome_of(client, "anthropic")
    assert (outcome["ok"], outcome["install"]) == (False, "pip install chie-agent-adk")
    assert outcome["problem"] == ("Anthropic answers. Now run this, then start Chie again: pip install chie-agent-adk")


async def test_the_operators_own_server_is_asked_with_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    async with model_server({"data": [{"id": "m"}]}, key="sesame") as address, house() as client:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{address}/v1/")
        monkeypatch.setenv("OPENAI_API_KEY", "wrong")
        refused = await outcome_of(client, "own")
        assert refused["problem"] == (
            "OpenAI-compatible server refused the key (401). Set OPENAI_API_KEY to one that it knows."
        )
        monkeypatch.setenv("OPENAI_API_KEY", "sesame")
        assert (await outcome_of(client, "own"))["ok"] is True
        assert "sesame" not in (await client.get("/api/setup")).text


async def test_anthropic_is_asked_in_its_own_way(monkeypatch: pytest.MonkeyPatch) -> None:
    async with model_server({"data": [{"id": "claude"}]}, key="sesame") as address, house() as client:
        assert "Set ANTHROPIC_API_KEY first" in (await outcome_of(client, "anthropic"))["problem"]
        monkeypatch.setenv("ANTHROPIC_BASE_URL", address)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sesame")
        assert await outcome_of(client, "anthropic") == {
            "ok": True,
            "models": ["claude"],
            "problem": None,
            "install": None,
        }


async def test_bedrock_is_asked_by_its_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    async with (
        model_server({"modelSummaries": [{"modelId": "claude", "modelArn": "arn"}]}) as address,
        house() as client,
    ):
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK", address)
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        nobody = await outcome_of(client, "bedrock")
        assert nobody["problem"].startswith("AWS could not be asked (NoCredentialsError). Sign in")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "sesame")
        assert (await state_of(client, "bedrock"))["state"] == "configured"
        assert await outcome_of(client, "bedrock") == {
            "ok": True,
            "models": ["claude"],
            "problem": None,
            "install": None,
        }


async def test_what_bedrock_refuses_is_said_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = {"__type": "AccessDeniedException", "message": "secret arn"}
    async with model_server(refusal, status=403) as address, house() as client:
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK", address)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "sesame")
        problem = (await outcome_of(client, "bedrock"))["problem"]
    assert "in ap-northeast-1." in problem
    assert "secret arn" not in problem


@pytest.mark.parametrize(
    ("answer", "status", "problem"),
    [
        ({"data": []}, 200, "answers, but has no model. Load or pull one there."),
        ({"models": 1}, 200, "does not answer as OpenAI-compatible server does. Correct its address."),
        ({}, 404, "Is the address right? It usually ends in /v1."),
        ({}, 500, "answered 500"),
    ],
)
async def test_a_strange_answer_is_explained(
    monkeypatch: pytest.MonkeyPatch, answer: Any, status: int, problem: str
) -> None:
    async with model_server(answer, status=status) as address, house() as client:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{address}/v1")
        outcome = await outcome_of(client, "own")
    assert outcome["ok"] is False
    assert problem in outcome["problem"]


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("http://127.0.0.1:99999/v1", None),
        ("http://127.0.0.1:http/v1", None),
        ("http://[::1/v1", None),
        (NOWHERE, "ｓｋ-abc"),
        (NOWHERE, "sk-\nabc"),
    ],
)
async def test_a_setting_that_no_request_survives_is_named(
    monkeypatch: pytest.MonkeyPatch, address: str, key: str | None
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    if key:
        monkeypatch.setenv("OPENAI_API_KEY", key)
    async with house() as client:
        outcome = await outcome_of(client, "own")
        assert (await client.get("/api/setup")).status_code == 200
    assert outcome["ok"] is False
    assert "Correct OPENAI_BASE_URL and OPENAI_API_KEY, then start Chie again." in outcome["problem"]


async def test_a_test_goes_nowhere_but_where_the_operator_said() -> None:
    async with house() as client:
        answer = await client.post("/api/setup/endpoints/http%3A%2F%2F127.0.0.1/test", json={"address": NOWHERE})
        assert answer.status_code == 404
        unknown = await client.post("/api/setup/endpoints/elsewhere/test")
        assert unknown.json() == {"detail": "no endpoint has this id. GET /api/setup lists those that there are."}
        silent = await outcome_of(client, "lm-studio")
        assert silent["problem"] == (
            "Nothing answers at http://127.0.0.1:9/v1 (ConnectError). Start LM Studio, then test again."
        )


async def test_a_password_in_an_address_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://user:sesame@127.0.0.1:9/v1")
    async with house() as client:
        assert "sesame" not in (await client.get("/api/setup")).text
        assert "sesame" not in json.dumps(await outcome_of(client, "own"))


async def test_every_assistant_gets_its_own_format_with_this_houses_address() -> None:
    async with house() as client:
        answer = (await client.get("/api/setup/connect")).json()
    address, texts = answer["address"], {host["id"]: host["text"] for host in answer["hosts"]}
    url = f"{address}/mcp/knowledge"
    assert texts["claude-code"] == f"claude mcp add --transport http knowledge {url}"
    assert json.loads(texts["cursor"]) == {"mcpServers": {"knowledge": {"url": url}}}
    assert json.loads(texts["kiro"]) == {"mcpServers": {"knowledge": {"url": url}}}
    assert json.loads(texts["gemini"]) == {"mcpServers": {"knowledge": {"type": "http", "url": url}}}
    assert tomllib.loads(texts["codex"]) == {"mcp_servers": {"knowledge": {"url": url}}}
    program = json.loads(texts["claude-desktop"])["mcpServers"]["knowledge"]
    assert program["args"] == ["mcp", "knowledge"]
    assert program["command"].startswith("/")


def test_behind_tls_the_address_is_the_one_that_people_see() -> None:
    """Without uvicorn, which believes this header of proxies on the same machine alone."""
    with TestClient(create_app({"knowledge": create_server()}), base_url="http://127.0.0.1:8080") as client:
        answer = client.get("/api/setup/connect", headers={"x-forwarded-proto": "https"}).json()
    assert answer["address"] == "https://127.0.0.1:8080"
    assert "https://127.0.0.1:8080/mcp/knowledge" in answer["hosts"][0]["text"]


async def test_where_the_house_asks_the_snippets_have_a_place_for_the_token(home: Path) -> None:
    token = UserFile(home / "users.json").add("aki")
    async with house() as client:
        answer = await client.get("/api/setup/connect", headers={"authorization": f"Bearer {token}"})
    shown = answer.json()["hosts"]
    texts = {host["id"]: host["text"] for host in shown}
    assert texts.pop("claude-desktop").count("YOUR_TOKEN") == 0
    assert all(text.count("Bearer YOUR_TOKEN") == 1 for text in texts.values())
    assert json.loads(texts["cursor"])["mcpServers"]["knowledge"]["headers"] == {"Authorization": "Bearer YOUR_TOKEN"}
    assert token not in str(shown)
