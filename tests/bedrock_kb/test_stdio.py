"""The server as MCP hosts run it: a separate process with nothing but JSON-RPC on stdout."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from tests.bedrock_kb.conftest import KB_ID, MODEL_ARN
from tests.fakes.bedrock import ANSWER, GENERATED, Bedrock, answer, hold

TOKEN = "FwoGZXIvYXdzEBYaDH"
SCRIPT = str(Path(sys.executable).parent / "mcp-bedrock-kb")


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "AWS_REGION": "us-east-1", "BEDROCK_KB_ID": KB_ID, "BEDROCK_MODEL_ARN": MODEL_ARN, **more}


@pytest.mark.req("BK-4.1", "BK-4.3", "BK-2.1")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_console_script_answers_over_stdio_and_logs_no_question_and_no_token(
    bedrock: Bedrock, mode: Any, tmp_path: Path
) -> None:
    log = tmp_path / "log.json"
    more = ["--log-level", "debug", "--log-file", str(log)]
    transport = StdioTransport(SCRIPT, more, env=environment(AWS_SESSION_TOKEN=TOKEN), keep_alive=False)
    async with Client(transport, mode=mode) as client:
        assert [tool.name for tool in await client.list_tools()] == ["kb_answer"]
        result = await client.call_tool("kb_answer", {"query": "再起動の方法は？"})
    assert result.structured_content is not None
    assert result.structured_content["answer"] == ANSWER
    assert sorted(bedrock.operations) == ["Retrieve", "RetrieveAndGenerateStream"]
    assert bedrock.calls[0].headers["X-Amz-Security-Token"] == TOKEN
    logged = log.read_text(encoding="utf-8")
    assert "DEBUG" in logged
    for secret in ("再起動の方法", TOKEN, ANSWER):
        assert secret not in logged


HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
OPENING = [
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
]


@contextmanager
def running(*messages: dict[str, Any]) -> Iterator[tuple["subprocess.Popen[str]", IO[str], IO[str]]]:
    """The module run directly and sent these messages: the process, its stdin and its stdout."""
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
        process.stdin.write("".join(f"{json.dumps(message)}\n" for message in [*OPENING, *messages]))
        process.stdin.flush()
        yield process, process.stdin, process.stdout


@pytest.mark.req("BK-4.1")
def test_module_run_directly_writes_only_json_rpc_to_stdout(bedrock: Bedrock) -> None:
    with running({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}) as (_, stdin, stdout):
        hello, tools = (json.loads(stdout.readline()) for _ in range(2))
        stdin.close()
        assert stdout.read() == ""
    assert hello["result"]["serverInfo"]["name"] == "mcp-bedrock-kb"
    assert [tool["name"] for tool in tools["result"]["tools"]] == ["kb_answer"]
    assert bedrock.calls == []


def test_process_exits_without_waiting_for_bedrock(bedrock: Bedrock) -> None:
    released = threading.Event()
    bedrock.replies(hold(released, answer(GENERATED)))
    call = {"name": "kb_answer", "arguments": {"query": "q"}}
    with running({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}) as (process, stdin, _):
        assert bedrock.called.acquire(timeout=60)
        stdin.close()
        try:
            assert process.wait(timeout=60) == 0
        finally:
            process.kill()
            released.set()


@pytest.mark.req("BK-1.4")
def test_unconfigured_process_exits_with_one_line_naming_the_missing_variables() -> None:
    done = subprocess.run([SCRIPT], env=dict(os.environ), capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == "Error: not configured: BEDROCK_KB_ID, BEDROCK_MODEL_ARN\n"
