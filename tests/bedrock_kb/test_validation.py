"""Property 5, and everything else that is refused before anything is sent."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chie import errors as house
from chie.bedrock_kb.bedrock_client import query_knowledge_base
from chie.bedrock_kb.config import KBConfig
from chie.bedrock_kb.errors import ValidationError
from chie.bedrock_kb.filters import DEEPEST, Filter
from chie.bedrock_kb.requests import Question, Search

CONFIG = KBConfig("us-east-1", "KB12345678", "m")


class Untouchable:
    """A client that nobody may call."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was called")


@pytest.mark.req("BK-P5", "BK-3.4")
@settings(max_examples=200)
@given(query=st.text(" \t\n\r\v\f\u3000\u00a0"))
def test_a_query_of_white_space_is_refused_without_a_call(query: str) -> None:
    """**Feature: mcp-bedrock-kb, Property 5: 空白のみのクエリを拒否**"""
    with pytest.raises(ValidationError, match="query is required") as caught:
        query_knowledge_base(Untouchable(), CONFIG, query)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, house.ValidationError)
    assert caught.value.details()["error_type"] == "ValidationError"


@pytest.mark.req("BK-3.4")
def test_a_query_over_the_api_s_limit_is_refused_without_a_call() -> None:
    with pytest.raises(ValidationError, match=r"query is too long: 1,001 characters, at most 1,000"):
        query_knowledge_base(Untouchable(), CONFIG, "あ" * 1001)
    with pytest.raises(ValidationError, match=r"at most 20,000"):
        Search(query="x" * 20_001)
    assert len(Question(query="あ" * 1000).query) == 1000
    assert len(Search(query="x" * 20_000).query) == 20_000


@pytest.mark.req("BK-2.4")
@pytest.mark.parametrize("count", [-1, 0, 101])
def test_a_count_outside_the_api_s_range_is_refused_without_a_call(count: int) -> None:
    with pytest.raises(ValidationError, match="max_results must be between 1 and 100"):
        query_knowledge_base(Untouchable(), CONFIG, "q", count)


@pytest.mark.parametrize("session_id", ["", "x", "with space", "x" * 101, "日本"])
def test_a_session_that_bedrock_cannot_have_given_is_refused(session_id: str) -> None:
    with pytest.raises(ValidationError, match="session_id is not one of Bedrock's") as caught:
        Question(query="q", session_id=session_id)
    assert not session_id or f" {session_id} " not in caught.value.message


NESTED: Filter = {"equals": {"key": "k", "value": 1}}
for _ in range(DEEPEST):
    NESTED = {"andAll": [NESTED, {"equals": {"key": "k", "value": 1}}]}


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ({}, "exactly one operator"),
        ({"equals": {"key": "a", "value": 1}, "notEquals": {"key": "a", "value": 1}}, "exactly one operator"),
        ({"secret-operator": {"key": "a", "value": 1}}, "exactly one operator"),
        ({"equals": "secret"}, "equals takes an object"),
        ({"equals": {"key": "a"}}, "equals takes an object"),
        ({"equals": {"key": "a", "value": 1, "secret": 2}}, "equals takes an object"),
        ({"equals": {"key": "", "value": 1}}, "key of equals"),
        ({"equals": {"key": "secret" * 20, "value": 1}}, "key of equals"),
        ({"equals": {"key": "a", "value": None}}, "value of equals"),
        ({"equals": {"key": "a", "value": ["secret"]}}, "value of equals"),
        ({"in": {"key": "a", "value": "secret"}}, "value of in must be a list"),
        ({"notIn": {"key": "a", "value": []}}, "value of notIn must be a list"),
        ({"andAll": [{"equals": {"key": "a", "value": 1}}]}, "andAll takes a list of two"),
        ({"orAll": "secret"}, "orAll takes a list of two"),
        ({"orAll": [1, 2]}, "orAll takes a list of two"),
        ({"orAll": [{"equals": {"key": "a", "value": 1}}, {}]}, "exactly one operator"),
        (NESTED, "nested too deeply"),
    ],
)
def test_a_filter_that_is_not_the_api_s_is_refused_by_operator_and_without_its_values(
    where: Filter, words: str
) -> None:
    with pytest.raises(ValidationError, match=words) as caught:
        Search(query="q", filter=where)
    assert "secret" not in caught.value.message
