"""`rehearse_change`: the outcomes, what is pinned, what is asked before it runs, and that no copy is left."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from tests.fakes.n8n import FakeN8n
from tests.fakes.n8n_mcp import TOKEN
from tests.n8n.caller import Caller, Instance, Json, calling, chain, node
from tests.n8n.failing import ORDER, SET, failing, names, parameters

pytestmark = pytest.mark.req("NP-3")

HTTP = "n8n-nodes-base.httpRequest"
CODE = "n8n-nodes-base.code"


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, Any]:
    return {"mcp_token": SecretStr(TOKEN), "home": tmp_path / "home"}


@pytest.fixture(autouse=True)
async def nothing_left(fake: FakeN8n, tmp_path: Path) -> AsyncIterator[None]:
    """After every test: no copy in n8n, and nothing on disk that stands for one."""
    yield
    assert [name for name in names(fake) if name.startswith("chie-rehearsal")] == []
    assert list((tmp_path / "home").rglob("*.lock")) == []


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


COMPARE = "return a.json.x - b.json.x"
FETCH = 'SELECT * FROM JSON("https://x.example/a.json")'


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("n8n-nodes-base.sort", {"type": "code", "code": COMPARE}),
        ("n8n-nodes-base.sort", {"type": "={{ 'co' + 'de' }}", "code": COMPARE}),
        ("n8n-nodes-base.sort", {"type": ["code"], "code": COMPARE}),  # n8n: neither simple nor random
        ("n8n-nodes-base.itemLists", {"operation": "sort", "type": "code", "code": COMPARE}),
        ("n8n-nodes-base.merge", {"mode": "combineBySql", "query": FETCH}),
        ("n8n-nodes-base.merge", {"mode": "combine", "combineBy": "combineBySql", "query": FETCH}),
        ("n8n-nodes-base.merge", {"mode": "={{ $json.mode }}", "query": FETCH}),
        ("n8n-nodes-base.removeDuplicates", {"operation": "removeItemsSeenInPreviousExecutions"}),
        ("n8n-nodes-base.removeDuplicates", {"operation": "clearDeduplicationHistory"}),
        ("n8n-nodes-base.aiTransform", {"jsCode": "return items"}),
        ("@n8n/n8n-nodes-langchain.code", {"code": {"execute": {"code": "return items"}}}),
    ],
    ids=str,
)
async def test_node_that_runs_code_by_a_parameter_is_named_before_anything_runs(
    call: Caller, fake: FakeN8n, kind: str, values: Json
) -> None:
    workflow_id = failing(fake, node("並べ替え", kind), node("A", SET, parameters={"fail": "x"}))
    patch = [*parameters("並べ替え", **values), *parameters("A")]
    asked = (await call("rehearse_change", id=workflow_id, patch=patch)).data
    assert (asked["outcome"], list(asked["wouldRunForReal"])) == ("needs_permission", ["並べ替え"])
    assert (fake.runner.ran, fake.mcp.calls) == ([], [])
    assert [own.method for own in fake.seen if own.method != "GET"] == []
    allowed = await call("rehearse_change", id=workflow_id, patch=patch, run_for_real=["並べ替え"])
    assert (allowed.data["outcome"], allowed.data["ranForReal"]) == ("fixed", ["並べ替え"])


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("sort", {}),
        ("sort", {"type": "simple", "sortFieldsUi": {"sortField": [{"fieldName": "x"}]}}),
        ("sort", {"type": "random"}),
        ("itemLists", {"operation": "sort", "type": "simple"}),
        ("itemLists", {"operation": "limit"}),
        ("merge", {}),
        ("merge", {"mode": "combine", "combineBy": "combineByPosition"}),
        ("merge", {"mode": "combine", "combinationMode": "mergeByPosition"}),
        ("merge", {"mode": "mergeByKey"}),
        ("removeDuplicates", {"compare": "allFields"}),
        ("html", {"operation": "generateHtmlTemplate", "html": "<p>{{ $json.x }}</p>"}),
        ("crypto", {"action": "hash", "type": "SHA256", "value": "={{ $json.x }}"}),
        ("dateTime", {"operation": "formatDate", "date": "={{ $now }}"}),
    ],
    ids=str,
)
async def test_node_that_only_computes_runs_without_asking(
    call: Caller, fake: FakeN8n, kind: str, values: Json
) -> None:
    workflow_id = failing(fake, node("B", f"n8n-nodes-base.{kind}"), node("A", SET, parameters={"fail": "x"}))
    patch = [*parameters("B", **values), *parameters("A")]
    answer = (await call("rehearse_change", id=workflow_id, patch=patch)).data
    assert (answer["outcome"], fake.runner.ran) == ("fixed", ["B", "A"])


async def test_sort_by_code_before_the_change_is_replaced_by_its_output(call: Caller, fake: FakeN8n) -> None:
    sort = node("Sort", "n8n-nodes-base.sort", parameters={"type": "code", "code": COMPARE})
    workflow_id = failing(fake, sort, node("A", SET, parameters={"fail": "x"}))
    answer = (await call("rehearse_change", id=workflow_id, patch=parameters("A"))).data
    assert (answer["outcome"], answer["pinned"], fake.runner.ran) == ("fixed", ["Hook", "Sort"], ["A"])


@pytest.mark.parametrize(
    "operation", [{"op": "removeNode", "name": "A"}, {"op": "disconnect", "from": "Hook", "to": "A"}]
)
async def test_failed_node_that_no_longer_runs_is_noted(call: Caller, fake: FakeN8n, operation: Json) -> None:
    workflow_id = failing(fake, node("A", SET, parameters={"fail": "x"}))
    answer = (await call("rehearse_change", id=workflow_id, patch=[operation])).data
    assert (answer["outcome"], fake.runner.ran) == ("fixed", [])
    assert answer["notes"] == ["'A', which failed then, did not run this time. Check that this is intended."]


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


SECRET = "n8n-encryption-key-値"
READS = "={{ $env.N8N_ENCRYPTION_KEY }}"


@pytest.mark.parametrize(
    "value",
    [
        READS,
        "={{ $env['N8N_ENCRYPTION_KEY'] }}",
        "={{ $vars.token }}",
        "={{ $secrets.vault.token }}",
        "={{ $evaluateExpression('$e' + 'nv.X') }}",
        "={{ \\u0024env.X }}",
        "={{ this['$e' + 'nv'].X }}",
        "={{ $item(0)[['$', 'env'].join('')].X }}",
        "={{ Object.values($item(0)) }}",
        "<p>{{ $env.X }}</p>",
        {"rules": [{"value": READS}]},
    ],
    ids=str,
)
async def test_a_node_that_may_read_the_environment_of_n8n_needs_permission(
    call: Caller, fake: FakeN8n, value: Any
) -> None:
    fake.runner.environment["N8N_ENCRYPTION_KEY"] = SECRET
    workflow_id = failing(fake, node("A", SET), node("B", SET, parameters={"fail": "x"}))
    patch = [*parameters("A", set={"x": value}), *parameters("B")]
    asked = await call("rehearse_change", id=workflow_id, patch=patch)
    assert (asked.data["outcome"], asked.data["wouldRunForReal"]) == ("needs_permission", {"A": "set"})
    assert fake.runner.ran == []
    assert SECRET not in json.dumps(asked.data, ensure_ascii=False)


async def test_no_expression_reads_the_environment_through_a_node_that_does_not_run(
    call: Caller, fake: FakeN8n
) -> None:
    fake.runner.environment["N8N_ENCRYPTION_KEY"] = SECRET
    answered = [{"json": {"items": 3}}]
    api = node("API", HTTP, parameters={"key": READS, "url": "={{ $json.url }}"})
    workflow_id = failing(fake, api, node("B", SET, parameters={"fail": "x"}), API=answered)
    patch = parameters("B", set={"x": '={{ $node["API"].parameter.key }}'})
    answer = await call("rehearse_change", id=workflow_id, patch=patch)
    assert (answer.data["outcome"], fake.runner.ran) == ("fixed", ["B"])
    copy = next(sent.body for sent in fake.seen if sent.method == "POST" and sent.path.endswith("/workflows"))
    assert [one["parameters"] for one in copy["nodes"] if one["name"] == "API"] == [
        {"key": "", "url": "={{ $json.url }}"}
    ]
    last = max(fake.executions.values(), key=lambda one: int(one["id"]))
    assert SECRET not in json.dumps(last, ensure_ascii=False)


async def test_expressions_over_items_run_as_before(call: Caller, fake: FakeN8n) -> None:
    workflow_id = failing(fake, node("A", SET, parameters={"fail": "x"}))
    value = "={{ $json.total * $('Hook').item.json.total + $now.toMillis() + $input.first().json.x }} 円"
    answer = (await call("rehearse_change", id=workflow_id, patch=parameters("A", set={"x": value}))).data
    assert (answer["outcome"], fake.runner.ran) == ("fixed", ["A"])
