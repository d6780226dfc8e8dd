"""The MCP server in both protocol eras, with the real SDK and a fake Bedrock on loopback."""

import json
import logging
from collections.abc import AsyncIterator
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


ERROR_KEYS = {"error", "error_type", "message", "code", "params", "aws_code", "retryable", "request_id"}


@pytest.fixture(params=["auto", "legacy"])
def mode(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture
async def client(bedrock: Bedrock, config: KBConfig, mode: Any) -> AsyncIterator[Client[Any]]:
    assert bedrock.url
    async with Client(create_server(config), mode=mode) as client:
        yield client


async def plain(client: Client[Any], tool: str, **arguments: Any) -> dict[str, Any]:
    """Call without a progress token. (FastMCP's client always sends one.)"""
    result = await client.session.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return dict(result.structured_content or {})


def text_of(result: CallToolResult) -> str:
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text


@pytest.mark.req("BK-2.1", "BK-2.2", "BK-2.5")
async def test_answer_has_citations_with_uris(client: Client[Any], bedrock: Bedrock) -> None:
    result = await plain(client, "kb_answer", query="How do I fix it?")
    assert result == {"answer": ANSWER, "citations": [EXPECTED_CITATION], "session_id": SESSION, "notice": None}
    [call] = bedrock.calls
    assert call.operation == "RetrieveAndGenerate"
    assert call.params["input"] == {"text": "How do I fix it?"}
    knowledge_base = call.params["retrieveAndGenerateConfiguration"]["knowledgeBaseConfiguration"]
    assert (knowledge_base["knowledgeBaseId"], knowledge_base["modelArn"]) == (KB_ID, MODEL_ARN)


async def test_japanese_text_is_unchanged(client: Client[Any], bedrock: Bedrock) -> None:
    text = "ポッドを再起動します。😀"
    bedrock.replies(answer({"sessionId": SESSION, "output": {"text": text}, "citations": []}))
    assert (await plain(client, "kb_answer", query="直し方は？"))["answer"] == text
    assert bedrock.calls[0].params["input"] == {"text": "直し方は？"}


@pytest.mark.req("BK-2.4")
async def test_options_reach_bedrock(client: Client[Any], bedrock: Bedrock) -> None:
    where = {"andAll": [{"equals": {"key": "team", "value": "infra"}}, {"in": {"key": "year", "value": [2025, 2026]}}]}
    await plain(client, "kb_answer", query="q", max_results=9, session_id=SESSION, filter=where, search_type="HYBRID")
    [call] = bedrock.calls
    assert call.params["sessionId"] == SESSION
    search = call.params["retrieveAndGenerateConfiguration"]["knowledgeBaseConfiguration"]["retrievalConfiguration"]
    assert search == {
        "vectorSearchConfiguration": {"numberOfResults": 9, "filter": where, "overrideSearchType": "HYBRID"}
    }


async def test_search_returns_passages_with_scores(client: Client[Any], bedrock: Bedrock) -> None:
    result = await plain(client, "kb_search", query="x" * 20_000, max_results=2)
    assert [(hit["content"], hit["score"], hit["uri"]) for hit in result["results"]] == [
        ("Restart the pod.", 0.91, "s3://docs/runbook.md"),
        ("Unrelated.", 0.12, "s3://docs/other.md"),
    ]
    assert bedrock.operations == ["Retrieve"]


async def test_managed_knowledge_base_is_detected_and_remembered(client: Client[Any], bedrock: Bedrock) -> None:
    rejection = refuse(
        400, "ValidationException", "vectorSearchConfiguration is not supported for managed knowledge bases"
    )
    bedrock.replies(rejection)
    assert (await plain(client, "kb_search", query="q"))["results"]
    assert (await plain(client, "kb_search", query="q"))["results"]
    forms = [next(iter(call.params["retrievalConfiguration"])) for call in bedrock.calls]
    assert forms == ["vectorSearchConfiguration", "managedSearchConfiguration", "managedSearchConfiguration"]


async def test_search_rejected_in_both_forms_reports_the_first_reason(client: Client[Any], bedrock: Bedrock) -> None:
    bedrock.replies(refuse(400, "ValidationException", "bad filter"), refuse(400, "ValidationException", "bad form"))
    result = await client.call_tool("kb_search", {"query": "q"}, raise_on_error=False)
    assert result.is_error
    assert "bad filter" in text_of(result)


async def test_passage_cited_for_every_sentence_is_returned_once(client: Client[Any], bedrock: Bedrock) -> None:
    parts = [
        {"generatedResponsePart": {"textResponsePart": {"text": text}}, "retrievedReferences": [reference()]}
        for text in ("Restart the pod.", "Then wait.")
    ]
    bedrock.replies(answer({**GENERATED, "citations": parts}))
    [only] = (await plain(client, "kb_answer", query="q"))["citations"]
    assert [ANSWER[span["start"] : span["end"]] for span in only["spans"]] == ["Restart the pod.", "Then wait."]


async def test_image_bytes_are_not_returned(client: Client[Any], bedrock: Bedrock) -> None:
    picture = reference() | {"content": {"type": "IMAGE", "byteContent": "data:image/png;base64,QUFBQQ=="}}
    bedrock.replies(answer({**GENERATED, "citations": [{"retrievedReferences": [picture]}]}))
    result = await client.session.call_tool("kb_answer", {"query": "q"})
    assert "QUFB" not in result.model_dump_json()


@pytest.mark.req("BK-4.2")
async def test_tools_are_listed_with_descriptions_and_schemas(client: Client[Any]) -> None:
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
    assert all(output_schema["properties"][name]["description"] for name in ("answer", "citations"))
    assert {"content", "location", "score"} <= set(output_schema["properties"]["citations"]["items"]["properties"])


@pytest.mark.req("BK-3.4", "BK-3.5")
@pytest.mark.parametrize(
    ("arguments", "text"),
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
async def test_invalid_arguments_are_rejected_without_a_call(
    client: Client[Any], bedrock: Bedrock, arguments: dict[str, Any], text: str
) -> None:
    result = await client.call_tool("kb_answer", arguments, raise_on_error=False)
    assert result.is_error
    assert text in text_of(result)
    assert result.structured_content is not None
    assert set(result.structured_content) == ERROR_KEYS
    assert result.structured_content["error_type"] == "ValidationError"
    assert bedrock.calls == []


async def test_unexpected_error_has_the_same_shape_and_no_stack(
    client: Client[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object) -> None:
        raise ZeroDivisionError("inside")

    monkeypatch.setattr("chie.bedrock_kb.bedrock_client.parse_passages", broken)
    result = await client.call_tool("kb_search", {"query": "q"}, raise_on_error=False)
    assert result.is_error
    assert result.structured_content is not None
    assert set(result.structured_content) == ERROR_KEYS
    assert result.structured_content["error_type"] == "ServiceError"
    assert "inside" not in text_of(result).replace("inside Chie", "")


async def test_output_schema_accepts_answers_and_errors(client: Client[Any], bedrock: Bedrock) -> None:
    """The TypeScript SDK validates failures, too, and shows its own error if one does not match."""
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


async def test_answer_without_citations(client: Client[Any], bedrock: Bedrock) -> None:
    empty = [{"generatedResponsePart": {"textResponsePart": {"text": "Sorry."}}, "retrievedReferences": []}]
    bedrock.replies(answer({"sessionId": SESSION, "output": {"text": "Sorry."}, "citations": empty}))
    assert (await plain(client, "kb_answer", query="q"))["citations"] == []


async def test_streamed_and_plain_results_are_equal(client: Client[Any], bedrock: Bedrock) -> None:
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
def test_app_reports_the_server_as_not_configured() -> None:
    servers = {"bedrock-kb": load_servers()["bedrock-kb"]}
    with TestClient(create_app(servers), base_url="http://127.0.0.1") as app:
        state = app.get("/health").json()
        closed = app.post("/mcp/bedrock-kb", json={})
    assert state["servers"]["bedrock-kb"] == {"status": "not configured: BEDROCK_KB_ID, BEDROCK_MODEL_ARN"}
    assert closed.status_code == 503
    assert closed.json() == {
        "detail": "not configured: BEDROCK_KB_ID, BEDROCK_MODEL_ARN",
        "code": "bedrock_kb.not_configured",
        "params": {"variables": ["BEDROCK_KB_ID", "BEDROCK_MODEL_ARN"]},
    }


def test_app_serves_the_configured_server(bedrock: Bedrock, monkeypatch: pytest.MonkeyPatch) -> None:
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
    with TestClient(create_app({"bedrock-kb": load_servers()["bedrock-kb"]}), base_url="http://127.0.0.1") as app:
        state = app.get("/health").json()["servers"]["bedrock-kb"]
        assert bedrock.calls == []  # the health check does not call AWS
        accept = "application/json, text/event-stream"
        reply = app.post("/mcp/bedrock-kb", json=request, headers={"accept": accept})
    assert state == {"status": "healthy", "knowledge_base": KB_ID, "region": "us-east-1"}
    [data] = [line for line in reply.text.splitlines() if line.startswith("data: ")]
    result = json.loads(data.removeprefix("data: "))["result"]
    assert result["structuredContent"]["answer"] == ANSWER
