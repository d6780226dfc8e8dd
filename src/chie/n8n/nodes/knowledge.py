"""Asks n8n's own MCP server about nodes. Definitions are kept: n8n limits the calls, and they only change with n8n."""

import re
from collections import OrderedDict
from dataclasses import dataclass

from chie.n8n.errors import NotFoundError, NotFoundErrorContext, ValidationError, ValidationErrorContext
from chie.n8n.instance.client import InstanceClient
from chie.n8n.models import Json, Node
from chie.n8n.nodes import definition
from chie.n8n.nodes.search_results_parser import rows_of

MAX_DEFINITIONS = 200

_ERRORS = "# Errors"
_RESOURCES = re.compile(r"(?P<resource>\w+) \((?P<operations>[^)]*)\)")
_AVAILABLE = re.compile(r"Available: (?P<operations>[\w, ]+)")


@dataclass(frozen=True)
class NodeType:
    """`discriminators` choose among the definitions of a node: resource and operation, or mode."""

    type: str
    version: str | None = None
    discriminators: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, node: Node) -> "NodeType":
        parameters = node.get("parameters") or {}
        names = [name for name in ("resource", "operation", "mode") if isinstance(parameters.get(name), str)]
        version = node.get("typeVersion")
        chosen = tuple((name, parameters[name]) for name in names)
        return cls(str(node["type"]), None if version is None else f"{version:g}", chosen)

    def request(self) -> Json:
        return {
            "nodeId": self.type,
            **({"version": self.version} if self.version else {}),
            **dict(self.discriminators),
        }


@dataclass(frozen=True)
class Definitions:
    """n8n's text, or the choices that it needs first: operations by resource."""

    text: str
    choices: Json

    @property
    def parsed(self) -> list[definition.Definition]:
        return definition.read(self.text)


class NodeKnowledge:
    def __init__(self, instance: InstanceClient) -> None:
        self._instance = instance
        self._definitions: OrderedDict[NodeType, Definitions] = OrderedDict()

    async def search(self, query: str) -> list[Json]:
        found = await self._instance.call("search_nodes", {"queries": [query]})
        return rows_of(str(found.get("results", "")))

    async def define(self, kind: NodeType) -> Definitions:
        if kind not in self._definitions:
            self._definitions[kind] = await self._fetch(kind)
            while len(self._definitions) > MAX_DEFINITIONS:
                self._definitions.popitem(last=False)
        return self._definitions[kind]

    async def _fetch(self, kind: NodeType) -> Definitions:
        found = await self._instance.call("get_node_types", {"nodeIds": [kind.request()]})
        text = str(found.get("definitions", ""))
        if _ERRORS not in text:
            return Definitions(text.strip(), {})
        sentence = text.partition(_ERRORS)[2].strip()
        choices = _choices(sentence)
        if not choices:
            context = NotFoundErrorContext(operation="describe node", resource_type="Node type", resource_id=kind.type)
            raise NotFoundError("n8n.node_type_not_found", context, type=kind.type[:80])
        if kind.discriminators and "requires" not in sentence:
            context_ = ValidationErrorContext(field="operation", constraint="known")
            raise ValidationError("n8n.node_operation_unknown", context_, operations=_listed(choices))
        return Definitions("", choices)


def _choices(sentence: str) -> Json:
    """n8n writes them in snake case; parameters have them in camel case."""
    found = {
        _camel(part["resource"]): [_camel(name) for name in part["operations"].split(", ")]
        for part in _RESOURCES.finditer(sentence.partition("(operations): ")[2])
    }
    if found:
        return found
    listed = _AVAILABLE.search(sentence)
    return {"": [_camel(name.strip()) for name in listed["operations"].split(",")]} if listed else {}


def _listed(choices: Json) -> list[str]:
    return [f"{resource}.{name}" if resource else name for resource, names in choices.items() for name in names]


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)
