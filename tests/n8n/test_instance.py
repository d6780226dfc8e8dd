"""The client of n8n's own MCP server: what is sent, what is retried, and the errors."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from tests.fakes.n8n import FakeN8n
from tests.fakes.n8n_mcp import TOKEN, McpToolError
from tests.n8n.caller import Instance, Pauses, calling

from chie.errors import ChieError, ConfigurationError
from chie.n8n.errors import ApiError, NoResponseError
from chie.n8n.http import Endpoint
from chie.n8n.instance import client as client_module
from chie.n8n.instance.client import InstanceClient


def connect(url: str, token: str = TOKEN, pauses: Pauses | None = None, **rest: Any) -> InstanceClient:
    endpoint = Endpoint(url, SecretStr(token), rest.pop("headers", {}), timeout=rest.pop("timeout", 5))
    return InstanceClient(endpoint, sleep=Pauses() if pauses is None else pauses)


async def failure(client: InstanceClient, tool: str = "search_nodes", **options: Any) -> ChieError:
    with pytest.raises(ChieError) as caught:
        await client.call(tool, {"queries": ["表"]}, **options)
    await client.aclose()
    return caught.value


async def test_call_is_one_request_and_returns_the_structured_content(fake: FakeN8n) -> None:
    client = connect(fake.url)
    answer = await client.call("search_nodes", {"queries": ["HTTP リクエスト"]})
    await client.aclose()
    assert "HTTP リクエスト" in answer["results"]
    assert fake.mcp.calls == [("search_nodes", {"queries": ["HTTP リクエスト"]})]
    sent = fake.mcp.headers[0]
    assert sent["authorization"] == f"Bearer {TOKEN}"
    assert "x-n8n-api-key" not in sent


async def test_headers_of_an_access_proxy_do_not_replace_the_token(fake: FakeN8n) -> None:
    headers = {"authorization": SecretStr("Basic cHJveHk="), "X-Proxy": SecretStr("門")}
    client = connect(fake.url, headers={**headers, "X-Proxy": SecretStr("proxy")})
    await client.check()
    await client.aclose()
    assert (fake.mcp.headers[0]["authorization"], fake.mcp.headers[0]["x-proxy"]) == (f"Bearer {TOKEN}", "proxy")


@pytest.mark.parametrize("token", ["", "  "])
async def test_without_a_token_nothing_is_sent(fake: FakeN8n, token: str) -> None:
    client = connect(fake.url, token)
    assert not client.configured
    with pytest.raises(ConfigurationError, match="N8N_MCP_TOKEN"):
        await client.call("search_nodes", {"queries": ["x"]})
    assert fake.mcp.headers == []


async def test_rejected_token_is_reported_and_not_repeated(fake: FakeN8n) -> None:
    error = await failure(connect(fake.url, "another-token-987654"))
    assert error.reason.code == "n8n.mcp_token_invalid"
    assert "another-token" not in json.dumps(error.details())
    assert len(fake.mcp.headers) == 1


async def test_server_that_is_switched_off_is_named(fake: FakeN8n) -> None:
    fake.mcp.enabled = False
    error = await failure(connect(fake.url))
    assert (error.reason.code, "Settings → MCP access" in error.message) == ("n8n.mcp_off", True)


async def test_rate_limit_says_how_long_to_wait_and_is_not_retried(fake: FakeN8n) -> None:
    fake.mcp.remaining = 0
    error = await failure(connect(fake.url))
    assert (error.reason.code, "100 seconds" in error.message) == ("n8n.mcp_busy", True)
    assert len(fake.mcp.headers) == 1


async def test_tool_that_this_version_lacks(fake: FakeN8n) -> None:
    error = await failure(connect(fake.url), "rehearse_everything")
    assert (error.reason.code, "`rehearse_everything`" in error.message) == ("n8n.mcp_tool_missing", True)


@pytest.mark.parametrize("tool", ["fails", "incomplete"])
async def test_sentence_of_n8n_is_part_of_the_error(fake: FakeN8n, tool: str) -> None:
    def fails(_: dict[str, Any]) -> dict[str, Any]:
        raise McpToolError("Workflow not found.\nパスワード password=hunter2hunter2")

    fake.mcp.tools |= {"fails": fails, "incomplete": lambda arguments: {"x": arguments["名前"]}}
    error = await failure(connect(fake.url), tool)
    assert error.reason.code == "n8n.mcp_failed"
    assert ("Workflow not found" if tool == "fails" else "名前: Required") in error.message
    assert "hunter2" not in error.message


@pytest.mark.parametrize(
    ("response", "code"),
    [
        (RedirectResponse("http://127.0.0.1:1/elsewhere"), "n8n.redirected"),
        (HTMLResponse("<!DOCTYPE html><title>n8n.io</title>"), "n8n.mcp_response_invalid"),
        (JSONResponse({"jsonrpc": "2.0", "id": 1, "result": 5}), "n8n.mcp_response_invalid"),
        (JSONResponse({"jsonrpc": "2.0", "id": 1, "result": {"content": []}}), "n8n.mcp_response_invalid"),
        (JSONResponse({"jsonrpc": "2.0", "id": 1, "error": "no"}), "n8n.mcp_failed"),
        (Response("data: {\ndata: 5\n\n", media_type="text/event-stream"), "n8n.mcp_response_invalid"),
    ],
)
async def test_other_responses_are_errors_with_codes(fake: FakeN8n, response: Response, code: str) -> None:
    fake.mcp.planned.append(response)
    assert (await failure(connect(fake.url))).reason.code == code
    assert len(fake.mcp.headers) == 1


async def test_read_is_retried_and_a_run_never(fake: FakeN8n) -> None:
    pauses = Pauses()
    fake.mcp.planned = [Response(status_code=503), Response(status_code=502)]
    client = connect(fake.url, pauses=pauses)
    assert await client.call("list_credentials", {}) == {"data": [], "count": 0}
    await client.aclose()
    assert len(pauses) == 2
    fake.mcp.planned = [Response(status_code=503)]
    assert (await failure(connect(fake.url), reads=False)).reason.code == "n8n.server_error"
    assert fake.mcp.calls == [("list_credentials", {})]


async def test_large_response_is_not_read_whole(fake: FakeN8n, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "MAX_RESPONSE_BYTES", 2**20)
    fake.mcp.planned.append(Response("x" * (2**20 + 1)))
    error = await failure(connect(fake.url))
    assert (error.reason.code, "1 MB" in error.message) == ("n8n.mcp_response_too_large", True)


async def test_unreachable_server() -> None:
    error = await failure(connect("http://127.0.0.1:1"))
    assert (type(error), error.reason.code) == (ApiError, "n8n.unreachable")
    error = await failure(connect("http://127.0.0.1:1"), reads=False)
    assert (type(error), error.reason.code) == (ApiError, "n8n.unreachable")  # it was certainly not sent


async def test_run_without_a_response_may_have_happened(fake: FakeN8n) -> None:
    async def silence() -> Any:
        yield b"event: message\n"
        raise ConnectionResetError

    fake.mcp.planned.append(StreamingResponse(silence(), media_type="text/event-stream"))
    error = await failure(connect(fake.url), reads=False)
    assert (type(error), error.reason.code) == (NoResponseError, "n8n.write_without_response")


async def test_health_says_what_the_token_would_add(instance: Instance, fake: FakeN8n, tmp_path: Path) -> None:
    async with calling(instance, tmp_path) as call:
        state = (await call("n8n_health")).data
    assert state["healthy"] is True
    assert state["mcpServer"]["configured"] is False
    for name in ("N8N_MCP_TOKEN", "find_nodes", "describe_node", "rehearse_change"):
        assert f"`{name}`" in state["mcpServer"]["note"]
    assert fake.mcp.headers == []


async def test_health_reports_a_rejected_token(instance: Instance, fake: FakeN8n, tmp_path: Path) -> None:
    async with calling(instance, tmp_path, mcp_token=SecretStr(TOKEN)) as call:
        assert (await call("n8n_health")).data["mcpServer"] == {"configured": True, "tokenValid": True}
        fake.mcp.enabled = False
        state = (await call("n8n_health")).data
    assert (state["healthy"], state["mcpServer"]["tokenValid"]) == (True, False)
    assert "MCP access" in state["mcpServer"]["problem"]
