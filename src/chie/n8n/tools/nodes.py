"""The tools that find and describe the node types of this n8n."""

import re
from dataclasses import dataclass

from pydantic import Field

from chie.messages.catalogue import Message
from chie.n8n.arguments import Arguments, RawArguments
from chie.n8n.errors import ValidationError, ValidationErrorContext
from chie.n8n.models import Json
from chie.n8n.nodes.knowledge import Definitions, NodeType
from chie.n8n.nodes.summary import describe
from chie.n8n.tool import BaseTool, RawTool
from chie.n8n.truncation import json_size

MAX_SIZE = 2_000  # characters of the result
RESERVED_SIZE = 150  # of the notice that parameters were left out

_SEPARATORS = re.compile(r"[./:\s]+")


class FindNodesArguments(Arguments):
    query: str = Field(min_length=1, max_length=200, description="E.g. slack, schedule trigger, edit fields.")


class FindNodesTool(BaseTool[FindNodesArguments]):
    name = "find_nodes"
    description = "Find the node types of this n8n by service or purpose: type, version, operations."
    arguments = FindNodesArguments
    needs_token = True

    async def execute(self, args: FindNodesArguments) -> Json:
        rows = await self.context.knowledge.search(args.query)
        return {"count": len(rows), "nodes": rows}


class DescribeNodeArguments(RawArguments):
    type: str = Field(min_length=1, max_length=200, description="From find_nodes.")
    operation: str | None = Field(default=None, max_length=200, description="E.g. message.post, or a mode.")
    version: float | None = Field(default=None, gt=0, description="typeVersion. Default: the latest.")

    @property
    def full_type(self) -> str:
        if "." not in self.type:
            return f"n8n-nodes-base.{self.type}"
        return f"@n8n/n8n-nodes-{self.type}" if self.type.startswith("langchain.") else self.type


@dataclass(frozen=True)
class Described:
    kind: NodeType
    definitions: Definitions


class DescribeNodeTool(RawTool[DescribeNodeArguments]):
    name = "describe_node"
    description = (
        "Read the parameters of a node type, one line each: name, allowed values, default, condition. raw=true "
        "returns n8n's complete definition."
    )
    arguments = DescribeNodeArguments
    needs_token = True

    async def execute_core(self, args: DescribeNodeArguments) -> Described:
        version = None if args.version is None else f"{args.version:g}"
        kind = NodeType(args.full_type, version)
        found = await self.context.knowledge.define(kind)
        if args.operation:
            kind = NodeType(kind.type, version, _discriminators(args.operation, found.choices))
            found = await self.context.knowledge.define(kind)
        return Described(kind, found)

    def format_response(self, data: Described, *, raw: bool) -> Json:
        head: Json = {"type": data.kind.type, **dict(data.kind.discriminators)}
        if data.definitions.choices:
            note = Message("n8n.node_needs_operation")
            choices = data.definitions.choices
            return {**head, "operations": choices.get("", choices), "note": str(note)}
        if raw:
            return {**head, "definition": data.definitions.text}
        parsed = data.definitions.parsed
        head["version"] = parsed[0].version if parsed else data.kind.version
        lines, is_partial = describe(parsed, MAX_SIZE - RESERVED_SIZE - json_size(head))
        shown = {**head, "parameters": lines}
        return {**shown, "note": str(Message("n8n.parameters_left_out"))} if is_partial or not lines else shown


def _discriminators(operation: str, choices: Json) -> tuple[tuple[str, str], ...]:
    """`message.post` names both. An operation alone is enough where only one resource has it."""
    head, *rest = _SEPARATORS.split(operation.strip())
    if not choices:
        return (("mode", head),)
    if "" in choices:
        return (("operation", head),)
    if rest:
        return (("resource", head), ("operation", rest[0]))
    resources = [resource for resource, names in choices.items() if head in names]
    if len(resources) != 1:
        context = ValidationErrorContext(field="operation", constraint="resource.operation")
        listed = [f"{resource}.{name}" for resource, names in choices.items() for name in names]
        raise ValidationError("n8n.node_operation_unknown", context, operations=listed)
    return (("resource", resources[0]), ("operation", head))
