"""Summaries of executions: the failed node, all runs, all outputs, ai_* included."""

from typing import Any

import pytest
from tests.fakes.n8n import FakeN8n
from tests.n8n.caller import Caller, Era

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
