"""Parameters of a request under the names of a provider that is not OpenAI-compatible."""

from collections.abc import Mapping
from typing import Any

from chie.chat.models.errors import ModelError


def translated(parameters: Mapping[str, Any], names: Mapping[str, str], *, model: str) -> dict[str, Any]:
    """By the provider's own `names`; ModelError naming those that it does not have."""
    if unknown := [name for name in parameters if name not in names]:
        raise ModelError("models.parameters_unsupported", names=unknown, model=model)
    return {names[name]: _value(name, value) for name, value in parameters.items()}


def _value(name: str, value: Any) -> Any:  # noqa: ANN401 - JSON
    """OpenAI takes one stop sequence as a text, the others only lists."""
    return [value] if name == "stop" and isinstance(value, str) else value
