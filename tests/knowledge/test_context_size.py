"""What the note tools take of a model's context: the figure that both READMEs name."""

import json
import re
from typing import Any

import pytest
from docs.requirement_table import ROOT
from fastmcp import Client

from chie.knowledge.server import create_server

LIMIT = 6_000


def measured(tools: list[Any]) -> int:
    """Names, descriptions and input schemas as compact JSON: what clients pass on to a model."""
    shown = [{"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema} for tool in tools]
    return len(json.dumps(shown, ensure_ascii=False, separators=(",", ":")))


@pytest.mark.parametrize("page", ["README.md", "README.ja.md"])
async def test_the_six_tools_are_as_short_as_the_readme_says(page: str) -> None:
    async with Client(create_server()) as client:
        tools = await client.list_tools()
    assert len(tools) == 6
    assert measured(tools) < LIMIT
    assert re.search(f"{LIMIT:,}", (ROOT / page).read_text("utf-8"))


async def test_arguments_have_types_and_descriptions_and_no_nulls() -> None:
    async with Client(create_server()) as client:
        for tool in await client.list_tools():
            for name, argument in tool.input_schema["properties"].items():
                assert argument.keys() & {"type", "enum"}, (tool.name, name)
                assert argument["description"], (tool.name, name)
                assert "null" not in json.dumps(argument), (tool.name, name)


async def test_nulls_of_optional_arguments_are_accepted_all_the_same() -> None:
    async with Client(create_server()) as client:
        saved = await client.call_tool("save_knowledge", {"content": "nginx: raise it", "title": None, "tags": None})
        assert saved.structured_content is not None
        assert saved.structured_content["title"] == "nginx: raise it"
