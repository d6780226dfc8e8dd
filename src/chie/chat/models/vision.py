"""Whether a model reads images: as its server's list of models says, or by the names of known models."""

import re
from collections.abc import Mapping
from typing import Any

MAX_NAME = 300  # characters; longer ones are no names
_SEES = re.compile(
    r"gpt-4o|gpt-4\.[15]|gpt-4-(?:turbo|vision)|gpt-5|chatgpt-4o|\bo[134]\b"
    r"|claude-(?:3|opus|sonnet|haiku|\w+-[4-9])|gemini|pixtral|mistral-(?:small-?3\.[1-9]|medium-3|large-3)"
    r"|llama-?4|qvq|gemma-?[3-9]|internvl|minicpm-[vo]|llava|moondream|smolvlm|glm-?4(?:\.\d)?v|molmo|idefics"
    r"|nova-(?:lite|pro|premier|2)|grok-[4-9]|\bvlm?\b|[-.\d]vl\b|vision|multimodal|omni",
    re.IGNORECASE,
)
_BLIND = re.compile(r"\bo[13]-mini|\bo1-preview|gemma-?3(?:n|[-:](?:1b|270m))|nova-micro|gpt-oss", re.IGNORECASE)

_INPUTS = ("input_modalities", "supported_input_modalities", "input")
_IMAGE = {"image", "images", "vision", "multimodal", "image_input"}


def known_model_sees(name: str | None) -> bool | None:
    """None for a model whose name says nothing about it."""
    if not name or len(name) > MAX_NAME:
        return None
    if _BLIND.search(name):
        return False
    return True if _SEES.search(name) else None


def listed_model_sees(entry: Mapping[str, Any]) -> bool | None:
    """From an entry of `GET /models`, as OpenRouter, Mistral, llama.cpp, LM Studio, GitHub and Anthropic write it."""
    if entry.get("type") in ("vlm", "llm"):
        return bool(entry["type"] == "vlm")
    for inputs in _input_lists(entry):
        return not _IMAGE.isdisjoint(inputs)
    capabilities = entry.get("capabilities")
    if isinstance(capabilities, Mapping):
        found = [_supported(value) for name, value in capabilities.items() if name in _IMAGE]
        return any(found) if found else None
    if isinstance(capabilities, list) and capabilities:
        return not _IMAGE.isdisjoint(map(str, capabilities))
    return None


def _input_lists(entry: Mapping[str, Any]) -> list[list[str]]:
    places = [entry, entry.get("architecture"), entry.get("modalities")]
    found = [place.get(name) for place in places if isinstance(place, Mapping) for name in _INPUTS]
    return [list(map(str, value)) for value in found if isinstance(value, list)]


def _supported(value: object) -> bool:
    return bool(value.get("supported")) if isinstance(value, Mapping) else bool(value)
