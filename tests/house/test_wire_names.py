"""Names on the wire are for ever: adding one is a line here, changing one breaks somebody's assistant."""

from fastmcp import Client

from chie.knowledge.server import create_server

KNOWLEDGE = {
    "save_knowledge": {"content", "title", "tags", "source"},
    "search_knowledge": {"query", "limit", "tags"},
    "delete_knowledge": {"id"},
    "get_knowledge": {"id"},
    "update_knowledge": {"id", "content", "title", "tags"},
    "list_knowledge": {"tag", "limit", "cursor"},
}


async def test_the_tools_of_knowledge_gateway() -> None:
    async with Client(create_server()) as client:
        tools = {tool.name: set(tool.input_schema["properties"]) for tool in await client.list_tools()}
        assert client.server_info is None or client.server_info.name == "knowledge-gateway"
    assert tools == KNOWLEDGE
