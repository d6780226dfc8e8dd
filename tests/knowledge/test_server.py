"""knowledge-gateway as an assistant sees it, in both eras of the protocol."""

import json
from typing import Any

import pytest
from fastmcp import Client
from jsonschema import validate
from mcp_types import TextContent

pytestmark = pytest.mark.usefixtures("home")

Assistant = Client[Any]


async def call(client: Assistant, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert result.structured_content is not None
    return result.structured_content


async def error_of(client: Assistant, tool: str, arguments: dict[str, Any]) -> str:
    """The text of a call that must fail, having checked that it fails as every call does."""
    result = await client.call_tool(tool, arguments, raise_on_error=False)
    assert result.is_error
    assert isinstance(result.content[0], TextContent)
    assert result.structured_content is not None
    assert result.structured_content["error"] is True
    assert result.structured_content["message"] == result.content[0].text
    return result.content[0].text


@pytest.mark.req("KG-2")
async def test_saving_returns_an_id_and_sets_who_and_when(client: Assistant) -> None:
    saved = await call(client, "save_knowledge", content="nginx answers 413 for large bodies", tags=["nginx"])
    note = await call(client, "get_knowledge", id=saved["id"])
    assert note["content"] == "nginx answers 413 for large bodies"
    assert note["tags"] == ["nginx"]
    assert note["user_id"] == saved["user_id"] == "anonymous"
    assert note["created_at"] == note["updated_at"] == saved["created_at"]
    assert note["origin"] == "assistant"


@pytest.mark.req("KG-2")
@pytest.mark.parametrize(
    ("content", "title"),
    [
        ("短いメモ", "短いメモ"),
        (
            "本番のPostgreSQLで接続数が上限に達したらpgbouncerを使うこと",
            "本番のPostgreSQLで接続数が上限に達したらpgbou",
        ),
        ("Line one\nline two is here and goes on", "Line one line two is here and"),
    ],
)
async def test_the_title_defaults_to_the_first_thirty_characters(client: Assistant, content: str, title: str) -> None:
    assert (await call(client, "save_knowledge", content=content))["title"] == title


@pytest.mark.req("KG-2")
async def test_saving_creates_the_vector(client: Assistant) -> None:
    saved = await call(client, "save_knowledge", content="コンテナのログは docker logs で見る")
    found = await call(client, "search_knowledge", query="where does the output of a container go")
    assert [hit["id"] for hit in found["hits"]] == [saved["id"]]


@pytest.mark.req("KG-3")
@pytest.mark.parametrize("arguments", [{}, {"content": ""}, {"content": " \n　"}, {"content": None}, {"title": "x"}])
async def test_content_is_required(client: Assistant, arguments: dict[str, Any]) -> None:
    assert "content is required" in await error_of(client, "save_knowledge", arguments)


@pytest.mark.req("KG-4")
async def test_search_returns_scored_hits_best_first(client: Assistant) -> None:
    assert (await call(client, "search_knowledge", query="anything"))["hits"] == []
    for content in ("PgBouncer pools database connections", "docker logs shows output", "京都オフィスの鍵は総務にある"):
        await call(client, "save_knowledge", content=content, tags=["t"], source="wiki")
    hits = (await call(client, "search_knowledge", query="データベースの接続をまとめる"))["hits"]
    assert hits[0]["content"] == "PgBouncer pools database connections"
    assert {"id", "title", "content", "score", "tags", "source", "status"} <= set(hits[0])
    assert (hits[0]["tags"], hits[0]["source"], hits[0]["status"]) == (["t"], "wiki", None)
    scores = [hit["score"] for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


@pytest.mark.req("KG-5")
@pytest.mark.parametrize("arguments", [{}, {"query": ""}, {"query": "\t"}, {"query": None}, {"limit": 3}])
async def test_query_is_required(client: Assistant, arguments: dict[str, Any]) -> None:
    assert "query is required" in await error_of(client, "search_knowledge", arguments)


@pytest.mark.req("KG-6")
async def test_deleting_a_note_confirms_and_removes_it(client: Assistant) -> None:
    saved = await call(client, "save_knowledge", content="a note to be deleted")
    assert await call(client, "delete_knowledge", id=saved["id"]) == {"id": saved["id"], "deleted": True}
    assert (await call(client, "search_knowledge", query="a note to be deleted"))["hits"] == []
    assert "knowledge not found" in await error_of(client, "get_knowledge", {"id": saved["id"]})


@pytest.mark.req("KG-7")
@pytest.mark.parametrize("tool", ["delete_knowledge", "get_knowledge"])
@pytest.mark.parametrize(
    "unknown", ["k-0123456789abcdef", "'; DROP TABLE notes; --", '"', "知恵", "x" * 10_000, "\x00"]
)
async def test_an_unknown_id_is_not_found(client: Assistant, tool: str, unknown: str) -> None:
    await call(client, "save_knowledge", content="still here")
    message = await error_of(client, tool, {"id": unknown})
    assert "knowledge not found" in message
    assert unknown not in message
    assert len((await call(client, "list_knowledge"))["notes"]) == 1


@pytest.mark.req("KG-8")
@pytest.mark.parametrize("tool", ["delete_knowledge", "get_knowledge", "update_knowledge"])
@pytest.mark.parametrize("arguments", [{}, {"id": ""}, {"id": "  "}, {"id": None}])
async def test_id_is_required(client: Assistant, tool: str, arguments: dict[str, Any]) -> None:
    extra = {"title": "x"} if tool == "update_knowledge" else {}
    assert "id is required" in await error_of(client, tool, arguments | extra)


async def test_saving_a_near_duplicate_lists_similar_notes(client: Assistant) -> None:
    first = await call(client, "save_knowledge", content="Raise worker_connections in nginx before worker_processes.")
    second = await call(client, "save_knowledge", content="In nginx raise worker_connections before worker_processes")
    other = await call(client, "save_knowledge", content="京都オフィスの鍵は総務にある")
    assert [similar["id"] for similar in second["similar"]] == [first["id"]]
    assert second["similar"][0]["title"] == first["title"]
    assert 0.8 <= second["similar"][0]["score"] <= 1
    assert other["similar"] == []
    assert len((await call(client, "list_knowledge"))["notes"]) == 3


async def test_update_tool_changes_only_given_fields(client: Assistant) -> None:
    saved = await call(client, "save_knowledge", content="old text", title="Chosen title", tags=["a"], source="wiki")
    await call(client, "update_knowledge", id=saved["id"], content="new text")
    note = await call(client, "get_knowledge", id=saved["id"])
    assert (note["content"], note["title"], note["tags"], note["source"]) == ("new text", "Chosen title", ["a"], "wiki")
    assert note["created_at"] == saved["created_at"] < note["updated_at"]
    await call(client, "update_knowledge", id=saved["id"], tags=[])
    assert (await call(client, "get_knowledge", id=saved["id"]))["tags"] == []
    assert "nothing to change" in await error_of(client, "update_knowledge", {"id": saved["id"]})


async def test_derived_title_follows_the_content(client: Assistant) -> None:
    saved = await call(client, "save_knowledge", content="old text")
    updated = await call(client, "update_knowledge", id=saved["id"], content="new text")
    assert updated["title"] == "new text"


async def test_lists_have_pages_and_a_tag_filter(client: Assistant) -> None:
    for number in range(5):
        await call(client, "save_knowledge", content=f"note {number}", tags=["even"] if number % 2 == 0 else [])
    page = await call(client, "list_knowledge", limit=3)
    rest = await call(client, "list_knowledge", limit=3, cursor=page["next_cursor"])
    titles = [note["title"] for note in page["notes"] + rest["notes"]]
    assert titles == ["note 4", "note 3", "note 2", "note 1", "note 0"]
    assert rest["next_cursor"] is None
    even = await call(client, "list_knowledge", tag="EVEN")
    assert [note["title"] for note in even["notes"]] == ["note 4", "note 2", "note 0"]


BAD = [
    ("save_knowledge", {"content": "x" * 1_000_001}, "at most 200,000 are allowed. Split it into several notes."),
    ("save_knowledge", {"content": "PNG\x00\x01\x02"}, "control character U+0000 at position 3"),
    ("save_knowledge", {"content": "red \x1b[31mtext"}, "terminal colours"),
    ("save_knowledge", {"content": "x", "tags": [f"t{n}" for n in range(10_000)]}, "too many tags: 10,000, at most 50"),
    ("save_knowledge", {"content": "x", "tags": ["y" * 101]}, "`tags` is too long: at most 100 characters"),
    ("save_knowledge", {"content": "x", "tags": "docker"}, "tags must be a list"),
    ("save_knowledge", {"content": "x", "tags": [1]}, "tags[0] must be a string"),
    ("save_knowledge", {"content": "x", "title": "y" * 301}, "`title` is too long: at most 300 characters"),
    ("save_knowledge", {"content": "x", "title": "a\x07b"}, "`title` contains control characters"),
    ("save_knowledge", {"content": "x", "source": "y" * 2001}, "`source` is too long"),
    ("save_knowledge", {"content": ["x"]}, "content must be a string"),
    ("save_knowledge", {"content": "x", "secret-field": 1}, "unknown argument"),
    ("search_knowledge", {"query": "x" * 10_001}, "`query` is too long: at most 10,000 characters"),
    ("search_knowledge", {"query": "a\x00b"}, "`query` contains control characters"),
    ("search_knowledge", {"query": "x", "limit": 0}, "limit must be at least 1"),
    ("search_knowledge", {"query": "x", "limit": 101}, "limit must be at most 100"),
    ("search_knowledge", {"query": "x", "limit": "many"}, "limit must be a whole number"),
    ("list_knowledge", {"cursor": "made up"}, "start again without a cursor"),
    ("update_knowledge", {"id": "k-0", "content": ""}, "knowledge not found"),
]


@pytest.mark.parametrize(("tool", "arguments", "message"), BAD, ids=lambda value: str(value)[:40])
async def test_invalid_input_is_rejected_with_advice(
    client: Assistant, tool: str, arguments: dict[str, Any], message: str
) -> None:
    kept = await call(client, "save_knowledge", content="kept")
    text = await error_of(client, tool, arguments)
    assert message in text
    assert "pydantic" not in text.lower()
    assert "input_value" not in text
    assert len(text) < 400
    assert [note["id"] for note in (await call(client, "list_knowledge"))["notes"]] == [kept["id"]]


async def test_tools_have_annotations_and_results_match_their_schemas(client: Assistant) -> None:
    tools = {tool.name: tool for tool in await client.list_tools()}
    hints = {
        name: (t.annotations.read_only_hint, t.annotations.destructive_hint, t.annotations.idempotent_hint)
        for name, t in tools.items()
        if t.annotations
    }
    assert hints == {
        "search_knowledge": (True, None, None),
        "get_knowledge": (True, None, None),
        "list_knowledge": (True, None, None),
        "save_knowledge": (False, True, False),  # it hides the notes that it supersedes
        "update_knowledge": (False, True, True),
        "delete_knowledge": (False, True, True),
    }
    saved = await call(client, "save_knowledge", content="fits its schema")
    results = {
        "save_knowledge": saved,
        "search_knowledge": await call(client, "search_knowledge", query="fits"),
        "get_knowledge": await call(client, "get_knowledge", id=saved["id"]),
        "list_knowledge": await call(client, "list_knowledge"),
        "update_knowledge": await call(client, "update_knowledge", id=saved["id"], title="x"),
        "delete_knowledge": await call(client, "delete_knowledge", id=saved["id"]),
    }
    for name, result in results.items():
        validate(result, tools[name].output_schema)
        failed = await client.call_tool(name, {"id": "k-0", "title": "x", "cursor": "x"}, raise_on_error=False)
        validate(failed.structured_content, tools[name].output_schema)  # as clients on the TypeScript SDK do


async def test_the_tools_take_little_of_a_models_context(client: Assistant) -> None:
    tools = await client.list_tools()
    read_by_models = [{"name": t.name, "description": t.description, "parameters": t.input_schema} for t in tools]
    assert len(json.dumps(read_by_models)) < 7_000
