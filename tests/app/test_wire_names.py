"""Names on the wire are stable: a new one is added here, a changed one breaks existing clients."""

from typing import Any, Literal

import pytest
from fastmcp import Client

from chie.app import create_app
from chie.bedrock_kb.config import KBConfig
from chie.bedrock_kb.server import create_server as create_bedrock_kb
from chie.chat.api.chat import EVENT
from chie.knowledge.server import create_server
from chie.n8n.server import create_server as create_n8n_server
from chie.web_fetch.server import create_server as create_fetch_server

ConnectMode = Literal["auto", "legacy"]

API = {
    "/api/agents": {"get"},
    "/api/models": {"get"},
    "/api/attachments": {"post"},
    "/api/attachments/{attachment_id}": {"get"},
    "/api/attachments/{attachment_id}/text": {"get"},
    "/api/chat/stream": {"post"},
    "/api/chat/stream/{message_id}": {"get"},
    "/api/chat/compare-notes": {"post"},
    "/api/chat/suggest-questions": {"post"},
    "/api/chat/{message_id}/approve": {"post"},
    "/api/chat/{message_id}/answer": {"post"},
    "/api/chat/{message_id}/edit": {"post"},
    "/api/chat/{message_id}/regenerate": {"post"},
    "/api/chat/{message_id}/stop": {"post"},
    "/api/login": {"post"},
    "/api/logout": {"post"},
    "/api/endpoints": {"get", "post"},
    "/api/endpoints/test": {"post"},
    "/api/endpoints/{endpoint_id}": {"patch", "delete"},
    "/api/mcp/servers": {"get", "post"},
    "/api/mcp/servers/test": {"post"},
    "/api/mcp/servers/{name}": {"patch", "delete"},
    "/api/mcp/servers/{name}/reconnect": {"post"},
    "/api/mcp/servers/{name}/accept": {"post"},
    "/api/mcp/servers/{name}/view": {"get"},
    "/api/mcp/servers/{name}/view/call": {"post"},
    "/api/mcp/servers/{name}/prompt": {"post"},
    "/api/mcp/servers/{name}/resource": {"post"},
    "/api/mcp/prompts": {"get"},
    "/api/mcp/resources": {"get"},
    "/api/mcp/servers/{name}/login": {"post", "delete"},
    "/api/mcp/oauth/callback": {"get"},
    "/api/mcp/oauth/client.json": {"get"},
    "/api/mcp/oauth/finish": {"post"},
    "/api/me": {"get"},
    "/api/projects": {"get", "post"},
    "/api/projects/{project_id}": {"get", "patch", "delete"},
    "/api/projects/{project_id}/files": {"post"},
    "/api/projects/{project_id}/files/{attachment_id}": {"get", "delete"},
    "/api/projects/{project_id}/files/{attachment_id}/text": {"get"},
    "/api/projects/{project_id}/members/{user_id}": {"put", "delete"},
    "/api/projects/{project_id}/shares": {"get"},
    "/api/shared/{token}": {"get"},
    "/api/shared/{token}/attachments/{attachment_id}": {"get"},
    "/api/shared/{token}/attachments/{attachment_id}/text": {"get"},
    "/api/shared/{token}/continue": {"post"},
    "/api/shares": {"get"},
    "/api/shares/{token}": {"delete"},
    "/api/sessions/{session_id}/shares": {"post"},
    "/api/sessions": {"get", "post"},
    "/api/sessions/{session_id}": {"get", "patch", "delete"},
    "/api/sessions/marks": {"get"},
    "/api/sessions/{session_id}/seen": {"post"},
    "/api/sessions/{session_id}/export": {"get"},
    "/api/sessions/import": {"post"},
    "/api/prompts": {"get", "post"},
    "/api/prompts/export": {"get"},
    "/api/prompts/import": {"post"},
    "/api/prompts/{prompt_id}": {"get", "patch", "delete"},
    "/api/sessions/{session_id}/queue/{message_id}": {"put", "delete"},
    "/api/sessions/{session_id}/queue/{message_id}/send": {"post"},
    "/api/setup": {"get"},
    "/api/setup/connect": {"get"},
    "/api/setup/endpoints/{endpoint_id}/test": {"post"},
    "/api/usage": {"get"},
    "/api/usage/export": {"get"},
    "/api/usage/limits": {"get", "put", "delete"},
    "/api/usage/month": {"get"},
    "/v1/chat/completions": {"post"},
    "/v1/models": {"get"},
    "/v1/models/{model}": {"get"},
    "/v1/responses": {"post"},
}

SERVER_APIS = {
    "/api/knowledge": {"get", "post"},
    "/api/knowledge/anchors": {"get", "post"},
    "/api/knowledge/anchors/changed": {"get"},
    "/api/knowledge/export": {"get"},
    "/api/knowledge/import": {"post"},
    "/api/knowledge/inbox": {"get"},
    "/api/knowledge/inbox/count": {"get"},
    "/api/knowledge/inbox/{note_id}/accept": {"post"},
    "/api/knowledge/inbox/{note_id}/merge": {"post"},
    "/api/knowledge/inbox/{note_id}/reject": {"post"},
    "/api/knowledge/inbox/{note_id}/undo": {"post"},
    "/api/knowledge/review": {"get"},
    "/api/knowledge/review/count": {"get"},
    "/api/knowledge/review/decisions": {"post"},
    "/api/knowledge/review/decisions/{decision_id}": {"delete"},
    "/api/knowledge/map": {"get"},
    "/api/knowledge/graph": {"get"},
    "/api/knowledge/repositories": {"get", "put"},
    "/api/knowledge/samples": {"post"},
    "/api/knowledge/spaces": {"get"},
    "/api/knowledge/spaces/{name}": {"put", "delete"},
    "/api/knowledge/spaces/{name}/users/{user}": {"put"},
    "/api/knowledge/search": {"get"},
    "/api/knowledge/tags": {"get"},
    "/api/knowledge/authors": {"get"},
    "/api/knowledge/{note_id}": {"get", "patch", "put", "delete"},
    "/api/knowledge/{note_id}/confirmation": {"put", "delete"},
    "/api/knowledge/trash": {"get"},
    "/api/knowledge/trash/{note_id}": {"get", "delete"},
    "/api/knowledge/trash/{note_id}/restore": {"post"},
    "/api/knowledge/{note_id}/history": {"get", "delete"},
    "/api/knowledge/{note_id}/history/{version}": {"get"},
    "/api/knowledge/{note_id}/history/{version}/restore": {"post"},
    "/api/knowledge/{note_id}/links": {"get"},
    "/api/knowledge/{note_id}/similar": {"get"},
    "/api/knowledge/{note_id}/mark": {"put"},
    "/api/knowledge/cited": {"post"},
    "/api/knowledge/recording": {"get", "put"},
    "/hooks/claude-code": {"post"},
    "/hooks/status": {"get"},
    "/api/n8n/workflows": {"get"},
    "/api/n8n/workflows/{workflow_id}": {"get", "patch"},
    "/api/n8n/workflows/{workflow_id}/backups": {"get"},
    "/api/n8n/workflows/{workflow_id}/executions": {"get"},
    "/api/n8n/workflows/{workflow_id}/rehearsals": {"post"},
    "/api/n8n/executions/{execution_id}": {"get"},
    "/api/n8n/backups/{workflow_id}/{file}": {"get"},
    "/api/n8n/backups/{workflow_id}/{file}/restore": {"post"},
    "/api/bedrock-kb": {"get"},
    "/api/bedrock-kb/ask": {"post"},
    "/v1/embeddings": {"post"},
}

KNOWLEDGE = {
    "save_knowledge": {
        "content",
        "title",
        "tags",
        "source",
        "private",
        "questions",
        "errors",
        "proposal",
        "anchor",
        "supersedes",
        "space",
    },
    "search_knowledge": {"query", "limit", "tags", "at", "space"},
    "delete_knowledge": {"id"},
    "get_knowledge": {"id"},
    "update_knowledge": {
        "id",
        "content",
        "title",
        "tags",
        "private",
        "questions",
        "errors",
        "anchor",
        "supersedes",
        "mark",
        "space",
    },
    "list_knowledge": {"tag", "limit", "cursor", "space"},
}

KNOWLEDGE_PROMPTS = {
    "save_what_we_learnt": {"topic", "tags"},
    "what_do_we_know": {"topic", "tag"},
}
KNOWLEDGE_RESOURCES = {"note://{id}", "ui://knowledge/search.html"}
N8N_RESOURCES = {"ui://n8n/workflow.html"}
VIEWS = {"search_knowledge": "ui://knowledge/search.html", "get_workflow_connections": "ui://n8n/workflow.html"}

FETCH = {"fetch": {"url", "max_length", "start_index", "raw"}}  # as in the reference server, mcp-server-fetch

BEDROCK_KB = {
    "kb_answer": {"query", "max_results", "session_id", "filter", "search_type"},
    "kb_search": {"query", "max_results", "filter", "search_type"},
}

N8N: dict[str, set[str]] = {
    "list_workflows": {"active", "tags", "name", "projectId", "limit", "offset", "cursor", "raw"},
    "get_workflow": {"id", "nodeName", "raw"},
    "get_workflow_connections": {"id", "raw"},
    "create_workflow": {"name", "nodes", "connections", "settings", "pinData", "active", "tags", "raw"},
    "create_workflow_from_file": {"filePath", "raw"},
    "update_workflow": {
        "id", "name", "nodes", "connections", "settings", "staticData", "pinData", "nodeGroups", "description",
        "active", "tags", "versionId", "raw",
    },
    "replace_workflow_from_file": {"id", "filePath", "versionId", "raw"},
    "delete_workflow": {"id"},
    "list_executions": {"workflowId", "status", "projectId", "limit", "cursor", "raw"},
    "get_execution": {"id", "includeData", "nodeName", "itemLimit", "raw"},
    "validate_workflow": {"id", "nodes", "connections"},
    "patch_workflow": {"id", "operations", "versionId", "dryRun", "raw"},
    "rehearse_change": {"id", "patch", "execution", "run_for_real"},
    "list_backups": {"id", "limit", "cursor"},
    "restore_workflow": {"backup", "raw"},
    "retry_execution": {"id", "loadWorkflow"},
    "publish_workflow": {"id"},
    "unpublish_workflow": {"id"},
    "list_versions": {"id", "limit"},
    "compare_versions": {"id", "from", "to"},
    "restore_version": {"id", "version", "raw"},
    "list_credentials": {"query"},
    "find_nodes": {"query"},
    "describe_node": {"type", "operation", "version", "raw"},
    "n8n_health": set(),
}  # fmt: skip


async def test_tools_of_knowledge_gateway() -> None:
    async with Client(create_server()) as client:
        tools = {tool.name: set(tool.input_schema["properties"]) for tool in await client.list_tools()}
        assert client.server_info is not None
        assert client.server_info.name == "knowledge-gateway"
    assert tools == KNOWLEDGE


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_prompts_and_resources_of_knowledge_gateway(mode: ConnectMode) -> None:
    async with Client(create_server(), mode=mode) as client:
        prompts = {one.name: {argument.name for argument in one.arguments or ()} for one in await client.list_prompts()}
        assert await resource_uris(client) == KNOWLEDGE_RESOURCES
    assert prompts == KNOWLEDGE_PROMPTS


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_views_and_their_tools(mode: ConnectMode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("N8N_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("N8N_API_KEY", "never used")
    views = {}
    for server in (create_server(), create_n8n_server()):
        async with Client(server, mode=mode) as client:
            for tool in await client.list_tools():
                if view := (tool.meta or {}).get("ui"):
                    views[tool.name] = view["resourceUri"]
                    assert set(view) == {"resourceUri"}
    assert views == VIEWS


async def resource_uris(client: Client[Any]) -> set[str]:
    templates = {one.uri_template for one in await client.list_resource_templates()}
    return templates | {str(one.uri) for one in await client.list_resources()}


def test_paths_of_the_api() -> None:
    paths = create_app({}).openapi()["paths"]
    assert {path: set(methods) for path, methods in paths.items()} == API


def test_paths_of_the_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("N8N_URL", "http://127.0.0.1:5678")
    monkeypatch.setenv("N8N_API_KEY", "key")
    bedrock_kb = create_bedrock_kb(KBConfig("us-east-1", "KB12345678", "model"))
    servers = {"knowledge": create_server(), "bedrock-kb": bedrock_kb, "n8n": create_n8n_server()}
    paths = create_app(servers).openapi()["paths"]
    assert {path: set(methods) for path, methods in paths.items() if path not in API} == SERVER_APIS


def test_events_of_a_stream() -> None:
    tools = ["tool_call", "tool_preview", "tool_progress", "tool_log", "elicitation", "elicitation_end", "tool_result"]
    assert EVENT["properties"]["event"]["enum"] == ["message", "reasoning", "summary", *tools, "error", "done"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_tools_of_the_fetch_server(mode: ConnectMode) -> None:
    async with Client(create_fetch_server(), mode=mode) as client:
        tools = {tool.name: set(tool.input_schema["properties"]) for tool in await client.list_tools()}
    assert tools == FETCH


async def test_tools_of_mcp_bedrock_kb() -> None:
    async with Client(create_bedrock_kb(KBConfig("us-east-1", "KB12345678", "model"))) as client:
        tools = {tool.name: set(tool.input_schema["properties"]) for tool in await client.list_tools()}
        assert client.server_info is not None
        assert client.server_info.name == "mcp-bedrock-kb"
    assert tools == BEDROCK_KB


@pytest.mark.req("NW-5", "NW-1")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_tools_of_n8n_mcp_server(mode: ConnectMode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("N8N_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("N8N_API_KEY", "never used")
    monkeypatch.setenv("N8N_MCP_TOKEN", "never used")
    async with Client(create_n8n_server(), mode=mode) as client:
        tools = {tool.name: set(tool.input_schema.get("properties", {})) for tool in await client.list_tools()}
        assert await resource_uris(client) == N8N_RESOURCES
    assert tools == N8N
