"""Turns the nodes of an export into questions and answers in turn. Every branch is kept."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from chie.chat.imports.entities import ImportedFile, ImportedMessage, LargeConversationError

MAX_NODES = 50_000
MAX_MESSAGES = 20_000
MAX_CHARACTERS = 64 * 1024**2
NODE_COST = 100  # characters that joining a node to an answer counts as


@dataclass(frozen=True, kw_only=True)
class Node:
    """A message of the export; without a role it is not shown. An answer may be several nodes, one after the other."""

    key: str
    parent: str | None
    role: Literal["user", "assistant"] | None
    created_at: datetime | None = None
    text: str = ""
    parts: list[dict[str, Any]] = field(default_factory=list)
    files: tuple[ImportedFile, ...] = ()


def messages(nodes: Sequence[Node], *, tip: str | None, title: str, started: datetime) -> list[ImportedMessage]:
    """`tip` is the node that ends the branch that was shown; `title` is the question of an answer without one.

    LargeConversationError if they are more than a session may have.
    """
    if len(nodes) > MAX_NODES:
        raise LargeConversationError
    return _Builder(nodes, title, started).build(tip)


@dataclass(frozen=True, slots=True)
class _Run:
    """The last node of an unfinished answer, and what comes before it, which its siblings share."""

    node: Node
    before: "_Run | None"

    def nodes(self) -> list[Node]:
        found, at = list[Node](), self
        while True:
            found.append(at.node)
            if at.before is None:
                return found[::-1]
            at = at.before


class _Builder:
    def __init__(self, nodes: Sequence[Node], title: str, started: datetime) -> None:
        self._nodes = {node.key: node for node in nodes}
        self._children = _visible_children(self._nodes)
        self._title = title
        self._started = started
        self._made: dict[str, ImportedMessage] = {}
        self._message_of: dict[str, str] = {}  # by node
        self._left = MAX_CHARACTERS

    def build(self, tip: str | None) -> list[ImportedMessage]:
        # (node, the unfinished answer before it, the message above)
        stack: list[tuple[str, _Run | None, str | None]]
        stack = [(key, None, None) for key in reversed(self._children.get(None, []))]
        while stack:
            key, run, above = stack.pop()
            node = self._nodes[key]
            if node.role == "user":
                run, above = None, self._question(node, run, above)
            else:
                run = _Run(node, run)
            below = self._children.get(key, [])
            if not below:
                self._end(run, above)
            stack.extend((child, run, above) for child in reversed(below))
        return _newest_last(self._made, self._tip(tip))

    def _question(self, node: Node, run: _Run | None, above: str | None) -> str:
        parent = self._end(run, above)
        asked = ImportedMessage(
            key=node.key,
            parent=parent,
            role="user",
            content=node.text,
            created_at=self._time(node.created_at, parent),
            files=node.files,
        )
        return self._add(asked, [node])

    def _end(self, run: _Run | None, above: str | None) -> str | None:
        """The answer that ends here; a question that got none gets an empty one, after which one can go on."""
        if run:
            known = run.node.key  # several questions may follow it
            return known if known in self._made else self._answer(run.nodes(), above)
        if above is None:
            return None
        empty = ImportedMessage(
            key=f"{above}:unanswered",
            parent=above,
            role="assistant",
            content="",
            created_at=self._made[above].created_at,
            answered=False,
        )
        return self._add(empty, [])

    def _answer(self, run: Sequence[Node], above: str | None) -> str:
        if above is None:
            first = ImportedMessage(
                key=f"{run[0].key}:question",
                parent=None,
                role="user",
                content=self._title,
                created_at=self._time(run[0].created_at, None),
            )
            above = self._add(first, [])
        self._spend(NODE_COST * len(run))
        content, parts = _joined(part for node in run for part in node.parts)
        given = ImportedMessage(
            key=run[-1].key,
            parent=above,
            role="assistant",
            content=content,
            parts=parts,
            created_at=self._time(run[-1].created_at, above),
        )
        return self._add(given, run)

    def _add(self, message: ImportedMessage, nodes: Iterable[Node]) -> str:
        """An answer that branches off within another one repeats its beginning: the text may grow beyond the file's."""
        if message.key not in self._made:
            self._made[message.key] = message
            self._spend(len(message.content) + sum(len(str(part)) for part in message.parts))
            if len(self._made) > MAX_MESSAGES:
                raise LargeConversationError
        self._message_of |= {node.key: message.key for node in nodes}
        return message.key

    def _spend(self, characters: int) -> None:
        self._left -= characters
        if self._left < 0:
            raise LargeConversationError

    def _time(self, own: datetime | None, parent: str | None) -> datetime:
        return own or (self._made[parent].created_at if parent else self._started)

    def _tip(self, tip: str | None) -> str | None:
        """The message of this node, or of the nearest one above that is shown."""
        seen: set[str] = set()
        while tip is not None and tip in self._nodes and tip not in seen:
            if tip in self._message_of:
                return self._message_of[tip]
            seen.add(tip)
            tip = self._nodes[tip].parent
        return None


def _visible_children(nodes: Mapping[str, Node]) -> dict[str | None, list[str]]:
    """By visible parent; None is the parent of the first ones. Nodes in a circle have no first one."""
    found: dict[str | None, list[str]] = {}
    shown: dict[str, str | None] = {}  # by hidden node: the visible one above it
    for key, node in nodes.items():
        if node.role is None:
            continue
        above, passed = node.parent, list[str]()
        while above is not None and above in nodes and nodes[above].role is None and above not in shown:
            shown[above] = None  # in a circle
            passed.append(above)
            above = nodes[above].parent
        if above is not None:
            above = shown.get(above, above if above in nodes else None)
        shown |= dict.fromkeys(passed, above)
        found.setdefault(above, []).append(key)
    return found


def _joined(parts: Iterable[dict[str, Any]]) -> tuple[str, list[dict[str, Any]]]:
    """The text of an answer, and its parts if it has more than text."""
    kept: list[dict[str, Any]] = []
    content = ""
    for part in parts:
        if part["type"] != "message":
            kept.append(part)
            continue
        text = f"\n\n{part['content']}" if content else str(part["content"])
        content += text
        if kept and kept[-1]["type"] == "message":
            kept[-1] = {"type": "message", "content": kept[-1]["content"] + text}
        else:
            kept.append({"type": "message", "content": text})
    return content, kept if any(part["type"] != "message" for part in kept) else []


def _newest_last(made: Mapping[str, ImportedMessage], tip: str | None) -> list[ImportedMessage]:
    """Parents first, and the branch that was shown last: a session shows the branch of its last message."""
    children: dict[str, int] = {}
    newest: dict[str, str] = {}
    for key, message in made.items():
        if message.parent:
            children[message.parent] = children.get(message.parent, 0) + 1
            newest[message.parent] = key
    while tip in newest:  # the branch goes on below the node
        tip = newest[tip]
    last: list[str] = []
    while tip is not None and children.get(tip, 0) <= (1 if last else 0):
        last.append(tip)
        tip = made[tip].parent
    moved = set(last)
    kept = [message for key, message in made.items() if key not in moved]
    return [*kept, *(made[key] for key in reversed(last))]
