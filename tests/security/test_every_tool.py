"""Every MCP tool of every room: what is another's alone does not exist, whoever asks and however."""

from typing import Any

import pytest
from fastmcp import Client
from tests.security.conftest import SECRET, Estate

from chie.access.identity import User, acting_as
from chie.knowledge.prompts import QUERY_PROMPT
from chie.mcp_kit.auth import TICKET, lent_identity
from chie.mcp_kit.server import Server

NOT_FOUND = "not found"
NOTHING_PRIVATE = "nothing private"  # the same for everybody who is let in

TOOLS: dict[str, dict[str, tuple[str, dict[str, Any]]]] = {
    "knowledge": {
        "get_knowledge": (NOT_FOUND, {"id": "{note}"}),
        "update_knowledge": (NOT_FOUND, {"id": "{note}", "tags": ["mine"]}),
        "delete_knowledge": (NOT_FOUND, {"id": "{note}"}),
        "search_knowledge": (NOTHING_PRIVATE, {"query": "the password is kept in the safe"}),
        "list_knowledge": (NOTHING_PRIVATE, {}),
        "save_knowledge": (NOTHING_PRIVATE, {"content": "the password is kept in the safe"}),
    },
    "n8n": {
        name: (NOTHING_PRIVATE, {})
        for name in (
            "create_workflow create_workflow_from_file delete_workflow get_execution get_workflow "
            "get_workflow_connections list_backups list_executions list_workflows n8n_health patch_workflow "
            "publish_workflow replace_workflow_from_file restore_workflow retry_execution unpublish_workflow "
            "update_workflow validate_workflow"
        ).split()
    },
    "bedrock-kb": {"kb_answer": (NOTHING_PRIVATE, {}), "kb_search": (NOTHING_PRIVATE, {})},
}


async def test_the_table_has_every_tool_and_no_other(estate: Estate) -> None:
    for room, server in estate.rooms.items():
        assert isinstance(server, Server)
        assert {tool.name for tool in await server.list_tools()} == set(TOOLS[room])


@pytest.mark.parametrize("who", ["ben", "root"])
def test_no_tool_shows_or_changes_what_is_anothers_alone(estate: Estate, who: str) -> None:
    before = estate.possessions()
    for tool, (outcome, arguments) in TOOLS["knowledge"].items():
        answer = estate.tool(who, "knowledge", tool, **_filled(estate, arguments))
        assert answer.get("isError", False) is (outcome == NOT_FOUND), tool
        if outcome == NOT_FOUND:
            assert answer["structuredContent"]["error_type"] == "NotFoundError"
        assert SECRET not in str(answer), tool
        assert estate.note_id not in str(answer), tool
        assert estate.possessions() == before, tool


def test_the_same_calls_of_its_owner_succeed(estate: Estate) -> None:
    for tool, (_, arguments) in sorted(TOOLS["knowledge"].items(), key=lambda row: row[0] == "delete_knowledge"):
        answer = estate.tool("aki", "knowledge", tool, **_filled(estate, arguments))
        assert not answer.get("isError"), tool
        assert estate.note_id in str(answer), tool


def test_the_teams_notes_are_read_by_all_and_changed_by_author_and_admin(estate: Estate) -> None:
    assert not estate.tool("ben", "knowledge", "get_knowledge", id=estate.shared_id).get("isError")
    for tool, more in (("update_knowledge", {"content": "mine now"}), ("delete_knowledge", {})):
        refused = estate.tool("ben", "knowledge", tool, id=estate.shared_id, **more)
        assert refused["structuredContent"]["error_type"] == "ForbiddenError"
        assert "only its author or an admin" in refused["content"][0]["text"]
    changed = estate.tool("root", "knowledge", "update_knowledge", id=estate.shared_id, content="now in the attic")
    assert changed["structuredContent"]["user_id"] == "aki"
    hidden = estate.tool("root", "knowledge", "update_knowledge", id=estate.shared_id, private=True)
    assert "only its author may make it private" in hidden["content"][0]["text"]


TEMPLATE = {"type": "ref/resource", "uri": "note://{id}"}
WHAT_WE_KNOW = {"type": "ref/prompt", "name": QUERY_PROMPT}
LOOKS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("resources/list", {}),
    ("resources/read", {"uri": "note://{note}"}),
    ("completion/complete", {"ref": TEMPLATE, "argument": {"name": "id", "value": "k-"}}),
    ("completion/complete", {"ref": WHAT_WE_KNOW, "argument": {"name": "tag", "value": SECRET[:4]}}),
)


@pytest.mark.parametrize(("request_", "params"), LOOKS)
def test_resources_and_completion_show_what_is_anothers_alone_to_its_owner_only(
    estate: Estate, request_: str, params: dict[str, Any]
) -> None:
    params = {
        name: value.replace("{note}", estate.note_id) if isinstance(value, str) else value
        for name, value in params.items()
    }
    assert any(mark in str(estate.ask("aki", "knowledge", request_, **params)) for mark in (SECRET, estate.note_id))
    for who in ("ben", "root"):
        answer = estate.ask(who, "knowledge", request_, **params)
        assert SECRET not in str(answer)
        assert estate.note_id not in str(answer.get("result", ""))


def test_what_a_tool_saves_bears_the_users_name(estate: Estate) -> None:
    saved = estate.tool("ben", "knowledge", "save_knowledge", content="ben was here", private=True)
    assert (saved["structuredContent"]["user_id"], saved["structuredContent"]["private"]) == ("ben", True)


def test_the_chat_acts_for_whoever_asks_it(house_with_agents: Estate) -> None:
    house = house_with_agents
    for who in ("aki", "ben"):
        note = {"content": f"the copper kettle of {who} is on the shelf", "private": True}
        assert house.call(who, "POST", "/api/knowledge", json=note).status_code == 201
    question = {"message": "where is the copper kettle?", "agent_id": "notes"}
    for who, other in (("aki", "ben"), ("ben", "aki"), ("aki", "ben")):
        answer = house.call(who, "POST", "/api/chat/stream", json=question).text
        assert f"kettle of {who}" in answer
        assert f"kettle of {other}" not in answer
    completion = {"model": "notes", "messages": [{"role": "user", "content": question["message"]}]}
    answer = house.call("ben", "POST", "/v1/chat/completions", json=completion).text
    assert "kettle of ben" in answer
    assert "kettle of aki" not in answer


async def test_a_ticket_leads_to_its_user_within_the_process_and_for_one_call(estate: Estate) -> None:
    server = estate.rooms["knowledge"]
    assert isinstance(server, Server)
    async with Client(server) as client:
        with acting_as(User("aki")), lent_identity() as ticket:
            found = await client.call_tool("get_knowledge", {"id": estate.note_id}, meta=ticket)
            assert SECRET in str(found.content)
        later = await client.call_tool("get_knowledge", {"id": estate.note_id}, meta=ticket, raise_on_error=False)
        guessed = await client.call_tool(
            "get_knowledge", {"id": estate.note_id}, meta={TICKET: "aki", "chie/user": "aki"}, raise_on_error=False
        )
        written = await client.call_tool("save_knowledge", {"content": "x"}, meta=ticket, raise_on_error=False)
    assert "who are you?" in str(written.content)
    assert later.is_error
    assert guessed.is_error


@pytest.mark.parametrize("version", ["2025-06-18", "2026-07-28"])
def test_what_a_request_over_http_says_of_itself_never_sets_who_it_is(estate: Estate, version: str) -> None:
    """Not even with a ticket that is good at that moment."""
    with acting_as(User("aki", admin=True)), lent_identity() as ticket:
        meta = {**ticket, "chie/user": "aki", "user": "aki", "user_id": "aki"}
        params = {"name": "get_knowledge", "arguments": {"id": estate.note_id}, "_meta": meta}
        answer = estate.call(
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
    assert estate.note_id not in answer.text


def _filled(estate: Estate, arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: estate.note_id if value == "{note}" else value for name, value in arguments.items()}
