"""Validates the parameters of nodes with n8n's own MCP server. Without it, or while it fails, nothing is validated."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from chie.errors import ChieError
from chie.messages.catalogue import Message
from chie.n8n.graph import NOT_EXECUTED, each_connection, quoted
from chie.n8n.instance.client import InstanceClient
from chie.n8n.instance.errors import one_line
from chie.n8n.models import Json, Node
from chie.n8n.nodes.config_checks import ConfigChecks, NodeConfig
from chie.n8n.nodes.definition import Definition, allowed_values
from chie.n8n.nodes.knowledge import NodeKnowledge, NodeType
from chie.n8n.validation import Issues

MAX_VALUES = 30
MAX_SENTENCE = 4_000  # characters, also with many allowed values

_PATH = re.compile(r'"(?P<path>parameters[\w.\[\]]*)"')
_ONE_OF = re.compile(r"(?:must be|expected) one of: (?P<values>.*?)\.?$")
_WRONG_TYPE = re.compile(r"has wrong type\. Expected (?P<expected>\w+), but got (?P<received>\w+)")
_MISSING = re.compile(r"Required field .* is missing\.(?: Expected (?P<expected>\w+))?")
_NOT_EXPRESSION = "Must be an n8n expression"
_NUMBER = re.compile(r"\.(\d+)(?=\.|$)")


@dataclass(frozen=True)
class ParameterIssue:
    """What n8n says about a parameter. `message` names the node, the parameter and the values that it allows."""

    node: str
    path: str
    sentence: str

    @classmethod
    def of(cls, node: str, error: Json) -> "ParameterIssue":
        sentence = str(error.get("message", ""))[:MAX_SENTENCE]
        named = _PATH.search(sentence)
        return cls(node, str(error.get("path") or (named["path"] if named else "parameters")), sentence)

    @property
    def is_choice(self) -> bool:
        """Whether only some values are allowed: n8n then reports a wrong one as a missing expression, without them."""
        return _NOT_EXPRESSION in self.sentence

    @property
    def steps(self) -> list[str]:
        return self.path.split(".")[1:]

    def message(self, allowed: list[str] | None = None) -> Message:
        about = {"node": quoted(self.node), "parameter": _NUMBER.sub(r"[\1]", self.path)}
        if found := _ONE_OF.search(self.sentence):
            allowed = [value.strip().strip('"') for value in found["values"].split(", ")]
        if allowed:
            return Message("n8n.parameter_not_one_of", **about, allowed=allowed[:MAX_VALUES])
        if self.is_choice:
            return Message("n8n.parameter_not_allowed", **about)
        if found := _WRONG_TYPE.search(self.sentence):
            return Message("n8n.parameter_wrong_type", **about, expected=found["expected"], received=found["received"])
        if found := _MISSING.search(self.sentence):
            return Message("n8n.parameter_missing", **about, expected=found["expected"] or "")
        return Message("n8n.parameter_invalid", **about, sentence=one_line(self.sentence).rstrip("."))


@dataclass
class Findings:
    """`errors` are new ones. Those of the stored workflow are `warnings`, as is a validation that was not possible."""

    errors: list[Message] = field(default_factory=list)
    warnings: list[Message] = field(default_factory=list)


class ParameterValidator:
    def __init__(self, instance: InstanceClient, knowledge: NodeKnowledge) -> None:
        self._instance = instance
        self._knowledge = knowledge
        self._checks = ConfigChecks(instance)

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
        """Unchanged nodes can only have warnings, so they fill up the request and never add a second one."""
        pairs = _pairs(nodes, connections, stored)
        changed = [pair for pair in pairs if pair.new != pair.old]
        others = [pair.old for pair in changed if pair.old] + [pair.new for pair in pairs if pair.new == pair.old]
        errors = await self._checks.errors([pair.new for pair in changed], others)
        errors |= await self._checks.errors([pair.old for pair in changed if pair.old and errors.get(pair.new)])
        issues = [(pair, issue) for pair in pairs for issue in pair.issues(errors.get(pair.new, ()))]
        allowed = await self._allowed([(pair.node, issue) for pair, issue in issues])
        findings = Findings()
        for pair, issue in issues:
            was_there = pair.old is not None and issue in pair.issues(errors.get(pair.old, ()))
            target = findings.warnings if was_there else findings.errors
            target.append(issue.message(allowed.get((id(pair.node), issue.path))))
        return findings

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


@dataclass(frozen=True)
class _Pair:
    """A node, and what n8n validates of it now and in the stored workflow, if it was validated there."""

    node: Node
    new: NodeConfig
    old: NodeConfig | None

    def issues(self, errors: Sequence[Json]) -> list[ParameterIssue]:
        return [ParameterIssue.of(str(self.node.get("name")), error) for error in errors]


def _pairs(nodes: Sequence[Node], connections: Json, stored: Sequence[Node]) -> list[_Pair]:
    """Each node with its stored version, by id, else by name."""
    tools = {source for source, kind, _, _ in each_connection(connections) if kind == "ai_tool"}
    by_id = {node["id"]: node for node in stored if node.get("id")}
    by_name = {node.get("name"): node for node in stored}
    pairs = []
    for node in filter(_is_validated, nodes):
        old, is_tool = by_id.get(node.get("id")) or by_name.get(node.get("name")), node.get("name") in tools
        before = NodeConfig.of(old, is_tool=is_tool) if old and _is_validated(old) else None
        pairs.append(_Pair(node, NodeConfig.of(node, is_tool=is_tool), before))
    return pairs


def _is_validated(node: Node) -> bool:
    return node.get("type") not in NOT_EXECUTED and not node.get("disabled")
