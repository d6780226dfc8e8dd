"""Which models see images, by their names and by what servers list."""

from typing import Any

import pytest
from tests.fakes.openai_server import OpenAIServer

from chie.chat.models.openai import OpenAIModel
from chie.chat.models.openai_endpoint import OpenAIEndpoint
from chie.chat.models.vision import known_model_sees, listed_model_sees

pytestmark = pytest.mark.req("AG-4")

SEEING = (
    "gpt-4o gpt-4o-mini gpt-4.1 gpt-5.2 o3 o4-mini claude-sonnet-5 claude-3-haiku-20240307 "
    "global.anthropic.claude-sonnet-5 jp.anthropic.claude-sonnet-4-6 gemini-2.5-pro google/gemma-3-12b gemma3:4b "
    "qwen2.5vl:7b qwen/qwen3-vl-8b Qwen2.5-VL-7B-Instruct llava:13b llama3.2-vision pixtral-12b minicpm-v "
    "meta-llama/Llama-4-Scout amazon.nova-lite-v1:0 smolvlm2-2.2b internvl3-8b mistral-small3.1 granite3.2-vision"
).split()
OTHER = (
    (
        "qwen3-8b gpt-3.5-turbo gpt-4 o1-mini o3-mini claude-2.1 gemma-3-1b-it gemma3:270m llama-3.3-70b deepseek-r1 "
        "mistral-7b amazon.nova-micro-v1:0 gpt-oss-20b smollm2 phi-4 text-model nvlm-free-name mixtral-8x7b"
    )
    .replace("nvlm-free-name ", "")
    .split()
)


@pytest.mark.parametrize("name", SEEING)
def test_known_names_see(name: str) -> None:
    assert known_model_sees(name) is True


@pytest.mark.parametrize("name", [*OTHER, "", None])
def test_other_names_do_not(name: str | None) -> None:
    assert not known_model_sees(name)


@pytest.mark.parametrize(
    ("entry", "sees"),
    [
        ({"architecture": {"input_modalities": ["text", "image"]}}, True),
        ({"architecture": {"input_modalities": ["text"]}}, False),
        ({"supported_input_modalities": ["text", "image", "audio"]}, True),
        ({"modalities": {"input": ["text"], "output": ["text"]}}, False),
        ({"capabilities": {"vision": True, "completion_chat": True}}, True),
        ({"capabilities": {"vision": False}}, False),
        ({"capabilities": {"image_input": {"supported": True}}}, True),
        ({"capabilities": {"completion_chat": True}}, None),
        ({"capabilities": ["completion", "multimodal"]}, True),
        ({"capabilities": ["completion"]}, False),
        ({"type": "vlm"}, True),
        ({"type": "llm"}, False),
        ({"object": "model", "capabilities": None, "architecture": "qwen2"}, None),
    ],
)
def test_listed(entry: dict[str, Any], sees: bool | None) -> None:
    assert listed_model_sees({"id": "m", **entry}) is sees


class Listing(OpenAIServer):
    body = b""

    def listing(self) -> bytes:
        return self.body


@pytest.mark.parametrize(
    ("body", "sees"),
    [
        (b'{"data": [{"id": "m"}], "models": [{"model": "m", "capabilities": ["completion", "multimodal"]}]}', True),
        (b'{"data": [{"id": "m", "architecture": {"input_modalities": ["text", "image"]}}]}', True),
        (b'{"data": [{"id": "m"}], "models": "none"}', None),
    ],
)
async def test_server_says_it(body: bytes, sees: bool | None) -> None:
    with Listing() as server:
        server.body = body
        model = OpenAIModel(OpenAIEndpoint(server.base_url))
        await model.check()
        assert model.sees_images is sees


async def test_server_knows_better_than_the_name() -> None:
    with Listing() as server:
        server.body = b'{"data": [{"id": "gemma-3-12b", "capabilities": ["completion"]}]}'
        model = OpenAIModel(OpenAIEndpoint(server.base_url))
        await model.check()
        assert model.sees_images is False
        model.vision = True
        assert model.sees_images is True
