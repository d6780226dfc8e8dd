"""Decides what each node does in a rehearsal, before anything runs.

run     it only computes with items, such as Set and If, or the caller has allowed it by name
pin     it is replaced by what came out of it then: triggers, nodes with credentials, HTTP requests
ask     it would run for real, and the caller must allow it: code, also that of a Sort or a Merge, commands, files,
        sub-workflows, expressions that may read n8n's environment
stop    nothing was recorded of it and it would call another service: the rehearsal ends before it
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from chie.n8n.graph import NOT_EXECUTED, each_connection
from chie.n8n.models import Json, Node, Workflow
from chie.n8n.rehearsal.environment import reads_environment
from chie.n8n.rehearsal.recording import Items, Recording

_BASE = "n8n-nodes-base."
COMPUTING = frozenset(
    _BASE + name
    for name in (
        "aggregate", "compareDatasets", "convertToFile", "crypto", "dateTime", "extractFromFile", "filter", "html",
        "if", "itemLists", "limit", "markdown", "merge", "moveBinaryData", "noOp", "removeDuplicates", "renameKeys",
        "respondToWebhook", "set", "sort", "splitInBatches", "splitOut", "stopAndError", "summarize", "switch", "xml",
    )
)  # fmt: skip
LOCAL = frozenset(
    _BASE + name
    for name in (
        "aiTransform", "code", "dataTable", "executeCommand", "executeWorkflow", "function", "functionItem", "git",
        "readBinaryFile", "readBinaryFiles", "readPDF", "readWriteFile", "writeBinaryFile",
    )
) | {"@n8n/n8n-nodes-langchain.code"}  # fmt: skip

_ORDERS: dict[str, tuple[str, ...]] = {"type": ("simple", "random")}  # n8n runs `code` for every other value
# By these parameters a node that computes runs code or reads what is stored; a value that is not listed, or that an
# expression decides, counts as one that does. Parameters that are not given have harmless defaults.
HARMLESS: dict[str, dict[str, tuple[str, ...]]] = {
    _BASE + "itemLists": _ORDERS,
    _BASE + "merge": {  # a query of AlaSQL may contain JavaScript, and read files and URLs
        "mode": (
            "append", "chooseBranch", "combine", "keepKeyMatches", "mergeByIndex", "mergeByKey", "multiplex",
            "passThrough", "removeKeyMatches", "wait",
        ),
        "combineBy": ("combineAll", "combineByFields", "combineByPosition"),
    },
    _BASE + "removeDuplicates": {"operation": ("removeDuplicateInputItems",)},  # others use n8n's database
    _BASE + "sort": _ORDERS,
}  # fmt: skip


@dataclass
class Plan:
    trigger: str
    touched: set[str]
    pins: dict[str, Items] = field(default_factory=dict)
    run_for_real: list[str] = field(default_factory=list)
    ask: list[Node] = field(default_factory=list)
    stop: list[str] = field(default_factory=list)
    unproven: list[str] = field(default_factory=list)  # pinned although the change touches them
    repeated: list[str] = field(default_factory=list)  # pinned with the first of several different runs


def make_plan(workflow: Workflow, recording: Recording, touched: set[str], allowed: Iterable[str]) -> Plan:
    trigger = str(recording.trigger)
    plan, graph = Plan(trigger, touched), _graph(workflow)
    affected = followers(graph, {*touched, *([recording.failed] if recording.failed else [])})
    reachable = followers(graph, {trigger})
    for node in workflow["nodes"]:
        if node["name"] in reachable and not node.get("disabled") and node["type"] not in NOT_EXECUTED:
            _decide(plan, node, recording, affected=node["name"] in affected, allowed=node["name"] in set(allowed))
    plan.unproven = [name for name in plan.pins if name in touched and name != trigger]
    plan.repeated = [name for name in plan.pins if recording.repeats(name)]
    return plan


def _decide(plan: Plan, node: Node, recording: Recording, *, affected: bool, allowed: bool) -> None:
    name, items = node["name"], recording.items(node["name"])
    if name == plan.trigger:
        plan.pins[name] = items or [{"json": {}}]
    elif allowed:
        plan.run_for_real.append(name)
    elif (computes := node["type"] in COMPUTING and not node.get("credentials")) and only_computes(node):
        return
    elif items is not None and not (affected and (computes or node["type"] in LOCAL)):
        plan.pins[name] = items
    elif computes or node["type"] in LOCAL:
        plan.ask.append(node)
    else:
        plan.stop.append(name)


def only_computes(node: Node) -> bool:
    """Whether the parameters of a type that computes keep it from running code and reading anything but items."""
    given = node.get("parameters") or {}
    harmless = HARMLESS.get(node["type"], {})
    return all(given[key] in values for key, values in harmless.items() if key in given) and not reads_environment(node)


def followers(graph: dict[str, set[str]], names: set[str]) -> set[str]:
    """The nodes and everything that their output can reach."""
    found, waiting = set(names), list(names)
    while waiting:
        for target in graph.get(waiting.pop(), set()) - found:
            found.add(target)
            waiting.append(target)
    return found


def stops_before(workflow: Workflow, plan: Plan, name: str) -> bool:
    """Whether the rehearsal may have ended before this node only because nothing was recorded."""
    return name in followers(_graph(workflow), set(plan.stop))


def _graph(workflow: Workflow) -> dict[str, set[str]]:
    graph: dict[str, set[str]] = {}
    for source, _, _, target in each_connection(workflow["connections"]):  # of any type: a sub-node affects its user
        graph.setdefault(source, set()).add(target["node"])
    return graph


def touched_nodes(before: Workflow, after: Workflow) -> set[str]:
    """The names of the nodes that the change adds, alters or connects differently."""
    old = {node.get("id") or node["name"]: node for node in before["nodes"]}
    ids = ({node["name"]: node.get("id") or node["name"] for node in part["nodes"]} for part in (before, after))
    ends = [_ends(part, names) for part, names in zip((before, after), ids, strict=True)]
    return {
        node["name"]
        for node in after["nodes"]
        for key in (node.get("id") or node["name"],)
        if _content(old.get(key)) != _content(node) or ends[0].get(key) != ends[1].get(key)
    }


def _content(node: Node | None) -> Json | None:
    shown_only = ("name", "notes", "position")
    return None if node is None else {key: value for key, value in node.items() if key not in shown_only}


def _ends(workflow: Workflow, ids: dict[str, str]) -> dict[str, list[object]]:
    """The targets of each node, all by id: a rename changes nothing."""
    ends: dict[str, list[object]] = {}
    for source, kind, output, target in each_connection(workflow["connections"]):
        end = (kind, output, ids.get(target["node"]), target.get("index", 0))
        ends.setdefault(ids.get(source, source), []).append(end)
    return ends
