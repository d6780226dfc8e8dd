"""The parts of a model's answer, in the order in which they arrive."""

import json
from dataclasses import dataclass
from typing import Any

from chie.chat.events import Usage
from chie.chat.json_depth import is_too_deep


@dataclass(frozen=True)
class TextDelta:
    text: str


@dataclass(frozen=True)
class ReasoningDelta:
    """A piece of the reasoning, to be shown."""

    text: str


@dataclass(frozen=True)
class Reasoning:
    """A reasoning block in the provider's own format. Providers expect it back together with the tool results."""

    block: Any


@dataclass(frozen=True)
class Call:
    """A tool call of a model; `arguments` is the JSON text that the model wrote, valid or not. `extra` is what the
    provider wants back with it, such as Google's signature of its reasoning."""

    id: str
    name: str
    arguments: str
    extra: Any = None

    def parsed(self) -> dict[str, Any] | None:
        """The arguments as an object, or None if they are not one, or one that could not be shown again. An empty text
        means no arguments.

        Python's parser also accepts NaN, out-of-range numbers and lone surrogates, which are not valid JSON.
        """
        try:
            value = json.loads(self.arguments or "{}")
            json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            return None
        return value if isinstance(value, dict) and not is_too_deep(value) else None


@dataclass(frozen=True)
class End:
    """The end of a message. `truncated`: the token limit was reached. `filtered`: the provider's filter or policy
    stopped it."""

    usage: Usage | None
    truncated: bool = False
    filtered: bool = False


Chunk = TextDelta | ReasoningDelta | Reasoning | Call | End
