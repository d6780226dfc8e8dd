"""Notes as resources, prompts and argument completion, in both eras of the protocol."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pytest
from fastmcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, PromptReference, ResourceTemplateReference, TextContent
from tests.app.processes import StdioServer

from chie.errors import StorageError
from chie.knowledge.markdown.note_file import parse
from chie.knowledge.note import Note
from chie.knowledge.resources import MAX_LISTED_NOTES
from chie.knowledge.service import KnowledgeService
from chie.messages.catalogue import Message

Assistant = Client[Any]

SAVE = PromptReference(type="ref/prompt", name="save_what_we_learnt")
KNOW = PromptReference(type="ref/prompt", name="what_do_we_know")
NOTE = ResourceTemplateReference(type="ref/resource", uri="note://{id}")


def kept(service: KnowledgeService, note_id: str, title: str) -> Note:
    moment = datetime(2026, 1, 2, tzinfo=UTC)
    note = Note(id=note_id, title=title, content="本文", created_at=moment, updated_at=moment)
    service.import_note(note)
    return note


async def text_of(client: Assistant, uri: str) -> str:
    [content] = await client.read_resource(uri)
    assert content.mime_type == "text/markdown"
    text: str = content.text  # type: ignore[union-attr]
    return text


async def refused(client: Assistant, uri: str) -> MCPError:
    with pytest.raises(MCPError) as caught:
        await client.read_resource(uri)
    return caught.value


async def test_note_resource_is_markdown_with_front_matter(client: Assistant, service: KnowledgeService) -> None:
    saved = service.save("# 原因\nworker_connections が足りない", title="nginx: 接続", tags=["nginx"], source="wiki")
    text = await text_of(client, f"note://{saved.id}")
    read = parse(text, name="x", source="y", changed=datetime.now(UTC))
    assert read == service.get(saved.id)


@pytest.mark.parametrize("note_id", ["K-UPPER", "設計 メモ 1", "a?b#c", "100%"])
async def test_an_id_of_any_letters_can_be_listed_and_read(
    client: Assistant, service: KnowledgeService, note_id: str
) -> None:
    note = kept(service, note_id, "題")
    [listed] = [one for one in await client.list_resources() if one.title == "題"]
    assert note.content in await text_of(client, str(listed.uri))
    assert note.content in await text_of(client, f"note://{quote(note_id, safe='')}")


async def test_unknown_note_error_names_its_uri(client: Assistant) -> None:
    error = (await refused(client, "note://k-0000")).error
    assert error.code == INVALID_PARAMS
    assert error.message.startswith("knowledge not found")
    assert error.data["uri"] == "note://k-0000"
    assert error.data["error_type"] == "NotFoundError"


async def test_unknown_resource_uri_is_an_error(client: Assistant) -> None:
    error = (await refused(client, "memo://1")).error
    assert (error.code, error.data["uri"]) == (INVALID_PARAMS, "memo://1")


async def test_failing_store_is_an_mcp_error(
    client: Assistant, service: KnowledgeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: str) -> None:
        raise RuntimeError("secret path /var/x")

    monkeypatch.setattr(service.store, "get", fail)
    error = (await refused(client, "note://k-1")).error
    assert error.code == INTERNAL_ERROR
    assert "failed inside Chie" in error.message
    assert "secret" not in str(error)


async def test_the_newest_notes_are_listed_and_no_more(client: Assistant, service: KnowledgeService) -> None:
    for number in range(MAX_LISTED_NOTES + 5):
        service.save(f"finding {number}", title=f"第{number}", tags=["a", "b"])
    notes = [one for one in await client.list_resources() if str(one.uri).startswith("note://")]
    assert [one.title for one in notes] == [f"第{number}" for number in range(MAX_LISTED_NOTES + 4, 4, -1)]
    assert {(one.mime_type, one.description) for one in notes} == {("text/markdown", "a, b")}
    assert notes[0].annotations is not None
    assert datetime.fromisoformat(notes[0].annotations.last_modified or "").tzinfo is not None


async def test_failing_resource_list_reports_the_reason(
    client: Assistant, service: KnowledgeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**_: object) -> None:
        raise StorageError("database.disk_full", path="chie.db")

    monkeypatch.setattr(service.store, "browse", fail)
    with pytest.raises(MCPError) as caught:
        await client.list_resources()
    assert caught.value.error.code == INTERNAL_ERROR
    assert caught.value.error.message == str(Message("database.disk_full", path="chie.db"))


async def prompt(client: Assistant, name: str, **arguments: str) -> str:
    [message] = (await client.get_prompt(name, arguments)).messages
    assert message.role == "user"
    assert isinstance(message.content, TextContent)
    return message.content.text


@pytest.mark.parametrize(
    ("topic", "words"), [("接続数の上限", "何を知っていますか"), ("connection limits", "our team know")]
)
async def test_query_prompt_uses_the_language_of_the_topic(client: Assistant, topic: str, words: str) -> None:
    text = await prompt(client, "what_do_we_know", topic=topic, tag="nginx")
    assert topic in text
    assert words in text
    assert "search_knowledge" in text
    assert "get_knowledge" in text
    assert '["nginx"]' in text


async def test_save_prompt_takes_optional_topic_and_tags(client: Assistant) -> None:
    plain = await prompt(client, "save_what_we_learnt")
    assert "search_knowledge" in plain
    assert "save_knowledge" in plain
    full = await prompt(client, "save_what_we_learnt", topic="the outage", tags="aws, #本番、 db ")
    assert '"aws", "本番", "db"' in full
    assert "学んだこと" in full
    english = await prompt(client, "save_what_we_learnt", topic="the outage")
    assert "at what concerns the outage," in english


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({}, "topic is required"), ({"topic": " "}, "topic is required"), ({"topic": "x" * 2001}, "too long")],
)
async def test_invalid_prompt_arguments_are_reported(
    client: Assistant, arguments: dict[str, str], message: str
) -> None:
    with pytest.raises(MCPError) as caught:
        await client.get_prompt("what_do_we_know", arguments)
    assert caught.value.error.code == INVALID_PARAMS
    assert message in caught.value.error.message


async def values(client: Assistant, reference: PromptReference | ResourceTemplateReference, **typed: str) -> list[str]:
    [(name, value)] = typed.items()
    return (await client.complete(reference, {"name": name, "value": value})).values


async def test_tags_are_completed_the_most_used_first(client: Assistant, service: KnowledgeService) -> None:
    for tags in (["docker", "本番"], ["docker"], ["Dokku"], ["compose-docker"]):
        service.save("x", tags=tags)
    assert await values(client, KNOW, tag="do") == ["docker", "Dokku", "compose-docker"]
    assert await values(client, KNOW, tag="ＤＯＫ") == ["Dokku"]
    assert await values(client, KNOW, tag="本") == ["本番"]
    assert await values(client, KNOW, tag="zzz") == []


async def test_completion_keeps_the_tags_typed_so_far(client: Assistant, service: KnowledgeService) -> None:
    service.save("x", tags=["docker", "dns"])
    assert await values(client, SAVE, tags="docker, d") == ["docker, dns"]
    assert await values(client, SAVE, tags="本番、#dn") == ["本番、dns"]
    assert sorted(await values(client, SAVE, tags="")) == ["dns", "docker"]


async def test_ids_are_completed_by_their_beginning_and_by_the_title(
    client: Assistant, service: KnowledgeService
) -> None:
    kept(service, "k-aa1", "nginx の設定")
    kept(service, "k-bb2", "Docker")
    assert await values(client, NOTE, id="k-a") == ["k-aa1"]
    assert await values(client, NOTE, id="docker") == ["k-bb2"]
    assert await values(client, NOTE, id="設定") == ["k-aa1"]
    assert await values(client, NOTE, other="k") == []


async def test_very_long_input_is_not_completed(client: Assistant, service: KnowledgeService) -> None:
    service.save("x", tags=["docker"])
    assert await values(client, SAVE, tags="a," * 5_000) == ["a," * 5_000 + "docker"]
    assert await values(client, SAVE, tags="a," * 5_001) == []


@pytest.mark.parametrize("error", [StorageError("database.disk_full", path="chie.db"), ValueError("a secret")])
async def test_completion_offers_nothing_while_the_store_fails(
    client: Assistant, service: KnowledgeService, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(**_: object) -> None:
        raise error

    monkeypatch.setattr(service.store, "tags", fail)
    assert await values(client, KNOW, tag="") == []


@pytest.mark.usefixtures("home")
def test_a_process_on_stdio_offers_all_of_it() -> None:
    with StdioServer("knowledge-gateway") as server:
        assert [one["name"] for one in server.request("prompts/list")["prompts"]] == [SAVE.name, KNOW.name]
        assert server.request("resources/templates/list")["resourceTemplates"][0]["uriTemplate"] == NOTE.uri
        note = server.call("save_knowledge", content="stdio から")["structuredContent"]
        [read] = server.request("resources/read", uri=f"note://{note['id']}")["contents"]
        assert "stdio から" in read["text"]
