"""Errors as providers and gateways really write them."""

import pytest

from chie.chat.models.provider_error import ProviderError, read_error


@pytest.mark.req("AG-6")
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            {
                "code": 400,
                "message": "request (7071 tokens) exceeds the available context size (4096 tokens), try increasing it",
                "type": "exceed_context_size_error",
                "n_prompt_tokens": 7071,
                "n_ctx": 4096,
            },
            ProviderError("context", 4096, used=7071),
        ),
        (
            {"message": "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens"},
            ProviderError("context", 8192, used=9000),
        ),
        ({"code": "context_length_exceeded", "message": "…"}, ProviderError("context")),
        (
            {
                "error": {
                    "type": "invalid_request_error",
                    "message": "prompt is too long: 210000 tokens > 200000 maximum",
                }
            },
            ProviderError("context", 200_000, used=210_000),
        ),
        ("Input is too long for requested model.", ProviderError("context")),
        ({"message": "litellm.ContextWindowExceededError: …", "code": "400"}, ProviderError("context")),
        (
            {"code": "content_filter", "innererror": {"code": "ResponsibleAIPolicyViolation"}},
            ProviderError("filter"),
        ),
        ({"message": "registry.ollama.ai/library/gemma:2b does not support tools"}, ProviderError("tools")),
        (
            {"message": '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'},
            ProviderError("tools"),
        ),
        ("This model doesn't support tool use.", ProviderError("tools")),
        ({"code": "insufficient_quota", "message": "You exceeded your current quota"}, ProviderError("quota")),
        ({"message": "Your credit balance is too low to access the Anthropic API."}, ProviderError("quota")),
        ({"code": "invalid_api_key", "message": "Incorrect API key provided: sk-x"}, ProviderError("key")),
        ({"type": "authentication_error", "message": "invalid x-api-key"}, ProviderError("key")),
        ({"message": "No connected db.", "type": "no_db_connection", "code": "400"}, ProviderError("key")),
        ({"message": "Rate limit reached for gpt-4o in organization org-x"}, ProviderError("rate")),
        ({"code": "model_not_found"}, ProviderError("model")),
        ({"message": "something else"}, ProviderError()),
        (None, ProviderError()),
        ([{"deep": [{"message": "maximum context length is 512 tokens"}]}], ProviderError("context", 512)),
    ],
)
def test_the_cause_is_read_from_the_body(body: object, expected: ProviderError) -> None:
    assert read_error(body) == expected


@pytest.mark.req("AG-6")
@pytest.mark.parametrize(("given", "wait"), [("7", 7), ("Wed, 21 Oct 2026 07:28:00 GMT", None), ("", None)])
def test_the_seconds_to_wait_are_read_from_the_headers(given: str, wait: int | None) -> None:
    assert read_error({"message": "Too many requests"}, {"retry-after": given}) == ProviderError("rate", None, wait)
