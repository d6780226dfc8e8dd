"""An answer in OpenAI's protocol, put together from its chunks, with the liberties that servers take."""

import json
from typing import Any

from chie.chat.events import Usage
from chie.chat.models.base import Call, End


class ReportedError(ValueError):
    """The server says itself that it failed; `codes` are its names for the cause."""

    def __init__(self, error: object) -> None:
        super().__init__(str(error)[:300])
        about = error if isinstance(error, dict) else {}
        self.codes = [code for code in (about.get("type"), about.get("code")) if isinstance(code, str | int)]


class Completion:
    """Takes chunks one by one. It is whole once a chunk gave a reason to finish, or the server said that it is done."""

    def __init__(self) -> None:
        self.begun = False
        self.whole = False
        self._reason: str | None = None
        self._usage: Usage | None = None
        self._half = ""
        self._calls = _Calls()

    def read(self, data: bytes) -> str:
        """The text of one chunk. Raises ReportedError for an error, others for what is no chunk at all."""
        if data.startswith(b"[DONE]"):
            self.begun = self.whole = True
            return ""
        chunk = json.loads(data)
        if error := chunk.get("error"):
            raise ReportedError(error)
        if usage := chunk.get("usage"):
            asked, answered = usage.get("prompt_tokens"), usage.get("completion_tokens")
            self._usage = Usage(input_tokens=asked or 0, output_tokens=answered or 0)
        text = self._choice(chunk["choices"][0]) if chunk.get("choices") else ""
        self.begun = True
        return text

    def calls(self) -> list[Call]:
        return self._calls.all()

    def end(self) -> End:
        return End(self._usage, cut=self._reason == "length", stopped=self._reason == "content_filter")

    def _choice(self, choice: dict[str, Any]) -> str:
        """Where a server does not stream, its one chunk has a message in place of a delta."""
        self._reason = choice.get("finish_reason") or self._reason
        self.whole = self.whole or self._reason is not None
        said = choice.get("delta") or choice.get("message") or {}
        for fragment in said.get("tool_calls") or ():
            self._calls.add(fragment)
        return self._joined(_text(said.get("content")) + _text(said.get("refusal")))

    def _joined(self, text: str) -> str:
        """Some servers cut an emoji or a rare kanji in two; the first half waits for the second."""
        text, self._half = self._half + text, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _text(content: Any) -> str:  # noqa: ANN401
    """Some servers send parts, of which those that hold thoughts are not for people."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part.get("type") == "text")
    return content or ""


class _Calls:
    """Puts calls together from their fragments. Servers number them or give them ids; some do neither, or always the
    same. What can be relied on: a call begins with its name."""

    def __init__(self) -> None:
        self._calls: list[Call] = []
        self._by_index: dict[int, int] = {}

    def all(self) -> list[Call]:
        return list(self._calls)

    def add(self, fragment: dict[str, Any]) -> None:
        function = fragment.get("function") or {}
        given = Call(fragment.get("id") or "", function.get("name") or "", _json(function.get("arguments")))
        index = fragment.get("index")
        place = self._place(index, given)
        if place is None or self._begins(self._calls[place], index, given):
            place = len(self._calls)
            self._calls.append(Call("", "", ""))
        if index is not None:
            self._by_index[index] = place
        call = self._calls[place]
        self._calls[place] = Call(call.id or given.id, call.name or given.name, call.arguments + given.arguments)

    def _place(self, index: int | None, given: Call) -> int | None:
        """Where the call is that a fragment may go on with: the one of its id, of its number, or else the last."""
        same = [place for place, call in enumerate(self._calls) if given.id and call.id == given.id]
        if same:
            return same[-1]
        if index is not None:
            return self._by_index.get(index)
        return len(self._calls) - 1 if self._calls else None

    def _begins(self, call: Call, index: int | None, given: Call) -> bool:
        """Whether the fragment is of another call. A name alone does not tell: some servers repeat it in each."""
        if not given.name or not call.name:
            return False
        other = given.name != call.name or bool(given.id and call.id and given.id != call.id)
        unknown = not given.id if index is None else index not in self._by_index
        ended = bool(given.arguments and call.arguments) and call.parsed() is not None
        return other or unknown or ended


def _json(arguments: Any) -> str:  # noqa: ANN401
    """Arguments are to be JSON in a string; some servers send the object itself."""
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    return json.dumps(arguments, ensure_ascii=False)
