"""The program `llm`, a client of `/v1` that is not ours, as its users run it."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.chat.api.test_openai_options import v1
from tests.fakes.model_app import ModelApp
from tests.fakes.model_server import Use, say, use

__all__ = ["v1"]

pytestmark = pytest.mark.req("AG-14")

WEATHER = """
def weather(city: str) -> str:
    "The weather of a city."
    return city + "は晴れ"
"""


async def llm(v1: ModelApp, folder: Path, *arguments: str) -> str:
    models = [
        {"model_id": name, "model_name": "chat", "api_base": f"{v1.url}/v1", "supports_tools": True}
        | {"supports_schema": True, "responses": name == "responses"}
        for name in ("chie", "responses")
    ]
    (folder / "extra-openai-models.yaml").write_text(json.dumps(models), encoding="utf-8")
    environment = {**os.environ, "LLM_USER_PATH": str(folder), "OPENAI_API_KEY": "any"}
    program = Path(sys.executable).with_name("llm")
    process = await asyncio.create_subprocess_exec(
        str(program), *arguments, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, problems = await process.communicate()
    assert process.returncode == 0, problems.decode()
    return out.decode()


@pytest.mark.parametrize("model", ["chie", "responses"])
async def test_system_text_and_options(v1: ModelApp, tmp_path: Path, model: str) -> None:
    v1.openai.script.append(say("知恵は", "力。"))
    options = ("-s", "Answer in Japanese.", "-o", "temperature", "0.2")
    assert await llm(v1, tmp_path, "-m", model, *options, "What is Chie?") == "知恵は力。\n"
    sent = v1.openai.seen[0]
    assert sent["temperature"] == 0.2
    assert sent["messages"][0]["content"].endswith("Answer in Japanese.")
    assert sent["messages"][1:] == [{"role": "user", "content": "What is Chie?"}]


@pytest.mark.parametrize("model", ["chie", "responses"])
@pytest.mark.parametrize("stream", [(), ("--no-stream",)], ids=["stream", "whole"])
async def test_functions_of_the_client(v1: ModelApp, tmp_path: Path, model: str, stream: tuple[str, ...]) -> None:
    v1.openai.script.extend([use(Use("weather", '{"city": "東京"}', "c1")), say("東京は晴れです。")])
    answer = await llm(v1, tmp_path, "-m", model, "--functions", WEATHER, *stream, "東京の天気は？")
    assert answer == "東京は晴れです。\n"
    assert v1.openai.tools(v1.openai.seen[0]) == ["weather"]
    assert v1.openai.results(v1.openai.seen[1]) == [("c1", "東京は晴れ")]


async def test_schema(v1: ModelApp, tmp_path: Path) -> None:
    v1.openai.script.append(say('{"name": "知恵", "breed": "柴犬"}'))
    answer: dict[str, Any] = json.loads(
        await llm(v1, tmp_path, "-m", "chie", "--schema", "name, breed", "invent a dog")
    )
    assert answer == {"name": "知恵", "breed": "柴犬"}
    assert v1.openai.seen[0]["response_format"]["type"] == "json_schema"
