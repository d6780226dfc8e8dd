"""Reads and renames references to nodes in texts: `$('A')`, `$items("A")`, `$node["A"]` and `$node.A`."""

import re
from collections.abc import Callable, Iterator
from itertools import takewhile
from typing import Any

from chie.n8n.models import Json, Workflow

CALLS = r"\$(?:\(|items\(|node\[)\s*"

_QUOTED = re.compile(rf"""{CALLS}(?P<quote>['"`])(?P<name>(?:\\.|(?!(?P=quote))[^\\\n])+)(?P=quote)\s*[),\]]""")
_DOTTED = re.compile(r"\$node\.")


def is_identifier(name: str) -> bool:
    """Whether it is a JavaScript identifier: letters of any script, as in Python, and `$`."""
    return name.replace("$", "_").isidentifier()


def continues_identifier(character: str) -> bool:
    return is_identifier(f"_{character}")


def referenced_nodes(text: str) -> Iterator[str]:
    """The names of the nodes that the text refers to."""
    if "$" not in text:
        return
    for match in _QUOTED.finditer(text):
        yield re.sub(r"\\(.)", r"\1", match["name"])
    for match in _DOTTED.finditer(text):
        rest = map(text.__getitem__, range(match.end(), len(text)))  # slicing would take quadratic time
        if name := "".join(takewhile(continues_identifier, rest)):
            yield name


def rename_node(workflow: Workflow, old: str, new: str) -> None:
    """Change node, connections, expressions, pinned data and static data of the workflow in place."""
    rewrite = reference_rewriter(old, new)
    for node in workflow["nodes"]:
        if node["name"] == old:
            node["name"] = new
        if "parameters" in node:
            node["parameters"] = _mapped(node["parameters"], rewrite)
    workflow["connections"] = _reconnected(workflow["connections"], old, new)
    if workflow.get("pinData"):
        workflow["pinData"] = _rekeyed(workflow["pinData"], old, new)
    if isinstance(workflow.get("staticData"), dict):
        workflow["staticData"] = _rekeyed(workflow["staticData"], f"node:{old}", f"node:{new}")


def reference_rewriter(old: str, new: str) -> Callable[[str], str]:
    """A function that rewrites `$('Old')`, `$items("Old")`, `$node["Old"]` and `$node.Old`, with any quotes."""
    quoted = [
        (
            re.compile(f"(?P<before>{CALLS}){quote}{re.escape(_escape(old, quote))}{quote}"),
            f"{quote}{_escape(new, quote)}{quote}",
        )
        for quote in "'\"`"
    ]
    dotted = re.compile(rf"\$node\.{re.escape(old)}(?=(?P<next>.?))", re.DOTALL) if is_identifier(old) else None
    after = f"$node.{new}" if is_identifier(new) else f'$node["{_escape(new, chr(34))}"]'

    def rewrite_dotted(found: re.Match[str]) -> str:
        return found[0] if found["next"] and continues_identifier(found["next"]) else after

    def rewrite(text: str) -> str:
        if "$" not in text:
            return text
        for pattern, name in quoted:
            text = pattern.sub(lambda found, name=name: found["before"] + name, text)  # type: ignore[misc]
        return dotted.sub(rewrite_dotted, text) if dotted else text

    return rewrite


def _escape(name: str, quote: str) -> str:
    return name.replace("\\", "\\\\").replace(quote, f"\\{quote}")


def _mapped(value: Any, change: Callable[[str], str]) -> Any:  # noqa: ANN401
    match value:
        case str():
            return change(value)
        case list():
            return [_mapped(item, change) for item in value]
        case dict():
            return {key: _mapped(item, change) for key, item in value.items()}
    return value


def _reconnected(connections: Json, old: str, new: str) -> Json:
    def target(end: Any) -> Any:  # noqa: ANN401
        return {**end, "node": new} if isinstance(end, dict) and end.get("node") == old else end

    def slots(kinds: Any) -> Any:  # noqa: ANN401
        if not isinstance(kinds, dict):
            return kinds
        return {
            kind: outputs and [slot and [target(end) for end in slot] for slot in outputs]
            for kind, outputs in kinds.items()
        }

    return {source: slots(kinds) for source, kinds in _rekeyed(connections, old, new).items()}


def _rekeyed(mapping: Json, old: str, new: str) -> Json:
    return {new if key == old else key: value for key, value in mapping.items()}
