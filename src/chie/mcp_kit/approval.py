"""Whether a call needs approval, and what it would do, in words for the person who is asked.

MCP annotates tools, not calls. A tool that only adds unless some argument is set is annotated as destructive, so that
every client asks, and its `_meta` names the arguments; our chat then asks only for calls that set one of them.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from chie.messages.catalogue import Message

DESTRUCTIVE_ARGUMENTS_META = "chie/destructive_arguments"
PREVIEW_TOOL = "chie/preview"
ARGUMENTS_TOOL = "chie/arguments"
UNLISTED_TOOLS = (PREVIEW_TOOL, ARGUMENTS_TOOL)
MAX_NAME = 120
MAX_VALUE = 6_000
MAX_CHANGES = 30
CONTEXT_LINES = 3

Danger = Literal["read", "add", "change", "delete"]
Json: TypeAlias = dict[str, Any]

# Line ends, control characters, and characters that reorder the text around them: a name must not imitate ours.
_UNSAFE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")


def destructive_with(*arguments: str) -> dict[str, Any]:
    """The `_meta` of a tool that only adds unless one of these arguments is set."""
    return {DESTRUCTIVE_ARGUMENTS_META: list(arguments)} if arguments else {}


@dataclass(frozen=True)
class FieldChange:
    """One thing that would change. `before` is None if it is new, `after` if it goes."""

    label: Message
    before: str | None
    after: str | None

    def as_json(self) -> Json:
        before, after = _shortened(self.before, self.after)
        return {**message_json(self.label), "before": before, "after": after}


@dataclass(frozen=True)
class CallPreview:
    """`summary` is the sentence that the user reads first; `notes` are consequences, `changes` the details. `moment` is
    an ISO date of the state that would be restored."""

    summary: Message
    danger: Danger
    notes: Sequence[Message] = ()
    changes: Sequence[FieldChange] = field(default_factory=tuple)
    moment: str | None = None

    def as_json(self) -> Json:
        shown = [change.as_json() for change in self.changes[:MAX_CHANGES]]
        preview: Json = {**message_json(self.summary), "danger": self.danger}
        preview["notes"] = [message_json(note) for note in self.notes]
        preview["changes"] = shown
        if more := len(self.changes) - len(shown):
            preview["more"] = more
        if self.moment is not None:
            preview["moment"] = self.moment
        return preview


def message_json(message: Message) -> Json:
    return {"text": str(message), "code": message.code, "params": message.json_params()}


def shown_name(name: object) -> str:
    """A name on one line, at most `MAX_NAME` characters."""
    text = _UNSAFE.sub(" ", str(name)).strip()
    return text if len(text) <= MAX_NAME else f"{text[: MAX_NAME - 1]}…"


def shown_value(value: object) -> str | None:
    """A text as it is, anything else as JSON."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=2)


def _shortened(before: str | None, after: str | None) -> tuple[str | None, str | None]:
    """Long texts without the lines that both begin and end with, and cut."""
    if before is None or after is None or max(len(before), len(after)) <= MAX_VALUE:
        return _cut(before), _cut(after)
    old, new = before.split("\n"), after.split("\n")
    start = _same(old, new)
    end = _same(old[start:][::-1], new[start:][::-1])
    first, last = max(0, start - CONTEXT_LINES), max(0, end - CONTEXT_LINES)
    return _cut(_part(old, first, last)), _cut(_part(new, first, last))


def _same(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))


def _part(lines: Sequence[str], first: int, last: int) -> str:
    kept = lines[first : len(lines) - last]
    return "\n".join([*(["…"] if first else []), *kept, *(["…"] if last else [])])


def _cut(text: str | None) -> str | None:
    return text if text is None or len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]}…"
