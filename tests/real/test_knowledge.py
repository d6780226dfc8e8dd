"""knowledge-gateway with the clients that people really use."""

import json
from pathlib import Path

import pytest
from tests.app.processes import BIN, http_server
from tests.real.clients import run

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]

GATEWAY = str(BIN / "knowledge-gateway")


@pytest.mark.req("KG-11")
def test_claude_code_connects_over_stdio_and_http(tmp_path: Path, home: Path) -> None:
    claude = tmp_path / "claude"
    with http_server("chie", "serve") as address:
        run("claude", "mcp", "add", "ours", "-e", f"CHIE_HOME={home}", "--", GATEWAY, home=claude)
        run("claude", "mcp", "add", "--transport", "http", "app", f"{address}/mcp/knowledge", home=claude)
        listed = run("claude", "mcp", "list", home=claude)
    connected = [line for line in listed.splitlines() if "✔ Connected" in line]
    assert [line.split(":")[0] for line in connected] == ["ours", "app"], listed


@pytest.mark.req("KG-11")
@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_lists_and_calls_the_tools(tmp_path: Path, home: Path, era: str) -> None:
    inspect = ("--cli", GATEWAY, "-e", f"CHIE_HOME={home}", "--protocol-era", era, "--method")
    listed = json.loads(run("mcp-inspector", *inspect, "tools/list", home=tmp_path / "i"))
    assert len(listed["tools"]) == 6
    call = (*inspect, "tools/call", "--tool-name")
    run("mcp-inspector", *call, "save_knowledge", "--tool-arg", "content=検査官が見た", home=tmp_path / "i")
    found = run("mcp-inspector", *call, "search_knowledge", "--tool-arg", "query=検査官", home=tmp_path / "i")
    assert "検査官が見た" in found
    missing = run("mcp-inspector", *call, "save_knowledge", home=tmp_path / "i", check=False)
    assert "content is required" in missing
