"""Every operation of a patch: its effect and its errors."""

from typing import Any, cast

import pytest
from tests.n8n.caller import chain, node

from chie.n8n.errors import ValidationError, ValidationErrorContext
from chie.n8n.patch import OPERATIONS, Operation, apply_all, read_operations


def flow(*nodes: dict[str, Any], connections: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"name": "注文", "nodes": list(nodes) or [node("A"), node("B")], "connections": connections or {}}


def patched(workflow: dict[str, Any], *operations: Any) -> dict[str, Any]:
    return apply_all(workflow, cast("list[Operation]", read_operations(list(operations))))


def target(name: str, index: int = 0, kind: str = "main") -> dict[str, Any]:
    return {"node": name, "type": kind, "index": index}


def error_of(workflow: dict[str, Any], *operations: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        patched(workflow, *operations)
    assert caught.value.context == ValidationErrorContext(field="operations")
    return caught.value.message


def test_disconnect_removes_only_that_connection() -> None:
    ends = {"main": [[target("B"), target("B", 1), target("A")], [target("B")]], "ai_tool": [[target("B")]]}
    done = patched(flow(connections={"A": ends}), {"op": "disconnect", "from": "A", "to": "B", "input": 1})
    assert done["connections"] == {"A": {**ends, "main": [[target("B"), target("A")], [target("B")]]}}


@pytest.mark.parametrize(
    "connections",
    [{}, {"A": None}, {"A": {"main": None}}, {"A": {"main": [[target("B")]]}}, {"A": {"main": [None, [target("A")]]}}],
)
def test_disconnect_of_a_missing_connection_is_rejected(connections: dict[str, Any]) -> None:
    message = error_of(flow(connections=connections), {"op": "disconnect", "from": "A", "to": "B", "output": 1})
    assert message == (
        "operations[0] (disconnect): Connection not found. "
        "`get_workflow_connections` shows those that exist. Nothing was changed."
    )


def test_disconnect_of_an_empty_output_is_rejected() -> None:
    workflow = flow(connections={"A": {"main": [[]]}})
    assert "Connection not found" in error_of(workflow, {"op": "disconnect", "from": "A", "to": "B"})


def test_connect_adds_the_preceding_outputs() -> None:
    done = patched(flow(), {"op": "connect", "from": "A", "to": "B", "output": 2, "input": 1})
    assert done["connections"] == {"A": {"main": [[], [], [target("B", 1)]]}}


def test_connect_keeps_existing_targets_and_adds_no_duplicate() -> None:
    workflow = flow(node("A"), node("B"), node("C"), connections=chain("A", "B"))
    connect = {"op": "connect", "from": "A", "to": "C"}
    assert patched(workflow, connect, connect)["connections"] == {"A": {"main": [[target("B"), target("C")]]}}


def test_update_node_does_not_rename() -> None:
    message = error_of(flow(), {"op": "updateNode", "name": "A", "changes": {"name": "C"}})
    assert "updateNode does not rename. Use renameNode" in message


def test_update_node_may_repeat_the_name() -> None:
    done = patched(flow(), {"op": "updateNode", "name": "A", "changes": {"name": "A", "notes": "x"}})
    assert done["nodes"][0] == {**node("A"), "notes": "x"}


def test_rename_to_the_name_of_another_node_is_rejected() -> None:
    message = error_of(flow(), {"op": "renameNode", "name": "A", "newName": "B"})
    assert message == "operations[0] (renameNode): The name 'B' is already taken by another node. Nothing was changed."


def test_rename_to_the_same_name_changes_nothing() -> None:
    workflow = flow(connections=chain("A", "B"))
    assert patched(workflow, {"op": "renameNode", "name": "A", "newName": "A"}) == workflow


def test_set_field_of_the_workflow() -> None:
    done = patched(flow(), {"op": "setField", "path": "settings.timezone", "value": "UTC"})
    assert done["settings"] == {"timezone": "UTC"}
    assert patched(flow(), {"op": "setField", "path": "name", "value": "別名"})["name"] == "別名"


@pytest.mark.parametrize("path", ["nodes[0].name", "versionId", "x.name"])
def test_set_field_of_other_keys_is_rejected(path: str) -> None:
    message = error_of(flow(), {"op": "setField", "path": path, "value": 1})
    assert "path must begin with one of name, connections, settings" in message


def test_set_field_does_not_rename_a_node() -> None:
    message = error_of(flow(), {"op": "setField", "node": "A", "path": "name", "value": "C"})
    assert "setField does not rename a node. Use renameNode." in message


def test_name_takes_precedence_over_id() -> None:
    nodes = [{**node("A"), "id": "B"}, {**node("B"), "id": "2"}]
    assert patched(flow(*nodes), {"op": "removeNode", "name": "B"})["nodes"] == nodes[:1]
    assert patched(flow(*nodes), {"op": "removeNode", "name": "2"})["nodes"] == nodes[:1]


def test_unknown_node_is_rejected_with_the_first_sixty_names() -> None:
    message = error_of(flow(*(node(f"N{n}") for n in range(61))), {"op": "removeNode", "name": "x"})
    assert message.startswith("operations[0] (removeNode): No node has this name or id. The names are 'N0', 'N1', ")
    assert message.endswith("'N59'. Nothing was changed.")


@pytest.mark.parametrize("operation", [{"op": "explode"}, {"name": "A"}, 5, "not JSON"])
def test_unknown_operation_is_rejected_with_the_known_ones(operation: Any) -> None:
    message = error_of(flow(), {"op": "removeNode", "name": "A"}, operation)
    assert message == f"operations[1].op must be one of {', '.join(OPERATIONS)}."


def test_invalid_operation_is_reported_with_its_index_and_field() -> None:
    message = error_of(flow(), '{"op": "connect", "from": "A", "to": "B", "output": -1}')
    assert message == "`operations[0]`: output must be at least 0."


def test_operations_other_than_a_list_are_left_to_the_schema() -> None:
    assert read_operations('{"op": "removeNode"}') == {"op": "removeNode"}


def test_added_node_is_the_last_complete_and_a_copy() -> None:
    given = {"name": "C", "type": "n8n-nodes-base.set", "parameters": {"values": {"x": 1}}}
    (operation,) = cast("list[Operation]", read_operations([{"op": "addNode", "node": given}]))
    done = apply_all(flow(), [operation])
    assert [own["name"] for own in done["nodes"]] == ["A", "B", "C"]
    assert done["nodes"][2] == {**given, "typeVersion": 1, "id": done["nodes"][2]["id"]}
    done["nodes"][2]["parameters"]["values"]["x"] = 2
    assert apply_all(flow(), [operation])["nodes"][2]["parameters"] == {"values": {"x": 1}}


def test_update_node_removes_keys_that_are_null() -> None:
    workflow = flow({**node("A"), "notes": "x"}, node("B"))
    done = patched(workflow, {"op": "updateNode", "name": "A", "changes": {"notes": None, "parameters": {"a": 1}}})
    assert done["nodes"][0] == {**node("A"), "parameters": {"a": 1}}


def test_rename_updates_the_connections() -> None:
    done = patched(flow(connections=chain("A", "B")), {"op": "renameNode", "name": "B", "newName": "C"})
    assert [own["name"] for own in done["nodes"]] == ["A", "C"]
    assert done["connections"] == chain("A", "C")


def test_remove_node_removes_only_its_connections() -> None:
    connections = {
        **chain("A", "B"),
        "B": {"main": [[target("A")]]},
        "C": {"main": [[target("B"), target("A"), None], None, []], "ai_tool": None, "ai_memory": []},
        "D": None,
    }
    done = patched(flow(node("A"), node("B"), node("C"), connections=connections), {"op": "removeNode", "name": "B"})
    assert [own["name"] for own in done["nodes"]] == ["A", "C"]
    assert done["connections"] == {
        "A": {"main": [[]]},
        "C": {"main": [[target("A"), None], None, []], "ai_tool": None, "ai_memory": []},
        "D": {},
    }


@pytest.mark.parametrize("name", [None, 5, " ", ["A"]])
@pytest.mark.parametrize(
    "then", [{"op": "connect", "from": "A", "to": "New"}, {"op": "renameNode", "name": "A", "newName": "AA"}]
)
def test_node_without_a_name_is_rejected_before_later_operations(name: Any, then: dict[str, Any]) -> None:
    message = error_of(flow(), {"op": "addNode", "node": {"type": "n8n-nodes-base.set", "name": name}}, then)
    assert message == (
        "operations[0] (addNode): node.name must be a string, which connections and later operations use. "
        "Nothing was changed."
    )


@pytest.mark.parametrize(
    ("path", "value", "issue"),
    [
        ("connections", [], "connections must be an object"),
        ("connections", None, "connections must be an object"),
        ("/connections/A", None, "connections of 'A' must be an object such as {\"main\": [[…]]}"),
        ("connections.A.main", "B", "connections of 'A', 'main': must be a list with one list per output"),
        ("connections.A.main[0]", "B", "connections of 'A', 'main': each output must be a list of targets or null"),
        ("name", None, "name must be a string"),
        ("settings", "UTC", "settings must be an object or null"),
        ("pinData", ["A"], "pinData must be an object or null"),
    ],
)
@pytest.mark.parametrize(
    "then",
    [
        {"op": "connect", "from": "A", "to": "B"},
        {"op": "disconnect", "from": "A", "to": "B"},
        {"op": "removeNode", "name": "B"},
        {"op": "renameNode", "name": "B", "newName": "C"},
    ],
)
def test_field_of_the_wrong_type_is_rejected_before_later_operations(
    path: str, value: Any, issue: str, then: dict[str, Any]
) -> None:
    workflow = flow(connections={"A": {"main": [[target("B")]]}})
    message = error_of(workflow, {"op": "setField", "path": path, "value": value}, then)
    assert message == f"operations[0] (setField): The result would be invalid: {issue}. Nothing was changed."


@pytest.mark.parametrize("path", ["settings", "pinData", "staticData", "description"])
def test_field_may_be_set_to_null(path: str) -> None:
    assert patched(flow(), {"op": "setField", "path": path, "value": None})[path] is None


def test_connect_with_null_connections() -> None:
    done = patched(flow(connections={"A": None}), {"op": "connect", "from": "A", "to": "B"})
    assert done["connections"] == {"A": {"main": [[target("B")]]}}
