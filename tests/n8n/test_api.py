"""The HTTP routes inside the app, with a fake n8n of each generation on loopback."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from starlette.testclient import TestClient
from tests.fakes.n8n import KEY, Failure, FakeN8n
from tests.fakes.n8n_mcp import TOKEN

from chie.app import create_app
from chie.n8n.server import create_server
from chie.n8n.settings import N8nSettings

BASE_URL = "http://127.0.0.1:8080"
API = "/api/n8n"
CODE = "n8n-nodes-base.code"

Json = dict[str, Any]


def node(name: str, kind: str = "n8n-nodes-base.set", at: tuple[int, int] = (0, 0), **more: Any) -> Json:
    return {
        "id": f"id-{name}",
        "name": name,
        "type": kind,
        "typeVersion": 1,
        "position": list(at),
        "parameters": {},
    } | more


def link(*names: str) -> Json:
    return {one: {"main": [[{"node": two, "type": "main", "index": 0}]]} for one, two in pairwise(names)}


FLOW: Json = {
    "name": "注文の通知",
    "nodes": [
        node("Webhook", "n8n-nodes-base.webhook", (0, 0)),
        node("整形", at=(200, 100), notes="送る前に"),
        node("Slack", "n8n-nodes-base.slack", (400, 0), disabled=True),
        node("Memo", "n8n-nodes-base.stickyNote", (0, 300)),
    ],
    "connections": link("Webhook", "整形", "Slack"),
}


@contextmanager
def app_client(fake: FakeN8n, folder: Path, **more: Any) -> Iterator[TestClient]:
    settings = N8nSettings(url=fake.url, api_key=SecretStr(KEY), backup_dir=folder / "backups", **more)
    with TestClient(create_app({"n8n": create_server(settings)}), base_url=BASE_URL) as client:
        yield client


@pytest.fixture(params=["old", "new"])
def n8n(request: pytest.FixtureRequest) -> FakeN8n:
    fake: FakeN8n = request.getfixturevalue(f"{request.param}_n8n")
    return fake.reset()


@pytest.fixture
def page(n8n: FakeN8n, tmp_path: Path) -> Iterator[TestClient]:
    with app_client(n8n, tmp_path) as client:
        yield client


def read(page: TestClient, path: str, **parameters: Any) -> Json:
    response = page.get(f"{API}{path}", params=parameters)
    assert response.status_code == 200, response.text
    answer: Json = response.json()
    return answer


def test_workflows_are_listed_with_state_and_last_execution(page: TestClient, n8n: FakeN8n) -> None:
    flow = n8n.add_workflow(**FLOW, active=True, tags=[{"id": "t", "name": "店"}])
    idle = n8n.add_workflow(name="Idle")
    n8n.add_execution(workflowId=flow["id"], status="success")
    n8n.add_execution(workflowId=flow["id"], status="error")
    answer = read(page, "/workflows")
    rows = {row["id"]: row for row in answer["workflows"]}
    assert (rows[flow["id"]]["name"], rows[flow["id"]]["active"], rows[flow["id"]]["tags"]) == (
        "注文の通知",
        True,
        ["店"],
    )
    assert (rows[flow["id"]]["last"]["status"], rows[flow["id"]]["last"]["durationMs"]) == ("error", 1500)
    assert rows[flow["id"]]["url"] == f"{n8n.url}/workflow/{flow['id']}"
    assert (rows[idle["id"]]["active"], rows[idle["id"]]["last"]) == (False, None)
    assert (answer["n8n"], answer["read_only"], answer["next_cursor"]) == (n8n.url, False, None)


def test_running_execution_is_the_last_one(page: TestClient, n8n: FakeN8n) -> None:
    flow = n8n.add_workflow(**FLOW)
    n8n.add_execution(workflowId=flow["id"], status="running", stoppedAt=None)
    n8n.add_execution(workflowId=flow["id"], status="success")
    assert read(page, "/workflows")["workflows"][0]["last"]["status"] == "running"


def test_long_list_is_paged(page: TestClient, n8n: FakeN8n) -> None:
    for number in range(5):
        n8n.add_workflow(name=f"流れ {number}")
    first = read(page, "/workflows", limit=3)
    second = read(page, "/workflows", limit=3, cursor=first["next_cursor"])
    assert len({row["id"] for row in first["workflows"] + second["workflows"]}) == 5
    assert second["next_cursor"] is None


def test_graph_has_nodes_and_connections(page: TestClient, n8n: FakeN8n) -> None:
    flow = n8n.add_workflow(**FLOW)
    graph = read(page, f"/workflows/{flow['id']}")
    assert [(n["name"], n["type"], n["x"], n["y"], n["trigger"], n["disabled"]) for n in graph["nodes"]] == [
        ("Webhook", "webhook", 0, 0, True, False),
        ("整形", "set", 200, 100, False, False),
        ("Slack", "slack", 400, 0, False, True),
    ]
    assert graph["nodes"][1]["notes"] == "送る前に"
    assert graph["links"] == [
        {"source": "Webhook", "target": "整形", "kind": "main", "output": 0, "input": 0},
        {"source": "整形", "target": "Slack", "kind": "main", "output": 0, "input": 0},
    ]


def test_executions_name_the_failed_node(page: TestClient, n8n: FakeN8n) -> None:
    flow, other = n8n.add_workflow(**FLOW), n8n.add_workflow(name="Other")
    n8n.add_execution(workflowId=other["id"])
    error = {"message": "接続できません", "description": "timeout"}
    runs = {"Webhook": [{"executionTime": 1, "data": {"main": [[{"json": {}}]]}}], "整形": [{"error": error}]}
    n8n.add_execution(
        workflowId=flow["id"],
        status="error",
        data={"resultData": {"runData": runs, "error": error, "lastNodeExecuted": "整形"}},
        workflowData={"name": "注文の通知", "nodes": FLOW["nodes"]},
    )
    listed = read(page, f"/workflows/{flow['id']}/executions")
    assert [(row["id"], row["status"]) for row in listed["executions"]] == [("2", "error")]
    shown = read(page, "/executions/2")
    assert shown["failed"] == {"node": "整形", "message": "接続できません", "description": "timeout"}
    assert [ran["node"] for ran in shown["nodes"]] == ["Webhook", "整形"]


def test_execution_without_data_has_a_coded_note(page: TestClient, n8n: FakeN8n) -> None:
    n8n.add_execution(workflowId="wf", status="crashed")
    shown = read(page, "/executions/1")
    assert shown["note"].startswith("n8n has no data of this execution")
    assert (shown["note_code"], shown["note_params"]) == ("n8n.execution_data_missing", {})


def test_backup_is_compared_and_restored(page: TestClient, n8n: FakeN8n, tmp_path: Path) -> None:
    flow = n8n.add_workflow(**FLOW)
    workflow_id = flow["id"]
    assert read(page, f"/workflows/{workflow_id}/backups") == {"backups": []}
    name = backed_up(tmp_path, n8n, flow)
    stored = n8n.workflows[workflow_id]
    stored["name"] = "Renamed"
    stored["nodes"] = [FLOW["nodes"][0], node("整形", parameters={"x": 1}), node("New")]
    stored["connections"] = link("Webhook", "New")
    listed = read(page, f"/workflows/{workflow_id}/backups")["backups"]
    assert [(backup["backup"], backup["name"], backup["nodes"]) for backup in listed] == [(name, "注文の通知", 4)]
    seen = read(page, f"/backups/{name}")
    assert (seen["same"], seen["exists"]) == (False, True)
    difference = seen["difference"]
    assert difference["name"] == ["Renamed", "注文の通知"]
    assert (difference["added"], difference["removed"]) == (["Slack", "Memo"], ["New"])
    assert set(difference["changed"]["整形"]) >= {"parameters", "position", "notes"}
    assert difference["connections_added"] == ["Webhook → 整形", "整形 → Slack"]
    assert difference["connections_removed"] == ["Webhook → New"]
    restored = page.post(f"{API}/backups/{name}/restore")
    assert restored.status_code == 200, restored.text
    assert restored.json()["workflow_id"] == workflow_id
    assert n8n.workflows[workflow_id]["name"] == "注文の通知"
    assert read(page, f"/backups/{name}")["same"] is True
    assert len(read(page, f"/workflows/{workflow_id}/backups")["backups"]) == 2


def test_unset_setting_is_no_difference(page: TestClient, n8n: FakeN8n, tmp_path: Path) -> None:
    flow = n8n.add_workflow(**FLOW)
    name = backed_up(tmp_path, n8n, flow)
    stored = n8n.workflows[flow["id"]]
    stored["settings"] = {**stored["settings"], "errorWorkflow": "DEFAULT", "executionTimeout": -1}
    assert read(page, f"/backups/{name}")["same"] is True
    stored["settings"] = {**stored["settings"], "errorWorkflow": "wf"}
    assert read(page, f"/backups/{name}")["difference"]["settings"] == ["errorWorkflow"]


@pytest.mark.parametrize(
    ("key", "then", "now"),
    [
        ("pinData", {"Webhook": [{"json": {"番号": 1}}]}, None),
        ("pinData", None, {"Webhook": [{"json": {"番号": 1}}]}),
        ("staticData", {"global": {"seen": 1}}, {"global": {"seen": 2}}),
        ("description", "朝の注文", "夜の注文"),
        ("nodeGroups", [{"id": "g", "name": "組", "nodeIds": ["id-Webhook"]}], []),
        ("nodes", FLOW["nodes"], FLOW["nodes"][::-1]),
        ("connections", {"Webhook": {"main": [[]]}}, {"Webhook": {"main": []}}),
    ],
)
def test_everything_a_restore_would_change_is_a_difference(
    new_n8n: FakeN8n, tmp_path: Path, key: str, then: Any, now: Any
) -> None:
    flow = new_n8n.reset().add_workflow(**FLOW | {key: then})
    name = backed_up(tmp_path, new_n8n, flow)
    with app_client(new_n8n, tmp_path) as page:
        assert read(page, f"/backups/{name}")["same"] is True
        new_n8n.workflows[flow["id"]][key] = now
        seen = read(page, f"/backups/{name}")
        assert (seen["same"], seen["difference"]["others"]) == (False, [key])
        page.post(f"{API}/backups/{name}/restore").raise_for_status()
        assert read(page, f"/backups/{name}")["same"] is True
    assert (new_n8n.workflows[flow["id"]][key] or None) == then


def test_connection_to_another_input_is_a_difference(page: TestClient, n8n: FakeN8n, tmp_path: Path) -> None:
    flow = n8n.add_workflow(**FLOW)
    name = backed_up(tmp_path, n8n, flow)
    n8n.workflows[flow["id"]]["connections"]["整形"]["main"][0][0]["index"] = 1
    seen = read(page, f"/backups/{name}")
    assert (seen["same"], seen["difference"]["others"]) == (False, [])
    assert seen["difference"]["connections_added"] == ["整形 → Slack"]
    assert seen["difference"]["connections_removed"] == ["整形 → Slack [1]"]


def test_empty_and_missing_values_are_no_difference(page: TestClient, n8n: FakeN8n, tmp_path: Path) -> None:
    flow = n8n.add_workflow(**FLOW | {"nodeGroups": [], "pinData": {}})
    name = backed_up(tmp_path, n8n, flow)
    n8n.workflows[flow["id"]] |= {"nodeGroups": None, "pinData": None}
    assert read(page, f"/backups/{name}")["same"] is True


def test_backup_of_a_deleted_workflow_is_restored_as_a_new_one(page: TestClient, n8n: FakeN8n, tmp_path: Path) -> None:
    flow = n8n.add_workflow(**FLOW)
    name = backed_up(tmp_path, n8n, flow)
    del n8n.workflows[flow["id"]]
    seen = read(page, f"/backups/{name}")
    assert (seen["exists"], seen["difference"]["added"]) == (False, ["Webhook", "整形", "Slack", "Memo"])
    assert seen["difference"]["others"] == []
    restored = page.post(f"{API}/backups/{name}/restore").json()
    assert restored["workflow_id"] != flow["id"]
    assert restored["workflow_id"] in n8n.workflows
    assert restored["steps"] == ["created"]
    assert restored["steps_code"] == ["n8n.step_created"]
    assert restored["notes_code"][-1] == "n8n.workflow_recreated"
    assert len(restored["notes"]) == len(restored["notes_code"]) == len(restored["notes_params"])


def test_read_only_server_restores_nothing(n8n: FakeN8n, tmp_path: Path) -> None:
    flow = n8n.add_workflow(**FLOW)
    name = backed_up(tmp_path, n8n, flow)
    n8n.workflows[flow["id"]]["name"] = "Renamed"
    with app_client(n8n, tmp_path, read_only=True) as page:
        assert read(page, "/workflows")["read_only"] is True
        refused = page.post(f"{API}/backups/{name}/restore")
    assert (refused.status_code, refused.json()["detail"]) == (
        403,
        "n8n is read-only here. Unset `N8N_READ_ONLY` to allow changes of workflows.",
    )
    assert n8n.workflows[flow["id"]]["name"] == "Renamed"


@pytest.mark.parametrize(
    ("path", "status", "detail"),
    [
        ("/workflows/unknown", 404, "Workflow 'unknown'"),
        ("/executions/99", 404, "Execution '99'"),
        ("/backups/wf/nonsense", 400, "backup must be a name that `list_backups` shows."),
        ("/backups/wf/20260101T000000000000Z-update.json", 404, "Backup not found."),
        ("/workflows/a**/backups", 400, "workflow_id must match the pattern"),
        ("/workflows/a..b", 400, "workflow_id must match the pattern"),
        ("/workflows/a b/executions", 400, "workflow_id must match the pattern"),
        ("/executions/x", 400, "execution_id must match the pattern"),
        ("/backups/a**/20260101T000000000000Z-update.json", 400, "workflow_id must match the pattern"),
        ("/workflows?limit=0", 400, "limit must be at least 1."),
        ("/workflows?cursor=nonsense", 400, "cursor is not from this list"),
    ],
)
def test_errors_have_a_status_and_a_detail(page: TestClient, path: str, status: int, detail: str) -> None:
    answer = page.get(f"{API}{path}")
    assert answer.status_code == status, answer.text
    assert detail in answer.json()["detail"]


def test_error_of_n8n_does_not_contain_the_key(page: TestClient, n8n: FakeN8n) -> None:
    n8n.failures.append(Failure("GET", "/workflows", 401, '{"message": "unauthorized"}'))
    answer = page.get(f"{API}/workflows")
    assert answer.status_code == 500
    assert KEY not in answer.text


@pytest.mark.parametrize(
    ("status", "expected", "code"),
    [
        (400, 400, "n8n.bad_request"),
        (404, 500, "n8n.request_failed"),
        (409, 409, "n8n.state_conflict"),
        (403, 500, "n8n.permission_missing"),
        (502, 500, "n8n.server_error"),
    ],
)
def test_rejection_of_a_list_by_n8n_keeps_its_status_if_the_caller_caused_it(
    page: TestClient, n8n: FakeN8n, status: int, expected: int, code: str
) -> None:
    """A 404 for a list means that the URL of n8n is wrong."""
    for _ in range(3):  # reads are retried
        n8n.fail("GET", "/workflows", status, "カーソルが無効です")
    answer = page.get(f"{API}/workflows")
    assert (answer.status_code, answer.json()["code"]) == (expected, code)
    assert "カーソルが無効です" in answer.json()["detail"]


def test_restore_that_n8n_rejects_has_the_status_of_n8n(page: TestClient, n8n: FakeN8n, tmp_path: Path) -> None:
    flow = n8n.add_workflow(**FLOW)
    name = backed_up(tmp_path, n8n, flow)
    n8n.workflows[flow["id"]]["name"] = "Renamed"
    for status in (400, 409):
        n8n.fail("PUT", f"/workflows/{flow['id']}", status, "The workflow is archived")
        answer = page.post(f"{API}/backups/{name}/restore")
        assert answer.status_code == status, answer.text
    assert n8n.workflows[flow["id"]]["name"] == "Renamed"


def backed_up(folder: Path, n8n: FakeN8n, workflow: Json) -> str:
    """Write a backup as the tools do before a change."""
    from chie.n8n.server import create_client, create_context

    settings = N8nSettings(url=n8n.url, api_key=SecretStr(KEY), backup_dir=folder / "backups")
    return create_context(settings, create_client(settings)).backups.write(workflow, "update")


@pytest.mark.req("NP-3")
def test_change_is_tried_from_the_page(new_n8n: FakeN8n, tmp_path: Path) -> None:
    fake = new_n8n.reset()
    flow = fake.add_workflow(
        **{**FLOW, "nodes": [*FLOW["nodes"][:1], node("整形", CODE, parameters={"fail": "値なし"})]}
    )
    flow["connections"] = link("Webhook", "整形")
    fake.runner.run(flow, "Webhook", {"Webhook": [{"json": {"n": 1}}]})
    path = f"{API}/workflows/{flow['id']}/rehearsals"
    body: Json = {"patch": [{"op": "setField", "node": "整形", "path": "parameters", "value": {}}]}
    with app_client(fake, tmp_path, mcp_token=SecretStr(TOKEN), home=tmp_path) as page:
        assert read(page, "/workflows")["rehearsals"] is True
        assert read(page, f"/workflows/{flow['id']}")["nodes"][1]["parameters"] == {"fail": "値なし"}
        asked = page.post(path, json=body).json()
        assert (asked["outcome"], asked["would_run_for_real"]) == ("needs_permission", {"整形": "code"})
        fixed = page.post(path, json={**body, "run_for_real": ["整形"], "execution": "1"}).json()
        assert (fixed["outcome"], fixed["summary_code"], fixed["ran_now"]) == (
            "fixed",
            "n8n.rehearsal_fixed",
            {"整形": 1},
        )
        assert fixed["version_id"] == flow["versionId"]
        wrong = page.post(path, json={"patch": [{"op": "無い"}]})
        assert (wrong.status_code, wrong.json()["code"]) == (400, "n8n.operation_unknown")
    assert list(fake.workflows) == [flow["id"]]
    with app_client(fake, tmp_path) as page:
        assert read(page, "/workflows")["rehearsals"] is False
        refused = page.post(path, json=body)
        assert (refused.status_code, refused.json()["code"]) == (403, "n8n.mcp_token_missing")
    with app_client(fake, tmp_path, mcp_token=SecretStr(TOKEN), read_only=True) as page:
        assert page.post(path, json=body).json()["code"] == "n8n.read_only"


@pytest.mark.req("NP-3")
def test_change_that_was_tried_is_saved(fake: FakeN8n, tmp_path: Path) -> None:
    flow = fake.add_workflow(name="注文", nodes=[node("整形", parameters={"n": 1})])
    path, version = f"{API}/workflows/{flow['id']}", flow["versionId"]
    body: Json = {"patch": [{"op": "setField", "node": "整形", "path": "parameters", "value": {"n": 2}}]}
    with app_client(fake, tmp_path) as page:
        saved = page.patch(path, json={**body, "version_id": version}).json()
        assert saved["workflow_id"] == flow["id"]
        assert saved["steps_code"] == ["n8n.step_backup_written", "n8n.step_saved"]
        assert fake.workflows[flow["id"]]["nodes"][0]["parameters"] == {"n": 2}
        assert [one["reason"] for one in read(page, f"/workflows/{flow['id']}/backups")["backups"]] == ["patch"]
        stale = page.patch(path, json={**body, "version_id": "earlier"})
        assert (stale.status_code, stale.json()["code"]) == (409, "n8n.workflow_changed")
        wrong = page.patch(path, json={"patch": [{"op": "無い"}]})
        assert (wrong.status_code, wrong.json()["code"]) == (400, "n8n.operation_unknown")
        assert page.patch(f"{API}/workflows/none", json=body).status_code == 404
    with app_client(fake, tmp_path, read_only=True) as page:
        refused = page.patch(path, json=body)
        assert (refused.status_code, refused.json()["code"]) == (403, "n8n.read_only")
