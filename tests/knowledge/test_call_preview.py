"""A preview of a call names a note only to a user who may read it, and changes nothing."""

from typing import Any

import pytest
from fastmcp import Client

from chie.access.identity import User, acting_as
from chie.knowledge.server import create_server
from chie.mcp_kit.approval import PREVIEW_TOOL
from chie.mcp_kit.auth import user_ticket
from chie.mcp_kit.server import Server

pytestmark = pytest.mark.req("AG-9")
SECRET = "給与テーブル / Salaries"


async def call(server: Server, user: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    async with Client(server) as client:
        with acting_as(User(user)), user_ticket() as ticket:
            result = await client.call_tool_mcp(tool, arguments, meta=ticket)
    found: dict[str, Any] = result.structured_content or {}
    return found


async def preview(server: Server, user: str, tool: str, **arguments: object) -> dict[str, Any]:
    told = await call(server, user, PREVIEW_TOOL, {"tool": tool, "arguments": arguments})
    shown: dict[str, Any] = told["preview"]
    return shown


@pytest.mark.parametrize(("tool", "change"), [("delete_knowledge", {}), ("update_knowledge", {"content": "x"})])
async def test_a_note_of_somebody_else_stays_unnamed(tool: str, change: dict[str, Any]) -> None:
    server = create_server()
    note = (await call(server, "aki", "save_knowledge", {"content": SECRET, "title": SECRET, "private": True}))["id"]
    own = (await call(server, "ben", "save_knowledge", {"content": "公開", "title": "公開"}))["id"]
    assert SECRET in (await preview(server, "aki", tool, id=note, **change))["text"]
    hidden = await preview(server, "ben", tool, id=note, **change)
    missing = await preview(server, "ben", tool, id="k-0000000000000000", **change)
    assert SECRET not in str(hidden)
    assert hidden["text"] == missing["text"].replace("k-0000000000000000", note)
    for saving in ({"id": own}, {"content": "新しい"}):
        name = "update_knowledge" if "id" in saving else "save_knowledge"
        replacing = await preview(server, "ben", name, **saving, supersedes=[note, own])
        assert [one["after"] for one in replacing["changes"]] == [f"{note}\n公開"]
        assert "knowledge.preview_hides" in [one["code"] for one in replacing["notes"]]
    assert (await call(server, "aki", "get_knowledge", {"id": note}))["content"] == SECRET


async def test_marks_and_empty_changes_are_told() -> None:
    server = create_server()
    note = (await call(server, "aki", "save_knowledge", {"content": "本文", "title": "題", "tags": ["a"]}))["id"]
    assert (await preview(server, "aki", "update_knowledge", id=note, mark="wrong"))[
        "text"
    ] == "Mark the note “題” as wrong"
    same = await preview(server, "aki", "update_knowledge", id=note, content="本文", tags=["a"])
    assert ([one["code"] for one in same["notes"]], same["changes"]) == (["knowledge.preview_unchanged"], [])


@pytest.mark.parametrize("arguments", [{}, {"tool": 1}, {"tool": "delete_knowledge", "arguments": {"id": 7}}], ids=str)
async def test_calls_that_make_no_sense_have_no_preview(arguments: dict[str, Any]) -> None:
    assert await call(create_server(), "aki", PREVIEW_TOOL, arguments) == {"preview": None}


async def test_the_preview_is_no_tool_of_the_server() -> None:
    async with Client(create_server()) as client:
        assert PREVIEW_TOOL not in [tool.name for tool in await client.list_tools()]
