"""Through the front door, in both protocol eras: an MCP client, the real SDK, and Bedrock's protocol on loopback."""

import json
import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from fastmcp import Client
from fastmcp.client.client import CallToolResult
from mcp_types import TextContent
from starlette.testclient import TestClient
from tests.bedrock_kb.conftest import KB_ID, MODEL_ARN
from tests.fakes.bedrock import (
    ANSWER,
    GENERATED,
    RETRIEVED,
    SESSION,
    Bedrock,
    answer,
    citation,
    output,
    reference,
    refuse,
)
from tests.fakes.bedrock import stream as streamed

from chie.app import create_app
from chie.bedrock_kb.config import KBConfig
from chie.bedrock_kb.server import create_server
from chie.servers import SERVERS, load_servers

EXPECTED_CITATION = {
    "content": "Restart the pod.",
    "location": {"type": "S3", "s3Location": {"uri": "s3://docs/runbook.md"}},
    "score": None,
    "uri": "s3://docs/runbook.md",
    "metadata": {"x-amz-bedrock-kb-source-uri": "s3://docs/runbook.md", "team": "infra"},
    "spans": [{"start": 0, "end": 16}],
}


@pytest.fixture(params=["auto", "legacy"])
def mode(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture
async def client(bedrock: Bedrock, config: KBConfig, mode: Any) -> AsyncIterator[Client[Any]]:
    assert bedrock.url
    async with Client(create_server(config), mode=mode) as client:
        yield client


async def plain(client: Client[Any], tool: str, **arguments: Any) -> dict[str, Any]:
    """Called by a client that asks for no progress. (FastMCP's own always does.)"""
    result = await client.session.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return dict(result.structured_content or {})


def text_of(result: CallToolResult) -> str:
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text


@pytest.mark.req("BK-2.1", "BK-2.2", "BK-2.3", "BK-2.5")
async def test_an_answer_comes_with_citations_that_can_be_opened(client: Client[Any], bedrock: Bedrock) -> None:
    result = await plain(client, "kb_answer", query="How do I mend it?")
    assert result == {"answer": ANSWER, "citations": [EXPECTED_CITATION], "session_id": SESSION, "notice": None}
    [call] = bedrock.calls
    assert call.operation == "RetrieveAndGenerate"
    assert call.params["input"] == {"text": "How do I mend it?"}
    knowledge_base = call.params["retrieveAndGenerateConfiguration"]["knowledgeBaseConfiguration"]
    assert (knowledge_base["knowledgeBaseId"], knowledge_base["modelArn"]) == (KB_ID, MODEL_ARN)


async def test_japanese_comes_through_whole(client: Client[Any], bedrock: Bedrock) -> None:
    text = "ポッドを再起動します。😀"
    bedrock.replies(answer({"sessionId": SESSION, "output": {"text": text}, "citations": []}))
    assert (await plain(client, "kb_answer", query="直し方は？"))["answer"] == text
    assert bedrock.calls[0].params["input"] == {"text": "直し方は？"}


@pytest.mark.req("BK-2.4")
async def test_the_callers_options_reach_bedrock(client: Client[Any], bedrock: Bedrock) -> None:
    where = {"andAll": [{"equals": {"key": "team", "value": "infra"}}, {"in": {"key": "year", "value": [2025, 2026]}}]}
    await plain(client, "kb_answer", query="q", max_results=9, session_id=SESSION, filter=where, search_type="HYBRID")
    [call] = bedrock.calls
    assert call.params["sessionId"] == SESSION
    search = call.params["retrieveAndGenerateConfiguration"]["knowledgeBaseConfiguration"]["retrievalConfiguration"]
    assert search == {
        "vectorSearchConfiguration": {"numberOfResults": 9, "filter": where, "overrideSearchType": "HYBRID"}
    }


async def test_a_search_gives_passages_with_their_scores(client: Client[Any], bedrock: Bedrock) -> None:
    result = await plain(client, "kb_search", query="x" * 20_000, max_results=2)
    assert [(hit["content"], hit["score"], hit["uri"]) for hit in result["results"]] == [
        ("Restart the pod.", 0.91, "s3://docs/runbook.md"),
        ("Unrelated.", 0.12, "s3://docs/other.md"),
    ]
    assert bedrock.operations == ["Retrieve"]


async def test_a_managed_knowledge_base_is_searched_in_its_own_form_and_remembered(
    client: Client[Any], bedrock: Bedrock
) -> None:
    refusal = refuse(
        400, "ValidationException", "vectorSearchConfiguration is not supported for managed knowledge bases"
    )
    bedrock.replies(refusal)
    assert (await plain(client, "kb_search", query="q"))["results"]
    assert (await plain(client, "kb_search", query="q"))["results"]
    forms = [next(iter(call.params["retrievalConfiguration"])) for call in bedrock.calls]
    assert forms == ["vectorSearchConfiguration", "managedSearchConfiguration", "managedSearchConfiguration"]


async def test_a_search_refused_in_both_forms_tells_the_first_reason(client: Client[Any], bedrock: Bedrock) -> None:
    bedrock.replies(refuse(400, "ValidationException", "bad filter"), refuse(400, "ValidationException", "bad form"))
    result = await client.call_tool("kb_search", {"query": "q"}, raise_on_error=False)
    assert result.is_error
    assert "bad filter" in text_of(result)


async def test_a_passage_that_bedrock_cites_for_every_sentence_is_sent_once(
    client: Client[Any], bedrock: Bedrock
) -> None:
    parts = [
        {"generatedResponsePart": {"textResponsePart": {"text": text}}, "retrievedReferences": [reference()]}
        for text in ("Restart the pod.", "Then wait.")
    ]
    bedrock.replies(answer({**GENERATED, "citations": parts}))
    [only] = (await plain(client, "kb_answer", query="q"))["citations"]
    assert [ANSWER[span["start"] : span["end"]] for span in only["spans"]] == ["Restart the pod.", "Then wait."]


async def test_no_picture_s_bytes_reach_the_client(client: Client[Any], bedrock: Bedrock) -> None:
    picture = reference() | {"content": {"type": "IMAGE", "byteContent": "data:image/png;base64,QUFBQQ=="}}
    bedrock.replies(answer({**GENERATED, "citations": [{"retrievedReferences": [picture]}]}))
    result = await client.session.call_tool("kb_answer", {"query": "q"})
    assert "QUFB" not in result.model_dump_json()


@pytest.mark.req("BK-4.2")
async def test_the_tools_are_listed_with_everything_an_assistant_needs(client: Client[Any]) -> None:
    tools = {tool.name: tool for tool in await client.list_tools()}
    assert set(tools) == {"kb_answer", "kb_search"}
    schema = tools["kb_answer"].input_schema
    assert schema["required"] == ["query"]
    assert schema["properties"]["max_results"]["default"] == 4
    assert list(schema["properties"]) == ["query", "max_results", "session_id", "filter", "search_type"]
    for tool in tools.values():
        assert tool.description
        assert all(field["description"] for field in tool.input_schema["properties"].values())
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint
    output_schema = tools["kb_answer"].output_schema
    assert output_schema is not None
    assert {"required": ["answer", "citations"]} in output_schema["anyOf"]
    assert {"content", "location", "score"} <= set(output_schema["properties"]["citations"]["items"]["properties"])


@pytest.mark.req("BK-3.4", "BK-3.5")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"query": " \t\n"}, "query is required"),
        ({}, "query is required"),
        ({"query": "x" * 1001}, "query is too long"),
        ({"query": "q", "max_results": 0}, "max_results must be at least 1"),
        ({"query": "q", "max_results": 101}, "max_results must be at most 100"),
        ({"query": "q", "filter": {"like": "x"}}, "filter must be an object with exactly one operator"),
        ({"query": "q", "search_type": "FUZZY"}, "search_type must be one of"),
        ({"query": "q", "session_id": "?"}, "session_id is not one of Bedrock's"),
    ],
)
async def test_what_cannot_be_asked_is_refused_without_a_call(
    client: Client[Any], bedrock: Bedrock, arguments: dict[str, Any], words: str
) -> None:
    result = await client.call_tool("kb_answer", arguments, raise_on_error=False)
    assert result.is_error
    assert words in text_of(result)
    assert result.structured_content is not None
    assert set(result.structured_content) == {"error", "error_type", "message", "code", "retryable", "request_id"}
    assert result.structured_content["error_type"] == "ValidationError"
    assert bedrock.calls == []


async def test_an_error_nobody_foresaw_has_the_same_shape_and_no_stack(
    client: Client[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object) -> None:
        raise ZeroDivisionError("inside")

    monkeypatch.setattr("chie.bedrock_kb.bedrock_client.parse_passages", broken)
    result = await client.call_tool("kb_search", {"query": "q"}, raise_on_error=False)
    assert result.is_error
    assert result.structured_content is not None
    assert set(result.structured_content) == {"error", "error_type", "message", "code", "retryable", "request_id"}
    assert result.structured_content["error_type"] == "ServiceError"
    assert "inside" not in text_of(result).replace("inside Chie", "")


async def test_the_listed_schema_admits_an_answer_and_every_failure(client: Client[Any], bedrock: Bedrock) -> None:
    """Clients on the TypeScript SDK hold failures against it too, and show their own error if one does not fit."""
    [schema] = [tool.output_schema for tool in await client.list_tools() if tool.name == "kb_answer"]
    assert schema is not None
    bedrock.default["RetrieveAndGenerate"] = refuse(404, "ResourceNotFoundException")
    for arguments in ({"query": "q"}, {"query": ""}, {}):
        failure = await client.session.call_tool("kb_answer", arguments)
        assert failure.is_error
        jsonschema.validate(failure.structured_content, schema)
    bedrock.default["RetrieveAndGenerate"] = answer(GENERATED)
    jsonschema.validate(await plain(client, "kb_answer", query="q"), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"answer": "without its citations"}, schema)


class TestScores:
    @pytest.fixture
    def config(self, config: KBConfig) -> KBConfig:
        return replace(config, scores=True)

    async def test_real_scores_fill_the_citations_where_the_operator_wants_them(
        self, client: Client[Any], bedrock: Bedrock
    ) -> None:
        bedrock.default["Retrieve"] = answer(RETRIEVED)
        result = await plain(client, "kb_answer", query="q", max_results=3)
        assert [cited["score"] for cited in result["citations"]] == [0.91]
        assert sorted(bedrock.operations) == ["Retrieve", "RetrieveAndGenerate"]
        assert "'numberOfResults': 3" in str([call.params for call in bedrock.calls if call.operation == "Retrieve"])

    async def test_an_answer_is_not_lost_when_only_its_scores_fail(
        self, client: Client[Any], bedrock: Bedrock, caplog: pytest.LogCaptureFixture
    ) -> None:
        bedrock.default["Retrieve"] = refuse(403, "AccessDeniedException", "not authorized: bedrock:Retrieve")
        result = await plain(client, "kb_answer", query="q")
        assert result["answer"] == ANSWER
        assert result["citations"][0]["score"] is None
        assert "no scores" in result["notice"]
        assert "AccessDeniedException" in result["notice"]
        (logged,) = [record.getMessage() for record in caplog.records if record.name == "chie.bedrock_kb.service"]
        assert logged == f"no scores for kb_answer: {result['notice'].removeprefix('The citations have no scores: ')}"

    async def test_progress_is_told_with_scores_too(self, client: Client[Any], bedrock: Bedrock) -> None:
        told: list[tuple[float, float | None, str | None]] = []

        async def listen(progress: float, total: float | None, message: str | None) -> None:
            told.append((progress, total, message))

        bedrock.default["Retrieve"] = answer(RETRIEVED)
        await client.call_tool("kb_answer", {"query": "q"}, progress_handler=listen)
        assert told[0] == (1, None, "Searching the knowledge base.")
        assert sorted(bedrock.operations) == ["Retrieve", "RetrieveAndGenerateStream"]


async def test_an_answer_without_citations_is_an_answer(client: Client[Any], bedrock: Bedrock) -> None:
    empty = [{"generatedResponsePart": {"textResponsePart": {"text": "Sorry."}}, "retrievedReferences": []}]
    bedrock.replies(answer({"sessionId": SESSION, "output": {"text": "Sorry."}, "citations": empty}))
    assert (await plain(client, "kb_answer", query="q"))["citations"] == []


async def test_both_calls_give_the_same_result(client: Client[Any], bedrock: Bedrock) -> None:
    bedrock.default["RetrieveAndGenerateStream"] = streamed(output(ANSWER[:5]), output(ANSWER[5:]), citation())
    result = await client.call_tool("kb_answer", {"query": "q"})
    assert result.structured_content == await plain(client, "kb_answer", query="q")
    assert bedrock.operations == ["RetrieveAndGenerateStream", "RetrieveAndGenerate"]


async def test_neither_the_question_nor_a_token_is_logged_at_any_level(
    bedrock: Bedrock, config: KBConfig, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "FwoGZXIvYXdzEBYaDH")
    bedrock.replies(refuse(400, "ValidationException", "Value 'Tanuki?' at 'input.text' failed"))
    caplog.set_level(logging.DEBUG)
    async with Client(create_server(config), mode="legacy") as client:
        await client.session.call_tool("kb_answer", {"query": "Tanuki?"})
        await client.call_tool("kb_search", {"query": "Tanuki?"})
    ours = "\n".join(r.getMessage() for r in caplog.records if r.name.split(".")[0] in ("chie", "botocore", "urllib3"))
    assert bedrock.calls[0].headers["X-Amz-Security-Token"] == "FwoGZXIvYXdzEBYaDH"
    assert "FwoGZXIvYXdzEBYaDH" not in caplog.text
    assert "Tanuki" not in ours


@pytest.mark.usefixtures("aws")
def test_the_house_shows_the_room_as_not_configured_and_stays_open() -> None:
    rooms = {"bedrock-kb": load_servers()["bedrock-kb"]}
    with TestClient(create_app(rooms), base_url="http://127.0.0.1") as house:
        state = house.get("/health").json()
        closed = house.post("/mcp/bedrock-kb", json={})
    assert state["servers"]["bedrock-kb"] == {"status": "not configured: BEDROCK_KB_ID, BEDROCK_MODEL_ARN"}
    assert closed.status_code == 503
    assert closed.json() == {"detail": "not configured: BEDROCK_KB_ID, BEDROCK_MODEL_ARN"}


def test_the_house_serves_the_room_when_it_is_configured(bedrock: Bedrock, monkeypatch: pytest.MonkeyPatch) -> None:
    assert SERVERS["bedrock-kb"] == "chie.bedrock_kb.server"
    monkeypatch.setenv("BEDROCK_KB_ID", KB_ID)
    monkeypatch.setenv("BEDROCK_MODEL_ARN", MODEL_ARN)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    request = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "kb_answer", "arguments": {"query": "q"}},
    }
    with TestClient(create_app({"bedrock-kb": load_servers()["bedrock-kb"]}), base_url="http://127.0.0.1") as house:
        state = house.get("/health").json()["servers"]["bedrock-kb"]
        assert bedrock.calls == []  # health asks nothing of AWS
        accept = "application/json, text/event-stream"
        reply = house.post("/mcp/bedrock-kb", json=request, headers={"accept": accept})
    assert state == {"status": "healthy", "knowledge_base": KB_ID, "region": "us-east-1"}
    [data] = [line for line in reply.text.splitlines() if line.startswith("data: ")]  # a stream: progress may precede
    result = json.loads(data.removeprefix("data: "))["result"]
    assert result["structuredContent"]["answer"] == ANSWER
