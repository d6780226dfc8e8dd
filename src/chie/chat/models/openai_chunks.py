"""Assembles an answer from the chunks of OpenAI's protocol, tolerating the deviations of compatible servers."""

import json
from collections.abc import Sequence
from typing import Any

from chie.chat.events import Usage, counted_usage, token_count
from chie.chat.models.chunks import Call, Chunk, End, ReasoningDelta, TextDelta
from chie.chat.models.openai_reasoning import ReasoningFields, ThinkTags


class ReportedError(ValueError):
    """An error object sent in place of a chunk; `codes` are the server's names for the cause, `body` is
    all that it says."""

    def __init__(self, error: object) -> None:
        super().__init__(str(error)[:300])
        fields = error if isinstance(error, dict) else {}
        self.body = error
        self.codes = [code for code in (fields.get("type"), fields.get("code")) if isinstance(code, str | int)]


class ChunkParser:
    """Parses chunks one by one. The answer is complete after a finish reason or `[DONE]`."""

    def __init__(self) -> None:
        self.started = False
        self.complete = False
        self._finish_reason: str | None = None
        self._usage: Usage | None = None
        self._surrogate = ""
        self._calls = _Calls()
        self._fields = ReasoningFields()
        self._tags = ThinkTags()

    def parse(self, data: bytes) -> Sequence[Chunk]:
        """The text of one chunk. Raises ReportedError for an error object, other errors for anything else."""
        if data.startswith(b"[DONE]"):
            self.started = self.complete = True
            return ()
        chunk = json.loads(data)
        if error := chunk.get("error"):
            raise ReportedError(error)
        if isinstance(usage := chunk.get("usage"), dict) and usage:
            self._usage = _usage(usage)
        found = self._choice(chunk["choices"][0]) if chunk.get("choices") else ()
        self.started = True
        return found

    def finish(self) -> list[Chunk]:
        """The text that was held back, the reasoning to send back with the results of calls, and the calls."""
        blocks = (self._fields.block(), self._tags.block())
        return [*self._tags.finish(), *filter(None, blocks), *self._calls.all()]

    def end(self) -> End:
        reason = self._finish_reason
        return End(self._usage, truncated=reason == "length", filtered=reason == "content_filter")

    def _choice(self, choice: dict[str, Any]) -> Sequence[Chunk]:
        """A server that does not stream sends one chunk with a message instead of a delta."""
        self._finish_reason = choice.get("finish_reason") or self._finish_reason
        self.complete = self.complete or self._finish_reason is not None
        delta = choice.get("delta") or choice.get("message") or {}
        if self._tags.inactive and not self._surrogate and len(delta) == 1 and (plain := _plain(delta)):
            return (TextDelta(plain),)
        for fragment in delta.get("tool_calls") or ():
            self._calls.add(fragment)
        content = delta.get("content")
        thought = self._fields.add(delta) or _thought(content)
        text = self._join_surrogates(_text(content) + _text(delta.get("refusal")))
        if thought:
            return [ReasoningDelta(thought), *self._split(text)]
        return self._split(text)

    def _split(self, text: str) -> Sequence[Chunk]:
        if not text:
            return ()
        return (TextDelta(text),) if self._tags.inactive else self._tags.split(text)

    def _join_surrogates(self, text: str) -> str:
        """Some servers split an emoji or a rare kanji; the high surrogate is held back until the low one arrives."""
        text, self._surrogate = self._surrogate + text, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._surrogate = text[:-1], text[-1]
        return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _usage(usage: dict[str, Any]) -> Usage:
    """Google's and xAI's servers count the reasoning in the total only."""
    prompt, completion, total = (token_count(usage.get(f"{name}_tokens")) for name in ("prompt", "completion", "total"))
    given, made = _details(usage, "prompt"), _details(usage, "completion")
    uncounted = max(total - prompt - completion, 0)
    return counted_usage(
        prompt,
        completion + uncounted,
        given.get("cached_tokens"),
        written=given.get("cache_write_tokens"),
        reasoning=token_count(made.get("reasoning_tokens")) or uncounted,
    )


def _details(usage: dict[str, Any], name: str) -> dict[str, Any]:
    found = usage.get(f"{name}_tokens_details")
    return found if isinstance(found, dict) else {}


def _plain(delta: dict[str, Any]) -> str:
    """The text of a delta that has nothing else, as nearly all have, and that needs no care."""
    content = delta.get("content")
    return content if isinstance(content, str) and (content.isascii() or max(content) < "\ud800") else ""


def _text(content: Any) -> str:  # noqa: ANN401
    """Some servers send a list of parts; only those of type `text` belong to the answer, others hold reasoning."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part.get("type") == "text")
    return content or ""


def _thought(content: Any) -> str:  # noqa: ANN401
    """Mistral's parts of type `thinking` hold parts of their own."""
    if not isinstance(content, list):
        return ""
    thoughts = [part.get("thinking") for part in content if part.get("type") == "thinking"]
    return "".join(map(_text, thoughts))


class _Calls:
    """Assembles calls from their fragments.

    Servers identify a call by index or by id; some send neither, or the same one for every call. The only reliable
    fact is that a call starts with its name.
    """

    def __init__(self) -> None:
        self._calls: list[Call] = []
        self._by_index: dict[int, int] = {}

    def all(self) -> list[Call]:
        return list(self._calls)

    def add(self, fragment: dict[str, Any]) -> None:
        function = fragment.get("function") or {}
        arguments, extra = _json(function.get("arguments")), fragment.get("extra_content")
        part = Call(fragment.get("id") or "", function.get("name") or "", arguments, extra)
        index = fragment.get("index")
        slot = self._slot(index, part)
        if slot is None or self._starts_another(self._calls[slot], index, part):
            slot = len(self._calls)
            self._calls.append(Call("", "", ""))
        if index is not None:
            self._by_index[index] = slot
        call = self._calls[slot]
        arguments = call.arguments + part.arguments
        self._calls[slot] = Call(call.id or part.id, call.name or part.name, arguments, call.extra or part.extra)

    def _slot(self, index: int | None, part: Call) -> int | None:
        """The call that a fragment may continue: the one with its id, with its index, or else the last."""
        same = [slot for slot, call in enumerate(self._calls) if part.id and call.id == part.id]
        if same:
            return same[-1]
        if index is not None:
            return self._by_index.get(index)
        return len(self._calls) - 1 if self._calls else None

    def _starts_another(self, call: Call, index: int | None, part: Call) -> bool:
        """A name alone is not enough: some servers repeat it in every fragment."""
        if not part.name or not call.name:
            return False
        differs = part.name != call.name or bool(part.id and call.id and part.id != call.id)
        unidentified = not part.id if index is None else index not in self._by_index
        complete = bool(part.arguments and call.arguments) and call.parsed() is not None
        return differs or unidentified or complete


def _json(arguments: Any) -> str:  # noqa: ANN401
    """Arguments should be a string of JSON; some servers send the object itself."""
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    return json.dumps(arguments, ensure_ascii=False)
