"""Summaries of executions: the failed node, all runs, all outputs, ai_* included."""

from copy import deepcopy
from typing import Any

import pytest
from tests.fakes.n8n import FakeN8n
from tests.n8n.caller import Caller, Era, order_flow

Json = dict[str, Any]


def run(items: int = 0, *, kind: str = "main", **rest: Any) -> Json:
    data = {kind: [[{"json": {"n": number}} for number in range(items)]]}
    return {"startTime": 1, "executionTime": 5, "executionStatus": "success", "source": [], "data": data, **rest}


def execution(run_data: Json, **result: Any) -> Json:
    kinds = {name: "@n8n/n8n-nodes-langchain.agent" if "AI" in name else "n8n-nodes-base.code" for name in run_data}
    nodes = [{"id": f"id-{name}", "name": name, "type": kind} for name, kind in kinds.items()]
    return {
        "data": {"resultData": {"runData": run_data, **result}},
        "workflowData": {"name": "注文", "nodes": nodes},
    }


@pytest.fixture(params=["auto", "legacy"])
def era(request: pytest.FixtureRequest) -> Era:
    era: Era = request.param
    return era


async def test_all_runs_and_ai_outputs_are_counted(call: Caller, fake: FakeN8n) -> None:
    two = run(2)
    two["data"]["main"].append(None)
    two["data"]["main"].append([{"json": {}}] * 3)
    runs = {"集計": [run(4), two], "AI": [run(6, kind="ai_languageModel")]}
    fake.add_execution(**execution(runs))
    answer = (await call("get_execution", id="1")).data
    assert answer["nodes"] == [
        {"node": "集計", "type": "code", "runs": 2, "items": 9, "ms": 10},
        {"node": "AI", "type": "langchain.agent", "items": 6, "ms": 5},
    ]
    assert (answer["totalItems"], answer["executedNodes"], answer["durationMs"]) == (15, 2, 1500)
    assert (answer["workflowName"], answer["status"]) == ("注文", "success")
    assert "failed" not in answer


@pytest.mark.parametrize(
    "found",
    [
        execution({"A": [run(1)], "B": [run(0, error={"message": "壊れた", "description": "why"})]}),
        execution({"A": [run(1)]}, error={"message": "壊れた", "description": "why", "node": {"name": "B"}}),
        execution({"A": [run(1)]}, error={"message": "壊れた", "description": "why"}, lastNodeExecuted="B"),
        execution(
            {"A": [run(1)], "B": [run(0, error={"message": "壊れた", "description": "why"})]},
            error={"message": "壊れた", "description": "why"},
            lastNodeExecuted="B",
        ),
    ],
)
async def test_failed_node_and_its_message_are_always_reported(call: Caller, fake: FakeN8n, found: Json) -> None:
    fake.add_execution(status="error", finished=False, **found)
    answer = (await call("get_execution", id="1")).data
    assert answer["failed"] == {"node": "B", "message": "壊れた", "description": "why"}


EXPRESSION = "={{ $('無い').item.json.a }}"
PARAMETERS = {"fields": {"values": [{"value": "={{ 1 }}"}, {"value": EXPRESSION}]}, "fieldsOther": "={{ $json.n }}"}
SOURCE = [{"previousNode": "A", "previousNodeOutput": 1, "previousNodeRun": 1}]


def failed_at(parameters: Json, context: Json, *, source: list[Json] = SOURCE, **error: Any) -> Json:
    items = [[], [{"json": {"n": number, "品目": "り" * 1000}} for number in range(3)]]
    own = run(0, error={"message": "壊れた", "context": context, **error}, source=source)
    found = execution({"A": [run(1), run(0, data={"main": items})], "B": [own]})
    found["workflowData"]["nodes"][1]["parameters"] = parameters
    return found


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        (
            failed_at(PARAMETERS, {"itemIndex": 2, "parameter": "fields"}),
            {"fields.values[0].value": "={{ 1 }}", "fields.values[1].value": EXPRESSION},
        ),
        (
            failed_at(PARAMETERS, {"itemIndex": 2, "parameter": "fields", "nodeCause": "無い"}),
            {"fields.values[1].value": EXPRESSION},
        ),
        (failed_at({"url": "={{ $json.n }}", "method": "GET"}, {"itemIndex": 2}), {"url": "={{ $json.n }}"}),
    ],
)
async def test_failure_shows_the_item_and_the_expression(call: Caller, fake: FakeN8n, found: Json, shown: Json) -> None:
    fake.add_execution(status="error", finished=False, **found)
    failed = (await call("get_execution", id="1")).data["failed"]
    assert (failed["item"]["index"], failed["item"]["from"], failed["item"]["json"]["n"]) == (2, "A", 2)
    assert failed["item"]["json"]["品目"].endswith("⟦cut 700 of 1,000 characters⟧")
    assert failed["expressions"] == shown


async def test_failure_of_code_shows_its_line(call: Caller, fake: FakeN8n) -> None:
    code = {"jsCode": "const a = 1\n  return 商品.名前\n"}
    fake.add_execution(status="error", **failed_at(code, {}, lineNumber=2))
    failed = (await call("get_execution", id="1")).data["failed"]
    assert (failed["line"], failed["code"]) == (2, "return 商品.名前")
    assert "item" not in failed


@pytest.mark.parametrize(
    "found",
    [
        failed_at({}, {"itemIndex": 9}),
        failed_at({}, {"itemIndex": 0}, source=[{"previousNode": "A", "previousNodeRun": 7}]),
        failed_at({}, {"itemIndex": 0}, source=[{"previousNode": "A", "previousNodeOutput": 7}]),
        failed_at({}, {"itemIndex": 0}, source=[]),
        failed_at({"jsCode": "x"}, {}, lineNumber=5),
    ],
)
async def test_unknown_item_is_left_out(call: Caller, fake: FakeN8n, found: Json) -> None:
    fake.add_execution(status="error", **found)
    assert (await call("get_execution", id="1")).data["failed"] == {"node": "B", "message": "壊れた"}


async def test_retry_says_whether_the_workflow_changed_since(call: Caller, fake: FakeN8n) -> None:
    workflow = fake.add_workflow(**order_flow())
    then = {key: workflow[key] for key in ("id", "name", "nodes", "connections", "settings")}
    for version in (workflow["versionId"], None):
        kept = {"workflowId": workflow["id"], "workflowVersionId": version, "workflowData": deepcopy(then)}
        fake.add_execution(status="error", finished=False, **kept)
    for id_ in ("1", "2"):
        answer = (await call("retry_execution", id=id_)).data
        assert answer["workflowChanged"] is False
        assert answer["note"].startswith("The workflow is the same as when this execution failed")
    operations = [{"op": "setField", "node": "End", "path": "parameters.a", "value": 1}]
    await call("patch_workflow", id=workflow["id"], operations=operations)
    for id_ in ("1", "2"):
        answer = (await call("retry_execution", id=id_)).data
        assert (answer["workflowChanged"], answer["changedNodes"]) == (True, ["End"])
        assert answer["note"].endswith("the retry used the current version.")
    old = (await call("retry_execution", id="1", loadWorkflow=False)).data
    assert old["note"].endswith("the retry used the version that failed.")


async def test_retry_works_without_the_workflow_of_the_execution(call: Caller, fake: FakeN8n) -> None:
    fake.add_execution(status="error", finished=False)
    fake.add_execution(status="error", finished=False, workflowData={"nodes": []})
    for id_ in ("1", "2"):
        answer = (await call("retry_execution", id=id_)).data
        assert answer["retryOf"] == id_
        assert "workflowChanged" not in answer


async def test_execution_without_data_has_a_note(call: Caller, fake: FakeN8n) -> None:
    fake.add_execution(status="crashed", stoppedAt=None)
    answer = (await call("get_execution", id="1")).data
    assert (answer["status"], answer["stoppedAt"]) == ("crashed", None)
    assert "n8n has no data" in answer["note"]


async def test_node_shows_its_items_up_to_the_limit_without_file_contents(call: Caller, fake: FakeN8n) -> None:
    own = run(3, source=[{"previousNode": "A"}], error={"message": "late"})
    own["data"]["main"][0][0]["binary"] = {"file": {"data": "QUJD" * 1000, "fileName": "a.pdf"}}
    fake.add_execution(**execution({"A": [run(1)], "B": [own]}))
    for name in ("B", "id-B"):
        answer = (await call("get_execution", id="1", nodeName=name, itemLimit=2)).data
        assert answer["node"] == "B"
        assert answer["runs"] == [
            {
                "status": "error",
                "ms": 5,
                "inputFrom": ["A"],
                "error": {"message": "late"},
                "outputs": {
                    "main": {
                        "count": 3,
                        "items": [{"json": {"n": 0}, "binary": {"file": {"fileName": "a.pdf"}}}, {"n": 1}],
                    }
                },
            }
        ]


async def test_node_that_did_not_run_is_not_found(call: Caller, fake: FakeN8n) -> None:
    fake.add_execution(**execution({"A": [run(1)]}))
    answer = await call("get_execution", id="1", nodeName="Z")
    assert answer.error == "That node did not run in this execution. Nodes that ran: A."


async def test_node_without_runs_and_error_as_plain_text(call: Caller, fake: FakeN8n) -> None:
    fake.add_execution(**execution({"A": None, "B": [run(1, error="壊れた")]}))
    assert (await call("get_execution", id="1")).data["nodes"][0]["items"] == 0
    assert (await call("get_execution", id="1", nodeName="B")).data["runs"][0]["error"] == {"message": "壊れた"}


async def test_items_of_all_nodes_can_be_included(call: Caller, fake: FakeN8n) -> None:
    fake.add_execution(**execution({"A": [run(3)]}))
    answer = (await call("get_execution", id="1", includeData=True, itemLimit=1)).data
    assert answer["data"] == {"A": [{"main": {"count": 3, "items": [{"n": 0}]}}]}


@pytest.mark.req("NW-3")
async def test_raw_is_the_complete_execution(call: Caller, fake: FakeN8n) -> None:
    stored = fake.add_execution(**execution({"A": [run(3)]}))
    assert (await call("get_execution", id="1", raw=True)).data == stored


async def test_list_has_status_and_duration_and_cursors_keep_the_filters(call: Caller, fake: FakeN8n) -> None:
    for number in range(6):
        fake.add_execution(workflowId="mine" if number % 2 else "other", status="error" if number % 2 else "success")
    fake.add_execution(workflowId="mine", status="running", stoppedAt=None)
    first = (await call("list_executions", workflowId="mine", limit=2)).data
    assert first["executions"][0] == {
        "id": "6",
        "workflowId": "mine",
        "status": "error",
        "mode": "trigger",
        "startedAt": "2026-01-01T00:00:00.000Z",
        "durationMs": 1500,
    }
    rest = (await call("list_executions", cursor=first["nextCursor"])).data
    assert [row["id"] for row in rest["executions"]] == ["2"]
    assert (rest["hasMore"], rest["nextCursor"]) == (False, None)
    running = (await call("list_executions", status="running")).data
    assert [row["id"] for row in running["executions"]] == ["7"]


async def test_retry_returns_the_new_execution(call: Caller, fake: FakeN8n) -> None:
    fake.add_execution(status="error", workflowId="wf")
    answer = (await call("retry_execution", id="1", loadWorkflow=False)).data
    assert (answer["id"], answer["retryOf"], answer["mode"]) == ("2", "1", "retry")
    assert fake.seen[-1].body == {"loadWorkflow": False}
    refused = await call("retry_execution", id="2")
    assert "n8n returned 409: The execution succeeded, so it cannot be retried." in refused.error
