"""Merging: what is kept, how nodes are matched, and the notes about it."""

from typing import Any
from uuid import UUID

import pytest

from chie.messages.catalogue import Message
from chie.n8n.merge import MAX_NAMED_NODES, Change, Merged, exact_settings, explicit_settings, merge, new_body

HOOK = "n8n-nodes-base.webhook"
SET = "n8n-nodes-base.set"
CREDENTIALS = {"httpBasicAuth": {"id": "c1", "name": "店"}}


def stored(*nodes: dict[str, Any]) -> dict[str, Any]:
    return {"id": "w1", "name": "注文", "nodes": list(nodes), "connections": {}, "settings": {}}


def merged(workflow: dict[str, Any], *given: dict[str, Any]) -> Merged:
    return merge(workflow, Change(fields={"nodes": list(given)}))


def test_node_with_a_new_name_is_matched_by_id() -> None:
    old = {"id": "1", "name": "A", "type": SET, "credentials": CREDENTIALS}
    (node,) = merged(stored(old), {"id": "1", "name": "B", "type": SET}).body["nodes"]
    assert node == {"id": "1", "name": "B", "type": SET, "credentials": CREDENTIALS}


def test_node_matched_by_id_is_not_matched_again_by_name() -> None:
    old = {"id": "1", "name": "A", "type": SET, "credentials": CREDENTIALS}
    moved, new = merged(stored(old), {"id": "1", "name": "B"}, {"name": "A", "type": SET}).body["nodes"]
    assert moved["credentials"] == CREDENTIALS
    assert "credentials" not in new
    assert new["id"] != "1"


def test_node_is_matched_by_name_if_another_is_matched_by_id() -> None:
    one = {"id": "1", "name": "A", "type": SET}
    other = {"id": "2", "name": "B", "type": SET, "credentials": CREDENTIALS}
    _, second = merged(stored(one, other), {"id": "1", "name": "A"}, {"name": "B"}).body["nodes"]
    assert second == other


def test_nodes_without_a_name_or_an_id_are_merged() -> None:
    result = merged(stored({"id": "1", "type": SET}, {"name": "B", "type": SET}), {"id": "1"}, {"id": "9"})
    assert result.body["nodes"][0] == {"id": "1", "type": SET}
    assert result.body["nodes"][1]["id"] == "9"


def test_stored_null_is_kept_and_other_nulls_are_removed() -> None:
    old = {"id": "1", "name": "A", "type": SET, "notes": None}
    result = merged(stored(old), {**old, "disabled": None})
    assert result.body["nodes"] == [old]
    assert result.changed == []


def test_node_of_another_type_keeps_identity_and_position() -> None:
    old = {"id": "1", "name": "A", "type": SET, "position": [1, 2], "parameters": {"x": 1}, "notes": "x"}
    (by_name,) = merged(stored(old), {"name": "A", "type": "n8n-nodes-base.if"}).body["nodes"]
    (by_id,) = merged(stored(old), {"id": "1", "type": "n8n-nodes-base.if"}).body["nodes"]
    assert by_name == by_id == {"id": "1", "name": "A", "type": "n8n-nodes-base.if", "position": [1, 2]}


def test_kept_keys_are_noted_per_node() -> None:
    nodes = [{"id": str(n), "name": f"N{n}", "type": SET, "position": [0, n]} for n in range(MAX_NAMED_NODES)]
    result = merged(stored(*nodes), *({"id": node["id"], "name": node["name"]} for node in nodes))
    named = [f"'N{n}' (position, type)" for n in range(MAX_NAMED_NODES)]
    assert result.notes == [Message("n8n.node_keys_kept", nodes=named, more="")]
    assert str(result.notes[0]) == f"Kept as stored, because the nodes omitted it: {', '.join(named)}."


def test_note_names_only_the_first_nodes() -> None:
    nodes = [{"id": str(n), "name": f"N{n}", "type": SET} for n in range(MAX_NAMED_NODES + 2)]
    (note,) = merged(stored(*nodes), *({"name": node["name"]} for node in nodes)).notes
    assert str(note).endswith(f"'N{MAX_NAMED_NODES - 1}' (id, type) and 2 more.")


def test_nodes_of_a_new_workflow_are_completed() -> None:
    body = new_body({"name": "n", "nodes": [{"name": "A", "type": HOOK}], "connections": {}, "settings": {"a": None}})
    (node,) = body["nodes"]
    assert UUID(node["id"]) != UUID(node["webhookId"])
    assert (node["typeVersion"], node["parameters"]) == (1, {})
    assert (body["settings"], sorted(body)) == ({}, ["connections", "name", "nodes", "settings"])
    assert new_body({"settings": {"timezone": "UTC", "a": None}}) == {"settings": {"timezone": "UTC"}, "nodes": []}
    assert new_body({"pinData": {}}) == {"settings": {}, "nodes": [], "pinData": {}}


def test_only_webhook_nodes_get_a_webhook_id() -> None:
    body = new_body({"nodes": [{"name": "A", "type": SET}, {"name": "B", "type": ["x"]}]})
    assert ["webhookId" in node for node in body["nodes"]] == [False, False]


def test_null_resets_a_stored_setting_and_is_ignored_for_others() -> None:
    workflow = {**stored(), "settings": {"timezone": "UTC", "saveManualExecutions": True}}
    given = {"timezone": None, "saveManualExecutions": None, "errorWorkflow": None, "callerPolicy": None}
    assert merge(workflow, Change(fields={"settings": given})).body["settings"] == {"timezone": "DEFAULT"}


def test_default_value_is_treated_as_null() -> None:
    workflow = {**stored(), "settings": {"timezone": "DEFAULT", "errorWorkflow": "x", "executionTimeout": -1}}
    given = {"timezone": None, "errorWorkflow": "DEFAULT", "executionTimeout": None, "saveManualExecutions": "DEFAULT"}
    result = merge(workflow, Change(fields={"settings": given}))
    assert result.body["settings"] == {"errorWorkflow": "DEFAULT", "executionTimeout": -1}
    workflow["settings"]["errorWorkflow"] = "DEFAULT"
    assert merge(workflow, Change(fields={"settings": given})).changed == []
    unset = {"timezone": "DEFAULT", "executionTimeout": -1, "saveManualExecutions": "DEFAULT", "a": None}
    assert explicit_settings({**unset, "b": -1, "c": False, "errorWorkflow": "x"}) == {
        "b": -1,
        "c": False,
        "errorWorkflow": "x",
    }


def test_exact_settings_set_other_stored_settings_to_null() -> None:
    workflow = {**stored(), "settings": {"timezone": "UTC", "executionOrder": "v1"}}
    assert exact_settings(workflow, {"executionOrder": "v0"}) == {"timezone": None, "executionOrder": "v0"}
    assert exact_settings({**workflow, "settings": None}, {"a": 1}) == {"a": 1}


def test_internal_keys_of_a_node_are_no_change() -> None:
    result = merge(stored({"id": "1", "name": "A", "type": SET, "issues": {}}), Change(fields={"name": "別名"}))
    assert result.changed == ["name"]


PINNED = {
    **stored({"id": "1", "name": "取得", "type": SET}, {"id": "2", "name": "B", "type": SET}),
    "pinData": {"取得": [{"json": {"secret": 1}}], "B": [{"json": {}}]},
}


@pytest.mark.parametrize("given", [{}, {"pinData": PINNED["pinData"]}])
def test_pinned_data_is_removed_with_its_node(given: dict[str, Any]) -> None:
    result = merge(PINNED, Change(fields={**given, "nodes": [{"name": "B"}]}))
    assert result.body["pinData"] == {"B": [{"json": {}}]}
    assert result.changed == ["nodes", "pinData"]
    assert Message("n8n.pinned_data_removed", nodes=["'取得'"]) in result.notes
    assert PINNED["pinData"].keys() == {"取得", "B"}


def test_pinned_data_is_renamed_with_its_node() -> None:
    result = merge(PINNED, Change(fields={"nodes": [{"id": "1", "name": "受信"}, {"name": "B"}]}))
    assert result.body["pinData"] == {"受信": [{"json": {"secret": 1}}], "B": [{"json": {}}]}
    assert "n8n.pinned_data_removed" not in [note.code for note in result.notes]


def test_given_pinned_data_takes_precedence_over_renamed() -> None:
    nodes, pins = [{"id": "1", "name": "受信"}, {"name": "B"}], {"受信": [{"json": {"own": 1}}]}
    assert merge(PINNED, Change(fields={"nodes": nodes, "pinData": pins})).body["pinData"] == pins


@pytest.mark.parametrize("nodes", [[{"name": "取得"}, {"name": "B"}], [{"id": "9", "name": "取得"}, {"name": "B"}]])
def test_pinned_data_of_a_kept_node_is_unchanged(nodes: list[dict[str, Any]]) -> None:
    assert "pinData" not in merge(PINNED, Change(fields={"nodes": nodes})).body


@pytest.mark.parametrize("pins", [None, "x", []])
def test_missing_pinned_data_causes_no_note(pins: Any) -> None:
    workflow = {**PINNED, "pinData": None}
    assert merge(workflow, Change(fields={"nodes": [], "pinData": pins})).notes == []
    assert merge(workflow, Change(fields={"nodes": []})).changed == ["nodes"]


def test_given_groups_are_used_unchanged() -> None:
    workflow = {**stored({"id": "1", "name": "A", "type": SET}), "nodeGroups": [{"id": "g", "nodeIds": ["gone"]}]}
    result = merge(workflow, Change(fields={"nodeGroups": [{"id": "h", "nodeIds": ["1"]}]}))
    assert result.body["nodeGroups"] == [{"id": "h", "nodeIds": ["1"]}]
    assert (result.changed, result.notes) == (["nodeGroups"], [])
