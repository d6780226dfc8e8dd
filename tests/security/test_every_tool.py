"""Every MCP tool: other users' private notes do not exist for the caller."""

import json
from typing import Any

import pytest
from fastmcp import Client
from tests.security.conftest import ADDRESS, SECRET, Team
from tests.security.tools import NOT_FOUND, TOOLS

from chie.access.identity import User, acting_as
from chie.knowledge.prompts import QUERY_PROMPT
from chie.mcp_kit.approval import UNLISTED_TOOLS
from chie.mcp_kit.auth import TICKET_META, user_ticket
from chie.mcp_kit.server import Server
from chie.servers import load_agent_servers


async def test_table_lists_every_tool(team: Team) -> None:
    for name, server in (team.servers | load_agent_servers()).items():
        assert isinstance(server, Server)
        assert {tool.name for tool in await server.list_tools()} == set(TOOLS[name])


async def test_web_pages_of_this_machine_are_refused() -> None:
    [(tool, case)] = TOOLS["fetch"].items()
    async with Client(load_agent_servers()["fetch"]) as client:
        for url in (case.arguments["url"], f"{ADDRESS}/api/sessions", "http://[::1]/", "http://169.254.169.254/"):
            answer = await client.call_tool_mcp(tool, {"url": url})
            assert (answer.structured_content or {})["code"] == "web_fetch.address_refused"


@pytest.mark.parametrize("who", ["ben", "root"])
def test_tools_hide_private_notes_of_others(team: Team, who: str) -> None:
    before = team.possessions()
    for tool, case in TOOLS["knowledge"].items():
        answer = team.tool(who, "knowledge", tool, **_filled(team, case.arguments))
        assert answer.get("isError", False) is (case.outcome == NOT_FOUND), tool
        if case.outcome == NOT_FOUND:
            assert answer["structuredContent"]["error_type"] == "NotFoundError"
        assert SECRET not in str(answer), tool
        assert team.note_id not in str(answer), tool
        assert team.possessions() == before, tool


def test_same_calls_succeed_for_the_owner(team: Team) -> None:
    for tool, case in sorted(TOOLS["knowledge"].items(), key=lambda row: row[0] == "delete_knowledge"):
        answer = team.tool("aki", "knowledge", tool, **_filled(team, case.arguments))
        assert not answer.get("isError"), tool
        assert team.note_id in str(answer), tool


def test_shared_notes_are_changed_by_author_and_admin_only(team: Team) -> None:
    assert not team.tool("ben", "knowledge", "get_knowledge", id=team.shared_id).get("isError")
    for tool, more in (("update_knowledge", {"content": "mine now"}), ("delete_knowledge", {})):
        refused = team.tool("ben", "knowledge", tool, id=team.shared_id, **more)
        assert refused["structuredContent"]["error_type"] == "ForbiddenError"
        assert refused["structuredContent"]["code"] == "knowledge.note_forbidden"
    changed = team.tool("root", "knowledge", "update_knowledge", id=team.shared_id, content="now in the attic")
    assert changed["structuredContent"]["user_id"] == "aki"
    hidden = team.tool("root", "knowledge", "update_knowledge", id=team.shared_id, private=True)
    assert hidden["structuredContent"]["code"] == "knowledge.visibility_forbidden"


TEMPLATE = {"type": "ref/resource", "uri": "note://{id}"}
WHAT_WE_QUERY_PROMPT = {"type": "ref/prompt", "name": QUERY_PROMPT}
LOOKS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("resources/list", {}),
    ("resources/read", {"uri": "note://{note}"}),
    ("completion/complete", {"ref": TEMPLATE, "argument": {"name": "id", "value": "k-"}}),
    ("completion/complete", {"ref": WHAT_WE_QUERY_PROMPT, "argument": {"name": "tag", "value": SECRET[:4]}}),
)


@pytest.mark.parametrize(("request_", "params"), LOOKS)
def test_resources_and_completion_hide_private_notes_of_others(
    team: Team, request_: str, params: dict[str, Any]
) -> None:
    params = {
        name: value.replace("{note}", team.note_id) if isinstance(value, str) else value
        for name, value in params.items()
    }
    assert any(mark in str(team.ask("aki", "knowledge", request_, **params)) for mark in (SECRET, team.note_id))
    for who in ("ben", "root"):
        answer = team.ask(who, "knowledge", request_, **params)
        assert SECRET not in str(answer)
        assert team.note_id not in str(answer.get("result", ""))


def test_saved_note_has_the_user_id(team: Team) -> None:
    saved = team.tool("ben", "knowledge", "save_knowledge", content="ben was here", private=True)
    assert (saved["structuredContent"]["user_id"], saved["structuredContent"]["private"]) == ("ben", True)


def test_chat_acts_for_its_user(team_with_agents: Team) -> None:
    team = team_with_agents
    for who in ("aki", "ben"):
        note = {"content": f"the copper kettle of {who} is on the shelf", "private": True}
        assert team.call(who, "POST", "/api/knowledge", json=note).status_code == 201
    question = {"message": "where is the copper kettle?", "agent_id": "notes"}
    for who, other in (("aki", "ben"), ("ben", "aki"), ("aki", "ben")):
        answer = team.call(who, "POST", "/api/chat/stream", json=question).text
        assert f"kettle of {who}" in answer
        assert f"kettle of {other}" not in answer
    completion = {"model": "notes", "messages": [{"role": "user", "content": question["message"]}]}
    answer = team.call("ben", "POST", "/v1/chat/completions", json=completion).text
    assert "kettle of ben" in answer
    assert "kettle of aki" not in answer


async def test_ticket_is_valid_for_one_call_in_the_process(team: Team) -> None:
    server = team.servers["knowledge"]
    assert isinstance(server, Server)
    async with Client(server) as client:
        with acting_as(User("aki")), user_ticket() as ticket:
            found = await client.call_tool("get_knowledge", {"id": team.note_id}, meta=ticket)
            assert SECRET in str(found.content)
        later = await client.call_tool("get_knowledge", {"id": team.note_id}, meta=ticket, raise_on_error=False)
        guessed = await client.call_tool(
            "get_knowledge", {"id": team.note_id}, meta={TICKET_META: "aki", "chie/user": "aki"}, raise_on_error=False
        )
        written = await client.call_tool("save_knowledge", {"content": "x"}, meta=ticket, raise_on_error=False)
    assert written.structured_content is not None
    assert written.structured_content["code"] == "access.sign_in_to_write"
    assert later.is_error
    assert guessed.is_error


@pytest.mark.parametrize("who", ["ben", "root"])
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("delete_knowledge", {"id": "{note}"}),
        ("update_knowledge", {"id": "{note}", "content": "mine", "supersedes": ["{note}"]}),
        ("save_knowledge", {"content": "mine", "supersedes": ["{note}"]}),
    ],
)
@pytest.mark.parametrize("unlisted", UNLISTED_TOOLS)
def test_previews_of_calls_name_no_private_note_of_others(
    team: Team, who: str, tool: str, arguments: dict[str, Any], unlisted: str
) -> None:
    """They are no tools of the list, but every client may call them."""
    before = team.possessions()
    given = json.loads(json.dumps(arguments).replace("{note}", team.note_id))
    answer = team.tool(who, "knowledge", unlisted, tool=tool, arguments=given)
    assert team.note_id in str(answer)
    assert SECRET not in str(answer)
    assert team.possessions() == before


@pytest.mark.parametrize("version", ["2025-06-18", "2026-07-28"])
def test_request_meta_over_http_never_sets_the_user(team: Team, version: str) -> None:
    """Not even with a valid ticket."""
    with acting_as(User("aki", admin=True)), user_ticket() as ticket:
        meta = {**ticket, "chie/user": "aki", "user": "aki", "user_id": "aki"}
        params = {"name": "get_knowledge", "arguments": {"id": team.note_id}, "_meta": meta}
        answer = team.call(
            "ben",
            "POST",
            "/mcp/knowledge",
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params},
            headers={
                "accept": "application/json, text/event-stream",
                "mcp-protocol-version": version,
                "x-user": "aki",
                "x-forwarded-user": "aki",
                "x-goog-authenticated-user-email": "aki",
            },
        )
    assert SECRET not in answer.text
    assert team.note_id not in answer.text


def _filled(team: Team, arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: team.note_id if value == "{note}" else value for name, value in arguments.items()}
