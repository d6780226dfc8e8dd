"""Property 4, and every request that can be built is valid in the API's own model."""

import inspect
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bedrock_kb.conftest import KB_ID, MODEL_ARN
from tests.fakes.bedrock_model import request_errors

from chie.bedrock_kb.bedrock_client import query_knowledge_base
from chie.bedrock_kb.config import KBConfig, SearchType
from chie.bedrock_kb.filters import COMPARISONS, GROUPS, LISTS, Filter
from chie.bedrock_kb.requests import Question, Search, answer_request, search_request

QUERIES = st.text(min_size=1, max_size=1000).filter(str.strip)
COUNTS = st.integers(1, 100)
KEYS = st.text(min_size=1, max_size=100)
SCALARS = st.one_of(st.text(), st.integers(), st.booleans(), st.floats(allow_nan=False, allow_infinity=False))
LEAVES = st.one_of(
    st.builds(lambda op, key, value: {op: {"key": key, "value": value}}, st.sampled_from(COMPARISONS), KEYS, SCALARS),
    st.builds(
        lambda op, key, value: {op: {"key": key, "value": value}},
        st.sampled_from(LISTS),
        KEYS,
        st.lists(SCALARS, min_size=1),
    ),
)
FILTERS = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        lambda op, members: {op: members}, st.sampled_from(GROUPS), st.lists(inner, min_size=2, max_size=3)
    ),
    max_leaves=6,
)
CONFIGS = st.builds(
    KBConfig,
    aws_region=st.just("us-east-1"),
    kb_id=st.from_regex(r"[0-9a-zA-Z]{10}", fullmatch=True),
    model_arn=st.just(MODEL_ARN),
    search_type=st.sampled_from([None, "HYBRID", "SEMANTIC"]),
    rerank_model_arn=st.sampled_from([None, "arn:aws:bedrock:us-east-1::foundation-model/cohere.rerank-v3-5:0"]),
    guardrail_id=st.sampled_from([None, "abc123"]),
    guardrail_version=st.sampled_from(["DRAFT", "7"]),
)


class Recorder:
    def __init__(self) -> None:
        self.request: dict[str, Any] = {}

    def retrieve_and_generate(self, **request: Any) -> dict[str, Any]:
        self.request = request
        return {"output": {"text": "a"}, "citations": []}


@pytest.mark.req("BK-P4", "BK-2.1", "BK-2.4")
@settings(max_examples=200)
@given(query=QUERIES, max_results=COUNTS, kb_id=st.text(min_size=1), model_arn=st.text(min_size=1))
def test_request_contains_the_id_the_model_and_the_count(
    query: str, max_results: int, kb_id: str, model_arn: str
) -> None:
    """**Feature: mcp-bedrock-kb, Property 4: リクエスト構築で全パラメータを含む**"""
    client = Recorder()
    query_knowledge_base(client, KBConfig("us-east-1", kb_id, model_arn), query, max_results)
    assert client.request["input"] == {"text": query}
    knowledge_base = client.request["retrieveAndGenerateConfiguration"]["knowledgeBaseConfiguration"]
    assert knowledge_base["knowledgeBaseId"] == kb_id
    assert knowledge_base["modelArn"] == model_arn
    assert knowledge_base["retrievalConfiguration"]["vectorSearchConfiguration"] == {"numberOfResults": max_results}


@pytest.mark.req("BK-API")
def test_query_knowledge_base_has_the_required_signature() -> None:
    parameters = inspect.signature(query_knowledge_base).parameters
    assert list(parameters) == ["client", "config", "query", "max_results"]
    assert parameters["max_results"].default == 4


@pytest.mark.req("BK-2.4")
def test_four_passages_by_default(config: KBConfig) -> None:
    client = Recorder()
    query_knowledge_base(client, config, "q")
    assert "'numberOfResults': 4" in str(client.request)


@settings(max_examples=200)
@given(
    config=CONFIGS,
    query=QUERIES,
    count=COUNTS,
    where=st.one_of(st.none(), FILTERS),
    search_type=st.sampled_from([None, "HYBRID", "SEMANTIC"]),
    session=st.one_of(st.none(), st.from_regex(r"[0-9a-zA-Z._:-]{2,100}", fullmatch=True)),
)
def test_every_request_is_valid_in_the_sdk_s_model_of_the_api(
    config: KBConfig, query: str, count: int, where: Filter | None, search_type: SearchType | None, session: str | None
) -> None:
    question = Question(query=query, max_results=count, filter=where, search_type=search_type, session_id=session)
    search = Search(query=query, max_results=count, filter=where, search_type=search_type)
    assert request_errors("RetrieveAndGenerate", answer_request(config, question)) == []
    assert request_errors("RetrieveAndGenerateStream", answer_request(config, question)) == []
    assert request_errors("Retrieve", search_request(config, search)) == []
    assert request_errors("Retrieve", search_request(config, search, managed=True)) == []


def test_the_checker_rejects_invalid_requests(config: KBConfig) -> None:
    request = answer_request(config, Question(query="q"))
    assert request_errors("RetrieveAndGenerate", {**request, "input": {"text": "x" * 1001}})
    assert request_errors("RetrieveAndGenerate", {**request, "sessionId": "not a session"})
    assert request_errors("RetrieveAndGenerate", {**request, "surprise": 1})
    search = search_request(config, Search(query="q"))
    two = {"equals": {"key": "a", "value": 1}, "in": {"key": "a", "value": [1]}}
    for vector in ({"numberOfResults": 101}, {"overrideSearchType": "FUZZY"}, {"filter": two}):
        assert request_errors("Retrieve", {**search, "retrievalConfiguration": {"vectorSearchConfiguration": vector}})


def test_options_are_in_the_request() -> None:
    config = KBConfig("us-east-1", KB_ID, MODEL_ARN, rerank_model_arn="arn:r", guardrail_id="g", search_type="SEMANTIC")
    where = {"equals": {"key": "team", "value": "infra"}}
    request = answer_request(config, Question(query="q", max_results=7, filter=where, session_id="s-1"))
    assert request["sessionId"] == "s-1"
    knowledge_base = request["retrieveAndGenerateConfiguration"]["knowledgeBaseConfiguration"]
    assert knowledge_base["generationConfiguration"] == {
        "guardrailConfiguration": {"guardrailId": "g", "guardrailVersion": "DRAFT"}
    }
    assert knowledge_base["retrievalConfiguration"]["vectorSearchConfiguration"] == {
        "numberOfResults": 7,
        "filter": where,
        "overrideSearchType": "SEMANTIC",
        "rerankingConfiguration": {
            "type": "BEDROCK_RERANKING_MODEL",
            "bedrockRerankingConfiguration": {
                "modelConfiguration": {"modelArn": "arn:r"},
                "numberOfRerankedResults": 7,
            },
        },
    }


def test_search_type_of_a_call_overrides_the_configured_one(config: KBConfig) -> None:
    operator = KBConfig(config.aws_region, KB_ID, MODEL_ARN, search_type="SEMANTIC")
    request = search_request(operator, Search(query="q", search_type="HYBRID"))
    assert request["retrievalConfiguration"]["vectorSearchConfiguration"]["overrideSearchType"] == "HYBRID"


def test_managed_knowledge_base_has_its_own_configuration_and_no_search_type() -> None:
    operator = KBConfig("us-east-1", KB_ID, MODEL_ARN, search_type="SEMANTIC")
    request = search_request(operator, Search(query="q"), managed=True)
    assert request["retrievalConfiguration"] == {"managedSearchConfiguration": {"numberOfResults": 4}}


def test_reranking_model_is_custom_for_a_managed_knowledge_base() -> None:
    config = KBConfig("us-east-1", KB_ID, MODEL_ARN, rerank_model_arn="arn:r")
    managed = search_request(config, Search(query="q"), managed=True)["retrievalConfiguration"]
    assert managed["managedSearchConfiguration"]["rerankingModelType"] == "CUSTOM"
    vector = search_request(config, Search(query="q"))["retrievalConfiguration"]["vectorSearchConfiguration"]
    assert vector.keys() == {"numberOfResults", "rerankingConfiguration"}
