"""What docs/bedrock-kb.md says is so; its tables of tools and settings are generated."""

import json
import re
from pathlib import Path

import pytest

from chie.bedrock_kb.aws_errors import OTHER, VERDICTS
from chie.bedrock_kb.filters import OPERATORS

PAGE = (Path(__file__).parents[2] / "docs" / "bedrock-kb.md").read_text(encoding="utf-8")
TROUBLE = PAGE.partition("## When it fails")[2]


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
