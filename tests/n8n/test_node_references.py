"""References to nodes in expressions: every form is found and renamed, in any script."""

import pytest
from tests.n8n.caller import chain, node

from chie.messages.catalogue import Message
from chie.n8n.node_references import reference_rewriter, referenced_nodes
from chie.n8n.validation import validate


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("={{ $('取得').item.json.x }}", ["取得"]),
        ('={{ $( "It\'s" ).all() }}', ["It's"]),
        (r"={{ $('It\'s').first() }}", ["It's"]),
        ('={{ $node["A b"].json.x }} {{ $node[`C`] }}', ["A b", "C"]),
        ("={{ $items(\"A\", 0, 1).length + $items('B').length }}", ["A", "B"]),
        ("={{ $node.取得.json.x + $node.Get$1[0] }}", ["取得", "Get$1"]),
        ("={{ $node.か\u3099く.json }}", ["か\u3099く"]),
        ("={{ $node. }} $nodes.A $node_A $items() node.A", []),
        ("={{ $('A' + $json.n).item + $node[name] }}", []),
        ("no expression: ('A') [\"A\"]", []),
    ],
)
def test_every_form_is_found(text: str, names: list[str]) -> None:
    assert list(referenced_nodes(text)) == names


@pytest.mark.parametrize("text", ["={{ $node.消えた.json }}", '={{ $node["消えた"].json }}', "={{ $items('消えた') }}"])
def test_unknown_name_is_a_warning_in_every_form(text: str) -> None:
    nodes = [node("A", "n8n-nodes-base.webhook"), node("B", parameters={"x": text})]
    warning = Message("n8n.reference_unknown", node="'B'", reference="'消えた'")
    assert validate(nodes, chain("A", "B")).warnings == [warning]


@pytest.mark.parametrize(
    ("old", "new", "text", "after"),
    [
        ("取得", "受信", "={{ $node.取得.json.x }}", "={{ $node.受信.json.x }}"),
        ("取得", "Get it", "={{ $node.取得.json.x }}", '={{ $node["Get it"].json.x }}'),
        ("取得", "Get", "={{ $node.取得後.json + $node.取得1 + $node.取得$ }}", None),
        ("か", "Get", "={{ $node.か\u3099.json }}", None),
        ("Get", "取得", "$node.Get+$node.Get\n$node.Get", "$node.取得+$node.取得\n$node.取得"),
        ("A b", "取得", "={{ $node.A b }}", None),
        ("取得", "受信", "$('取得') $items(\"取得\", 0) $node[`取得`]", "$('受信') $items(\"受信\", 0) $node[`受信`]"),
    ],
)
def test_every_form_is_renamed(old: str, new: str, text: str, after: str | None) -> None:
    assert reference_rewriter(old, new)(text) == (after or text)
