"""Property 3, and every content type and location type of the API."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import botocore.session
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient
from tests.fakes.bedrock import Bedrock, answer, reference

from chie.app import create_app
from chie.bedrock_kb.bedrock_client import Citation, KBResponse, create_boto_client, query_knowledge_base
from chie.bedrock_kb.config import KBConfig
from chie.bedrock_kb.responses import (
    URI_MEMBERS,
    Passage,
    Span,
    fill_scores,
    merge_citations,
    parse_answer,
    parse_passages,
)
from chie.bedrock_kb.server import create_server
from chie.messages.catalogue import Message

TEXT = st.text(min_size=1).filter(lambda text: not text.startswith("data:"))
LOCATIONS = st.one_of(
    st.builds(lambda uri: {"type": "S3", "s3Location": {"uri": uri}}, TEXT),
    st.builds(lambda url: {"type": "WEB", "webLocation": {"url": url}}, TEXT),
    st.builds(lambda key: {"type": "CUSTOM", "customDocumentLocation": {"id": key}}, TEXT),
)
REFERENCES = st.fixed_dictionaries(
    {"content": st.fixed_dictionaries({"text": TEXT}), "location": LOCATIONS},
    optional={"metadata": st.dictionaries(TEXT, st.one_of(TEXT, st.integers(), st.booleans(), st.lists(TEXT)))},
)
RESPONSES = st.fixed_dictionaries(
    {
        "output": st.fixed_dictionaries({"text": st.text()}),
        "citations": st.lists(st.fixed_dictionaries({}, optional={"retrievedReferences": st.lists(REFERENCES)})),
    },
    optional={"sessionId": st.text("abc0123-", min_size=2, max_size=100)},
)
SCORES = st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False))

real_sdk = settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def references(response: dict[str, Any]) -> list[dict[str, Any]]:
    return [ref for part in response["citations"] for ref in part.get("retrievedReferences", [])]


def identity(reference: dict[str, Any]) -> str:
    return json.dumps([reference["location"], reference["content"]["text"]], sort_keys=True)


@pytest.fixture
def boto(bedrock: Bedrock, config: KBConfig) -> Any:
    assert bedrock.url
    return create_boto_client(config)


@pytest.mark.req("BK-P3", "BK-2.2", "BK-2.5", "BK-API")
@real_sdk
@given(response=RESPONSES)
def test_every_field_of_every_reference_is_extracted(
    bedrock: Bedrock, boto: Any, config: KBConfig, response: dict[str, Any]
) -> None:
    """**Feature: mcp-bedrock-kb, Property 3: レスポンスパースで全フィールドを抽出**"""
    bedrock.default["RetrieveAndGenerate"] = answer(response)
    parsed = query_knowledge_base(boto, config, "q")
    assert isinstance(parsed, KBResponse)
    assert parsed.answer == response["output"]["text"]
    assert parsed.session_id == response.get("sessionId")
    assert [(c.content, c.location, c.metadata) for c in parsed.citations] == [
        (ref["content"]["text"], ref["location"], ref.get("metadata", {})) for ref in references(response)
    ]


@pytest.fixture
def page(bedrock: Bedrock, config: KBConfig) -> Iterator[TestClient]:
    assert bedrock.url
    servers = {"bedrock-kb": create_server(replace(config, scores=True))}
    with TestClient(create_app(servers), base_url="http://127.0.0.1:8080") as client:
        yield client


@pytest.mark.req("BK-P3", "BK-2.3")
@real_sdk
@given(response=RESPONSES, data=st.data())
def test_every_citation_has_the_score_that_the_search_gives_its_passage(
    bedrock: Bedrock, page: TestClient, response: dict[str, Any], data: st.DataObject
) -> None:
    """**Feature: mcp-bedrock-kb, Property 3: レスポンスパースで全フィールドを抽出**"""
    passages = {identity(ref): ref for ref in reversed(references(response))}
    scores = {key: data.draw(SCORES) for key in passages}
    found = [{**passages[key], "score": score} for key, score in scores.items() if score is not None]
    bedrock.default["RetrieveAndGenerate"] = answer(response)
    bedrock.default["Retrieve"] = answer({"retrievalResults": found})
    result = page.post("/api/bedrock-kb/ask", json={"query": "q"}).json()
    assert result["answer"] == response["output"]["text"]
    keys = dict.fromkeys(map(identity, references(response)))
    assert [(cited["content"], cited["location"], cited["score"]) for cited in result["citations"]] == [
        (passages[key]["content"]["text"], passages[key]["location"], scores[key]) for key in keys
    ]


def test_score_in_a_generated_answer_is_dropped_by_the_sdk(bedrock: Bedrock, boto: Any, config: KBConfig) -> None:
    """Its model of the API has none there, which is why the search is needed; when it has, this test fails."""
    cited = [{"retrievedReferences": [reference(score=0.7)]}]
    bedrock.default["RetrieveAndGenerate"] = answer({"output": {"text": "a"}, "citations": cited})
    assert [citation.score for citation in query_knowledge_base(boto, config, "q").citations] == [None]


def only(reference: dict[str, Any]) -> Citation:
    parsed = parse_answer({"output": {"text": "a"}, "citations": [{"retrievedReferences": [reference]}]})
    return parsed.citations[0]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"type": "TEXT", "text": "再起動する"}, "再起動する"),
        ({"text": "no type"}, "no type"),
        ({"type": "AUDIO", "audio": {"s3Uri": "s3://a", "transcription": "spoken"}}, "spoken"),
        ({"type": "VIDEO", "video": {"s3Uri": "s3://v", "summary": "seen"}}, "seen"),
        ({"type": "IMAGE", "byteContent": "data:image/png;base64,AAAA"}, "(image without a text)"),
        ({"byteContent": "data:image/png;base64,AAAA"}, "(image without a text)"),
        ({"type": "IMAGE", "text": "data:image/png;base64,AAAA"}, "(image without a text)"),
        ({"type": "AUDIO", "audio": {"s3Uri": "s3://a"}}, "(audio without a text)"),
        (
            {
                "type": "ROW",
                "row": [
                    {"columnName": "city", "columnValue": "東京", "type": "STRING"},
                    {"columnName": "photo", "columnValue": "QUFB", "type": "BLOB"},
                    {"columnName": "note", "type": "NULL"},
                ],
            },
            "city: 東京, photo: (binary), note: null",
        ),
        ({}, ""),
    ],
)
@pytest.mark.req("BK-2.3")
def test_every_kind_of_content_becomes_text(content: dict[str, Any], text: str) -> None:
    citation = only({"content": content, "location": {"type": "S3"}})
    assert citation.content == text
    assert "base64" not in json.dumps(citation.metadata)


def test_image_becomes_its_description_and_its_bytes_are_dropped_from_the_metadata() -> None:
    metadata = {"x-amz-bedrock-kb-description": "a map", "preview": "data:image/png;base64,AAAA", "page": 3}
    citation = only({"content": {"type": "IMAGE", "byteContent": "data:…"}, "metadata": metadata})
    assert citation.content == "a map"
    assert citation.metadata == {"x-amz-bedrock-kb-description": "a map", "page": 3}


def location_members() -> dict[str, str]:
    """Every location type in the SDK's model of the API, with the name of its one field."""
    model = botocore.session.get_session().get_service_model("bedrock-agent-runtime")
    location: Any = model.shape_for("RetrievalResultLocation")
    return {name: next(iter(shape.members)) for name, shape in location.members.items() if name != "type"}


def test_every_location_type_has_a_uri() -> None:
    members = location_members()
    assert members.pop("sqlLocation") == "query"  # a query is not a URI
    assert members == URI_MEMBERS
    for member, name in members.items():
        assert only({"location": {"type": "X", member: {name: "there"}}}).uri == "there"


def test_location_without_a_uri_falls_back_to_the_metadata() -> None:
    reference = {"location": {"type": "SQL", "sqlLocation": {"query": "select 1"}}}
    assert only(reference).uri is None
    assert only({**reference, "metadata": {"x-amz-bedrock-kb-source-uri": "s3://b/k"}}).uri == "s3://b/k"


def spans(answer: str, part: dict[str, Any]) -> list[Span]:
    citations = [{"generatedResponsePart": {"textResponsePart": part}, "retrievedReferences": [{}]}]
    return parse_answer({"output": {"text": answer}, "citations": citations}).citations[0].spans


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"text": "は動く", "span": {"start": 2, "end": 4}}, [Span(2, 5)]),
        ({"text": "は動く", "span": {"start": 99, "end": 100}}, [Span(2, 5)]),
        ({"text": "は動く"}, [Span(2, 5)]),
        ({"text": "never said", "span": {"start": 0, "end": 3}}, []),
        ({"span": {"start": 2, "end": 400}}, [Span(2, 6)]),
        ({}, []),
    ],
)
def test_span_is_a_slice_of_the_answer_whatever_bedrock_counts(part: dict[str, Any], expected: list[Span]) -> None:
    assert spans("今日は動く。", part) == expected


def test_repeated_text_is_distinguished_by_its_start_offset() -> None:
    assert spans("ok. ok.", {"text": "ok.", "span": {"start": 4, "end": 6}}) == [Span(4, 7)]


def test_passage_cited_twice_is_one_citation_with_both_spans() -> None:
    first = Citation("a", {"type": "S3"}, spans=[Span(0, 1)])
    again = Citation("a", {"type": "S3"}, spans=[Span(2, 3), Span(0, 1)])
    other = Citation("b", {"type": "S3"})
    assert merge_citations([first, other, again]) == [
        Citation("a", {"type": "S3"}, spans=[Span(0, 1), Span(2, 3)]),
        other,
    ]


def test_scores_are_joined_on_location_and_text() -> None:
    cited = [Citation("a", {"x": 1, "y": 2}), Citation("a", {"x": 2}), Citation("b", {"x": 1, "y": 2}, score=0.5)]
    found = [Passage("a", {"y": 2, "x": 1}, score=0.9), Passage("c", {"x": 2}, score=0.8)]
    assert [citation.score for citation in fill_scores(cited, found)] == [0.9, None, 0.5]


@pytest.mark.parametrize("response", [{}, {"output": {"text": ""}}, {"output": {"text": " \n"}}])
def test_empty_answer_has_a_notice(response: dict[str, Any]) -> None:
    assert parse_answer(response).notice == Message("bedrock_kb.answer_empty")
    assert parse_answer({"output": {"text": "答え"}}).notice is None
    blocked = parse_answer({**response, "guardrailAction": "INTERVENED"}).notice
    assert blocked == Message("bedrock_kb.guardrail_intervened")


def test_guardrail_intervention_has_a_notice() -> None:
    assert parse_answer({"output": {"text": "no"}, "guardrailAction": "INTERVENED"}).notice is not None
    assert parse_answer({"output": {"text": "yes"}, "guardrailAction": "NONE"}).notice is None
    assert parse_passages({"retrievalResults": [], "guardrailAction": "INTERVENED"}).notice is not None
