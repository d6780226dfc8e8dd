"""The prompt caches of Anthropic and Bedrock find most of a conversation again."""

import pytest

from bench import prompt_cache


async def test_most_tokens_are_not_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ENDPOINT_URL_BEDROCK_RUNTIME", "ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "EC2_METADATA_DISABLED"):
        monkeypatch.setenv(f"AWS_{name}", "set and restored by the test")
    found = await prompt_cache.measure()
    assert set(found) == {"Anthropic", "Amazon Bedrock"}
    for total, cached in found.values():
        assert cached > 0.8 * total


def test_requests_without_marks_are_sent_whole() -> None:
    request = {"messages": [{"role": "user", "content": "x" * 400}]}
    assert prompt_cache.spared([request, request]) == (prompt_cache.spared([request])[0] * 2, 0)
