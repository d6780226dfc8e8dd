"""Each operation of a patch: what it does, and what it refuses."""

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


def refusal(workflow: dict[str, Any], *operations: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        patched(workflow, *operations)
    assert caught.value.context == ValidationErrorContext(field="operations")
    return caught.value.message


def test_disconnecting_takes_away_that_end_and_no_other() -> None:
    ends = {"main": [[target("B"), target("B", 1), target("A")], [target("B")]], "ai_tool": [[target("B")]]}
    done = patched(flow(connections={"A": ends}), {"op": "disconnect", "from": "A", "to": "B", "input": 1})
    assert done["connections"] == {"A": {**ends, "main": [[target("B"), target("A")], [target("B")]]}}


@pytest.mark.parametrize(
    "connections",
    [{}, {"A": None}, {"A": {"main": None}}, {"A": {"main": [[target("B")]]}}, {"A": {"main": [None, [target("A")]]}}],
)
def test_a_connection_that_is_not_there_cannot_be_taken_away(connections: dict[str, Any]) -> None:
    message = refusal(flow(connections=connections), {"op": "disconnect", "from": "A", "to": "B", "output": 1})
    assert message == (
        "operations[0] (disconnect): there is no such connection; "
        "get_workflow_connections shows those that exist. Nothing was changed."
    )


def test_an_empty_output_has_no_connection_to_take_away() -> None:
    workflow = flow(connections={"A": {"main": [[]]}})
    assert "no such connection" in refusal(workflow, {"op": "disconnect", "from": "A", "to": "B"})


def test_connecting_fills_the_outputs_before_with_nothing() -> None:
    done = patched(flow(), {"op": "connect", "from": "A", "to": "B", "output": 2, "input": 1})
    assert done["connections"] == {"A": {"main": [[], [], [target("B", 1)]]}}


def test_connecting_keeps_the_ends_that_an_output_has_and_adds_none_twice() -> None:
    workflow = flow(node("A"), node("B"), node("C"), connections=chain("A", "B"))
    connect = {"op": "connect", "from": "A", "to": "C"}
    assert patched(workflow, connect, connect)["connections"] == {"A": {"main": [[target("B"), target("C")]]}}


def test_updating_a_node_does_not_rename_it() -> None:
    message = refusal(flow(), {"op": "updateNode", "name": "A", "changes": {"name": "C"}})
    assert "updateNode does not rename: use renameNode" in message


def test_updating_a_node_may_repeat_its_name() -> None:
    done = patched(flow(), {"op": "updateNode", "name": "A", "changes": {"name": "A", "notes": "x"}})
    assert done["nodes"][0] == {**node("A"), "notes": "x"}


def test_a_name_that_another_node_has_is_taken() -> None:
    message = refusal(flow(), {"op": "renameNode", "name": "A", "newName": "B"})
    assert message == "operations[0] (renameNode): a node has the name 'B' already. Nothing was changed."


def test_renaming_to_the_same_name_changes_nothing() -> None:
    workflow = flow(connections=chain("A", "B"))
    assert patched(workflow, {"op": "renameNode", "name": "A", "newName": "A"}) == workflow


def test_a_field_of_the_workflow_can_be_set() -> None:
    done = patched(flow(), {"op": "setField", "path": "settings.timezone", "value": "UTC"})
    assert done["settings"] == {"timezone": "UTC"}
    assert patched(flow(), {"op": "setField", "path": "name", "value": "別名"})["name"] == "別名"


@pytest.mark.parametrize("path", ["nodes[0].name", "versionId", "x.name"])
def test_what_is_not_the_callers_to_set_is_refused(path: str) -> None:
    message = refusal(flow(), {"op": "setField", "path": path, "value": 1})
    assert "path must begin with one of name, connections, settings" in message


def test_a_nodes_name_is_not_set_but_renamed() -> None:
    message = refusal(flow(), {"op": "setField", "node": "A", "path": "name", "value": "C"})
    assert "setField does not rename a node: use renameNode" in message


def test_a_node_is_found_by_its_name_before_another_by_its_id() -> None:
    nodes = [{**node("A"), "id": "B"}, {**node("B"), "id": "2"}]
    assert patched(flow(*nodes), {"op": "removeNode", "name": "B"})["nodes"] == nodes[:1]
    assert patched(flow(*nodes), {"op": "removeNode", "name": "2"})["nodes"] == nodes[:1]


def test_a_missing_node_is_refused_with_the_first_sixty_names() -> None:
    message = refusal(flow(*(node(f"N{n}") for n in range(61))), {"op": "removeNode", "name": "x"})
    assert message.startswith("operations[0] (removeNode): no node has this name or id; the names are 'N0', 'N1', ")
    assert message.endswith("'N59'. Nothing was changed.")


@pytest.mark.parametrize("operation", [{"op": "explode"}, {"name": "A"}, 5, "not JSON"])
def test_an_operation_of_no_known_kind_is_refused_with_the_kinds(operation: Any) -> None:
    message = refusal(flow(), {"op": "removeNode", "name": "A"}, operation)
    assert message == f"operations[1].op must be one of {', '.join(OPERATIONS)}."


def test_a_fault_in_an_operation_is_named_with_its_number_and_its_place() -> None:
    message = refusal(flow(), '{"op": "connect", "from": "A", "to": "B", "output": -1}')
    assert message == "operations[0]: output must be at least 0."


def test_what_is_no_list_of_operations_is_passed_on() -> None:
    assert read_operations('{"op": "removeNode"}') == {"op": "removeNode"}


def test_an_added_node_comes_last_and_complete_and_is_the_workflows_own() -> None:
    given = {"name": "C", "type": "n8n-nodes-base.set", "parameters": {"values": {"x": 1}}}
    (operation,) = cast("list[Operation]", read_operations([{"op": "addNode", "node": given}]))
    done = apply_all(flow(), [operation])
    assert [own["name"] for own in done["nodes"]] == ["A", "B", "C"]
    assert done["nodes"][2] == {**given, "typeVersion": 1, "id": done["nodes"][2]["id"]}
    done["nodes"][2]["parameters"]["values"]["x"] = 2
    assert apply_all(flow(), [operation])["nodes"][2]["parameters"] == {"values": {"x": 1}}


def test_updating_needs_no_name_and_takes_away_what_is_null() -> None:
    workflow = flow({**node("A"), "notes": "x"}, node("B"))
    done = patched(workflow, {"op": "updateNode", "name": "A", "changes": {"notes": None, "parameters": {"a": 1}}})
    assert done["nodes"][0] == {**node("A"), "parameters": {"a": 1}}


def test_renaming_to_a_free_name_takes_the_connections_along() -> None:
    done = patched(flow(connections=chain("A", "B")), {"op": "renameNode", "name": "B", "newName": "C"})
    assert [own["name"] for own in done["nodes"]] == ["A", "C"]
    assert done["connections"] == chain("A", "C")


def test_a_removed_node_leaves_no_connection_and_every_other_stays() -> None:
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
def test_a_node_without_a_name_is_refused_before_others_look_for_it(name: Any, then: dict[str, Any]) -> None:
    message = refusal(flow(), {"op": "addNode", "node": {"type": "n8n-nodes-base.set", "name": name}}, then)
    assert message == (
        "operations[0] (addNode): node.name must be a text, by which connections and later operations find it. "
        "Nothing was changed."
    )


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("connections", [], "connections must be an object"),
        ("connections", None, "connections must be an object"),
        ("/connections/A", None, "connections of 'A' must be an object such as {\"main\": [[…]]}"),
        ("connections.A.main", "B", "connections of 'A', 'main', must be a list with one list for each output"),
        ("connections.A.main[0]", "B", "connections of 'A', 'main': each output must be a list of targets, or null"),
        ("name", None, "name must be a text"),
        ("settings", "UTC", "settings must be an object, or null"),
        ("pinData", ["A"], "pinData must be an object, or null"),
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
def test_a_field_of_the_wrong_kind_is_refused_before_others_build_on_it(
    path: str, value: Any, said: str, then: dict[str, Any]
) -> None:
    workflow = flow(connections={"A": {"main": [[target("B")]]}})
    message = refusal(workflow, {"op": "setField", "path": path, "value": value}, then)
    assert message == f"operations[0] (setField): {said}. Nothing was changed."


@pytest.mark.parametrize("path", ["settings", "pinData", "staticData", "description"])
def test_a_field_may_be_emptied(path: str) -> None:
    assert patched(flow(), {"op": "setField", "path": path, "value": None})[path] is None


def test_connecting_a_node_whose_connections_are_null_makes_them() -> None:
    done = patched(flow(connections={"A": None}), {"op": "connect", "from": "A", "to": "B"})
    assert done["connections"] == {"A": {"main": [[target("B")]]}}
