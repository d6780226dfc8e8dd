"""What an answer's events amount to: its text, its parts and its outcome."""

from collections.abc import Iterable
from typing import Any

from chie.chat.events import Usage
from chie.chat.sessions.entities import Ending, Events, Status

Item = str | dict[str, Any]


def failure(message: str) -> list[Item]:
    """How the events of an answer end that did not come to its own end."""
    return [{"type": "error", "error": message}, {"type": "done", "message_id": None}]


class Answer:
    """Takes events one by one; adding a piece of text costs next to nothing."""

    def __init__(self) -> None:
        self.count = 0
        self.used_tools = False
        self._cut: dict[str, Any] | None = None
        self._pieces: list[str] = []
        self._parts: list[Item] = []

    def add(self, item: Item) -> None:
        self.count += 1
        if isinstance(item, str):
            self._pieces.append(item)
            self._parts.append(item)
        elif item["type"] in ("tool_call", "tool_result"):
            self.used_tools = True
            self._parts.append(item)
        elif "finish" in item:
            self._cut = {"type": "done", "finish": item["finish"]}

    @property
    def content(self) -> str:
        return "".join(self._pieces)

    @property
    def parts(self) -> list[dict[str, Any]]:
        """Neighbouring pieces of text as one."""
        merged: list[dict[str, Any]] = []
        for item in self._parts:
            if not isinstance(item, str):
                merged.append(item)
            elif merged and merged[-1]["type"] == "message":
                merged[-1]["content"] += item
            else:
                merged.append({"type": "message", "content": item})
        return [*merged, self._cut] if self._cut else merged

    @property
    def shown_parts(self) -> list[dict[str, Any]]:
        """Nothing where no tool ran and nothing was cut: then the text is all there is."""
        return self.parts if self.used_tools or self._cut else []

    def ending(self, status: Status, *, error: str | None = None, usage: Usage | None = None) -> Ending:
        return Ending(
            status=status,
            content=self.content,
            parts=self.shown_parts,
            error=error,
            input_tokens=usage["input_tokens"] if usage else None,
            output_tokens=usage["output_tokens"] if usage else None,
            last_event_id=self.count,
        )


def part_of(stretches: Iterable[Events]) -> Answer:
    answer = Answer()
    for stretch in stretches:
        for item in stretch.items:
            answer.add(item)
    return answer
