"""docs/bedrock-kb.md lists every operator and every error; its tables of tools and settings are generated."""

import json
import re
from pathlib import Path

import pytest

from chie.bedrock_kb.aws_errors import RULES
from chie.bedrock_kb.filters import OPERATORS
from chie.messages.catalogue import catalogue

PAGE = (Path(__file__).parents[2] / "docs" / "bedrock-kb.md").read_text(encoding="utf-8")
ERRORS = PAGE.partition("## When it fails")[2]


@pytest.mark.parametrize("operator", OPERATORS)
def test_every_operator_of_a_filter_is_named(operator: str) -> None:
    assert f"`{operator}`" in PAGE


@pytest.mark.parametrize("code", sorted({rule.code for rule in RULES.values()}))
def test_every_error_has_a_row_that_quotes_the_beginning_of_its_text(code: str) -> None:
    rows = re.findall(r"^\| (.*?) \|", ERRORS, re.MULTILINE)
    beginnings = [quoted for row in rows for quoted in re.findall(r"`(.*?)`", row)]
    text = catalogue("en", "bedrock_kb")[code].replace("`", "")
    assert any(text.startswith(beginning) for beginning in beginnings), text


def test_every_example_is_json() -> None:
    examples = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert len(examples) == 5
    for example in examples:
        json.loads(example)
