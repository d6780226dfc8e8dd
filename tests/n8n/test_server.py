"""The server as clients see it: names, schemas, annotations, health, and read-only mode."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from pydantic import SecretStr
from starlette.testclient import TestClient
from tests.fakes.n8n import KEY, FakeN8n
from tests.n8n.caller import Caller, Instance, calling, order_flow

from chie.app import create_app
from chie.errors import ConfigurationError
from chie.n8n.server import create_server
from chie.n8n.settings import N8nSettings

READING = {
    "list_workflows", "get_workflow", "get_workflow_connections", "list_executions", "get_execution",
    "validate_workflow", "list_backups", "n8n_health", "list_versions", "compare_versions", "list_credentials",
}  # fmt: skip

REPEATING = {"create_workflow", "create_workflow_from_file", "restore_workflow", "retry_execution"}


async def test_every_tool_is_described_and_annotated(fake: FakeN8n) -> None:
    server = create_server(N8nSettings(url=fake.url, api_key=SecretStr(KEY)))
    async with Client(server) as client:
        tools = await client.list_tools()
    for tool in tools:
        assert tool.annotations is not None
        assert tool.description
        assert len(tool.description) > 40
        assert tool.annotations.read_only_hint is (tool.name in READING)
        assert tool.annotations.read_only_hint or tool.annotations.destructive_hint is not None
        assert tool.annotations.destructive_hint is not False or tool.name == "create_workflow_from_file"
        if tool.name in REPEATING:
            assert tool.annotations.idempotent_hint is False
    assert len(json.dumps([tool.input_schema for tool in tools])) < 8_000


async def test_read_only_server_has_no_tool_that_writes(instance: Instance, fake: FakeN8n, tmp_path: Path) -> None:
    workflow = fake.add_workflow(**order_flow())
    async with calling(instance, tmp_path, read_only=True) as call:
        assert {tool.name for tool in await call.client.list_tools()} == READING
        assert "Unknown tool" in (await call("delete_workflow", id=workflow["id"])).error
    assert workflow["id"] in fake.workflows


async def test_null_for_an_optional_argument_is_ignored(instance: Instance, fake: FakeN8n, tmp_path: Path) -> None:
    fake.add_workflow(**order_flow())
    async with calling(instance, tmp_path) as call:
        given = await call("list_workflows", limit=None, offset=None, raw=None)
        assert given.data == (await call("list_workflows")).data


async def test_health_reports_the_problem_and_the_fix(instance: Instance, fake: FakeN8n, tmp_path: Path) -> None:
    async with calling(Instance(instance.url, "another-key-0123"), tmp_path) as call:
        state = (await call("n8n_health")).data
    assert (state["healthy"], state["reachable"], state["keyValid"]) == (False, True, False)
    assert "create a new key in n8n" in state["problem"]
    assert fake.seen


async def test_health_of_an_unreachable_n8n(tmp_path: Path) -> None:
    async with calling(Instance("http://127.0.0.1:9", "key"), tmp_path) as call:
        state = (await call("n8n_health")).data
    assert (state["healthy"], state["reachable"]) == (False, False)
    assert "Check that it is running and that `N8N_URL` is correct" in state["problem"]


def test_app_reports_the_health_of_n8n(fake: FakeN8n) -> None:
    well = create_server(N8nSettings(url=fake.url, api_key=SecretStr(KEY)))
    with TestClient(create_app({"n8n": well}), base_url="http://127.0.0.1:8080") as client:
        assert client.get("/health").json()["servers"]["n8n"] == {"status": "healthy", "n8n": fake.url}
    ill = create_server(N8nSettings(url=fake.url, api_key=SecretStr("wrong-key")))
    with TestClient(create_app({"n8n": ill}), base_url="http://127.0.0.1:8080") as client:
        answer = client.get("/health")
        assert answer.status_code == 503
        assert "`N8N_API_KEY` is not valid" in answer.json()["servers"]["n8n"]["reason"]


async def test_unresponsive_n8n_does_not_delay_the_health_of_the_app(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chie.n8n.health.CHECK_TIMEOUT_SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        server = create_server(N8nSettings(url=url, api_key=SecretStr(KEY)))
        async with Client(server):
            state = await server.health()
    assert state["status"] == "unhealthy"
    assert "did not respond within" in state["reason"]


def test_unconfigured_server_does_not_stop_the_app() -> None:
    with pytest.raises(ConfigurationError) as lacking:
        create_server()
    with TestClient(create_app({"n8n": lacking.value}), base_url="http://127.0.0.1:8080") as client:
        assert client.get("/health").json()["servers"]["n8n"] == {"status": "not configured: N8N_URL, N8N_API_KEY"}


@pytest.mark.req("NW-8")
async def test_errors_contain_no_argument_and_no_secret(call: Caller, fake: FakeN8n) -> None:
    secret = "hunter2-very-private"
    workflow = fake.add_workflow(**order_flow())
    answers = [
        await call("get_workflow", id=f"{secret}!"),
        await call("list_executions", status=secret),
        await call("create_workflow", name=secret * 9, nodes=secret, connections=secret),
        await call("create_workflow_from_file", filePath=f"/nowhere/{secret}"),
        await call("restore_workflow", backup=secret),
        await call("list_workflows", cursor=secret),
        await call("patch_workflow", id=workflow["id"], operations=[{"op": secret}]),
        await call(
            "patch_workflow",
            id=workflow["id"],
            operations=[{"op": "setField", "node": "End", "path": "name.x", "value": secret}],
        ),
    ]
    for answer in answers:
        assert answer.is_error, answer.text
        assert secret not in answer.text + json.dumps(answer.details)


async def test_validation_requires_a_workflow(call: Caller) -> None:
    assert (await call("validate_workflow")).error == "Give id, or nodes together with connections."
    found = (await call("validate_workflow", nodes=[{"name": "A"}], connections="{}")).data
    assert found["valid"] is False
    assert "nodes[0].type must be a string" in found["errors"]


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ({"op": "explode"}, "operations[0].op must be one of addNode, removeNode"),
        ({}, "operations[0].op must be one of addNode, removeNode"),
        ("nonsense", "operations[0].op must be one of addNode, removeNode"),
        ({"op": "removeNode"}, "`operations[0]`: name is required"),
        ({"op": "connect", "from": "End"}, "`operations[0]`: to is required"),
        (
            {"op": "renameNode", "name": "End", "newName": "Webhook"},
            "The name 'Webhook' is already taken by another node.",
        ),
        ({"op": "disconnect", "from": "End", "to": "Webhook"}, "Connection not found."),
        ({"op": "setField", "path": "active", "value": True}, "path must begin with one of name, connections"),
        ({"op": "setField", "path": "nodes[0].name", "value": "x"}, "For a field of a node, pass its name in node."),
        ({"op": "setField", "node": "End", "path": "name", "value": "x"}, "Use renameNode"),
        ({"op": "updateNode", "name": "End", "changes": {"name": "x"}}, "Use renameNode"),
        ({"op": "setField", "node": "End", "path": "type.deep", "value": 1}, "neither an object nor a list"),
        ({"op": "setField", "node": "End", "path": "position[7]", "value": 1}, "out of range"),
        ({"op": "setField", "node": "End", "path": "a..b", "value": 1}, "path must have the form"),
    ],
)
async def test_failing_operation_reports_the_reason(call: Caller, fake: FakeN8n, operation: Any, message: str) -> None:
    workflow = fake.add_workflow(**order_flow())
    answer = await call("patch_workflow", id=workflow["id"], operations=[operation])
    assert message in answer.error
    assert all(seen.method == "GET" for seen in fake.seen)


async def test_fields_of_the_workflow_itself_can_be_set(call: Caller, fake: FakeN8n) -> None:
    workflow = fake.add_workflow(**order_flow())
    operations = [
        json.dumps({"op": "setField", "path": "name", "value": "請求書"}),
        {"op": "setField", "path": "settings.timezone", "value": "Asia/Tokyo"},
    ]
    answer = (await call("patch_workflow", id=workflow["id"], operations=operations)).data
    assert (answer["name"], answer["changed"]) == ("請求書", ["name", "settings"])
    assert fake.workflows[workflow["id"]]["settings"] == {"executionOrder": "v1", "timezone": "Asia/Tokyo"}


@pytest.mark.parametrize(("value", "left"), [({"executionOrder": "v1"}, {"executionOrder": "v1"}), (None, {})])
async def test_settings_that_are_set_as_a_whole_are_replaced(
    call: Caller, fake: FakeN8n, value: Any, left: Any
) -> None:
    workflow = fake.add_workflow(
        **order_flow() | {"settings": {"timezone": "Asia/Tokyo", "executionTimeout": 9} | left}
    )
    operations = [{"op": "setField", "path": "settings", "value": value}]
    answer = (await call("patch_workflow", id=workflow["id"], operations=operations)).data
    assert (answer["changed"], fake.workflows[workflow["id"]]["settings"]) == (["settings"], left)


async def test_fields_inside_lists_can_be_set_and_appended(call: Caller, fake: FakeN8n) -> None:
    flow = order_flow()
    flow["nodes"][2]["parameters"] = {"rules": [{"value": 1}], "a.b": {"c": 1}}
    workflow = fake.add_workflow(**flow)
    operations: list[Any] = [
        {"op": "setField", "node": "End", "path": "parameters.rules[0].value", "value": 2},
        {"op": "setField", "node": "End", "path": "parameters.rules[1].value", "value": "三"},
        {"op": "setField", "node": "End", "path": "parameters.rules[2]", "value": None},
        {"op": "setField", "node": "End", "path": "/parameters/a.b/c", "value": 4},
    ]
    await call("patch_workflow", id=workflow["id"], operations=operations)
    stored = fake.workflows[workflow["id"]]["nodes"][2]["parameters"]
    assert stored == {"rules": [{"value": 2}, {"value": "三"}, None], "a.b": {"c": 4}}


async def test_summaries_show_unusual_states(call: Caller, fake: FakeN8n) -> None:
    flow = order_flow()
    flow["nodes"][2] |= {"disabled": True, "type": "community-nodes.thing"}
    flow["connections"]["End"] = {"ai_tool": [[{"node": "注文を整形", "type": "ai_tool", "index": 0}]]}
    workflow = fake.add_workflow(**flow, isArchived=True)
    (row,) = (await call("list_workflows")).data["workflows"]
    assert row["archived"] is True
    answer = (await call("get_workflow", id=workflow["id"])).data
    assert (answer["disabled"], answer["nodes"]["End"]) == (["End"], "community-nodes.thing")
    graph = await call("get_workflow_connections", id=workflow["id"], raw=True)
    assert graph.data["graph"][2]["outputs"] == ["注文を整形 (ai_tool)"]
    assert graph.data["rawConnections"] == flow["connections"]
    assert "n2 -.ai_tool.-> n1" in graph.blocks[1]


async def test_unknown_node_is_not_found_and_the_names_are_listed(call: Caller, fake: FakeN8n) -> None:
    workflow = fake.add_workflow(**order_flow())
    answer = await call("get_workflow", id=workflow["id"], nodeName="Missing")
    assert answer.error.endswith("The names are 'Webhook', '注文を整形', 'End'.")


async def test_raw_has_the_published_version_too(call: Caller, fake: FakeN8n) -> None:
    workflow = fake.add_workflow(**order_flow(), active=True)
    raw = (await call("get_workflow", id=workflow["id"], raw=True)).data
    assert raw["activeVersion"] == fake.workflows[workflow["id"]]["activeVersion"]


async def test_special_characters_of_mermaid_are_escaped(call: Caller, fake: FakeN8n) -> None:
    flow = order_flow()
    flow["nodes"][2]["name"] = 'say "hi" [x] #1'
    flow["connections"]["注文を整形"]["main"][1][0]["node"] = 'say "hi" [x] #1'
    flow["nodes"][2]["disabled"] = True
    workflow = fake.add_workflow(**flow)
    flowchart = (await call("get_workflow_connections", id=workflow["id"])).blocks[1]
    assert 'n2["say #34;hi#34; #91;x#93; #35;1"]:::off' in flowchart
