"""`rehearse_change`: the outcomes, what is pinned, what is asked before it runs, and that no copy is left."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic import SecretStr
from tests.app.processes import StdioServer
from tests.fakes.n8n import KEY, FakeN8n
from tests.fakes.n8n_mcp import TOKEN
from tests.n8n.caller import Caller, Instance, Json, calling, chain, node

from chie.n8n.rehearsal import copies as copies_module

pytestmark = pytest.mark.req("NP-3")

WEBHOOK = "n8n-nodes-base.webhook"
HTTP = "n8n-nodes-base.httpRequest"
CODE = "n8n-nodes-base.code"
SET = "n8n-nodes-base.set"
ORDER = [{"json": {"顧客": "山田", "total": 120}}]


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, Any]:
    return {"mcp_token": SecretStr(TOKEN), "home": tmp_path / "home"}


@pytest.fixture(autouse=True)
async def nothing_left(fake: FakeN8n, tmp_path: Path) -> AsyncIterator[None]:
    """After every test: no copy in n8n, and nothing on disk that stands for one."""
    yield
    assert [name for name in names(fake) if name.startswith("chie-rehearsal")] == []
    assert list((tmp_path / "home").rglob("*.lock")) == []


def names(fake: FakeN8n) -> list[str]:
    return [workflow["name"] for workflow in fake.workflows.values()]


def failing(fake: FakeN8n, *own: Json, connections: Json | None = None, **pins: Any) -> str:
    """The id of a workflow whose last execution failed; `pins` are what the services returned then."""
    nodes = [node("Hook", WEBHOOK), *own]
    for number, each in enumerate(nodes):
        each["id"] = f"id{number}"
    connections = connections or chain(*(each["name"] for each in nodes))
    workflow = fake.add_workflow(name="注文", nodes=nodes, connections=connections, active=True)
    fake.runner.run(workflow, "Hook", {"Hook": ORDER, **pins})
    fake.runner.ran.clear()
    return str(workflow["id"])


def parameters(name: str, **values: Any) -> list[Json]:
    return [{"op": "setField", "node": name, "path": "parameters", "value": values}]


async def test_fix_is_proven_with_what_came_in_then(call: Caller, fake: FakeN8n) -> None:
    answered = [{"json": {"items": 3}}]
    workflow_id = failing(
        fake, node("API", HTTP), node("Sum", SET, parameters={"fail": "項目がありません"}), API=answered
    )
    before = json.dumps(fake.workflows)
    answer = (await call("rehearse_change", id=workflow_id, patch=parameters("Sum", set={"sum": 1}))).data
    assert (answer["outcome"], answer["failedBefore"]) == ("fixed", {"node": "Sum", "message": "項目がありません"})
    assert (answer["pinned"], answer["ranNow"]) == (["Hook", "API"], {"Sum": 1})
    assert fake.runner.ran == ["Sum"]
    ((_, sent),) = fake.mcp.calls
    assert sent["pinData"] == {"Hook": ORDER, "API": answered}
    assert json.dumps(fake.workflows) == before
    assert len(json.dumps(answer)) < 1500


async def test_still_failing_says_where_and_in_what_words(call: Caller, fake: FakeN8n) -> None:
    workflow_id = failing(
        fake, node("A", SET, parameters={"fail": "no x"}), node("B", SET, parameters={"fail": "値なし"})
    )
    answer = (await call("rehearse_change", id=workflow_id, patch=parameters("A"))).data
    now = answer["failsNow"]
    assert (answer["outcome"], now["node"], now["message"]) == ("still_failing", "B", "値なし")
    assert now["item"]["json"] == ORDER[0]["json"]
    assert "'B': 値なし" in answer["summary"]


async def test_different_shows_the_first_difference_of_each_node(call: Caller, fake: FakeN8n) -> None:
    workflow_id = failing(
        fake, node("A", SET, parameters={"set": {"x": 1}}), node("B", SET), node("C", SET, parameters={"fail": "no"})
    )
    patch = [*parameters("A", set={"x": 2}), *parameters("C")]
    answer = (await call("rehearse_change", id=workflow_id, patch=patch)).data
    assert answer["outcome"] == "different"
    assert answer["differences"] == [
        {"node": "A", "at": "main[0].x", "then": "1", "now": "2"},
        {"node": "B", "at": "main[0].x", "then": "1", "now": "2"},
    ]


async def test_node_that_no_longer_runs_is_a_difference(call: Caller, fake: FakeN8n) -> None:
    ends = {"main": [[{"node": "Log", "type": "main", "index": 0}], [{"node": "Good", "type": "main", "index": 0}]]}
    connections = {**chain("Hook", "If"), "If": ends, **chain("Log", "Stop")}
    own = (node("If", SET), node("Log", SET), node("Good", SET), node("Stop", SET, parameters={"fail": "止め"}))
    workflow_id = failing(fake, *own, connections=connections)
    answer = (await call("rehearse_change", id=workflow_id, patch=parameters("If", output=1))).data
    assert answer["outcome"] == "different"
    assert answer["differences"] == [
        {"node": "If", "at": "main.length", "then": "1", "now": "0"},
        {"node": "Log", "ran": "then, not now"},
    ]
    assert answer["ranNow"] == {"Good": 1}


@pytest.mark.parametrize(
    "kind", ["code", "executeCommand", "executeWorkflow", "readWriteFile", "writeBinaryFile", "function", "dataTable"]
)
async def test_node_that_would_run_for_real_is_named_before_anything_runs(
    call: Caller, fake: FakeN8n, kind: str
) -> None:
    workflow_id = failing(fake, node("計算", f"n8n-nodes-base.{kind}", parameters={"fail": "x"}))
    asked = (await call("rehearse_change", id=workflow_id, patch=parameters("計算"))).data
    assert (asked["outcome"], asked["wouldRunForReal"]) == ("needs_permission", {"計算": kind})
    assert "'計算'" in asked["summary"]
    assert (fake.runner.ran, fake.mcp.calls) == ([], [])
    assert [own.method for own in fake.seen if own.method != "GET"] == []
    allowed = await call("rehearse_change", id=workflow_id, patch=parameters("計算"), run_for_real=["計算"])
    assert (allowed.data["outcome"], allowed.data["ranForReal"]) == ("fixed", ["計算"])


async def test_code_before_the_change_is_replaced_by_its_output(call: Caller, fake: FakeN8n) -> None:
    workflow_id = failing(
        fake, node("Code", CODE, parameters={"set": {"n": 5}}), node("A", SET, parameters={"fail": "x"})
    )
    answer = (await call("rehearse_change", id=workflow_id, patch=parameters("A"))).data
    assert (answer["outcome"], answer["pinned"], fake.runner.ran) == ("fixed", ["Hook", "Code"], ["A"])


async def test_service_after_the_failure_is_never_called(call: Caller, fake: FakeN8n) -> None:
    mail = node("Mail", "n8n-nodes-base.gmail", credentials={"gmailOAuth2": {"id": "c1", "name": "店"}})
    workflow_id = failing(fake, node("A", SET, parameters={"fail": "x"}), mail, node("End"))
    answer = (await call("rehearse_change", id=workflow_id, patch=parameters("A"))).data
    assert (answer["outcome"], answer["notRun"], fake.runner.ran) == ("fixed", ["Mail"], ["A"])
    created = next(own.body for own in fake.seen if own.method == "POST")
    assert [own["name"] for own in created["nodes"] if "credentials" in own] == []
    assert "A" not in created["connections"]


async def test_failure_inside_a_service_proves_nothing_without_permission(call: Caller, fake: FakeN8n) -> None:
    key = {"httpHeaderAuth": {"id": "c1", "name": "店"}}
    workflow_id = failing(fake, node("API", HTTP, parameters={"fail": "404"}, credentials=key))
    answer = (await call("rehearse_change", id=workflow_id, patch=parameters("API", url="https://x.example"))).data
    assert (answer["outcome"], answer["notRun"], fake.runner.ran) == ("not_proven", ["API"], [])
    patch = parameters("API", url="https://x.example")
    answer = (await call("rehearse_change", id=workflow_id, patch=patch, run_for_real=["API"])).data
    assert (answer["outcome"], fake.runner.ran) == ("fixed", ["API"])
    created = [own.body for own in fake.seen if own.method == "POST"][-1]
    assert [own["credentials"] for own in created["nodes"] if "credentials" in own] == [key]


async def test_change_of_a_pinned_node_is_noted_as_not_proven(call: Caller, fake: FakeN8n) -> None:
    workflow_id = failing(fake, node("API", HTTP), node("A", SET, parameters={"fail": "x"}), API=ORDER)
    patch = [*parameters("API", url="https://x.example"), *parameters("A")]
    answer = (await call("rehearse_change", id=workflow_id, patch=patch)).data
    assert answer["outcome"] == "fixed"
    assert "The change to 'API' is not proven" in answer["notes"][0]


async def test_renamed_node_keeps_its_recording(call: Caller, fake: FakeN8n) -> None:
    workflow_id = failing(fake, node("API", HTTP), node("A", SET, parameters={"fail": "x"}), API=ORDER)
    patch = [{"op": "renameNode", "name": "API", "newName": "店の API"}, *parameters("A")]
    answer = (await call("rehearse_change", id=workflow_id, patch=patch)).data
    assert (answer["outcome"], answer["pinned"]) == ("fixed", ["Hook", "店の API"])


async def test_successful_execution_may_be_named(call: Caller, fake: FakeN8n) -> None:
    workflow_id = failing(fake, node("A", SET, parameters={"set": {"x": 1}}))
    assert (await call("rehearse_change", id=workflow_id, patch=parameters("A"))).code == "n8n.no_failed_execution"
    for value, outcome in (({"set": {"x": 1}}, "same"), ({}, "different"), ({"fail": "x"}, "newly_failing")):
        answer = await call("rehearse_change", id=workflow_id, patch=parameters("A", **value), execution="1")
        assert answer.data["outcome"] == outcome


async def test_workflow_that_changed_since_is_noted(call: Caller, fake: FakeN8n) -> None:
    workflow_id = failing(fake, node("A", SET, parameters={"fail": "x"}))
    fake.workflows[workflow_id]["versionId"] = "another"
    answer = (await call("rehearse_change", id=workflow_id, patch=parameters("A"))).data
    assert "was changed after that execution" in answer["notes"][0]


async def test_invalid_requests_change_nothing(call: Caller, fake: FakeN8n) -> None:
    workflow_id = failing(fake, node("A", SET, parameters={"fail": "x"}))
    other = failing(fake, node("A", SET, parameters={"fail": "x"}))
    fake.add_execution(workflowId=workflow_id, status="error")
    cases: list[tuple[Json, str]] = [
        ({"patch": parameters("無い")}, "n8n.operation_failed"),
        ({"patch": parameters("A"), "execution": "2"}, "n8n.execution_of_other_workflow"),
        ({"patch": parameters("A"), "execution": "3"}, "n8n.rehearsal_without_data"),
        ({"patch": parameters("A"), "execution": "99"}, "n8n.execution_not_found"),
        ({"patch": parameters("A"), "execution": "1", "run_for_real": ["無い"]}, "n8n.nodes_unknown"),
        ({"patch": [{"op": "removeNode", "name": "Hook"}], "execution": "1"}, "n8n.rehearsal_without_trigger"),
    ]
    for arguments, code in cases:
        assert (await call("rehearse_change", id=workflow_id, **arguments)).code == code
    assert other
    assert [own.method for own in fake.seen if own.method != "GET"] == []


async def test_token_of_another_user_is_explained(call: Caller, fake: FakeN8n) -> None:
    workflow_id = failing(fake, node("A", SET, parameters={"fail": "x"}))
    fake.mcp.tools["test_workflow"] = lambda _: {"executionId": None, "status": "error", "error": "Workflow not found."}
    answer = await call("rehearse_change", id=workflow_id, patch=parameters("A"))
    assert (answer.code, "same user of n8n" in answer.error) == ("n8n.rehearsal_not_started", True)


async def test_lost_response_to_the_creation_leaves_no_copy(call: Caller, fake: FakeN8n) -> None:
    workflow_id = failing(fake, node("A", SET, parameters={"fail": "x"}))
    fake.fail("POST", "/workflows", 502, stored=True)
    assert (await call("rehearse_change", id=workflow_id, patch=parameters("A"))).code == "n8n.server_error"


async def test_cancelled_rehearsal_leaves_no_copy(call: Caller, fake: FakeN8n) -> None:
    workflow_id = failing(fake, node("A", SET, parameters={"fail": "x"}))
    fake.runner.proceed.clear()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: call("rehearse_change", id=workflow_id, patch=parameters("A")))
        await anyio.to_thread.run_sync(fake.runner.reached.wait)
        tasks.cancel_scope.cancel()
    fake.runner.proceed.set()
    with anyio.fail_after(10):
        while any(name.startswith("chie-rehearsal") for name in names(fake)):  # noqa: ASYNC110
            await anyio.sleep(0.01)


async def test_copy_that_could_not_be_removed_is_removed_at_the_next_start(
    instance: Instance, fake: FakeN8n, settings: dict[str, Any], tmp_path: Path
) -> None:
    workflow_id = failing(fake, node("A", SET, parameters={"fail": "x"}))
    fake.fail("DELETE", "", 500)
    async with calling(instance, tmp_path, **settings) as call:
        assert (await call("rehearse_change", id=workflow_id, patch=parameters("A"))).data["outcome"] == "fixed"
    assert len(fake.workflows) == 2
    await restarted(instance, fake, settings, tmp_path)


async def restarted(instance: Instance, fake: FakeN8n, settings: dict[str, Any], tmp_path: Path) -> None:
    """Start the server until it has removed what was left."""
    async with calling(instance, tmp_path, **settings):
        with anyio.fail_after(10):
            while len(fake.workflows) > 1 or list((tmp_path / "home").rglob("*.lock")):  # noqa: ASYNC110
                await anyio.sleep(0.01)


async def test_copy_of_a_process_that_was_killed_is_removed_at_the_next_start(
    instance: Instance, fake: FakeN8n, settings: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the process lives, no other one touches its copy."""
    workflow_id = failing(fake, node("A", SET, parameters={"fail": "x"}))
    fake.runner.proceed.clear()
    values = {"N8N_URL": fake.url, "N8N_API_KEY": KEY, "N8N_MCP_TOKEN": TOKEN, "CHIE_HOME": str(tmp_path / "home")}
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    arguments = {"id": workflow_id, "patch": parameters("A")}
    with StdioServer("n8n-mcp-server") as server:
        params = {"name": "rehearse_change", "arguments": arguments}
        server.send({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params})
        assert await anyio.to_thread.run_sync(fake.runner.reached.wait, 60)
        async with calling(instance, tmp_path, **settings) as call:
            await call("n8n_health")
            assert len(fake.workflows) == 2
        server.process.kill()
    fake.runner.proceed.set()
    await restarted(instance, fake, settings, tmp_path)


async def test_workflow_of_a_user_is_never_taken_for_a_copy(call: Caller, fake: FakeN8n) -> None:
    workflow_id = failing(fake, node("A", SET, parameters={"fail": "x"}))
    copied: list[Json] = []
    run = fake.mcp.tools["test_workflow"]

    def observed(arguments: Json) -> Json:
        copied.append(json.loads(json.dumps(fake.workflows[arguments["workflowId"]])))
        return run(arguments)

    fake.mcp.tools["test_workflow"] = observed
    long_ago = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    fake.add_workflow(name="chie-rehearsal 注文", createdAt=long_ago)
    await call("rehearse_change", id=workflow_id, patch=parameters("A"))
    mark = copied[0]
    assert copies_module.is_copy(mark)
    assert mark["settings"]["availableInMCP"] is True
    for change in ({"nodes": mark["nodes"][:-1]}, {"active": True}, {"name": mark["name"][:-1] + "x"}):
        assert not copies_module.is_copy({**mark, **change})
    assert "chie-rehearsal 注文" in names(fake)
    fake.workflows = {key: own for key, own in fake.workflows.items() if own["name"] == "注文"}


async def test_old_copy_of_another_machine_is_removed_and_a_new_one_is_not(call: Caller, fake: FakeN8n) -> None:
    workflow_id = failing(fake, node("A", SET, parameters={"fail": "x"}))
    old, new = "0" * 32, "1" * 32
    for token, age in ((old, timedelta(hours=1)), (new, timedelta(minutes=1))):
        body = copies_module.marked({"nodes": [], "connections": {}, "settings": {}}, token)
        fake.add_workflow(**body, createdAt=(datetime.now(UTC) - age).isoformat())
    await call("rehearse_change", id=workflow_id, patch=parameters("A"))
    left = [name for name in names(fake) if name.startswith("chie-rehearsal")]
    assert [new in name for name in left] == [True]
    fake.workflows.clear()


async def test_without_the_token_the_tool_does_not_exist(instance: Instance, tmp_path: Path) -> None:
    async with calling(instance, tmp_path) as call:
        assert "rehearse_change" not in [tool.name for tool in await call.client.list_tools()]
    async with calling(instance, tmp_path, mcp_token=SecretStr(TOKEN), read_only=True) as call:
        assert "rehearse_change" not in [tool.name for tool in await call.client.list_tools()]


async def test_approval_is_asked_only_for_nodes_that_run_for_real(call: Caller) -> None:
    (tool,) = [tool for tool in await call.client.list_tools() if tool.name == "rehearse_change"]
    assert tool.annotations is not None
    assert (tool.annotations.read_only_hint, tool.annotations.destructive_hint) == (False, True)
    assert (tool.meta or {})["chie/destructive_arguments"] == ["run_for_real"]
