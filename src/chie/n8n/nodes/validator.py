"""Validates the parameters of nodes with n8n's own MCP server. Without it, or while it fails, nothing is validated."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from chie.errors import ChieError
from chie.messages.catalogue import Message
from chie.n8n.graph import NOT_EXECUTED, each_connection
from chie.n8n.instance.client import InstanceClient
from chie.n8n.models import Json, Node
from chie.n8n.nodes.definition import Definition, allowed_values
from chie.n8n.nodes.issues import ParameterIssue
from chie.n8n.nodes.knowledge import NodeKnowledge, NodeType
from chie.n8n.validation import Issues

BATCH = 50  # n8n takes no more at once
TIMEOUT_SECONDS = 5.0  # it needs a tenth of a second; a change must not wait for more


@dataclass
class Findings:
    """`errors` are new ones. Those of the stored workflow are `warnings`, as is a validation that was not possible."""

    errors: list[Message] = field(default_factory=list)
    warnings: list[Message] = field(default_factory=list)


class ParameterValidator:
    def __init__(self, instance: InstanceClient, knowledge: NodeKnowledge) -> None:
        self._instance = instance
        self._knowledge = knowledge

    @property
    def configured(self) -> bool:
        return self._instance.configured

    async def add(self, issues: Issues, now: Json, stored: Json | None = None, *, refuse: bool = True) -> Issues:
        """The issues of the structure, and those of the parameters; nodes without a type have the former alone."""
        nodes = now["nodes"]
        if not self.configured or not all(isinstance(node.get("type"), str) for node in nodes):
            return issues
        connections = now["connections"] if isinstance(now["connections"], dict) and not issues.errors else {}
        found = await self.validate(nodes, connections, (stored or {}).get("nodes") or ())
        errors, warnings = (found.errors, []) if refuse else ([], found.errors)
        return Issues(issues.errors, [*issues.warnings, *warnings, *found.warnings], [*issues.parameters, *errors])

    async def validate(self, nodes: Sequence[Node], connections: Json, stored: Sequence[Node] = ()) -> Findings:
        if not self.configured:
            return Findings()
        try:
            return await self._validate(nodes, connections, stored)
        except ChieError as error:
            return Findings(warnings=[Message("n8n.parameters_not_validated", reason=error.reason)])

    async def _validate(self, nodes: Sequence[Node], connections: Json, stored: Sequence[Node]) -> Findings:
        found = await self._issues(nodes, connections)
        before = _before(nodes, stored)
        suspects = [old for node, old in before if old is not None and old != node and _has(found, node)]
        known = await self._issues(suspects, connections) if suspects else {}
        allowed = await self._allowed([(node, issue) for node in nodes for issue in found.get(id(node), ())])
        findings = Findings()
        for node, old in before:
            earlier = {(issue.path, issue.sentence) for issue in known.get(id(old), ())}
            for issue in found.get(id(node), ()):
                was_there = old is not None and (old == node or (issue.path, issue.sentence) in earlier)
                target = findings.warnings if was_there else findings.errors
                target.append(issue.message(allowed.get((id(node), issue.path))))
        return findings

    async def _issues(self, nodes: Sequence[Node], connections: Json) -> dict[int, list[ParameterIssue]]:
        """By identity of the node, because names may be missing or change."""
        tools = {source for source, kind, _, _ in each_connection(connections) if kind == "ai_tool"}
        checked = [node for node in nodes if node.get("type") not in NOT_EXECUTED and not node.get("disabled")]
        batches = [checked[start : start + BATCH] for start in range(0, len(checked), BATCH)]
        results = await asyncio.gather(*(self._call(batch, tools) for batch in batches))
        issues: dict[int, list[ParameterIssue]] = {}
        for batch, rows in zip(batches, results, strict=True):
            for row in rows:
                node = batch[row["index"]]
                found = [ParameterIssue.of(str(node.get("name")), error) for error in row.get("errors") or []]
                if found:
                    issues[id(node)] = found
        return issues

    async def _call(self, nodes: list[Node], tools: set[str]) -> list[Json]:
        asked = [_asked(node, is_tool=node.get("name") in tools) for node in nodes]
        answer = await self._instance.call("validate_node_config", {"nodes": asked}, seconds=TIMEOUT_SECONDS)
        rows = answer.get("results")
        return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []

    async def _allowed(self, issues: Sequence[tuple[Node, ParameterIssue]]) -> dict[tuple[int, str], list[str]]:
        """The values that n8n should have listed, by node and path. Definitions are read at the same time."""
        asked = [(node, NodeType.of(node), issue) for node, issue in issues if issue.is_choice]
        kinds = list(dict.fromkeys(kind for _, kind, _ in asked))
        definitions = dict(zip(kinds, await asyncio.gather(*map(self._definitions, kinds)), strict=True))
        return {(id(node), issue.path): allowed_values(definitions[kind], issue.steps) for node, kind, issue in asked}

    async def _definitions(self, kind: NodeType) -> list[Definition]:
        try:
            return (await self._knowledge.define(kind)).parsed
        except ChieError:  # the message then says where the values are listed
            return []


def _asked(node: Node, *, is_tool: bool) -> Json:
    asked = {"name": str(node.get("name")), "type": node["type"], "parameters": node.get("parameters") or {}}
    return asked | {"typeVersion": node.get("typeVersion") or 1} | ({"isToolNode": True} if is_tool else {})


def _before(nodes: Sequence[Node], stored: Sequence[Node]) -> list[tuple[Node, Node | None]]:
    """Each node with its stored version, by id, else by name."""
    by_id = {node["id"]: node for node in stored if node.get("id")}
    by_name = {node.get("name"): node for node in stored}
    return [(node, by_id.get(node.get("id")) or by_name.get(node.get("name"))) for node in nodes]


def _has(found: dict[int, list[ParameterIssue]], node: Node) -> bool:
    return id(node) in found
