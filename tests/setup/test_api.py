"""The setup API: discovered endpoints, and a test that only contacts configured URLs."""

import json
import tomllib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml
from fastapi import FastAPI, Request
from starlette.responses import JSONResponse, Response
from starlette.testclient import TestClient
from tests.fakes.chat import serving

from chie.access.users import UserFile
from chie.app import create_app
from chie.errors import ConfigurationError
from chie.installation.commands import install_extra, install_package
from chie.installation.environment import IMAGE_MARKER
from chie.knowledge.server import create_server
from chie.messages.catalogue import Message
from chie.setup import endpoints, local_servers

NOT_CONFIGURED = ConfigurationError("setup.endpoint_not_configured", variables=["N8N_URL"])  # any reason will do
NOWHERE = "http://127.0.0.1:9"


@asynccontextmanager
async def app_client() -> AsyncIterator[httpx2.AsyncClient]:
    app = create_app({"knowledge": create_server(), "n8n": NOT_CONFIGURED})
    async with serving(app) as address, httpx2.AsyncClient(base_url=address, timeout=60) as client:
        yield client


@asynccontextmanager
async def model_server(answer: Any, *, status: int = 200, key: str | None = None) -> AsyncIterator[str]:
    """A server with that list of models; with `key`, requests need it."""
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
def no_local_models(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """Ignore the developer's own LM Studio and AWS profile."""
    monkeypatch.setattr(local_servers, "LM_STUDIO", f"{NOWHERE}/v1")
    monkeypatch.setattr(local_servers, "OLLAMA", f"{NOWHERE}/v1")
    monkeypatch.setenv("HOME", str(tmp_path))


async def state_of(client: httpx2.AsyncClient, endpoint: str) -> dict[str, Any]:
    answer = (await client.get("/api/setup")).json()
    found: dict[str, Any] = next(entry for entry in answer["endpoints"] if entry["id"] == endpoint)
    return found


async def probe(client: httpx2.AsyncClient, endpoint: str) -> list[str]:
    """The models that the test found."""
    answer = await client.post(f"/api/setup/endpoints/{endpoint}/test")
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    assert result["ok"] is True
    models: list[str] = result["models"]
    return models


async def problem(client: httpx2.AsyncClient, endpoint: str) -> dict[str, Any]:
    """The error of a test that failed."""
    answer = await client.post(f"/api/setup/endpoints/{endpoint}/test")
    error: dict[str, Any] = answer.json()
    assert (answer.status_code, list(error)) == (500, ["detail", "code", "params"])
    return error


async def test_without_settings_every_endpoint_is_listed_with_its_variables() -> None:
    async with app_client() as client:
        answer = (await client.get("/api/setup")).json()
    assert {entry["id"]: (entry["state"], entry["settings"]) for entry in answer["endpoints"]} == {
        "lm-studio": ("missing", []),
        "ollama": ("missing", []),
        "openai": ("missing", ["OPENAI_API_KEY"]),
        "anthropic": ("missing", ["ANTHROPIC_API_KEY"]),
        "bedrock": ("missing", ["AWS_PROFILE", "AWS_REGION"]),
    }
    knowledge, n8n = answer["servers"]
    assert (knowledge["name"], knowledge["open"], knowledge["reason"]) == ("knowledge", True, None)
    assert {tool["name"]: tool["destructive"] for tool in knowledge["tools"]}["delete_knowledge"] is True
    assert n8n == {
        "name": "n8n",
        "open": False,
        "reason": "Not connected yet. Add it under Settings, or set N8N_URL and restart Chie.",
        "reason_code": "setup.endpoint_not_configured",
        "reason_params": {"variables": ["N8N_URL"]},
        "tools": [],
    }


async def test_local_model_server_is_discovered(monkeypatch: pytest.MonkeyPatch) -> None:
    async with model_server({"data": [{"id": "qwen-日本語"}]}) as url, app_client() as client:
        monkeypatch.setattr(local_servers, "LM_STUDIO", f"{url}/v1")
        found = await state_of(client, "lm-studio")
        assert (found["state"], found["models"]) == ("found", ["qwen-日本語"])
        assert await probe(client, "lm-studio") == ["qwen-日本語"]


@pytest.mark.req("AG-5")
async def test_server_without_a_chat_model_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page would show a green "found" while no agent has a model."""
    async with model_server({"data": [{"id": "nomic-embed-text"}]}) as url, app_client() as client:
        monkeypatch.setattr(local_servers, "OLLAMA", f"{url}/v1")
        assert (await state_of(client, "ollama"))["state"] == "missing"
        assert (await problem(client, "ollama"))["code"] == "setup.endpoint_without_models"


@pytest.mark.req("AG-5")
async def test_servers_on_another_host_are_looked_for_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_MODEL_HOST", "127.0.0.3")
    async with app_client() as client:
        assert (await state_of(client, "lm-studio"))["state"] == "missing", "nothing responds there"


async def test_missing_sdk_is_reported_with_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    async with model_server({"data": [{"id": "qwen"}]}) as url, app_client() as client:
        monkeypatch.setattr(local_servers, "LM_STUDIO", f"{url}/v1")
        monkeypatch.setattr(endpoints, "find_spec", lambda _: None)
        result = await problem(client, "lm-studio")
        setup = (await client.get("/api/setup")).json()
    command = install_extra("openai")
    assert result["code"] == "setup.package_missing"
    assert result["params"] == {"name": "LM Studio", "command": command}
    assert result["detail"] == f"LM Studio responds, but a package is missing. Run `{command}`, then restart Chie."
    assert {entry["id"]: entry["install"] for entry in setup["endpoints"]} == {
        "lm-studio": command,
        "ollama": command,
        "openai": command,
        "anthropic": install_package("chie-agent-adk"),
        "bedrock": install_extra("bedrock"),
    }


async def test_missing_claude_plugin_is_reported_with_the_install_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A plain `pip install chie` has neither plug-in nor SDK; `make run` and the image have both."""
    async with model_server({"data": [{"id": "claude"}]}, key="sesame") as url, app_client() as client:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sesame")
        assert (await state_of(client, "anthropic"))["install"] is None
        monkeypatch.setattr(endpoints, "find_spec", lambda module: None if module == "chie_agent_adk" else module)
        assert (await state_of(client, "anthropic"))["install"] == install_package("chie-agent-adk")
        result = await problem(client, "anthropic")
    assert result["code"] == "setup.package_missing"
    assert result["params"] == {"name": "Anthropic", "command": install_package("chie-agent-adk")}


async def test_configured_server_is_tested_with_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    async with model_server({"data": [{"id": "m"}]}, key="sesame") as url, app_client() as client:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1/")
        monkeypatch.setenv("OPENAI_API_KEY", "wrong")
        rejected = await problem(client, "own")
        name = {"code": "setup.openai_compatible_server", "params": {}, "text": "OpenAI-compatible server"}
        assert rejected["code"] == "setup.key_rejected"
        assert rejected["params"] == {"name": name, "status": 401, "variable": "OPENAI_API_KEY"}
        assert rejected["detail"].startswith("OpenAI-compatible server rejected the key (401).")
        own = await state_of(client, "own")
        assert (own["name"], own["name_code"]) == ("OpenAI-compatible server", "setup.openai_compatible_server")
        monkeypatch.setenv("OPENAI_API_KEY", "sesame")
        assert await probe(client, "own") == ["m"]
        assert "sesame" not in (await client.get("/api/setup")).text


async def test_anthropic_is_tested_with_its_own_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    async with model_server({"data": [{"id": "claude"}]}, key="sesame") as url, app_client() as client:
        unset = await problem(client, "anthropic")
        assert unset["code"] == "setup.endpoint_not_configured"
        assert unset["params"] == {"variables": ["ANTHROPIC_API_KEY"]}
        monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sesame")
        assert await probe(client, "anthropic") == ["claude"]


async def test_bedrock_is_tested_through_its_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    async with (
        model_server({"modelSummaries": [{"modelId": "claude", "modelArn": "arn"}]}) as url,
        app_client() as client,
    ):
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK", url)
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        unknown = await problem(client, "bedrock")
        assert unknown["code"] == "setup.aws_unavailable"
        assert unknown["params"] == {"error": "NoCredentialsError"}
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "sesame")
        assert (await state_of(client, "bedrock"))["state"] == "configured"
        assert await probe(client, "bedrock") == ["claude"]


async def test_bedrock_error_is_reported_without_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    denied = {"__type": "AccessDeniedException", "message": "secret arn"}
    async with model_server(denied, status=403) as url, app_client() as client:
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK", url)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "sesame")
        result = await problem(client, "bedrock")
    assert result["code"] == "setup.bedrock_access_denied"
    assert result["params"] == {"aws_code": "AccessDeniedException", "region": "ap-northeast-1"}
    assert "secret arn" not in json.dumps(result)


@pytest.mark.parametrize(
    ("answer", "status", "code"),
    [
        ({"data": []}, 200, "setup.endpoint_without_models"),
        ({"models": 1}, 200, "setup.endpoint_incompatible"),
        ({}, 404, "setup.endpoint_error"),
        ({}, 500, "setup.endpoint_error"),
    ],
)
async def test_unexpected_response_is_explained(
    monkeypatch: pytest.MonkeyPatch, answer: Any, status: int, code: str
) -> None:
    async with model_server(answer, status=status) as url, app_client() as client:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        result = await problem(client, "own")
    assert result["code"] == code
    assert result["params"].get("status", 200) == status


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
async def test_invalid_settings_are_named(monkeypatch: pytest.MonkeyPatch, address: str, key: str | None) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    if key:
        monkeypatch.setenv("OPENAI_API_KEY", key)
    async with app_client() as client:
        result = await problem(client, "own")
        assert (await client.get("/api/setup")).status_code == 200
    assert result["code"] == "setup.endpoint_settings_invalid"
    assert result["params"] == {"variables": ["OPENAI_BASE_URL", "OPENAI_API_KEY"]}


async def test_only_configured_urls_are_contacted() -> None:
    async with app_client() as client:
        answer = await client.post("/api/setup/endpoints/http%3A%2F%2F127.0.0.1/test", json={"address": NOWHERE})
        assert answer.status_code == 404
        unknown = await client.post("/api/setup/endpoints/elsewhere/test")
        assert unknown.json()["detail"] == str(Message("setup.endpoint_not_found"))
        stopped = await problem(client, "lm-studio")
        assert stopped["detail"] == (
            "http://127.0.0.1:9/v1 does not respond (ConnectError). Start LM Studio, then test again."
        )


async def test_password_in_a_url_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://user:sesame@127.0.0.1:9/v1")
    async with app_client() as client:
        assert "sesame" not in (await client.get("/api/setup")).text
        assert "sesame" not in json.dumps(await problem(client, "own"))


async def test_every_client_gets_its_own_format_with_the_base_url() -> None:
    async with app_client() as client:
        answer = (await client.get("/api/setup/connect")).json()
    address, texts = answer["address"], {host["id"]: host["text"] for host in answer["hosts"]}
    url = f"{address}/mcp/knowledge"
    assert texts["claude-code"] == f"claude mcp add --scope user --transport http knowledge {url}"
    assert json.loads(texts["cursor"]) == {"mcpServers": {"knowledge": {"url": url}}}
    assert json.loads(texts["kiro"]) == {"mcpServers": {"knowledge": {"url": url}}}
    assert json.loads(texts["gemini"]) == {"mcpServers": {"knowledge": {"type": "http", "url": url}}}
    assert tomllib.loads(texts["codex"]) == {"mcp_servers": {"knowledge": {"url": url}}}
    program = json.loads(texts["claude-desktop"])["mcpServers"]["knowledge"]
    assert program["args"] == ["mcp", "knowledge"]
    assert program["command"].startswith("/")


async def test_program_in_a_container_is_started_through_docker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Claude Desktop runs outside, where the container's paths do not exist."""
    (tmp_path / IMAGE_MARKER).touch()
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    async with app_client() as client:
        answer = (await client.get("/api/setup/connect")).json()
    text = next(host["text"] for host in answer["hosts"] if host["id"] == "claude-desktop")
    program = json.loads(text)["mcpServers"]["knowledge"]
    composed = yaml.safe_load((Path(__file__).parents[2] / "compose.yaml").read_text("utf-8"))["services"]["chie"]
    name = composed["container_name"]
    assert program == {"command": "docker", "args": ["exec", "-i", name, "chie", "mcp", "knowledge"]}


def test_base_url_behind_tls_is_the_public_one() -> None:
    """Without uvicorn, which trusts this header only from proxies on the same machine."""
    with TestClient(create_app({"knowledge": create_server()}), base_url="http://127.0.0.1:8080") as client:
        answer = client.get("/api/setup/connect", headers={"x-forwarded-proto": "https"}).json()
    assert answer["address"] == "https://127.0.0.1:8080"
    assert "https://127.0.0.1:8080/mcp/knowledge" in answer["hosts"][0]["text"]


async def test_snippets_have_a_token_placeholder_if_users_are_configured(home: Path) -> None:
    token = UserFile(home / "users.json").add("aki")
    async with app_client() as client:
        answer = await client.get("/api/setup/connect", headers={"authorization": f"Bearer {token}"})
    shown = answer.json()["hosts"]
    texts = {host["id"]: host["text"] for host in shown}
    assert texts.pop("claude-desktop").count("YOUR_TOKEN") == 0
    assert all(text.count("Bearer YOUR_TOKEN") == 1 for text in texts.values())
    assert json.loads(texts["cursor"])["mcpServers"]["knowledge"]["headers"] == {"Authorization": "Bearer YOUR_TOKEN"}
    assert token not in str(shown)


async def test_status_401_of_a_server_without_a_key_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    async with model_server({}, status=401) as url, app_client() as client:
        monkeypatch.setattr(local_servers, "LM_STUDIO", f"{url}/v1")
        result = await problem(client, "lm-studio")
    assert result["code"] == "setup.endpoint_error"
