"""Saving a change: what is kept, what is reported, and what happens when a step fails."""

import json
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from tests.fakes.n8n import KEY, FakeN8n
from tests.n8n.caller import Caller, Era, Instance, calling, chain, node, order_flow

HOOK = "n8n-nodes-base.webhook"


@pytest.fixture(params=["auto", "legacy"])
def era(request: pytest.FixtureRequest) -> Era:
    era: Era = request.param
    return era


def writes(fake: FakeN8n) -> list[str]:
    return [f"{seen.method} {seen.path}" for seen in fake.seen if seen.method != "GET"]


async def test_backup_contains_the_previous_workflow(call: Caller, fake: FakeN8n, tmp_path: Path) -> None:
    workflow = fake.add_workflow(**order_flow())
    before = json.loads(json.dumps(workflow))
    await call("update_workflow", id=workflow["id"], name="別名")
    (file,) = (tmp_path / "backups").rglob("*.json")
    assert json.loads(file.read_text(encoding="utf-8")) == before


async def test_failed_put_that_was_stored_is_a_partial_change(call: Caller, fake: FakeN8n) -> None:
    workflow = fake.add_workflow(**order_flow())
    fake.fail("PUT", workflow["id"], 403, "Your change was saved as a draft", stored=True)
    answer = await call("update_workflow", id=workflow["id"], name="別名")
    assert answer.code == "n8n.failed_after_save"
    assert "Your change was saved as a draft" in answer.error
    assert answer.details is not None
    assert answer.details["steps"][-1] == "saved: name"


async def test_failed_put_that_was_not_stored_is_an_api_error(call: Caller, fake: FakeN8n) -> None:
    workflow = fake.add_workflow(**order_flow())
    fake.fail("PUT", workflow["id"], 500)
    answer = await call("update_workflow", id=workflow["id"], name="別名")
    assert answer.error.startswith("Failed to update workflow: n8n returned 500")
    assert answer.details is not None
    assert "steps" not in answer.details


async def test_failed_tagging_reports_the_completed_steps(call: Caller, fake: FakeN8n) -> None:
    workflow = fake.add_workflow(**order_flow())
    fake.fail("POST", "/tags", 403, "Forbidden")
    answer = await call("update_workflow", id=workflow["id"], name="別名", tags=["新"])
    assert answer.error.startswith("Done: saved: name. Then a step failed: Failed to create tag: n8n returned 403")
    assert fake.workflows[workflow["id"]]["name"] == "別名"


async def test_failed_read_back_reports_the_save(call: Caller, fake: FakeN8n) -> None:
    workflow = fake.add_workflow(**order_flow())
    fake.fail("GET", workflow["id"], 401, "Unauthorized", after=1)
    answer = await call("update_workflow", id=workflow["id"], name="別名")
    assert answer.error.startswith("Done: saved: name. Then a step failed: Failed to get workflow: n8n returned 401")


@pytest.mark.parametrize(
    ("field", "stored", "is_noted"),
    [
        ("nodes", lambda nodes: nodes[:-1], True),
        ("nodes", lambda nodes: [*nodes[:-1], {**nodes[-1], "notes": "旧"}], True),
        ("nodes", lambda nodes: [*nodes[:-1], {k: v for k, v in nodes[-1].items() if k != "notes"}], True),
        ("nodes", lambda nodes: [{**own, "webhookId": "w1"} for own in nodes], False),
        ("settings", lambda settings: {**settings, "timezone": "UTC"}, True),
        ("settings", lambda _: None, True),
        ("settings", lambda settings: {**settings, "binaryMode": "separate"}, False),
        ("staticData", lambda _: {"x": 1}, True),
        ("staticData", lambda _: None, False),
    ],
)
async def test_values_that_n8n_stored_differently_are_noted(
    call: Caller, fake: FakeN8n, field: str, stored: Any, is_noted: bool
) -> None:
    """n8n may add to nodes and settings, and has null for what is empty."""
    workflow = fake.add_workflow(**order_flow(), staticData={"x": 0})
    nodes = [{**own, "notes": "新"} for own in workflow["nodes"]]
    sent = {"nodes": nodes, "settings": {**workflow["settings"], "timezone": "Asia/Tokyo"}, "staticData": {}}
    read_back = {**workflow, **sent, field: stored(sent[field])}
    fake.fail("GET", workflow["id"], 200, after=1, text=json.dumps(read_back))
    answer = (await call("update_workflow", id=workflow["id"], **sent)).data
    note = f"n8n stored {field} differently from what was sent. Check it with `get_workflow`."
    assert answer.get("notes", []) == [note] * is_noted


async def test_tags_are_removed_without_a_look_at_those_that_exist(call: Caller, fake: FakeN8n) -> None:
    workflow = fake.add_workflow(**order_flow(), tags=[{"id": "t1", "name": "店"}])
    answer = (await call("update_workflow", id=workflow["id"], tags=[])).data
    assert (answer.get("tags", []), answer["steps"][-1]) == ([], "all tags removed")
    assert [seen for seen in fake.seen if seen.path == "/tags"] == []


@pytest.mark.parametrize("length", [24, 25])
async def test_tag_that_is_too_long_is_rejected(call: Caller, fake: FakeN8n, length: int) -> None:
    """n8n would report it as a duplicate."""
    workflow = fake.add_workflow(**order_flow())
    answer = await call("update_workflow", id=workflow["id"], tags=["注" * length, f" {'注' * length} "])
    if length == 24:
        assert answer.data["tags"] == ["注" * length]
        assert answer.data["steps"][-1] == f"tags set: {'注' * length} (new: {'注' * length})"
        return
    assert (answer.code, writes(fake)) == ("n8n.tag_too_long", [])
    assert answer.details is not None
    assert answer.details["context"] == {"field": "tags", "constraint": "at most 24 characters"}


class BrokenTransport(httpx2.AsyncBaseTransport):
    """Fails on a PUT, before or after n8n has received it."""

    def __init__(self, *, after: bool) -> None:
        self._inner = httpx2.AsyncHTTPTransport()
        self._after = after

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "PUT" and self._after:
            await (await self._inner.handle_async_request(request)).aread()
        if request.method == "PUT":
            raise httpx2.ReadError("broken", request=request)
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        await self._inner.aclose()


async def test_lost_response_is_no_error_if_the_change_is_stored(
    era: Era, fake: FakeN8n, instance: Instance, tmp_path: Path
) -> None:
    workflow = fake.add_workflow(**order_flow())
    broken = Instance(instance.url, instance.key, transport=BrokenTransport(after=True))
    async with calling(broken, tmp_path, era=era) as call:
        answer = (await call("update_workflow", id=workflow["id"], name="別名")).data
    assert answer["name"] == "別名"
    assert answer["notes"] == ["n8n's response was lost, but the change is stored."]
    assert len(writes(fake)) == 1


async def test_change_that_never_arrived_is_reported_as_not_stored(
    era: Era, fake: FakeN8n, instance: Instance, tmp_path: Path
) -> None:
    workflow = fake.add_workflow(**order_flow())
    broken = Instance(instance.url, instance.key, transport=BrokenTransport(after=False))
    async with calling(broken, tmp_path, era=era) as call:
        answer = await call("update_workflow", id=workflow["id"], name="別名")
    assert answer.error.endswith("did not respond (ReadError). The change is not stored: try again.")
    assert answer.details is not None
    assert answer.details["context"]["resource_id"] == workflow["id"]
    assert writes(fake) == []


async def test_lost_response_is_checked_against_the_nodes_that_were_sent(
    era: Era, fake: FakeN8n, instance: Instance, tmp_path: Path
) -> None:
    workflow = fake.add_workflow(**order_flow())
    operations = [{"op": "setField", "node": workflow["nodes"][0]["name"], "path": "notes", "value": "新"}]
    broken = Instance(instance.url, instance.key, transport=BrokenTransport(after=False))
    async with calling(broken, tmp_path, era=era) as call:
        answer = await call("patch_workflow", id=workflow["id"], operations=operations)
    assert answer.code == "n8n.change_not_stored"


async def test_concurrent_changes_are_all_kept(call: Caller, fake: FakeN8n) -> None:
    workflow = fake.add_workflow(**order_flow())

    async def note(name: str) -> None:
        operations = [{"op": "setField", "node": name, "path": "notes", "value": f"{name} です"}]
        assert not (await call("patch_workflow", id=workflow["id"], operations=operations)).is_error

    async with anyio.create_task_group() as tasks:
        for own in workflow["nodes"]:
            tasks.start_soon(note, own["name"])
    stored = fake.workflows[workflow["id"]]["nodes"]
    assert [own["notes"] for own in stored] == [f"{own['name']} です" for own in stored]


@pytest.mark.parametrize("old", [False, True])
async def test_rejected_keys_are_dropped_and_reported(
    old: bool, era: Era, new_n8n: FakeN8n, old_n8n: FakeN8n, tmp_path: Path
) -> None:
    fake = (old_n8n if old else new_n8n).reset()
    flow = order_flow()
    flow["nodes"][0]["brandNew"] = 1
    flow["settings"] = {"timezone": "UTC", "futureSetting": True}
    flow["pinData"] = {"Webhook": [{"json": {}}]}
    async with calling(Instance(fake.url, "n8n-test-key-0123456789"), tmp_path, era=era) as call:
        answer = (await call("create_workflow", **flow)).data
    notes = " ".join(answer["notes"])
    assert "nodes[].brandNew" in notes
    assert "settings.futureSetting" in notes
    assert ("pinData" in notes) is old
    stored = fake.workflows[answer["id"]]
    assert "brandNew" not in stored["nodes"][0]
    assert stored["settings"] == {"timezone": "UTC"}


async def test_settings_are_merged_and_null_removes_one(call: Caller, fake: FakeN8n) -> None:
    workflow = fake.add_workflow(**order_flow() | {"settings": {"timezone": "UTC", "executionTimeout": 60}})
    answer = (
        await call("update_workflow", id=workflow["id"], settings={"timezone": None, "executionOrder": "v1"})
    ).data
    assert fake.workflows[workflow["id"]]["settings"] == {"executionTimeout": 60, "executionOrder": "v1"}
    assert "notes" not in answer


@pytest.mark.parametrize("old", [False, True])
async def test_restore_removes_newer_settings_and_pinned_data(
    old: bool, era: Era, new_n8n: FakeN8n, old_n8n: FakeN8n, tmp_path: Path
) -> None:
    fake = (old_n8n if old else new_n8n).reset()
    workflow = fake.add_workflow(**order_flow() | {"settings": {"executionOrder": "v1", "timezone": "UTC"}})
    added = {"timezone": "Asia/Tokyo", "errorWorkflow": "wrong", "executionTimeout": 5}
    async with calling(Instance(fake.url, KEY), tmp_path, era=era) as call:
        await call("update_workflow", id=workflow["id"], settings=added)
        fake.workflows[workflow["id"]]["pinData"] = {"Webhook": [{"json": {}}]} if not old else None
        (saved,) = (await call("list_backups", id=workflow["id"])).data["backups"]
        answer = (await call("restore_workflow", backup=saved["backup"])).data
        assert answer["changed"] == (["settings"] if old else ["settings", "pinData"])
        assert "notes" not in answer
        stored = fake.workflows[workflow["id"]]
        unset = {"errorWorkflow": "DEFAULT", "executionTimeout": -1} if old else {}
        assert stored["settings"] == {"executionOrder": "v1", "timezone": "UTC"} | unset
        assert not stored["pinData"]
        again = (await call("restore_workflow", backup=saved["backup"])).data
    assert again["steps"] == ["nothing to change: n8n already has this state"]


@pytest.mark.parametrize("old", [False, True])
async def test_setting_that_n8n_cannot_unset_is_reported(
    old: bool, era: Era, new_n8n: FakeN8n, old_n8n: FakeN8n, tmp_path: Path
) -> None:
    fake = (old_n8n if old else new_n8n).reset()
    workflow = fake.add_workflow(**order_flow() | {"settings": {"executionOrder": "v1"}})
    async with calling(Instance(fake.url, KEY), tmp_path, era=era) as call:
        added = {"saveManualExecutions": True, "saveExecutionProgress": False}
        await call("update_workflow", id=workflow["id"], settings=added)
        (saved,) = (await call("list_backups", id=workflow["id"])).data["backups"]
        answer = (await call("restore_workflow", backup=saved["backup"])).data
    if old:
        assert "notes" not in answer
        assert fake.workflows[workflow["id"]]["settings"] == {"executionOrder": "v1"}
    else:
        kept = "n8n keeps settings.saveManualExecutions, settings.saveExecutionProgress, which its API cannot unset"
        assert answer["notes"] == [f"{kept}. Unset them in n8n's editor."]


async def test_backup_with_values_that_n8n_does_not_accept_is_restored(call: Caller, fake: FakeN8n) -> None:
    shown = {"saveManualExecutions": "DEFAULT", "timezone": "DEFAULT", "executionOrder": "v1"}
    workflow = fake.add_workflow(**order_flow() | {"settings": shown})
    await call("update_workflow", id=workflow["id"], name="別名", settings={"timezone": "UTC"})
    (saved,) = (await call("list_backups", id=workflow["id"])).data["backups"]
    await call("restore_workflow", backup=saved["backup"])
    assert fake.workflows[workflow["id"]]["name"] == order_flow()["name"]
    assert fake.workflows[workflow["id"]]["settings"] == {"executionOrder": "v1"}
    del fake.workflows[workflow["id"]]
    made = (await call("restore_workflow", backup=saved["backup"])).data
    assert fake.workflows[made["id"]]["settings"] == {"executionOrder": "v1"}


async def test_file_replaces_the_settings_unless_it_has_none(call: Caller, fake: FakeN8n, tmp_path: Path) -> None:
    flow = {**order_flow(), "settings": {"timezone": "UTC", "executionTimeout": 60}}
    workflow = fake.add_workflow(**flow)
    file = tmp_path / "flow.json"
    file.write_text(json.dumps({key: flow[key] for key in ("name", "nodes", "connections")}), encoding="utf-8")
    await call("replace_workflow_from_file", id=workflow["id"], filePath=str(file))
    assert fake.workflows[workflow["id"]]["settings"] == flow["settings"]
    file.write_text(json.dumps({**flow, "settings": {"executionTimeout": 30}}), encoding="utf-8")
    answer = (await call("replace_workflow_from_file", id=workflow["id"], filePath=str(file))).data
    assert answer["changed"] == ["settings"]
    assert fake.workflows[workflow["id"]]["settings"] == {"executionTimeout": 30}


async def test_stored_value_that_n8n_does_not_accept_does_not_prevent_a_save(call: Caller, fake: FakeN8n) -> None:
    workflow = fake.add_workflow(**order_flow() | {"settings": {"saveManualExecutions": "DEFAULT"}})
    answer = (await call("update_workflow", id=workflow["id"], name="別名")).data
    assert answer["changed"] == ["name"]


async def test_internal_keys_of_a_node_are_never_sent(call: Caller, fake: FakeN8n) -> None:
    flow = order_flow()
    flow["nodes"][0] |= {"issues": {"x": 1}, "createdAt": "2020"}
    workflow = fake.add_workflow(**flow)
    await call("update_workflow", id=workflow["id"], name="別名")
    assert "issues" not in fake.workflows[workflow["id"]]["nodes"][0]


async def test_missing_webhook_id_is_generated_and_an_existing_one_is_kept(call: Caller, fake: FakeN8n) -> None:
    flow = {"name": "n", "nodes": [node("Hook", HOOK), node("Own", HOOK, webhookId="mine")], "connections": {}}
    made = (await call("create_workflow", **flow)).data
    first, second = fake.workflows[made["id"]]["nodes"]
    assert len(first["webhookId"]) == 36
    assert second["webhookId"] == "mine"
    changed = [{"name": "Hook", "parameters": {"path": "x"}}, {"name": "Own"}]
    await call("update_workflow", id=made["id"], nodes=changed)
    assert fake.workflows[made["id"]]["nodes"][0]["webhookId"] == first["webhookId"]


async def test_node_with_a_new_id_keeps_its_credentials_by_name(call: Caller, fake: FakeN8n) -> None:
    workflow = fake.add_workflow(**order_flow())
    nodes: list[dict[str, Any]] = [{**own, "id": f"new-{index}"} for index, own in enumerate(order_flow()["nodes"])]
    del nodes[1]["credentials"]
    await call("update_workflow", id=workflow["id"], nodes=nodes)
    assert fake.workflows[workflow["id"]]["nodes"][1]["credentials"]["httpBasicAuth"]["id"] == "cred1"


async def test_node_of_another_type_does_not_inherit_credentials(call: Caller, fake: FakeN8n) -> None:
    workflow = fake.add_workflow(**order_flow())
    nodes = [{"name": "Webhook"}, {"name": "注文を整形", "type": "n8n-nodes-base.noOp"}, {"name": "End"}]
    await call("update_workflow", id=workflow["id"], nodes=nodes)
    stored = fake.workflows[workflow["id"]]["nodes"][1]
    assert "credentials" not in stored
    assert "onError" not in stored


async def test_null_removes_a_key_of_a_node(call: Caller, fake: FakeN8n) -> None:
    workflow = fake.add_workflow(**order_flow())
    nodes = [{"name": "Webhook"}, {"name": "注文を整形", "credentials": None, "notes": None}, {"name": "End"}]
    await call("update_workflow", id=workflow["id"], nodes=nodes)
    stored = fake.workflows[workflow["id"]]["nodes"][1]
    assert "credentials" not in stored
    assert "notes" not in stored
    assert stored["onError"] == "continueRegularOutput"


async def test_keys_that_only_n8n_sets_are_reported_as_unchanged(call: Caller, fake: FakeN8n) -> None:
    workflow = fake.add_workflow(**order_flow())
    answer = (await call("update_workflow", id=workflow["id"], name="別名", triggerCount=99)).data
    assert answer["notes"] == ["Not changed, because only n8n sets it: triggerCount."]


async def test_unknown_argument_is_rejected_with_its_name(call: Caller, fake: FakeN8n) -> None:
    workflow = fake.add_workflow(**order_flow())
    answer = await call("update_workflow", id=workflow["id"], name="別名", nmae="hunter2")
    assert "unknown argument: 'nmae'" in answer.error
    assert "hunter2" not in answer.error
    assert writes(fake) == []


@pytest.mark.req("NW-3")
async def test_key_of_a_newer_n8n_may_be_passed_back(call: Caller, fake: FakeN8n) -> None:
    workflow = fake.add_workflow(**order_flow(), futureField={"x": 1})
    raw = (await call("get_workflow", id=workflow["id"], raw=True)).data
    answer = (await call("update_workflow", **{**raw, "name": "別名"})).data
    assert (answer["changed"], "notes" in answer) == (["name"], False)
    again = (await call("update_workflow", id=workflow["id"], name="また", futureField={"x": 2})).data
    assert again["notes"] == ["Not changed, because only n8n sets it: futureField."]


async def test_new_node_does_not_inherit_pinned_data(call: Caller, fake: FakeN8n) -> None:
    pins = {"End": [{"json": {"secret": 1}}], "Webhook": [{"json": {}}]}
    workflow = fake.add_workflow(**order_flow(), pinData=pins)
    answer = (await call("patch_workflow", id=workflow["id"], operations=[{"op": "removeNode", "name": "End"}])).data
    assert "Pinned data was removed together with the nodes 'End'." in answer["notes"]
    assert fake.workflows[workflow["id"]]["pinData"] == {"Webhook": [{"json": {}}]}
    fake.workflows[workflow["id"]]["pinData"] = pins
    again = [{"op": "removeNode", "name": "Webhook"}, {"op": "addNode", "node": node("Webhook", HOOK)}]
    await call("patch_workflow", id=workflow["id"], operations=again)
    assert "Webhook" not in fake.workflows[workflow["id"]]["pinData"]


async def test_removed_node_is_removed_from_its_groups(call: Caller, fake: FakeN8n) -> None:
    flow = order_flow()
    for number, own in enumerate(flow["nodes"]):
        own["id"] = f"id{number}"
    groups = [
        {"id": "g1", "name": "one", "nodeIds": ["id1", "id2"]},
        {"id": "g2", "name": "two", "nodeIds": ["id2"]},
    ]
    workflow = fake.add_workflow(**flow, nodeGroups=groups)
    await call("patch_workflow", id=workflow["id"], operations=[{"op": "removeNode", "name": "End"}])
    assert fake.workflows[workflow["id"]]["nodeGroups"] == [{"id": "g1", "name": "one", "nodeIds": ["id1"]}]


async def test_replacing_keeps_only_credentials_that_the_file_lacks(
    call: Caller, fake: FakeN8n, tmp_path: Path
) -> None:
    workflow = fake.add_workflow(**order_flow())
    bare = [node("Webhook", HOOK), node("注文を整形", "n8n-nodes-base.set")]
    content = {"name": "n", "nodes": bare, "connections": chain("Webhook", "注文を整形")}
    (tmp_path / "f.json").write_text(json.dumps(content), encoding="utf-8")
    await call("replace_workflow_from_file", id=workflow["id"], filePath=str(tmp_path / "f.json"))
    stored = fake.workflows[workflow["id"]]["nodes"][1]
    assert stored["credentials"]["httpBasicAuth"]["id"] == "cred1"
    assert "onError" not in stored


async def test_pinned_data_and_the_description_are_changed_only_when_given(call: Caller, fake: FakeN8n) -> None:
    workflow = fake.add_workflow(**order_flow(), pinData={"Webhook": [{"json": {"a": 1}}]})
    first = (await call("update_workflow", id=workflow["id"], description="朝の注文を集める")).data
    assert first["changed"] == ["description"]
    assert (await call("get_workflow", id=workflow["id"])).data["description"] == "朝の注文を集める"
    assert "pinData" not in next(seen.body for seen in fake.seen if seen.method == "PUT")
    second = (await call("update_workflow", id=workflow["id"], pinData="{}")).data
    assert second["changed"] == ["pinData"]
    assert fake.workflows[workflow["id"]]["pinData"] == {}


async def test_new_workflow_is_reported_with_warnings(call: Caller) -> None:
    lonely = {"nodes": [node("A", HOOK, id="1"), node("B", id="2")], "connections": {}}
    answer = (await call("create_workflow", name="n", **lonely)).data
    assert answer["steps"] == ["created"]
    assert any("'B'" in note for note in answer["notes"])


async def test_repeatedly_rejected_keys_are_an_api_error(call: Caller, fake: FakeN8n) -> None:
    workflow = fake.add_workflow(**order_flow())
    fake.fail("PUT", workflow["id"], 400, "request/body must NOT have additional properties", times=9)
    answer = await call("update_workflow", id=workflow["id"], name="別名")
    assert "additional properties" in answer.error
    assert "unpublished" not in answer.error


async def test_workflow_with_warnings_can_be_renamed(call: Caller, fake: FakeN8n) -> None:
    flow = {"nodes": [node("A", HOOK, id="1"), node("B", id="2")], "connections": {}}
    workflow = fake.add_workflow(name="n", **flow, settings={})
    answer = (await call("update_workflow", id=workflow["id"], name="別名")).data
    assert "notes" not in answer
    assert fake.workflows[workflow["id"]]["name"] == "別名"


@pytest.mark.parametrize("change", [{"connections": {}}, {"nodes": [{"name": "A"}, {"name": "B", "notes": "x"}]}])
async def test_changed_nodes_or_connections_are_validated(call: Caller, fake: FakeN8n, change: dict[str, Any]) -> None:
    nodes = [node("A", HOOK, id="1", webhookId="w"), node("B", id="2")]
    connections = chain("A", "B") if "connections" in change else {}
    workflow = fake.add_workflow(name="n", nodes=nodes, connections=connections, settings={})
    answer = (await call("update_workflow", id=workflow["id"], **change)).data
    assert any("'B'" in note and "Kept as stored" not in note for note in answer["notes"])


async def test_change_of_an_older_version_is_a_conflict(call: Caller, fake: FakeN8n) -> None:
    workflow = fake.add_workflow(**order_flow())
    answer = await call("update_workflow", id=workflow["id"], name="別名", versionId="older")
    assert answer.error.startswith("The workflow was changed since you read it, and nothing was written.")
    assert writes(fake) == []
    again = await call("update_workflow", id=workflow["id"], name="別名", versionId=workflow["versionId"])
    assert again.data["name"] == "別名"


async def test_dry_run_has_the_same_errors_as_the_change(call: Caller, fake: FakeN8n) -> None:
    rename = [{"op": "setField", "path": "name", "value": "別名"}]
    archived = fake.add_workflow(**order_flow(), isArchived=True)
    stale = fake.add_workflow(**order_flow())
    odd = fake.add_workflow(name="n", nodes=[{"name": "A", "type": "x"}], connections={"Gone": {}}, settings={})
    for arguments, text in (
        ({"id": archived["id"]}, "The workflow is archived"),
        ({"id": stale["id"], "versionId": "older"}, "The workflow was changed since you read it"),
    ):
        assert text in (await call("patch_workflow", **arguments, operations=rename, dryRun=True)).error
        assert text in (await call("patch_workflow", **arguments, operations=rename)).error
    answer = (await call("patch_workflow", id=odd["id"], operations=rename, dryRun=True)).data
    assert (answer["name"], answer["steps"]) == ("別名", ["dry run: nothing was written"])
    assert writes(fake) == []
