"""The end-to-end suite against a real n8n, with every request validated against its OpenAPI document."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import anyio
import httpx2
import pytest
from tests.contract.n8n import EndToEnd
from tests.n8n.caller import Caller, Era, Instance, Result, calling, chain, node
from tests.real.n8n_openapi import Inspector
from tests.real.n8n_server import OPENAPI, RealN8n

pytestmark = pytest.mark.real

REJECTED_ON_PURPOSE = "noSuchThing"


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def inspector(n8n: RealN8n) -> Inspector:  # noqa: ARG001 - n8n must be installed
    return Inspector(OPENAPI.read_text(encoding="utf-8"))


@pytest.fixture
def instance(n8n: RealN8n, inspector: Inspector) -> Iterator[Instance]:
    inspector.violations.clear()
    yield Instance(n8n.url, n8n.key, transport=inspector)
    assert [one for one in inspector.violations if REJECTED_ON_PURPOSE not in one] == []


@pytest.fixture
def era() -> Era:
    return "auto"


@pytest.fixture
async def call(instance: Instance, era: Era, tmp_path: Path) -> AsyncIterator[Caller]:
    async with calling(instance, tmp_path, era=era) as caller:
        yield caller


class TestRealN8n(EndToEnd):
    pass


async def finished(call: Caller, execution_id: str, **arguments: Any) -> Result:
    """Poll until the execution has finished; n8n executes in the background."""
    with anyio.fail_after(30):
        while True:
            answer = await call("get_execution", id=execution_id, **arguments)
            if not answer.is_error and answer.data["status"] not in ("new", "running"):
                return answer
            await anyio.sleep(0.1)


async def failing_flow(call: Caller) -> str:
    code = "return Array.from({length: 7}, (_, i) => ({json: {i, 品目: 'りんご'}}))"
    nodes = [
        node("Start", "n8n-nodes-base.manualTrigger"),
        node("作る", "n8n-nodes-base.code", typeVersion=2, parameters={"jsCode": code}),
        node("Break", "n8n-nodes-base.stopAndError", parameters={"errorMessage": "在庫がありません"}),
    ]
    made = await call("create_workflow", name=uuid4().hex, nodes=nodes, connections=chain("Start", "作る", "Break"))
    return str(made.data["id"])


@pytest.mark.req("NW-5")
async def test_failed_execution_is_reported_with_its_node_and_message(call: Caller, n8n: RealN8n) -> None:
    workflow_id = await failing_flow(call)
    answer = (await finished(call, n8n.rest.run(workflow_id, "Start"))).data
    assert (answer["status"], answer["failed"]["node"]) == ("error", "Break")
    assert answer["failed"]["message"] == "在庫がありません"
    assert [(own["node"], own["items"]) for own in answer["nodes"]] == [("Start", 1), ("作る", 7), ("Break", 0)]
    one = (await call("get_execution", id=answer["id"], nodeName="作る", itemLimit=2)).data
    assert one["runs"][0]["outputs"] == {
        "main": {"count": 7, "items": [{"i": 0, "品目": "りんご"}, {"i": 1, "品目": "りんご"}]}
    }
    rows = (await call("list_executions", workflowId=workflow_id, status="error")).data["executions"]
    assert [row["id"] for row in rows] == [answer["id"]]


async def test_failed_execution_shows_the_item_and_the_expression(call: Caller, n8n: RealN8n) -> None:
    items = "return [{json: {n: 1}}, {json: {n: '品目'}}]"
    fields = {"assignments": [{"id": "1", "name": "n", "type": "number", "value": "={{ $json.n }}"}]}
    nodes = [
        node("Start", "n8n-nodes-base.manualTrigger"),
        node("作る", "n8n-nodes-base.code", typeVersion=2, parameters={"jsCode": items}),
        node("数", "n8n-nodes-base.set", typeVersion=3.4, parameters={"assignments": fields, "options": {}}),
    ]
    made = await call("create_workflow", name=uuid4().hex, nodes=nodes, connections=chain("Start", "作る", "数"))
    failed = (await finished(call, n8n.rest.run(made.data["id"], "Start"))).data["failed"]
    assert failed["item"] == {"index": 1, "from": "作る", "json": {"n": "品目"}}
    assert failed["expressions"] == {"assignments.assignments[0].value": "={{ $json.n }}"}
    again = (
        await call("retry_execution", id=(await call("list_executions", limit=1)).data["executions"][0]["id"])
    ).data
    assert again["workflowChanged"] is False


async def test_failed_execution_can_be_retried_with_the_fixed_workflow(call: Caller, n8n: RealN8n) -> None:
    workflow_id = await failing_flow(call)
    failed = (await finished(call, n8n.rest.run(workflow_id, "Start"))).data
    operations = [
        {"op": "updateNode", "name": "Break", "changes": {"type": "n8n-nodes-base.noOp", "parameters": None}},
        {"op": "setField", "node": "Break", "path": "parameters", "value": {}},
    ]
    await call("patch_workflow", id=workflow_id, operations=operations)
    retried = (await call("retry_execution", id=failed["id"])).data
    assert retried["retryOf"] == failed["id"]
    assert (retried["workflowChanged"], retried["changedNodes"]) == (True, ["Break"])
    assert (await finished(call, retried["id"])).data["status"] == "success"
    assert "cannot be retried" in (await call("retry_execution", id=retried["id"])).error


@pytest.mark.req("NW-3")
async def test_raw_workflow_of_five_hundred_nodes_is_accepted_back_unchanged(call: Caller) -> None:
    names = ["Start", *(f"手順 {number}" for number in range(1, 500))]
    nodes = [node(name, parameters={"説明": "長い" * 100}) for name in names]
    nodes[0] = node("Start", "n8n-nodes-base.manualTrigger")
    made = (await call("create_workflow", name=uuid4().hex, nodes=nodes, connections=chain(*names))).data
    answer = await call("get_workflow", id=made["id"], raw=True)
    assert len(answer.text) > 100_000
    assert [own["name"] for own in answer.data["nodes"]] == names
    again = (await call("update_workflow", **answer.data)).data
    assert again["steps"] == ["nothing to change: n8n already has this state"]
    renamed = (await call("update_workflow", **{**answer.data, "name": f"{made['name']}'"}, raw=True)).data
    assert renamed["changed"] == ["name"]
    assert renamed["workflow"]["nodes"] == answer.data["nodes"]


async def test_pages_of_executions_keep_their_filters(call: Caller, n8n: RealN8n) -> None:
    mine, other = await failing_flow(call), await failing_flow(call)
    for workflow_id in (mine, other, mine, other, mine):
        await finished(call, n8n.rest.run(workflow_id, "Start"))
    first = (await call("list_executions", workflowId=mine, limit=2)).data
    second = (await call("list_executions", cursor=first["nextCursor"])).data
    rows = [*first["executions"], *second["executions"]]
    assert [row["workflowId"] for row in rows] == [mine] * 3
    assert second["hasMore"] is False


async def test_invalid_key_is_reported_and_not_repeated(n8n: RealN8n, tmp_path: Path) -> None:
    secret = "not-the-key-0123456789"
    async with calling(Instance(n8n.url, secret), tmp_path) as call:
        answer = await call("list_workflows")
        health = await call("n8n_health")
    assert "`N8N_API_KEY` is not valid" in answer.error
    assert (health.data["reachable"], health.data["keyValid"]) == (True, False)
    assert secret not in json.dumps([answer.text, answer.details, health.text])


async def test_published_webhook_runs_the_patched_workflow(call: Caller, n8n: RealN8n) -> None:
    path = uuid4().hex
    nodes = [
        node("Hook", "n8n-nodes-base.webhook", typeVersion=2, parameters={"path": path, "responseMode": "lastNode"}),
        node("Say", "n8n-nodes-base.code", typeVersion=2, parameters={"jsCode": "return [{json: {say: 'old'}}]"}),
    ]
    made = (await call("create_workflow", name=path, nodes=nodes, connections=chain("Hook", "Say"), active=True)).data
    value = "return [{json: {say: '新しい'}}]"
    operations = [{"op": "setField", "node": "Say", "path": "parameters.jsCode", "value": value}]
    await call("patch_workflow", id=made["id"], operations=operations)
    async with httpx2.AsyncClient(trust_env=False) as http:
        with anyio.fail_after(30):
            while True:
                if (await http.get(f"{n8n.url}/webhook/{path}")).text == '{"say":"新しい"}':
                    break
                await anyio.sleep(0.1)


async def test_requests_are_validated_against_the_document(inspector: Inspector, n8n: RealN8n) -> None:
    async with httpx2.AsyncClient(transport=inspector, base_url=n8n.url) as http:
        await http.put("/api/v1/workflows/x?odd=1", json={"name": 5, "nodes": [{"odd": 1}], "active": True})
        await http.patch("/api/v1/workflows/x", json={})
    violations = " ".join(inspector.violations)
    for part in ("query odd", "False schema", '"settings" is a required property', "odd", "PATCH /workflows/x"):
        assert part in violations
    inspector.violations.clear()


def test_every_operation_of_the_client_was_validated(inspector: Inspector) -> None:
    """Runs last in this file: the tests before it use every route of the client."""
    assert inspector.operations >= {
        "GET /workflows",
        "POST /workflows",
        "GET /workflows/{workflowId}",
        "PUT /workflows/{workflowId}",
        "DELETE /workflows/{workflowId}",
        "PUT /workflows/{workflowId}/tags",
        "POST /workflows/{workflowId}/publish",
        "POST /workflows/{workflowId}/unpublish",
        "GET /tags",
        "POST /tags",
        "GET /executions",
        "GET /executions/{executionId}",
        "POST /executions/{executionId}/retry",
        "GET /discover",
    }
