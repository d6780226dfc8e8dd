"""What a provider's error means, read from its body: the same status stands for a conversation that is too long, a
model without tools and a refused question."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import ceil
from typing import Any, Literal

Cause = Literal["context", "filter", "images", "tools", "key", "quota", "rate", "reasoning", "model", "parameter"]

# In the order in which they are tried, as OpenAI, Azure, Anthropic, Bedrock, Google, xAI, Mistral, Groq, Moonshot,
# DeepSeek, LiteLLM, OpenRouter, GitHub, llama.cpp, vLLM, SGLang, TGI, Ollama and LM Studio write them.
_PHRASES: dict[Cause, str] = {
    "context": r"context[_ ]?(?:length|size|window)|maximum (?:context|prompt length)|(?:prompt|input) is too long"
    r"|too many (?:input )?tokens(?!,? (?:please|per))|(?:prompt|input) token count .{0,40}exceeds"
    r"|input tokens exceed|input length and `?max_tokens`? exceed|context (?:the )?overflow|reduce the length"
    r"|prompt exceeds max|exceeded model token limit|tokens_limit_reached|range of input length"
    r"|`inputs` (?:must have less than|tokens \+ )",
    "filter": r"content[_ ]?(?:filter|policy|management)|responsible ?ai|safety (?:system|settings)|was flagged"
    r"|content exists risk|inappropriate content|data_inspection_failed|prohibited[_ ]content",
    "images": r"(?:not|n't) support (?:the )?(?:image|vision|multimodal)|image (?:input|content|url)s? (?:is|are) not"
    r"|mmproj|support image input|image_url.{0,40}(?:not|only) supported|vision is not|not a multimodal"
    r"|required for image input|at most 0 image|unknown variant `image_url`",
    "tools": r"(?:not|n't) support (?:tools?|functions?)|tools?`? (?:use|calling)?`? ?(?:is|are) not (?:support|enabl)"
    r"|tools are not|support tool use|enable-auto-tool-choice|function calling is not|tools param requires"
    r"|(?:not|n't) support parameters: \[[^\]]{0,80}'tools'",
    "quota": r"insufficient_quota|exceeded your current quota|billing|credit balance|payment required"
    r"|insufficient (?:credits|balance|funds)",
    "key": r"invalid[_ ](?:x-)?api[_ ]?key|incorrect api key|authentication_error|no api[_ ]key"
    r"|api[_ ]key (?:is )?(?:not valid|invalid|expired)"
    r"|no_db_connection",  # the LiteLLM proxy, which without a database knows one key
    "rate": r"rate[_ ]?limit|too many requests|overloaded|resource_exhausted",
    "reasoning": r"(?:redacted_)?thinking`? blocks?|reasoning_content.{0,60}(?:passed back|missing)",
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
_LIMIT = re.compile(
    r"(?:(?:context|prompt) (?:length|size|window)(?: is | of (?:only )?| ?\()|tokens > |\+ \d+ > |model token limit: "
    r"|tokens allowed \(|max size: |less than |must be <= )(\d{3,8})|(\d{3,8}) maximum context",
    re.IGNORECASE,
)
_USED = re.compile(
    r"(?:request \(|input \(|token count \(|too long: |resulted in |requested (?:about )?|given: "
    r"|contains (?:at least )?)(\d{3,9})",
    re.IGNORECASE,
)
# Of the body, as Google, Groq and OpenAI write it.
_WAIT = re.compile(r"(?:retry in |try again in |retry ?delay\W+)(?:(\d+)m)?(\d+(?:\.\d+)?)(m?s)", re.IGNORECASE)
_SECONDS = re.compile(r"\d{1,9}(?:\.\d{1,9})?")
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
    wait = _wait(headers or {}, text)
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
            named = [f"{name}: {value}" for name, value in body.items() if name == "retryDelay"]
            return [*named, *(text for value in body.values() for text in _texts(value))]
        case list():
            return [text for value in body for text in _texts(value)]
    return []


def _number(body: object, text: str, field: str, pattern: re.Pattern[str]) -> int | None:
    """llama.cpp has a field for it, others write it into the message."""
    fields: Any = body.get("error", body) if isinstance(body, dict) else {}
    if isinstance(fields, dict) and isinstance(fields.get(field), int):
        return int(fields[field])
    found = pattern.search(text)
    return next((int(number) for number in found.groups() if number), None) if found else None


def _wait(headers: Mapping[str, str], text: str) -> int | None:
    """Whole seconds, rounded up. The header has seconds or a date; some providers write the time into the message."""
    given = headers.get("retry-after", "").strip()
    seconds = float(given) if _SECONDS.fullmatch(given) else _until(given)
    if seconds is None and (found := _WAIT.search(text)):
        minutes, number, unit = found.groups()
        seconds = 60 * int(minutes or 0) + float(number) / (1_000 if unit.lower() == "ms" else 1)
    return min(ceil(seconds), _MAX_WAIT_SECONDS) if seconds and seconds > 0 else None


def _until(date: str) -> float | None:
    try:
        return (parsedate_to_datetime(date) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError):  # no date, or one without a zone
        return None
