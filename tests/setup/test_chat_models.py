"""Which models of a list can chat, and which comes first."""

import pytest

from chie.setup.chat_models import chat_models, listed_model_chats


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
        (["ft:davinci-002:acme::1", "code-davinci-002", "text-similarity-ada-001", "adapter-x"], ["adapter-x"]),
        (["models/gemini-2.0-flash-live-001", "models/aqa", "models/veo-3.0", "models/gemma-3"], ["models/gemma-3"]),
        (["all-minilm:l6-v2", "voyage-3", "cl-nagoya/ruri-v3-310m", "shieldgemma-2b", "phi4"], ["phi4"]),
        (["amazon.nova-canvas-v1:0", "amazon.nova-sonic-v1:0", "amazon.nova-lite-v1:0"], ["amazon.nova-lite-v1:0"]),
        (["stable-diffusion-3", "canopylabs/orpheus-v1", "wan2.2-t2v", "gpt-realtime", "grok-4"], ["grok-4"]),
        ([], []),
    ],
)
def test_chat_models_come_first_and_others_not_at_all(listed: list[str], found: list[str]) -> None:
    assert chat_models(listed) == found


@pytest.mark.req("AG-5")
def test_current_model_comes_before_old_dated_and_special_ones() -> None:
    listed = ["gpt-4-0613", "gpt-4", "gpt-3.5-turbo", "gpt-5-search-api", "gpt-4o-2024-05-13", "gpt-4o", "ft:gpt-4o::x"]
    assert chat_models(listed)[0] == "gpt-4o"
    assert sorted(chat_models(listed)) == sorted(listed), "they can be chosen"


@pytest.mark.req("AG-5")
def test_models_of_the_responses_api_are_left_out_for_openai_alone() -> None:
    listed = [
        "gpt-5-pro",
        "o3-pro",
        "gpt-5.1-codex-max",
        "codex-mini-latest",
        "o3-deep-research",
        "gpt-5",
        "gpt-5-mini",
    ]
    assert chat_models(listed, openai=True) == ["gpt-5", "gpt-5-mini"]
    assert chat_models(listed) == [name for name in listed if name != "codex-mini-latest"] + ["codex-mini-latest"]


@pytest.mark.req("AG-5")
@pytest.mark.parametrize(
    ("entry", "chats"),
    [
        ({"id": "a", "type": "chat"}, True),
        ({"id": "a", "type": "language"}, False),
        ({"id": "a", "type": "embeddings"}, False),
        ({"id": "a", "type": "model"}, None),
        ({"id": "a", "capabilities": {"completion_chat": False, "completion_fim": True}}, False),
        ({"id": "a", "capabilities": {"chat_completion": True}}, True),
        ({"id": "a", "capabilities": ["completion"]}, None),
        ({"id": "a", "architecture": {"output_modalities": ["text"]}}, True),
        ({"id": "a", "architecture": {"output_modalities": ["image"]}}, False),
        ({"id": "a", "supported_output_modalities": ["embeddings"]}, False),
        ({"id": "a", "object": "model"}, None),
    ],
)
def test_list_may_say_which_models_chat(entry: dict[str, object], chats: bool | None) -> None:
    assert listed_model_chats(entry) is chats
