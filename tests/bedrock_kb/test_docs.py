"""What docs/bedrock-kb.md says is so."""

import json
import re
from pathlib import Path

import pytest

from chie.bedrock_kb.config import KBConfig, KBSettings
from chie.bedrock_kb.faults import OTHER, VERDICTS
from chie.bedrock_kb.filters import OPERATORS
from chie.bedrock_kb.server import create_server

PAGE = (Path(__file__).parents[2] / "docs" / "bedrock-kb.md").read_text(encoding="utf-8")
TROUBLE = PAGE.partition("## When it fails")[2]


@pytest.mark.parametrize("name", KBSettings.model_fields)
def test_every_variable_is_described_as_in_the_code(name: str) -> None:
    [row] = re.findall(rf"^\| `{name.upper()}` \|.*$", PAGE, re.MULTILINE)
    assert str(KBSettings.model_fields[name].description) in row


async def test_every_tool_and_argument_is_named() -> None:
    for tool in await create_server(KBConfig("us-east-1", "KB12345678", "m")).list_tools():
        assert re.search(rf"^\| `{tool.name}` \|", PAGE, re.MULTILINE)
        assert all(f"`{argument}`" in PAGE for argument in tool.parameters["properties"])


@pytest.mark.parametrize("operator", OPERATORS)
def test_every_operator_of_a_filter_is_named(operator: str) -> None:
    assert f"`{operator}`" in PAGE


@pytest.mark.parametrize("says", sorted({verdict.says for verdict in VERDICTS.values()} - {OTHER.says}))
def test_every_message_has_its_row_of_advice(says: str) -> None:
    rows = re.findall(r"^\| (.*?) \|", TROUBLE, re.MULTILINE)
    beginnings = [words for row in rows for words in re.findall(r"`(.*?)`", row)]
    assert any(says.startswith(words) for words in beginnings), says


def test_every_example_is_json() -> None:
    examples = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert len(examples) == 5
    for example in examples:
        json.loads(example)
