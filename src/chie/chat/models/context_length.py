"""How many tokens a model reads, as its server says. OpenAI's protocol has no field for it; servers have their own."""

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx2

# What the server has loaded comes before what the model could read.
_FIELDS = (
    "loaded_context_length",  # LM Studio
    "n_ctx",  # llama.cpp
    "max_model_len",  # vLLM
    "context_length",  # OpenRouter, Ollama, Together
    "context_window",  # Groq
    "max_input_tokens",  # LiteLLM, Anthropic
    "max_context_length",  # Mistral, LM Studio
    "n_ctx_train",
)
_NESTED = ("meta", "model_info", "top_provider", "default_generation_settings")
NATIVE_PATHS = ("/api/v0/models", "/api/ps", "/props", "/model/info")  # LM Studio, Ollama, llama.cpp, LiteLLM
LEAST, MOST = 256, 100_000_000


def context_length(entry: dict[str, Any]) -> int | None:
    """Of one model of a listing."""
    fields = {name: value for part in _NESTED for name, value in (entry.get(part) or {}).items()} | entry
    found = (fields.get(name) for name in _FIELDS)
    return next((value for value in found if isinstance(value, int) and LEAST <= value <= MOST), None)


def context_lengths(body: Any) -> dict[str, int]:  # noqa: ANN401
    """By the name of the model; under no name where the server has one model and does not say which."""
    return {name: length for entry in _entries(body) if (length := context_length(entry)) for name in _names(entry)}


async def native_context(client: "httpx2.AsyncClient", root: str, model: str) -> int | None:
    """Asks by the paths of servers that do not put it into their listing; a server knows one of them at most."""
    answers = await asyncio.gather(*(client.get(root + path) for path in NATIVE_PATHS), return_exceptions=True)
    for answer in answers:
        if isinstance(answer, BaseException) or answer.status_code != 200:
            continue
        try:
            found = context_lengths(answer.json())
        except (ValueError, TypeError, AttributeError):
            continue
        if length := found.get(model) or found.get(""):
            return length
    return None


def _entries(body: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    listed = body.get("data") or body.get("models") if isinstance(body, dict) else None
    entries = listed if isinstance(listed, list) else [body]
    return [entry for entry in entries if isinstance(entry, dict)]


def _names(entry: dict[str, Any]) -> Iterator[str]:
    names = [entry[name] for name in ("id", "name", "model", "model_name") if isinstance(entry.get(name), str)]
    yield from names or [""]
