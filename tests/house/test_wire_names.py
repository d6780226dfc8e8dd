"""Names on the wire are for ever: adding one is a line here, changing one breaks somebody's assistant."""

from fastmcp import Client

from chie.bedrock_kb.config import KBConfig
from chie.bedrock_kb.server import create_server as create_bedrock_kb
from chie.knowledge.server import create_server

KNOWLEDGE = {
    "save_knowledge": {"content", "title", "tags", "source"},
    "search_knowledge": {"query", "limit", "tags"},
    "delete_knowledge": {"id"},
    "get_knowledge": {"id"},
    "update_knowledge": {"id", "content", "title", "tags"},
    "list_knowledge": {"tag", "limit", "cursor"},
}

BEDROCK_KB = {
    "kb_answer": {"query", "max_results", "session_id", "filter", "search_type"},
    "kb_search": {"query", "max_results", "filter", "search_type"},
}


async def test_the_tools_of_knowledge_gateway() -> None:
    async with Client(create_server()) as client:
        tools = {tool.name: set(tool.input_schema["properties"]) for tool in await client.list_tools()}
        assert client.server_info is None or client.server_info.name == "knowledge-gateway"
    assert tools == KNOWLEDGE


async def test_the_tools_of_mcp_bedrock_kb() -> None:
    async with Client(create_bedrock_kb(KBConfig("us-east-1", "KB12345678", "model"))) as client:
        tools = {tool.name: set(tool.input_schema["properties"]) for tool in await client.list_tools()}
        assert client.server_info is None or client.server_info.name == "mcp-bedrock-kb"
    assert tools == BEDROCK_KB
