"""mcp-bedrock-kb with real MCP clients."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.app.processes import BIN
from tests.fakes.bedrock import ANSWER, Bedrock, refuse, serving
from tests.real.clients import run

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]

SERVER = str(BIN / "mcp-bedrock-kb")


@pytest.fixture
def bedrock() -> Iterator[Bedrock]:
    with serving() as bedrock:
        yield bedrock


def settings(bedrock: Bedrock) -> list[str]:
    """The settings as command-line arguments, one `-e` each."""
    variables = {
        "AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME": bedrock.url,
        "AWS_ACCESS_KEY_ID": "AKIAENVIRONMENT00000",
        "AWS_SECRET_ACCESS_KEY": "environment-secret",
        "AWS_EC2_METADATA_DISABLED": "true",
        "BEDROCK_KB_ID": "KB12345678",
        "BEDROCK_MODEL_ARN": "arn:aws:bedrock:ap-northeast-1::foundation-model/anthropic.claude-sonnet",
    }
    return [word for name, value in variables.items() for word in ("-e", f"{name}={value}")]


@pytest.mark.req("BK-4.1")
def test_claude_code_connects_over_stdio(bedrock: Bedrock, tmp_path: Path) -> None:
    run("claude", "mcp", "add", "bedrock-kb", *settings(bedrock), "--", SERVER, home=tmp_path / "claude")
    assert "✔ Connected" in run("claude", "mcp", "list", home=tmp_path / "claude")


@pytest.mark.req("BK-2.1", "BK-3.2", "BK-3.4")
@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_inspector_shows_answers_and_errors(bedrock: Bedrock, tmp_path: Path, era: str) -> None:
    home = tmp_path / "inspector"
    call = ("--cli", SERVER, *settings(bedrock), "--protocol-era", era, "--method", "tools/call", "--tool-name")
    answered = json.loads(run("mcp-inspector", *call, "kb_answer", "--tool-arg", "query=再起動の方法は？", home=home))
    assert answered["structuredContent"]["answer"] == ANSWER
    assert answered["structuredContent"]["citations"][0]["score"] == 0.91
    unknown_id = refuse(404, "ResourceNotFoundException", "Knowledge Base with id KB12345678 does not exist")
    bedrock.default = dict.fromkeys(bedrock.default, unknown_id)
    unknown = run("mcp-inspector", *call, "kb_answer", "--tool-arg", "query=q", home=home, check=False)
    assert "The knowledge base or its model was not found in ap-northeast-1" in unknown
    blank = run("mcp-inspector", *call, "kb_answer", "--tool-arg", "query= ", home=home, check=False)
    assert "query is required" in blank
