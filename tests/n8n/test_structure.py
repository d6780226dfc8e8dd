"""What surely breaks is an error, what looks odd is a warning, and what n8n itself writes is neither."""

from typing import Any

import pytest
from tests.n8n.caller import chain, node, order_flow

from chie.n8n.errors import ValidationError
from chie.n8n.structure import check

A, B = node("A", "n8n-nodes-base.webhook"), node("B")


def test_nulls_that_n8n_itself_writes_are_fine() -> None:
    flow = order_flow()
    found = check(flow["nodes"], flow["connections"] | {"End": {"main": None, "ai_tool": [None]}})
    assert (found.errors, found.warnings) == ([], [])


@pytest.mark.parametrize(
    ("nodes", "connections", "message"),
    [
        ("x", {}, "nodes must be a list of objects"),
        ([1], {}, "nodes must be a list of objects"),
        ([A, A], {}, "2 nodes have the name 'A'"),
        ([{**A, "id": "1"}, {**B, "id": "1"}], {}, "2 nodes have the id '1'"),
        ([{**A, "name": " "}], {}, "nodes[0].name must be a text"),
        ([{**A, "type": 5}], {}, "nodes[0].type must be a text"),
        ([{**A, "typeVersion": "2"}], {}, "nodes[0].typeVersion must be a number"),
        ([{**A, "position": {"x": 1}}], {}, "nodes[0].position must be two numbers, [x, y]"),
        ([{**A, "position": [1, True]}], {}, "nodes[0].position must be two numbers, [x, y]"),
        ([{**A, "parameters": []}], {}, "nodes[0].parameters must be an object"),
        ([{**A, "parameters": {"x": ["abc⟦cut 9 of 12 characters⟧"]}}], {}, "that an answer had cut short"),
        ([A, B], [], "connections must be an object"),
        ([A, B], {"A": []}, "connections of 'A' must be an object"),
        ([A, B], {"A": {"main": {}}}, "connections of 'A', 'main', must be a list"),
        ([A, B], {"A": {"main": [{"node": "B"}]}}, "each output must be a list of targets, or null"),
        ([A, B], {"A": {"main": [["B"]]}}, "each target must be"),
        ([A, B], {"A": {"main": [[{"node": "B", "type": "main", "index": "0"}]]}}, "each target must be"),
        ([A, B], chain("A", "C"), "a connection goes to 'C', and no node has this name"),
        ([A, B], chain("C", "A"), "a connection goes from 'C', and no node has this name"),
        ([{**A, "id": ["x1"]}, B], chain("x1", "B"), "a connection goes from 'x1', and no node has this name"),
        ([{**A, "id": "x1"}, B], chain("x1", "B"), "that is the id of 'A', and connections go by name"),
    ],
)
def test_errors(nodes: Any, connections: Any, message: str) -> None:
    found = check(nodes, connections)
    assert any(message in error for error in found.errors), found.errors
    with pytest.raises(ValidationError, match="nothing was changed"):
        found.refuse()


def test_warnings_do_not_refuse() -> None:
    found = check([node("B", parameters={"x": "={{ $('Gone').item }}"}), node("C")], {})
    assert found.warnings == [
        "no node is a trigger, so it cannot be published",
        "'B' is not connected to anything",
        "'C' is not connected to anything",
        "'B' refers to 'Gone' in an expression, and no node has this name",
    ]
    found.refuse()


@pytest.mark.parametrize("text", ["$('" + "\\" * 200, "$('a" * 100_000, "$(" + " " * 500_000])
def test_an_expression_that_never_ends_refers_to_nothing(text: str) -> None:
    """A backslash is read in one way alone: in two, a line of them would outlast us."""
    found = check([A, {**B, "parameters": {"x": text}}], chain("A", "B"))
    assert found.warnings == []


def test_a_name_in_an_expression_may_have_its_own_quotes() -> None:
    found = check([A, {**B, "parameters": {"x": r"={{ $('It\'s') }}"}}], chain("A", "B"))
    assert found.warnings == ["'B' refers to 'It's' in an expression, and no node has this name"]


def test_notes_on_the_canvas_need_no_connection() -> None:
    assert check([A, B, node("Sticky", "n8n-nodes-base.stickyNote")], chain("A", "B")).warnings == []


def test_many_errors_are_counted_and_not_all_told() -> None:
    nodes = [{"name": f"n{number}"} for number in range(20)]
    with pytest.raises(ValidationError, match="and 30 more"):
        check(nodes, {}).refuse()
