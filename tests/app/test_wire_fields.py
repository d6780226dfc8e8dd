"""Names on the wire that no schema of a tool or a path has: settings, agents, headers, and fields of events."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from click import Option
from docs.generate import setting_names
from starlette.testclient import TestClient
from tests.fakes.agents import FailingAgent, ForgetfulAgent, PensiveAgent, ToolAgent
from tests.fakes.chat import ChatClient, open_chat, sqlite_url

from chie.access.middleware import TOKEN_HEADER
from chie.app import create_app
from chie.chat.agents.assembly import open_agents
from chie.chat.events import Done, ToolCall, Usage
from chie.chat.settings import ChatSettings
from chie.cli import main
from chie.errors import ConfigurationError
from chie.knowledge.server import create_server
from chie.servers import SERVERS

SETTINGS = set(
    """
    ANTHROPIC_API_KEY ANTHROPIC_BASE_URL AWS_PROFILE AWS_REGION BEDROCK_GUARDRAIL_ID BEDROCK_GUARDRAIL_VERSION
    BEDROCK_KB_ID BEDROCK_KB_SCORES BEDROCK_KB_TIMEOUT BEDROCK_KB_TOOLS BEDROCK_MODEL_ARN BEDROCK_RERANK_MODEL_ARN
    BEDROCK_SEARCH_TYPE CHIE_AGENTS_FILE CHIE_ALLOWED_HOSTS CHIE_ALLOWED_ORIGINS CHIE_ANSWER_LIMIT CHIE_ANTHROPIC_MODEL
    CHIE_APPROVED_TOOLS CHIE_AUDIT_LOG CHIE_AUTH_ADMIN_CLAIM CHIE_AUTH_ADMIN_VALUE CHIE_AUTH_AUDIENCE
    CHIE_AUTH_HEADER CHIE_AUTH_ISSUER CHIE_AUTH_JWKS_URL CHIE_AUTH_LEEWAY CHIE_AUTH_USER_CLAIM CHIE_AWS_MODEL
    CHIE_BEHIND_PROXY_AUTH CHIE_BODY_SECONDS CHIE_DATABASE_URL CHIE_EMBEDDING_KEY CHIE_EMBEDDING_MODEL
    CHIE_EMBEDDING_URL CHIE_FETCH_ALLOW CHIE_FETCH_MAX_BYTES CHIE_FETCH_PROXY CHIE_FETCH_ROBOTS CHIE_FETCH_TIMEOUT
    CHIE_HOME CHIE_KNOWLEDGE_STORE CHIE_MODEL CHIE_MODEL_CONTEXT CHIE_MODEL_HOST CHIE_MODEL_TIMEOUT CHIE_MODEL_VISION
    CHIE_MONTHLY_COST CHIE_MONTHLY_TOKENS CHIE_PAGE_AGENT CHIE_PRICES_FILE CHIE_RATE_BURST
    CHIE_RATE_LIMIT CHIE_RECALL CHIE_REVIEW_STALE_MONTHS CHIE_SERVERS_FILE CHIE_TOOL_RESULT_LIMIT
    CHIE_TEAM_MONTHLY_COST CHIE_TEAM_MONTHLY_TOKENS CHIE_TITLES CHIE_TOOL_ROUNDS CHIE_TOOL_TIMEOUT
    CHIE_TRASH_DAYS CHIE_USER CHIE_USERS_FILE CHIE_USER_ADMIN CHIE_VECTOR_SEARCH_EMULATOR GOOGLE_CLOUD_PROJECT
    N8N_API_KEY N8N_BACKUP_DIR N8N_BACKUP_KEEP N8N_CA_BUNDLE N8N_FILE_ROOTS N8N_HEADERS N8N_MAX_CHARS N8N_MCP_TOKEN
    N8N_READ_ONLY N8N_TIMEOUT N8N_URL OPENAI_API_KEY OPENAI_BASE_URL VECTOR_SEARCH_COLLECTION VECTOR_SEARCH_LOCATION
    """.split()
)
OPTIONS = {"CHIE_LOG_DIR", "CHIE_LOG_FILE", "CHIE_LOG_LEVEL", "CHIE_WORKERS", "PORT"}

AGENTS = ["default-chat", "assistant", "web-scraper", "aws", "adk", "notes"]

EVENTS = {
    "message": {"type", "content"},
    "reasoning": {"type", "content", "duration_ms"},
    "summary": {"type", "questions", "content"},
    "tool_call": {"type", "id", "name", "arguments"},
    "tool_result": {"type", "id", "name", "content", "is_error", "duration_ms"},
    "error": {"type", "error", "code", "params"},
    "done": {"usage", "message_id", "session_id"},
}


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[ChatClient]:
    async with open_chat(sqlite_url(tmp_path)) as chat:
        yield chat


def test_environment_variables() -> None:
    assert setting_names() == SETTINGS
    params = [param for name in ("serve", "mcp") for param in main.commands[name].params]
    assert {param.envvar for param in params if isinstance(param, Option) and param.envvar} == OPTIONS


async def test_agents_without_configuration() -> None:
    async with open_agents(ChatSettings(), {}) as agents:
        assert [info["agent_id"] for info in await agents.list_agents()] == AGENTS


def test_every_server_is_under_mcp() -> None:
    """Configured or not: assistants have these URLs in their files."""
    error = ConfigurationError("access.allowed_hosts_missing")
    app = create_app({"knowledge": create_server(), "bedrock-kb": error, "n8n": error})
    with TestClient(app, base_url="http://127.0.0.1") as client:
        answers = {name: client.post(f"/mcp/{name}", json={}).status_code for name in SERVERS}
    assert answers == {"knowledge": 400, "bedrock-kb": 503, "n8n": 503}


async def test_fields_of_events(chat: ChatClient) -> None:
    seen: dict[str, set[str]] = {}
    for agent in (ToolAgent, PensiveAgent, ForgetfulAgent, FailingAgent):
        _, events = await chat.ask("x", agent_id=agent.id)
        for event in events:
            seen.setdefault(event.event, set()).update(event.data)
    assert seen == EVENTS
    assert set(ToolCall.__annotations__) == EVENTS["tool_call"] | {
        "approval",
        "changed",
        "definition",
        "preview",
        "view",
    }
    assert {"finish"} <= set(Done.__annotations__)
    counts = {"input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens"}
    assert set(Usage.__annotations__) == {*counts, "estimated", "models", "cost"}


async def test_own_headers(chat: ChatClient) -> None:
    response = await chat.client.post("/api/chat/stream", json={"message": "x"})
    ours = {name for name in response.headers if name.startswith("x-chie-")}
    assert ours == {"x-chie-session", "x-chie-message"}
    assert TOKEN_HEADER == "x-chie-token"
