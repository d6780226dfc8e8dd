"""The end-to-end suite, run against the fakes of two generations of n8n and against a real n8n."""

import json
from pathlib import Path
from uuid import uuid4

import pytest
from tests.n8n.caller import Caller, Instance, node, order_flow


class EndToEnd:
    """Needs the fixtures `call` (a Caller), `instance` (an Instance) and `tmp_path`."""

    @pytest.mark.req("NW-5", "NW-3")
    async def test_raw_result_is_accepted_unchanged(self, call: Caller) -> None:
        created = (await call("create_workflow", **order_flow())).data
        before = (await call("get_workflow", id=created["id"], raw=True)).data
        answer = (await call("update_workflow", **before)).data
        assert answer["steps"] == ["nothing to change: n8n already has this state"]
        assert (await call("get_workflow", id=created["id"], raw=True)).data == before

    @pytest.mark.req("NW-3")
    async def test_raw_has_the_same_nodes_and_connections(self, call: Caller) -> None:
        flow = order_flow()
        first = (await call("create_workflow", **flow)).data
        raw = (await call("get_workflow", id=first["id"], raw=True)).data
        assert raw["connections"] == flow["connections"]
        for given, stored in zip(flow["nodes"], raw["nodes"], strict=True):
            assert {key: stored[key] for key in given} == given

    @pytest.mark.req("NW-5")
    async def test_rename_changes_only_the_name(self, call: Caller) -> None:
        created = (await call("create_workflow", **order_flow())).data
        before = (await call("get_workflow", id=created["id"], raw=True)).data
        answer = (await call("update_workflow", id=created["id"], name="新しい名前")).data
        after = (await call("get_workflow", id=created["id"], raw=True)).data
        assert (answer["name"], answer["changed"]) == ("新しい名前", ["name"])
        moving = {"name", "updatedAt", "versionId", "versionCounter"}
        assert {k: v for k, v in after.items() if k not in moving} == {
            k: v for k, v in before.items() if k not in moving
        }

    @pytest.mark.req("NW-5")
    async def test_node_with_only_parameters_keeps_its_credentials(self, call: Caller) -> None:
        created = (await call("create_workflow", **order_flow())).data
        nodes = [{"name": "Webhook"}, {"name": "注文を整形", "parameters": {"value": 1}}, {"name": "End"}]
        answer = (await call("update_workflow", id=created["id"], nodes=json.dumps(nodes))).data
        stored = (await call("get_workflow", id=created["id"], nodeName="注文を整形")).data["node"]
        assert stored["parameters"] == {"value": 1}
        assert stored["credentials"] == {"httpBasicAuth": {"id": "cred1", "name": "shop"}}
        assert (stored["onError"], stored["retryOnFail"]) == ("continueRegularOutput", True)
        assert any("credentials" in note for note in answer["notes"])

    @pytest.mark.req("NW-5")
    async def test_tags_and_publication_are_applied(self, call: Caller) -> None:
        created = (await call("create_workflow", **order_flow())).data
        mark = f"t-{uuid4().hex[:8]}"
        answer = (await call("update_workflow", id=created["id"], active=True, tags=[mark, "請求"])).data
        assert answer["active"] is True
        assert sorted(answer["tags"]) == sorted([mark, "請求"])
        assert answer["steps"][-1] == "published"
        again = (await call("update_workflow", id=created["id"], active=False, tags=[])).data
        assert (again["active"], again.get("tags", [])) == (False, [])
        assert "unpublished" in again["steps"]

    @pytest.mark.req("NW-5")
    async def test_rejected_setting_is_dropped_and_reported(self, call: Caller) -> None:
        created = (await call("create_workflow", **order_flow())).data
        answer = (
            await call("update_workflow", id=created["id"], settings={"timezone": "Asia/Tokyo", "noSuchThing": 1})
        ).data
        raw = (await call("get_workflow", id=created["id"], raw=True)).data
        assert raw["settings"]["timezone"] == "Asia/Tokyo"
        assert "noSuchThing" not in raw["settings"]
        assert any("settings.noSuchThing" in note for note in answer["notes"])

    async def test_change_of_an_old_version_is_rejected(self, call: Caller) -> None:
        created = (await call("create_workflow", **order_flow())).data
        old = (await call("get_workflow", id=created["id"], raw=True)).data
        operations = [{"op": "setField", "node": "End", "path": "notes", "value": "another change"}]
        await call("patch_workflow", id=created["id"], operations=operations)
        answer = await call("update_workflow", **{**old, "name": "mine"})
        assert "was changed since you read it" in answer.error
        assert answer.details is not None
        assert answer.details["error_type"] == "ConflictError"
        assert (await call("get_workflow", id=created["id"])).data["name"] == old["name"]

    async def test_invalid_structure_is_rejected_before_writing(self, call: Caller) -> None:
        created = (await call("create_workflow", **order_flow())).data
        answer = await call("update_workflow", id=created["id"], nodes=[{"name": "Webhook"}, {"name": "End"}])
        assert "no node has this name" in answer.error
        assert "nothing was changed" in answer.error
        assert (await call("get_workflow", id=created["id"])).data["nodeCount"] == 3
        assert (await call("list_backups", id=created["id"])).data["count"] == 0

    async def test_rename_node_updates_connections_and_expressions(self, call: Caller) -> None:
        created = (await call("create_workflow", **order_flow())).data
        operations = [{"op": "renameNode", "name": "Webhook", "newName": "受付's desk"}]
        await call("patch_workflow", id=created["id"], operations=json.dumps(operations))
        raw = (await call("get_workflow", id=created["id"], raw=True)).data
        assert raw["nodes"][1]["parameters"]["value"] == "={{ $('受付\\'s desk').item.json.body }}"
        assert raw["connections"]["受付's desk"] == order_flow()["connections"]["Webhook"]
        found = (await call("validate_workflow", id=created["id"])).data
        assert (found["valid"], found["errors"], found["warnings"]) == (True, [], [])

    async def test_patches_add_connect_and_remove(self, call: Caller) -> None:
        created = (await call("create_workflow", **order_flow())).data
        operations = [
            {"op": "addNode", "node": node("Mail", "n8n-nodes-base.emailSend")},
            {"op": "connect", "from": "注文を整形", "to": "Mail", "output": 1},
            {"op": "removeNode", "name": "End"},
            {"op": "updateNode", "name": "注文を整形", "changes": {"onError": None, "parameters": {"memo": 1}}},
        ]
        await call("patch_workflow", id=created["id"], operations=operations)
        raw = (await call("get_workflow", id=created["id"], raw=True)).data
        assert [own["name"] for own in raw["nodes"]] == ["Webhook", "注文を整形", "Mail"]
        assert raw["connections"]["注文を整形"] == {"main": [None, [{"node": "Mail", "type": "main", "index": 0}]]}
        assert "onError" not in raw["nodes"][1]
        assert raw["nodes"][1]["parameters"] == {"value": "={{ $('Webhook').item.json.body }}", "memo": 1}

    async def test_patch_is_applied_completely_or_not_at_all(self, call: Caller) -> None:
        created = (await call("create_workflow", **order_flow())).data
        operations = [{"op": "removeNode", "name": "End"}, {"op": "removeNode", "name": "missing"}]
        answer = await call("patch_workflow", id=created["id"], operations=operations)
        assert answer.error.startswith("operations[1] (removeNode): No node has this name")
        assert (await call("get_workflow", id=created["id"])).data["nodeCount"] == 3

    async def test_dry_run_writes_nothing(self, call: Caller) -> None:
        created = (await call("create_workflow", **order_flow())).data
        operations = [{"op": "removeNode", "name": "End"}]
        answer = (await call("patch_workflow", id=created["id"], operations=operations, dryRun=True)).data
        assert (answer["nodeCount"], answer["steps"]) == (2, ["dry run: nothing was written"])
        assert (await call("get_workflow", id=created["id"])).data["nodeCount"] == 3

    async def test_change_can_be_reverted(self, call: Caller) -> None:
        created = (await call("create_workflow", **order_flow())).data
        before = (await call("get_workflow", id=created["id"], raw=True)).data
        await call("patch_workflow", id=created["id"], operations=[{"op": "removeNode", "name": "End"}])
        saved = (await call("list_backups", id=created["id"])).data["backups"]
        assert [(own["reason"], own["nodes"]) for own in saved] == [("patch", 3)]
        await call("restore_workflow", backup=saved[0]["backup"])
        after = (await call("get_workflow", id=created["id"], raw=True)).data
        assert (after["nodes"], after["connections"]) == (before["nodes"], before["connections"])

    @pytest.mark.req("NW-5")
    async def test_published_workflow_is_deleted_and_can_be_recreated(self, call: Caller) -> None:
        mark = f"t-{uuid4().hex[:8]}"
        created = (await call("create_workflow", **order_flow(), active=True, tags=[mark])).data
        gone = (await call("delete_workflow", id=created["id"])).data
        assert gone["deleted"] is True
        assert "not found" in (await call("get_workflow", id=created["id"])).error
        saved = (await call("list_backups", id=created["id"])).data["backups"][0]
        made = (await call("restore_workflow", backup=saved["backup"])).data
        assert made["id"] != created["id"]
        assert (made["nodeCount"], made["tags"], made["active"]) == (3, [mark], False)

    @pytest.mark.req("NW-5")
    async def test_files_create_and_replace_workflows(self, call: Caller, tmp_path: Path) -> None:
        flow = order_flow("from a file")
        file = tmp_path / "flow.json"
        file.write_text(json.dumps({**flow, "id": "other", "active": True, "versionId": "v"}), encoding="utf-8")
        made = (await call("create_workflow_from_file", filePath=str(file))).data
        assert (made["nodeCount"], made["active"]) == (3, False)
        assert made["notes"] == ["Not used from the file: active, id, versionId."]
        smaller = {**flow, "nodes": flow["nodes"][:1], "connections": {}}
        file.write_text(json.dumps(smaller), encoding="utf-8")
        replaced = (await call("replace_workflow_from_file", id=made["id"], filePath=str(file))).data
        assert (replaced["nodeCount"], replaced["changed"]) == (1, ["nodes", "connections"])

    @pytest.mark.req("NW-5")
    async def test_every_page_of_a_list_is_reachable(self, call: Caller) -> None:
        mark = f"頁-{uuid4().hex[:8]}"
        made = [(await call("create_workflow", **order_flow(f"{mark} {n}"))).data["id"] for n in range(5)]
        seen: list[str] = []
        page = (await call("list_workflows", name=mark, limit=2)).data
        while True:
            seen += [row["id"] for row in page["workflows"]]
            if not page["hasMore"]:
                break
            page = (await call("list_workflows", cursor=page["nextCursor"], limit=2)).data
        assert sorted(seen) == sorted(made)
        assert len((await call("list_workflows", name=mark, limit=2, offset=3)).data["workflows"]) == 2

    @pytest.mark.req("NW-5")
    async def test_graph_has_links_and_a_flowchart(self, call: Caller) -> None:
        created = (await call("create_workflow", **order_flow())).data
        answer = await call("get_workflow_connections", id=created["id"])
        assert [(v["node"], v["inputs"], v["outputs"]) for v in answer.data["graph"]] == [
            ("Webhook", [], ["注文を整形"]),
            ("注文を整形", ["Webhook"], ["End [1]"]),
            ("End", ["注文を整形"], []),
        ]
        assert answer.blocks[1].startswith("```mermaid\nflowchart LR\n")
        assert "n1 --1--> n2" in answer.blocks[1]

    async def test_health_reports_capabilities(self, call: Caller, instance: Instance) -> None:
        state = (await call("n8n_health")).data
        assert (state["healthy"], state["reachable"], state["keyValid"]) == (True, True, True)
        assert (state["capabilities"] is None) == instance.old

    async def test_draft_that_cannot_be_published_is_reported_and_stays_a_draft(
        self, call: Caller, instance: Instance
    ) -> None:
        if instance.old:
            pytest.skip("publishing is not part of saving there")
        created = (await call("create_workflow", **order_flow(), active=True)).data
        answer = await call("update_workflow", id=created["id"], nodes=[{"name": "End"}], connections={})
        assert "The change is stored, but n8n failed after saving it" in answer.error
        assert "no trigger node" in answer.error
        state = (await call("get_workflow", id=created["id"])).data
        assert (state["nodeCount"], state["active"], state["unpublishedChanges"]) == (1, True, True)
        renamed = (await call("update_workflow", id=created["id"], name="下書き")).data
        assert (renamed["name"], renamed["active"], renamed["unpublishedChanges"]) == ("下書き", True, True)
        assert "The workflow had unpublished changes" in renamed["notes"][0]

    @pytest.mark.req("NW-6")
    async def test_webhook_in_use_is_a_conflict_with_n8ns_own_sentence(self, call: Caller) -> None:
        flow = order_flow()
        await call("create_workflow", **flow, active=True)
        answer = await call("create_workflow", **flow, active=True)
        for _ in range(20):  # n8n 2 registers webhooks in the background and detects the conflict late
            if answer.is_error:
                break
            answer = await call("create_workflow", **flow, active=True)
        assert answer.error.startswith(
            "Done: created. Then a step failed: Failed to publish workflow: n8n returned 409"
        )
        assert answer.details is not None
        assert answer.details["steps"] == ["created"]
        assert answer.details["context"]["status_code"] == 409
