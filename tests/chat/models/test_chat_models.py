"""Which models of a list can chat, and which comes first."""

import pytest

from chie.chat.models.chat_models import chat_models


@pytest.mark.req("AG-5")
@pytest.mark.parametrize(
    ("listed", "found"),
    [
        (
            [
                "davinci-002",
                "text-embedding-3-small",
                "omni-moderation-latest",
                "gpt-4o",
                "whisper-1",
                "gpt-4o-mini-tts",
            ],
            ["gpt-4o"],
        ),
        (["dall-e-3", "gpt-3.5-turbo-instruct", "babbage-002", "o3-mini", "gpt-image-1"], ["o3-mini"]),
        (["computer-use-preview", "gpt-5", "claude-opus-4-5"], ["gpt-5", "claude-opus-4-5", "computer-use-preview"]),
        (
            ["nomic-embed-text", "qwen3:8b", "BAAI/bge-m3", "llama-3.2-3b-instruct"],
            ["qwen3:8b", "llama-3.2-3b-instruct"],
        ),
        (["intfloat/multilingual-e5-large", "cross-encoder/ms-marco-MiniLM-L6", "adapter-x"], ["adapter-x"]),
        ([], []),
    ],
)
def test_chat_models_come_first_and_others_not_at_all(listed: list[str], found: list[str]) -> None:
    assert chat_models(listed) == found
