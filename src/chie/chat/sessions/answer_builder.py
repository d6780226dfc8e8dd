"""Assembles an answer from its events: its text, its parts and its outcome."""

from collections.abc import Iterable
from typing import Any

from chie.chat.events import Error, Usage
from chie.chat.sessions.entities import EventChunk, MessageContent, Status, StoredEvent
from chie.errors import ChieError


def error_events(error: ChieError) -> list[StoredEvent]:
    """The last two events of an answer that failed."""
    event = Error(type="error", error=error.message, code=error.code, params=error.reason.json_params())
    return [{**event}, {"type": "done", "message_id": None}]


class AnswerBuilder:
    """Takes events one by one; text is joined only when it is read, so adding a piece is cheap."""

    def __init__(self) -> None:
        self.count = 0
        self.used_tools = False
        self._cut: dict[str, Any] | None = None
        self._texts: list[str] = []
        self._parts: list[StoredEvent] = []

    @classmethod
    def from_chunks(cls, chunks: Iterable[EventChunk]) -> "AnswerBuilder":
        builder = cls()
        for chunk in chunks:
            for item in chunk.items:
                builder.add(item)
        return builder

    def add(self, item: StoredEvent) -> None:
        self.count += 1
        if isinstance(item, str):
            self._texts.append(item)
            self._parts.append(item)
        elif item["type"] in ("tool_call", "tool_result"):
            self.used_tools = True
            self._parts.append(item)
        elif "finish" in item:
            self._cut = {"type": "done", "finish": item["finish"]}

    @property
    def content(self) -> str:
        return "".join(self._texts)

    @property
    def _merged_parts(self) -> list[dict[str, Any]]:
        """Adjacent pieces of text become one part."""
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
    def parts(self) -> list[dict[str, Any]]:
        """Empty where no tool ran and the answer was not cut off: `content` says it all then."""
        return self._merged_parts if self.used_tools or self._cut else []

    def final(self, status: Status, *, error: ChieError | None = None, usage: Usage | None = None) -> MessageContent:
        return MessageContent(
            status=status,
            content=self.content,
            parts=self.parts,
            error=error.message if error else None,
            error_code=error.code if error else None,
            error_params=error.reason.json_params() if error else None,
            input_tokens=usage["input_tokens"] if usage else None,
            output_tokens=usage["output_tokens"] if usage else None,
            last_event_id=self.count,
        )
