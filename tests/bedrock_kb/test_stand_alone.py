"""The server as other programs import it, and the tools that it offers by itself and in the app."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastmcp import Client, FastMCP
from tests.bedrock_kb.conftest import KB_ID, MODEL_ARN
from tests.bedrock_kb.test_stdio import environment
from tests.fakes.bedrock import ANSWER, Bedrock

import chie.bedrock_kb.server as module
from chie.bedrock_kb.errors import ValidationError
from chie.errors import ConfigurationError
from chie.mcp_kit.server import Server
from chie.servers import create_stand_alone_server, load_servers

SERVER_FILE = module.__file__
FASTMCP = str(Path(sys.executable).parent / "fastmcp")


@pytest.fixture
def configured(bedrock: Bedrock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bedrock]:
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("BEDROCK_KB_ID", KB_ID)
    monkeypatch.setenv("BEDROCK_MODEL_ARN", MODEL_ARN)
    yield bedrock
    for name in ("mcp", "kb_answer"):
        vars(module).pop(name, None)  # built by the test, with its settings


@pytest.mark.req("BK-API-2")
async def test_server_and_tool_can_be_imported(configured: Bedrock) -> None:
    from chie.bedrock_kb.server import kb_answer, mcp

    assert isinstance(mcp, FastMCP)
    assert mcp.name == "mcp-bedrock-kb"
    result = await kb_answer("How do I fix it?", max_results=2)
    assert (result.answer, [citation.score for citation in result.citations]) == (ANSWER, [0.91])
    async with Client(mcp) as client:
        assert (await client.call_tool("kb_answer", {"query": "q"})).structured_content["answer"] == ANSWER
    calls = len(configured.calls)
    with pytest.raises(ValidationError, match="query is required"):
        await kb_answer(" \t\n")
    assert len(configured.calls) == calls


@pytest.mark.req("BK-API-2")
def test_import_needs_no_configuration_and_no_sdk() -> None:
    program = (
        "import sys, chie.bedrock_kb.server as module\n"
        "assert 'boto3' not in sys.modules\n"
        "assert not hasattr(module, 'other')\n"
        "try: module.mcp\n"
        "except ValueError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "not configured: BEDROCK_KB_ID, BEDROCK_MODEL_ARN\n"


@pytest.mark.req("BK-API-2", "BK-4.3")
@pytest.mark.usefixtures("aws")
def test_fastmcp_inspect_finds_the_server() -> None:
    done = subprocess.run(
        [FASTMCP, "inspect", SERVER_FILE, "--format", "mcp"],
        env=environment(FASTMCP_CHECK_FOR_UPDATES="off"),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found = json.loads(done.stdout)
    assert found["serverInfo"]["name"] == "mcp-bedrock-kb"
    assert [tool["name"] for tool in found["tools"]] == ["kb_answer"]


@pytest.mark.req("BK-4.3")
@pytest.mark.parametrize(
    ("setting", "alone", "in_app"),
    [
        ("", ["kb_answer"], ["kb_answer", "kb_search"]),
        ("kb_answer", ["kb_answer"], ["kb_answer"]),
        (" kb_search ,kb_answer, ", ["kb_search", "kb_answer"], ["kb_search", "kb_answer"]),
    ],
)
async def test_tools_of_the_stand_alone_server_and_the_app(
    configured: Bedrock, monkeypatch: pytest.MonkeyPatch, setting: str, alone: list[str], in_app: list[str]
) -> None:
    assert configured.url
    monkeypatch.setenv("BEDROCK_KB_TOOLS", setting)
    servers = {"alone": create_stand_alone_server("bedrock-kb"), "in_app": load_servers()["bedrock-kb"]}
    for name, expected in (("alone", alone), ("in_app", in_app)):
        server = servers[name]
        assert isinstance(server, Server)
        assert [tool.name for tool in await server.list_tools()] == expected
        assert server.instructions is not None
        assert {tool for tool in ("kb_answer", "kb_search") if tool in server.instructions} == set(expected)


@pytest.mark.usefixtures("configured")
def test_unknown_tool_is_an_error_at_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEDROCK_KB_TOOLS", "kb_answer,kb_delete")
    with pytest.raises(ConfigurationError, match="BEDROCK_KB_TOOLS"):
        create_stand_alone_server("bedrock-kb")
