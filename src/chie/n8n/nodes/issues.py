"""n8n's sentences about parameters as messages that name the node, the parameter and the allowed values."""

import re
from dataclasses import dataclass

from chie.messages.catalogue import Message
from chie.n8n.graph import quoted
from chie.n8n.instance.errors import one_line
from chie.n8n.models import Json

MAX_VALUES = 30
MAX_SENTENCE = 4_000  # characters, also with many allowed values

_PATH = re.compile(r'"(?P<path>parameters[\w.\[\]]*)"')
_ONE_OF = re.compile(r"(?:must be|expected) one of: (?P<values>.*?)\.?$")
_WRONG_TYPE = re.compile(r"has wrong type\. Expected (?P<expected>\w+), but got (?P<received>\w+)")
_MISSING = re.compile(r"Required field .* is missing\.(?: Expected (?P<expected>\w+))?")
_NOT_EXPRESSION = "Must be an n8n expression"
_NUMBER = re.compile(r"\.(\d+)(?=\.|$)")


@dataclass(frozen=True)
class ParameterIssue:
    """`values` are the allowed ones, if n8n lists them. `is_choice` means that it should have, and does not."""

    node: str
    path: str
    sentence: str

    @classmethod
    def of(cls, node: str, error: Json) -> "ParameterIssue":
        sentence = str(error.get("message", ""))[:MAX_SENTENCE]
        named = _PATH.search(sentence)
        return cls(node, str(error.get("path") or (named["path"] if named else "parameters")), sentence)

    @property
    def is_choice(self) -> bool:
        """A wrong value is reported as a missing expression where an expression is allowed, too."""
        return _NOT_EXPRESSION in self.sentence

    @property
    def steps(self) -> list[str]:
        return self.path.split(".")[1:]

    def message(self, allowed: list[str] | None = None) -> Message:
        about = {"node": quoted(self.node), "parameter": _NUMBER.sub(r"[\1]", self.path)}
        if found := _ONE_OF.search(self.sentence):
            allowed = [value.strip().strip('"') for value in found["values"].split(", ")]
        if allowed:
            return Message("n8n.parameter_not_one_of", **about, allowed=allowed[:MAX_VALUES])
        if self.is_choice:
            return Message("n8n.parameter_not_allowed", **about)
        if found := _WRONG_TYPE.search(self.sentence):
            return Message("n8n.parameter_wrong_type", **about, expected=found["expected"], received=found["received"])
        if found := _MISSING.search(self.sentence):
            return Message("n8n.parameter_missing", **about, expected=found["expected"] or "")
        return Message("n8n.parameter_invalid", **about, sentence=one_line(self.sentence).rstrip("."))
