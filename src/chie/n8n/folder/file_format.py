"""One workflow as a JSON file: keys in a stable order, and nothing that changes without a change of the workflow.

Left out: the state that n8n keeps for triggers, whether the workflow is published, dates and versions, and pinned
data, which often is real data. n8n's editor can import such a file, too.
"""

import json
import re
import unicodedata
from typing import Any

from chie.n8n.merge import BINDINGS, explicit_settings
from chie.n8n.models import INTERNAL_NODE_KEYS, Json, Node, Workflow, tag_names

NODE_ORDER = ("id", "name", "type", "typeVersion", "position", "disabled", "parameters", "credentials")
MAX_SLUG_LENGTH = 40

_SEPARATORS = re.compile(r"[\W_]+")


def content_of(workflow: Workflow) -> Json:
    """The part of a workflow that its file has."""
    content: Json = {"id": str(workflow["id"])} if workflow.get("id") else {}
    content["name"] = workflow["name"]
    if workflow.get("description"):
        content["description"] = workflow["description"]
    content["tags"] = sorted(tag_names(workflow))
    content["settings"] = _sorted(explicit_settings(workflow.get("settings") or {}))
    content["nodes"] = [_node(node) for node in sorted(workflow.get("nodes") or [], key=_name)]
    content["connections"] = _sorted(workflow.get("connections") or {})
    if workflow.get("nodeGroups"):
        content["nodeGroups"] = _sorted(workflow["nodeGroups"])
    return content


def text_of(content: Json) -> str:
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def file_name(workflow: Workflow) -> str:
    """`注文-flow-BizLqLkrPvETUJaE.json`: valid on every system, and different for each workflow."""
    name = unicodedata.normalize("NFC", str(workflow["name"])).lower()
    slug = _SEPARATORS.sub("-", name).strip("-")[:MAX_SLUG_LENGTH].rstrip("-")
    return f"{slug or 'workflow'}-{workflow['id']}.json"


def with_bindings(content: Json, other: Json) -> Json:
    """The content with the credentials and webhook ids that `other` has for the same nodes: ids differ between n8ns."""
    known = {node.get("name"): {key: node[key] for key in BINDINGS if key in node} for node in other["nodes"]}
    nodes = []
    for node in content["nodes"]:
        bare = {key: value for key, value in node.items() if key not in BINDINGS}
        nodes.append(_node({**bare, **known[node["name"]]}) if node["name"] in known else node)
    return {**content, "nodes": nodes}


def with_ids(content: Json, other: Json) -> Json:
    """The content with the ids that n8n gave to the nodes for which the file has none."""
    known = {node.get("name"): node for node in other["nodes"]}
    nodes = []
    for node in content["nodes"]:
        given = known.get(node["name"], {})
        missing = {key: given[key] for key in ("id", "webhookId") if key in given and key not in node}
        nodes.append(_node({**missing, **node}) if missing else node)
    return {**content, "nodes": nodes}


def _node(node: Node) -> Node:
    given = {key: value for key, value in node.items() if key not in INTERNAL_NODE_KEYS and value is not None}
    first = {key: given[key] for key in NODE_ORDER if key in given}
    rest = {key: given[key] for key in sorted(given) if key not in first}
    return {key: _sorted(value) for key, value in {**first, **rest}.items()}


def _sorted(value: Any) -> Any:  # noqa: ANN401
    """Objects by key; the order of a list has a meaning."""
    match value:
        case dict():
            return {key: _sorted(value[key]) for key in sorted(value)}
        case list():
            return [_sorted(item) for item in value]
    return value


def _name(node: Node) -> tuple[str, str]:
    return str(node.get("name")), str(node.get("id"))
