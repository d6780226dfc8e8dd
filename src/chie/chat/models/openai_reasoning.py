"""Reasoning in OpenAI's protocol, which has no place for it: servers use fields of their own, or tags in the text."""

from typing import Any

from chie.chat.models.chunks import Chunk, Reasoning, ReasoningDelta, TextDelta

TEXT_FIELDS = ("reasoning_content", "reasoning")  # DeepSeek, llama.cpp, LM Studio; Ollama, vLLM, OpenRouter, Groq
LIST_FIELDS = ("reasoning_details", "thinking_blocks")  # OpenRouter; LiteLLM. These have the provider's signatures.
TAGGED = "tagged"  # the key of reasoning that came as text, with its tags
_JOINED = ("text", "thinking", "summary", "data")
_OPENING = ("<think>", "<thinking>", "<thought>")


class ReasoningFields:
    """Collects what a message says in these fields, to send it back in the same ones with the tool results: DeepSeek
    refuses the request otherwise, and so do Anthropic and Google behind a gateway."""

    def __init__(self) -> None:
        self._fields: dict[str, Any] = {}

    def add(self, delta: dict[str, Any]) -> str:
        """The text to show."""
        text = ""
        for name in TEXT_FIELDS:
            if isinstance(given := delta.get(name), str) and given:
                self.add_text(name, given)
                text = text or given  # some servers send the same in both
        for name in LIST_FIELDS:
            for entry in delta.get(name) or ():
                _merge(self._fields.setdefault(name, []), entry)
        return text

    def add_text(self, name: str, text: str) -> None:
        self._fields[name] = self._fields.get(name, "") + text

    def block(self) -> Reasoning | None:
        return Reasoning(self._fields) if self._fields else None


def _merge(entries: list[dict[str, Any]], new: dict[str, Any]) -> None:
    """An entry arrives in pieces; a piece after the signature, or of another type or index, starts another one."""
    last = entries[-1] if entries else {}
    same = all(last.get(name) == new.get(name) for name in ("type", "index"))
    if not entries or not same or last.get("signature"):
        entries.append({name: value for name, value in new.items() if value is not None})
        return
    for name, value in new.items():
        if value is not None:
            last[name] = last.get(name, "") + value if name in _JOINED else value


class ThinkTags:
    """Splits a text that begins with `<think>…</think>`. Later tags are text: an answer may be about them."""

    def __init__(self) -> None:
        self.inactive = False  # the rest is text
        self._thoughts: list[str] = []
        self._held = ""
        self._closing = ""
        self._closed = False

    def split(self, text: str) -> list[Chunk]:
        if self.inactive:
            return [TextDelta(text)]
        text, self._held = self._held + text, ""
        if self._closed:
            return self._answer(text)
        return self._think(text) if self._closing else self._start(text)

    def finish(self) -> list[Chunk]:
        """What was held back because a tag might have begun."""
        held, self._held = self._held, ""
        if not held:
            return []
        if not self._closing:
            return [TextDelta(held)]
        self._thoughts.append(held)
        return [ReasoningDelta(held)]

    def block(self) -> Reasoning | None:
        """With its tags, as the model wrote it."""
        if not self._closing:
            return None
        return Reasoning({TAGGED: f"{self._closing.replace('/', '')}{''.join(self._thoughts)}{self._closing}"})

    def _start(self, text: str) -> list[Chunk]:
        start = text.lstrip()
        for tag in _OPENING:
            if start.startswith(tag):
                self._closing = tag.replace("<", "</")
                return self._think(start[len(tag) :])
        if any(tag.startswith(start) for tag in _OPENING):
            self._held = text
            return []
        self.inactive = True
        return [TextDelta(text)]

    def _think(self, text: str) -> list[Chunk]:
        thought, closing, rest = text.partition(self._closing)
        self._closed = bool(closing)
        if not closing:
            thought, self._held = _without_start_of(self._closing, text)
        if not thought:
            return self._answer(rest)
        self._thoughts.append(thought)
        return [ReasoningDelta(thought), *self._answer(rest)]

    def _answer(self, text: str) -> list[Chunk]:
        answer = text.lstrip()
        self.inactive = bool(answer)
        return [TextDelta(answer)] if answer else []


def _without_start_of(tag: str, text: str) -> tuple[str, str]:
    """The text, and its end if that may be the beginning of the tag."""
    length = next((length for length in range(len(tag) - 1, 0, -1) if text.endswith(tag[:length])), 0)
    return (text[:-length], text[-length:]) if length else (text, "")
