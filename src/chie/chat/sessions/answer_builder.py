"""Assembles an answer from its events: its text, its parts and its outcome."""

from collections.abc import Iterable
from itertools import groupby
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
        self._has_more_than_text = False
        self._cut: dict[str, Any] | None = None
        self._questions: dict[str, dict[str, Any]] = {}
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
        elif item["type"] in ("reasoning", "summary", "tool_call", "tool_result"):
            self._has_more_than_text = True
            self._parts.append(item)
        elif item["type"] == "tool_preview":
            self._add_preview(item)
        elif item["type"] == "elicitation":
            self._questions[item["id"]] = item
        elif item["type"] == "elicitation_end":
            self._questions.pop(item["id"], None)
        elif "finish" in item:
            self._cut = {"type": "done", "finish": item["finish"]}

    def _add_preview(self, item: dict[str, Any]) -> None:
        """It becomes part of its call. Models reuse ids, so the last call is meant."""
        for index in range(len(self._parts) - 1, -1, -1):
            part = self._parts[index]
            if isinstance(part, dict) and part["type"] == "tool_call" and part["id"] == item["id"]:
                self._parts[index] = {**part, "preview": item["preview"]}
                return

    @property
    def content(self) -> str:
        return "".join(self._texts)

    @property
    def _merged_parts(self) -> list[dict[str, Any]]:
        """Adjacent pieces of text become one part, and so do those of reasoning."""
        merged: list[dict[str, Any]] = []
        for kind, items in groupby(self._parts, _kind):
            if kind == "message":
                merged.append({"type": "message", "content": "".join(item for item in items if isinstance(item, str))})
            elif kind == "reasoning":
                merged.append(_joined(items))
            elif kind == "summary":
                merged.extend([item for item in items if isinstance(item, dict)][-1:])  # announced, then written
            else:
                merged.extend(item for item in items if isinstance(item, dict))
        return [*merged, self._cut] if self._cut else merged

    @property
    def parts(self) -> list[dict[str, Any]]:
        """Empty where `content` says it all: no tool ran, no reasoning was shown and the answer was not cut off."""
        return self._merged_parts if self._has_more_than_text or self._cut else []

    @property
    def open_parts(self) -> list[dict[str, Any]]:
        """The parts so far, and the questions that wait for the user."""
        return [*self._merged_parts, *self._questions.values()] if self._questions else self.parts

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
            usage={**usage} if usage else None,
            last_event_id=self.count,
        )


def _kind(item: StoredEvent) -> str:
    return "message" if isinstance(item, str) else str(item["type"])


def _joined(pieces: Iterable[StoredEvent]) -> dict[str, Any]:
    """Of reasoning; the last piece has its duration."""
    items = [item for item in pieces if isinstance(item, dict)]
    return {**items[-1], "content": "".join(item["content"] for item in items)}
