"""As hosts run it: a process of its own, JSON-RPC on stdout and nothing else."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from tests.bedrock_kb.conftest import KB_ID, MODEL_ARN
from tests.fakes.bedrock import ANSWER, Bedrock

TOKEN = "FwoGZXIvYXdzEBYaDH"
SCRIPT = str(Path(sys.executable).parent / "mcp-bedrock-kb")


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "AWS_REGION": "us-east-1", "BEDROCK_KB_ID": KB_ID, "BEDROCK_MODEL_ARN": MODEL_ARN, **more}


@pytest.mark.req("BK-4.1", "BK-2.1")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_console_script_answers_over_stdio_and_logs_no_question_and_no_token(
    bedrock: Bedrock, mode: Any, tmp_path: Path
) -> None:
    log = tmp_path / "log.json"
    more = ["--log-level", "debug", "--log-file", str(log)]
    transport = StdioTransport(SCRIPT, more, env=environment(AWS_SESSION_TOKEN=TOKEN), keep_alive=False)
    async with Client(transport, mode=mode) as client:
        assert {tool.name for tool in await client.list_tools()} == {"kb_answer", "kb_search"}
        result = await client.call_tool("kb_answer", {"query": "再起動の方法は？"})
    assert result.structured_content is not None
    assert result.structured_content["answer"] == ANSWER
    assert bedrock.operations == ["RetrieveAndGenerateStream"]
    assert bedrock.calls[0].headers["X-Amz-Security-Token"] == TOKEN
    logged = log.read_text(encoding="utf-8")
    assert "DEBUG" in logged
    for secret in ("再起動の方法", TOKEN, ANSWER):
        assert secret not in logged


@pytest.mark.req("BK-4.1")
def test_run_directly_the_module_speaks_nothing_but_json_rpc_on_stdout(bedrock: Bedrock) -> None:
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "chie.bedrock_kb.server", "--log-level", "debug"],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        assert process.stdin
        assert process.stdout
        process.stdin.write("".join(f"{json.dumps(line)}\n" for line in lines))
        process.stdin.flush()
        hello_back, tools = (json.loads(process.stdout.readline()) for _ in range(2))
        process.stdin.close()
        assert process.stdout.read() == ""
    assert hello_back["result"]["serverInfo"]["name"] == "mcp-bedrock-kb"
    assert [tool["name"] for tool in tools["result"]["tools"]] == ["kb_answer", "kb_search"]
    assert bedrock.calls == []


@pytest.mark.req("BK-1.4")
def test_without_its_configuration_it_ends_with_one_line_that_names_what_is_missing() -> None:
    done = subprocess.run([SCRIPT], env=dict(os.environ), capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == "Error: not configured: BEDROCK_KB_ID, BEDROCK_MODEL_ARN\n"
