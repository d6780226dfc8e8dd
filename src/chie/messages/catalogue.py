"""The catalogue of messages: `en/` has the English texts and `ja/` the Japanese ones, one file per module.

A code such as `knowledge.note_not_found` is a key of `knowledge.json` in both folders. Templates take their parameters
by name: `{title}`, or `{count:,}` for a number with thousands separators. A catalogue file is read on first use.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

Language = Literal["en", "ja"]
Param: TypeAlias = "str | int | float | Message | Sequence[str] | Sequence[Message]"

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True, init=False)
class Message:
    """A code and its parameters; `str()` gives the English text. A parameter may be a message, or a list of them."""

    code: str
    params: Mapping[str, Param]

    def __init__(self, code: str, /, **params: Param) -> None:
        object.__setattr__(self, "code", code)
        object.__setattr__(self, "params", params)

    def __hash__(self) -> int:
        return hash(self.code)

    def text(self, language: Language = "en") -> str:
        template = catalogue(language, self.code.partition(".")[0]).get(self.code)
        if template is None:  # the words of a plug-in, which has no catalogue
            return self.code
        return template.format_map({name: _shown(value, language) for name, value in self.params.items()})

    def __str__(self) -> str:
        return self.text()

    def json_params(self) -> dict[str, Any]:
        """The parameters for the wire, where a nested message is `{"code": …, "params": …, "text": …}`."""
        return {name: _encoded(value) for name, value in self.params.items()}


@cache
def catalogue(language: Language, module: str) -> Mapping[str, str]:
    """Code to template; empty for a module without messages."""
    file = FOLDER / language / f"{module}.json"
    if not module.isidentifier() or not file.is_file():
        return {}
    found: dict[str, str] = json.loads(file.read_text(encoding="utf-8"))
    return found


def _shown(value: Param, language: Language) -> str | int | float:
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, Message):
        return value.text(language)
    return _joined(value, language)


def _joined(values: Sequence[str] | Sequence[Message], language: Language) -> str:
    """Names are enumerated; sentences follow each other."""
    texts = [value.text(language) if isinstance(value, Message) else value for value in values]
    if any(isinstance(value, Message) for value in values):
        return "; ".join(texts) if language == "en" else "。".join(text.removesuffix("。") for text in texts)
    return (", " if language == "en" else "、").join(texts)


def _encoded(value: Param) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, Message):
        return {"code": value.code, "params": value.json_params(), "text": str(value)}
    return value if isinstance(value, str | int | float) else [_encoded(one) for one in value]
