"""What a provider's error means, read from its body: the same status stands for a conversation that is too long, a
model without tools and a refused question."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Cause = Literal["context", "filter", "images", "tools", "key", "quota", "rate", "model", "parameter"]

# In the order in which they are tried, as OpenAI, Azure, Anthropic, Bedrock, LiteLLM, llama.cpp, vLLM, Ollama and
# LM Studio write them.
_PHRASES: dict[Cause, str] = {
    "context": r"context[_ ]?(?:length|size|window)|maximum context|(?:prompt|input) is too long"
    r"|too many (?:input )?tokens|input length and `?max_tokens`? exceed|context (?:the )?overflow|reduce the length",
    "filter": r"content[_ ]?(?:filter|policy|management)|responsible ?ai|safety (?:system|settings)|was flagged",
    "images": r"(?:not|n't) support (?:image|vision|multimodal)|image (?:input|content|url)s? (?:is|are) not|mmproj"
    r"|support image input|image_url.{0,40}(?:not|only) supported|vision is not|not a multimodal",
    "tools": r"(?:not|n't) support (?:tools?|functions?)|tools? (?:use |calling )?(?:is|are) not supported"
    r"|support tool use|enable-auto-tool-choice|function calling is not",
    "quota": r"insufficient_quota|exceeded your current quota|billing|credit balance|payment required",
    "key": r"invalid[_ ](?:x-)?api[_ ]?key|incorrect api key|authentication_error|no api[_ ]key"
    r"|no_db_connection",  # the LiteLLM proxy, which without a database knows one key
    "rate": r"rate[_ ]?limit|too many requests|overloaded",
    "model": r"model_not_found|model .{0,80}(?:not found|does not exist)|invalid model name",
}
_CAUSES = {cause: re.compile(phrases, re.IGNORECASE) for cause, phrases in _PHRASES.items()}
# A parameter of the conversation, and that it is not taken. Only where the error has none of the causes above.
_PARAMETER = re.compile(
    r"(temperature)|(max_?(?:completion_|output_)?tokens|maximum tokens)|(effort|thinking)", re.IGNORECASE
)
_PARAMETER_NAMES = ("temperature", "max_tokens", "reasoning_effort")
_REFUSED = re.compile(
    r"unsupported|deprecated|(?:not|n't) (?:be )?(?:support|permit|accept|allow)|extra inputs|must be|invalid value"
    r"|unknown (?:parameter|name|field)|unrecognized|maximum allowed|exceeds|too (?:large|high)",
    re.IGNORECASE,
)
_LIMIT = re.compile(r"(?:context length is |context size \(|tokens > )(\d{3,8})", re.IGNORECASE)
_USED = re.compile(
    r"(?:request \(|too long: |resulted in |requested (?:about )?|contains (?:at least )?)(\d{3,9})", re.IGNORECASE
)
_MAX_TEXT = 4_000  # characters; some gateways repeat the whole request
_MAX_WAIT_SECONDS = 86_400


@dataclass(frozen=True)
class ProviderError:
    """`limit` is the model's context in tokens and `used` what the request has, and `wait` how many seconds to wait,
    where the provider says so. `parameter` is the one that was refused."""

    cause: Cause | None = None
    limit: int | None = None
    wait: int | None = None
    used: int | None = None
    parameter: str | None = None


UNKNOWN = ProviderError()


def read_error(body: object, headers: Mapping[str, str] | None = None) -> ProviderError:
    """Of an error's parsed body and its headers."""
    text = " ".join(_texts(body))[:_MAX_TEXT]
    cause = next((cause for cause, pattern in _CAUSES.items() if pattern.search(text)), None)
    wait = _wait(headers or {})
    if cause is None and (refused := _refused_parameter(text)):
        return ProviderError("parameter", wait=wait, parameter=refused)
    if cause != "context":
        return ProviderError(cause, wait=wait)
    limit, used = _number(body, text, "n_ctx", _LIMIT), _number(body, text, "n_prompt_tokens", _USED)
    return ProviderError(cause, limit, wait, used if used and limit and used > limit else None)


def _refused_parameter(text: str) -> str | None:
    found = _PARAMETER.search(text)
    if not found or not _REFUSED.search(text):
        return None
    return next(name for name, group in zip(_PARAMETER_NAMES, found.groups(), strict=True) if group)


def _texts(body: object) -> list[str]:
    """Types, codes and messages, at whatever depth: gateways wrap the errors of others."""
    match body:
        case str():
            return [body]
        case dict():
            return [text for value in body.values() for text in _texts(value)]
        case list():
            return [text for value in body for text in _texts(value)]
    return []


def _number(body: object, text: str, field: str, pattern: re.Pattern[str]) -> int | None:
    """llama.cpp has a field for it, others write it into the message."""
    fields: Any = body.get("error", body) if isinstance(body, dict) else {}
    if isinstance(fields, dict) and isinstance(fields.get(field), int):
        return int(fields[field])
    found = pattern.search(text)
    return int(found.group(1)) if found else None


def _wait(headers: Mapping[str, str]) -> int | None:
    given = headers.get("retry-after", "")
    return min(int(given), _MAX_WAIT_SECONDS) if given.isdigit() else None
