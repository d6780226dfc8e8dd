"""Which parameters a model takes, by the provider's protocol and the family of the model. Providers do not say it."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from chie.errors import ValidationError
from chie.messages.catalogue import Message


@dataclass(frozen=True)
class Parameter:
    """A number in a range, or one of `values`. The names are OpenAI's."""

    name: str
    minimum: float | None = None
    maximum: float | None = None
    values: tuple[str, ...] = ()

    def takes(self, value: object) -> bool:
        if self.values:
            return value in self.values
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return (self.minimum is None or value >= self.minimum) and (self.maximum is None or value <= self.maximum)


LENGTH = Parameter("max_tokens", 1, 1_000_000)
TEMPERATURE = Parameter("temperature", 0, 2)
SMALL_TEMPERATURE = Parameter("temperature", 0, 1)  # Anthropic, Amazon and the models that Bedrock hosts
EFFORT = Parameter("reasoning_effort", values=("low", "medium", "high"))
UNKNOWN = (TEMPERATURE, LENGTH)

# OpenAI's reasoning models refuse a temperature. Of the first ones, some take no effort either.
_OPENAI_REASONING = re.compile(r"(?:^|/)(?:o\d|gpt-(?:[5-9]|\d\d))")
_OPENAI_PLAIN = re.compile(r"chat")
_NO_EFFORT = re.compile(r"(?:^|/)o1-(?:mini|preview)|-pro(?:-|$)|-search")
_GEMINI_THINKING = re.compile(r"gemini-(?:2\.5|[3-9])")
# Claude: from these on an effort, and from Opus 4.7 and the fifth generation on no temperature.
_CLAUDE = re.compile(r"claude")
_CLAUDE_EFFORT = re.compile(
    r"claude-(?:opus-4-[5-9]|(?:sonnet|haiku)-4-[6-9]|mythos|[a-z]+-(?:[5-9]|\d\d)(?:-|$|[.:@]))"
)
_CLAUDE_NO_TEMPERATURE = re.compile(
    r"claude-(?:opus-4-[7-9]|(?:sonnet|haiku)-4-[7-9]|mythos|[a-z]+-(?:[5-9]|\d\d)(?:-|$|[.:@]))"
)
_CLAUDE_BUDGET = re.compile(r"claude-(?:3-7|(?:sonnet|opus|haiku)-4(?:-|$|@))")


def openai_parameters(model: str) -> tuple[Parameter, ...]:
    """Of a model of an OpenAI-compatible server, also of one that passes requests on to other providers."""
    name = model.lower()
    if is_openai_reasoning(name):
        return (LENGTH,) if _NO_EFFORT.search(name) else (LENGTH, EFFORT)
    if _CLAUDE.search(name):
        return (LENGTH,) if _CLAUDE_NO_TEMPERATURE.search(name) else (SMALL_TEMPERATURE, LENGTH)
    if "gpt-oss" in name or _GEMINI_THINKING.search(name):
        return (TEMPERATURE, LENGTH, EFFORT)
    return UNKNOWN


def is_openai_reasoning(model: str) -> bool:
    """One that wants its limit of tokens as `max_completion_tokens`."""
    name = model.lower()
    return bool(_OPENAI_REASONING.search(name)) and not _OPENAI_PLAIN.search(name)


def anthropic_parameters(model: str) -> tuple[Parameter, ...]:
    """Anthropic's SDK has no temperature any more."""
    name = model.lower()
    thinks = _CLAUDE_EFFORT.search(name) or _CLAUDE_BUDGET.search(name)
    return (LENGTH, EFFORT) if thinks else (LENGTH,)


def takes_thinking_budget(model: str) -> bool:
    """A Claude that knows no effort, but a number of tokens to think with."""
    name = model.lower()
    return bool(_CLAUDE_BUDGET.search(name)) and not _CLAUDE_EFFORT.search(name)


def bedrock_parameters(model: str) -> tuple[Parameter, ...]:
    name = model.lower()
    if _CLAUDE.search(name):
        temperature = () if _CLAUDE_NO_TEMPERATURE.search(name) else (SMALL_TEMPERATURE,)
        return (*temperature, LENGTH, EFFORT) if _CLAUDE_EFFORT.search(name) else (*temperature, LENGTH)
    if "gpt-oss" in name:
        return (SMALL_TEMPERATURE, LENGTH, EFFORT)
    return (SMALL_TEMPERATURE, LENGTH)


def accepted(given: Mapping[str, Any], known: Iterable[Parameter]) -> dict[str, Any]:
    """Those of `given` that the model takes."""
    by_name = {parameter.name: parameter for parameter in known}
    return {name: value for name, value in given.items() if name in by_name and by_name[name].takes(value)}


def require_accepted(given: Mapping[str, Any], known: Iterable[Parameter], *, model: str) -> None:
    """ValidationError naming the first parameter that the model does not take, or not with this value."""
    by_name = {parameter.name: parameter for parameter in known}
    for name, value in given.items():
        if name not in by_name:
            raise ValidationError("models.parameter_not_taken", parameter=in_words(name), model=model)
        if not by_name[name].takes(value):
            raise ValidationError("models.parameter_out_of_range", parameter=in_words(name), model=model)


def in_words(name: str) -> Message | str:
    """As the page calls the parameter."""
    words = {
        "temperature": Message("models.parameter_temperature"),
        "max_tokens": Message("models.parameter_max_tokens"),
        "reasoning_effort": Message("models.parameter_reasoning_effort"),
    }
    return words.get(name, f"`{name}`")
