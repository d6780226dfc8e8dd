"""Errors as providers and gateways really write them."""

import pytest

from chie.chat.models.endpoint import Endpoint
from chie.chat.models.errors import ContextError
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
            {"message": "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease them"},
            ProviderError("context", 200_000),
        ),
        (
            [
                {
                    "error": {
                        "message": "The input token count (1200000) exceeds the maximum number of tokens allowed "
                        "(1048576).",
                        "status": "INVALID_ARGUMENT",
                    }
                }
            ],
            ProviderError("context", 1_048_576, used=1_200_000),
        ),
        (
            {"error": "This model's maximum prompt length is 131072 but the request contains 537812 tokens."},
            ProviderError("context", 131_072, used=537_812),
        ),
        (
            {
                "message": "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum "
                "context length"
            },
            ProviderError("context", 32_768, used=40_000),
        ),
        (
            {"message": "The input (5000 tokens) is longer than the model's context length (4096 tokens)."},
            ProviderError("context", 4_096, used=5_000),
        ),
        (
            "Trying to keep the first 4812 tokens when context the overflows, with context length of only 4096 tokens",
            ProviderError("context", 4_096),
        ),
        ("Invalid request: Your request exceeded model token limit: 8192", ProviderError("context", 8_192)),
        (
            {
                "code": "tokens_limit_reached",
                "message": "Request body too large for gpt-4o model. Max size: 8000 tokens.",
            },
            ProviderError("context", 8_000),
        ),
        (
            {"error": "Input validation error: `inputs` must have less than 4096 tokens. Given: 5012"},
            ProviderError("context", 4_096, used=5_012),
        ),
        ("Input Tokens Exceeded: Number of input tokens exceeds maximum length.", ProviderError("context")),
        ("Please reduce the length of the messages or completion.", ProviderError("context")),
        (
            "BedrockException: Rate Limit Error - Too many tokens, please wait before trying again.",
            ProviderError("rate"),
        ),
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
        ({"code": 500, "message": "tools param requires --jinja flag", "type": "server_error"}, ProviderError("tools")),
        ("`tool calling` is not supported with this model", ProviderError("tools")),
        ("UnsupportedParamsError: x does not support parameters: ['tools'], for model=y", ProviderError("tools")),
        ("No endpoints found that support tool use.", ProviderError("tools")),
        ("This model doesn't support the image content block that you provided.", ProviderError("images")),
        ("Failed to deserialize: unknown variant `image_url`, expected `text`", ProviderError("images")),
        ("Content Exists Risk", ProviderError("filter")),
        (
            "messages.1.content.0: Invalid `signature` in `thinking` block. It is bound to a different conversation.",
            ProviderError("reasoning"),
        ),
        (
            "messages.3.content.1: `thinking` or `redacted_thinking` blocks in the latest message cannot be modified.",
            ProviderError("reasoning"),
        ),
        ({"code": "insufficient_quota", "message": "You exceeded your current quota"}, ProviderError("quota")),
        ({"message": "Your credit balance is too low to access the Anthropic API."}, ProviderError("quota")),
        ({"code": "invalid_api_key", "message": "Incorrect API key provided: sk-x"}, ProviderError("key")),
        ({"type": "authentication_error", "message": "invalid x-api-key"}, ProviderError("key")),
        (
            [{"error": {"code": 400, "message": "API key not valid. Please pass a valid API key."}}],
            ProviderError("key"),
        ),
        ({"message": "Insufficient Balance"}, ProviderError("quota")),
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
@pytest.mark.parametrize(
    ("given", "wait"),
    [
        ("7", 7),
        ("1.2", 2),
        ("0", None),
        ("-3", None),
        ("99999999", 86_400),
        ("Fri, 31 Dec 2100 23:59:59 GMT", 86_400),
        ("Wed, 21 Oct 2015 07:28:00 GMT", None),
        ("soon", None),
        ("", None),
    ],
)
def test_the_seconds_to_wait_are_read_from_the_headers(given: str, wait: int | None) -> None:
    assert read_error({"message": "Too many requests"}, {"retry-after": given}) == ProviderError("rate", None, wait)


@pytest.mark.req("AG-6")
@pytest.mark.parametrize(
    ("body", "wait"),
    [
        ("Rate limit reached for gpt-4o. Please try again in 6.2s.", 7),
        ("Rate limit reached for model. Please try again in 2m59.56s.", 180),
        ("Rate limit reached. Please try again in 420ms.", 1),
        ({"status": "RESOURCE_EXHAUSTED", "details": [{"@type": "RetryInfo", "retryDelay": "34s"}]}, 34),
        ("Rate limit reached for requests per day", None),
    ],
    ids=["seconds", "minutes", "milliseconds", "Google", "none"],
)
def test_the_seconds_to_wait_are_read_from_the_body(body: object, wait: int | None) -> None:
    assert read_error(body) == ProviderError("rate", wait=wait)
    assert read_error(body, {"retry-after": "5"}).wait == 5


@pytest.mark.req("AG-6")
def test_too_many_tokens_a_minute_is_not_too_long_a_conversation() -> None:
    told = read_error("too many tokens: 40000 > 30000")
    failed = Endpoint("http://model.test").failed
    assert isinstance(failed(400, "m", error=told), ContextError)
    assert failed(429, "m", error=told).code == "models.rate_limited"
