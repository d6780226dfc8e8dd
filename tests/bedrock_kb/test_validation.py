"""Property 5, and everything else that is rejected before a request is sent."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chie import errors
from chie.bedrock_kb.bedrock_client import query_knowledge_base
from chie.bedrock_kb.config import KBConfig
from chie.bedrock_kb.errors import ValidationError
from chie.bedrock_kb.filters import MAX_FILTER_DEPTH, Filter
from chie.bedrock_kb.requests import Question, Search

CONFIG = KBConfig("us-east-1", "KB12345678", "m")


class UncallableClient:
    """A client that must not be called."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was called")


@pytest.mark.req("BK-P5", "BK-3.4")
@settings(max_examples=200)
@given(query=st.text(" \t\n\r\v\f\u3000\u00a0"))
def test_whitespace_query_is_rejected_without_a_call(query: str) -> None:
    """**Feature: mcp-bedrock-kb, Property 5: 空白のみのクエリを拒否**"""
    with pytest.raises(ValidationError, match="query is required") as caught:
        query_knowledge_base(UncallableClient(), CONFIG, query)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, errors.ValidationError)
    assert caught.value.details()["error_type"] == "ValidationError"


@pytest.mark.req("BK-3.4")
def test_query_over_the_length_limit_is_rejected_without_a_call() -> None:
    with pytest.raises(ValidationError, match=r"query is too long: 1,001 characters, at most 1,000") as caught:
        query_knowledge_base(UncallableClient(), CONFIG, "あ" * 1001)
    assert (caught.value.code, caught.value.reason.params) == (
        "bedrock_kb.query_too_long",
        {"length": 1001, "limit": 1000},
    )
    with pytest.raises(ValidationError, match=r"at most 20,000"):
        Search(query="x" * 20_001)
    assert len(Question(query="あ" * 1000).query) == 1000
    assert len(Search(query="x" * 20_000).query) == 20_000


@pytest.mark.req("BK-2.4")
@pytest.mark.parametrize("count", [-1, 0, 101])
def test_max_results_out_of_range_is_rejected_without_a_call(count: int) -> None:
    with pytest.raises(ValidationError, match="max_results must be between 1 and 100") as caught:
        query_knowledge_base(UncallableClient(), CONFIG, "q", count)
    assert (caught.value.code, caught.value.reason.params) == ("bedrock_kb.max_results_out_of_range", {"limit": 100})


@pytest.mark.parametrize("session_id", ["", "x", "with space", "x" * 101, "日本"])
def test_malformed_session_id_is_rejected(session_id: str) -> None:
    with pytest.raises(ValidationError, match="session_id is not one of Bedrock's") as caught:
        Question(query="q", session_id=session_id)
    assert caught.value.code == "bedrock_kb.session_id_invalid"
    assert not session_id or f" {session_id} " not in caught.value.message


NESTED: Filter = {"equals": {"key": "k", "value": 1}}
for _ in range(MAX_FILTER_DEPTH):
    NESTED = {"andAll": [NESTED, {"equals": {"key": "k", "value": 1}}]}


@pytest.mark.parametrize(
    ("where", "code"),
    [
        ({}, "operator_invalid"),
        ({"equals": {"key": "a", "value": 1}, "notEquals": {"key": "a", "value": 1}}, "operator_invalid"),
        ({"secret-operator": {"key": "a", "value": 1}}, "operator_invalid"),
        ({"equals": "secret"}, "operand_invalid"),
        ({"equals": {"key": "a"}}, "operand_invalid"),
        ({"equals": {"key": "a", "value": 1, "secret": 2}}, "operand_invalid"),
        ({"equals": {"key": "", "value": 1}}, "key_invalid"),
        ({"equals": {"key": "secret" * 20, "value": 1}}, "key_invalid"),
        ({"equals": {"key": "a", "value": None}}, "value_invalid"),
        ({"equals": {"key": "a", "value": ["secret"]}}, "value_invalid"),
        ({"in": {"key": "a", "value": "secret"}}, "value_not_list"),
        ({"notIn": {"key": "a", "value": []}}, "value_not_list"),
        ({"andAll": [{"equals": {"key": "a", "value": 1}}]}, "group_invalid"),
        ({"orAll": "secret"}, "group_invalid"),
        ({"orAll": [1, 2]}, "group_invalid"),
        ({"orAll": [{"equals": {"key": "a", "value": 1}}, {}]}, "operator_invalid"),
        (NESTED, "too_deep"),
    ],
)
def test_invalid_filter_is_rejected_without_repeating_its_values(where: Filter, code: str) -> None:
    with pytest.raises(ValidationError, match="filter") as caught:
        Search(query="q", filter=where)
    assert caught.value.code == f"bedrock_kb.filter_{code}"
    assert "secret" not in str(caught.value.details())
