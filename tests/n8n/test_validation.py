"""Errors and warnings of validation; nothing that n8n itself writes is reported."""

from typing import Any

import pytest
from tests.n8n.caller import chain, node, order_flow

from chie.messages.catalogue import Message
from chie.n8n.errors import ValidationError
from chie.n8n.validation import validate

A, B = node("A", "n8n-nodes-base.webhook"), node("B")


def test_nulls_that_n8n_writes_are_valid() -> None:
    flow = order_flow()
    found = validate(flow["nodes"], flow["connections"] | {"End": {"main": None, "ai_tool": [None]}})
    assert (found.errors, found.warnings) == ([], [])


@pytest.mark.parametrize(
    ("nodes", "connections", "message"),
    [
        ("x", {}, "nodes must be a list of objects"),
        ([1], {}, "nodes must be a list of objects"),
        ([A, A], {}, "2 nodes have the name 'A'"),
        ([{**A, "id": "1"}, {**B, "id": "1"}], {}, "2 nodes have the id '1'"),
        ([{**A, "name": " "}], {}, "nodes[0].name must be a string"),
        ([{**A, "type": 5}], {}, "nodes[0].type must be a string"),
        ([{**A, "typeVersion": "2"}], {}, "nodes[0].typeVersion must be a number"),
        ([{**A, "position": {"x": 1}}], {}, "nodes[0].position must be two numbers, [x, y]"),
        ([{**A, "position": [1, True]}], {}, "nodes[0].position must be two numbers, [x, y]"),
        ([{**A, "parameters": []}], {}, "nodes[0].parameters must be an object"),
        (
            [{**A, "parameters": {"x": ["abc⟦cut 9 of 12 characters⟧"]}}],
            {},
            "nodes[0] contains a part that was truncated in a result",
        ),
        ([A, B], [], "connections must be an object"),
        ([A, B], {"A": []}, "connections of 'A' must be an object"),
        ([A, B], {"A": {"main": {}}}, "connections of 'A', 'main': must be a list"),
        ([A, B], {"A": {"main": [{"node": "B"}]}}, "each output must be a list of targets or null"),
        ([A, B], {"A": {"main": [["B"]]}}, "each target must be"),
        ([A, B], {"A": {"main": [[{"node": "B", "type": "main", "index": "0"}]]}}, "each target must be"),
        ([A, B], chain("A", "C"), "a connection leads to 'C', and no node has this name"),
        ([A, B], chain("C", "A"), "a connection starts at 'C', and no node has this name"),
        ([{**A, "id": ["x1"]}, B], chain("x1", "B"), "a connection starts at 'x1', and no node has this name"),
        ([{**A, "id": "x1"}, B], chain("x1", "B"), "that is the id of 'A', but connections use names"),
    ],
)
def test_errors(nodes: Any, connections: Any, message: str) -> None:
    found = validate(nodes, connections)
    assert any(message in str(error) for error in found.errors), found.errors
    with pytest.raises(ValidationError, match="nothing was changed") as caught:
        found.raise_errors()
    assert caught.value.code == "n8n.workflow_invalid"


def test_warnings_do_not_raise() -> None:
    found = validate([node("B", parameters={"x": "={{ $('Gone').item }}"}), node("C")], {})
    assert [str(warning) for warning in found.warnings] == [
        "no node is a trigger, so the workflow cannot be published",
        "'B' is not connected to anything",
        "'C' is not connected to anything",
        "'B' refers to 'Gone' in an expression, and no node has this name",
    ]
    found.raise_errors()


@pytest.mark.parametrize("text", ["$('" + "\\" * 200, "$('a" * 100_000, "$(" + " " * 500_000])
def test_unterminated_expression_refers_to_nothing(text: str) -> None:
    """The pattern for backslashes must be unambiguous: otherwise these inputs take exponential time."""
    found = validate([A, {**B, "parameters": {"x": text}}], chain("A", "B"))
    assert found.warnings == []


def test_name_in_an_expression_may_contain_quotes() -> None:
    found = validate([A, {**B, "parameters": {"x": r"={{ $('It\'s') }}"}}], chain("A", "B"))
    assert found.warnings == [Message("n8n.reference_unknown", node="'B'", reference="'It's'")]


def test_sticky_notes_need_no_connection() -> None:
    assert validate([A, B, node("Sticky", "n8n-nodes-base.stickyNote")], chain("A", "B")).warnings == []


def test_only_the_first_errors_are_listed() -> None:
    nodes = [{"name": f"n{number}"} for number in range(20)]
    with pytest.raises(ValidationError, match="and 30 more"):
        validate(nodes, {}).raise_errors()
