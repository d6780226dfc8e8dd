"""A note that a user may not see changes no byte of what they get: neither scores nor counts nor notices."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.embedders import FailableEmbedder
from tests.fakes.postgres import new_schema, postgres_url, run_server
from tests.security.conftest import Team

from chie.access.settings import AccessSettings
from chie.access.users import UserFile
from chie.knowledge.note import NOTE_URI
from chie.knowledge.prompts import QUERY_PROMPT
from chie.knowledge.spaces.space import Space
from chie.knowledge.store.base import NoteStore
from chie.knowledge.store.postgres import backfill
from chie.knowledge.store.postgres.store import PostgresStore
from chie.knowledge.store.sqlite.store import SqliteStore
from chie.settings import load

QUERIES = ["kestrel", "kestrel merger", "合併の暗号名 kestrel", "nginx timeout", "接続の上限", "zanzibar", "の"]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    yield from run_server()


@pytest.fixture
def embedder() -> FailableEmbedder:
    return FailableEmbedder()


@pytest.fixture(params=["sqlite", "postgres", "postgres with an index"])
def store(
    request: pytest.FixtureRequest, home: Path, embedder: FailableEmbedder, monkeypatch: pytest.MonkeyPatch
) -> Iterator[NoteStore]:
    store: NoteStore
    if request.param == "sqlite":
        store = SqliteStore(home / "notes.db", embedder)
    else:
        if "index" in request.param:
            monkeypatch.setattr(backfill, "MIN_INDEXED_VECTORS", 1)
        store = PostgresStore(postgres_url(new_schema(request.getfixturevalue("server"))), embedder)
    yield store
    store.close()


def save(team: Team, who: str, content: str, **fields: Any) -> str:
    response = team.call(who, "POST", "/api/knowledge", json={"content": content, **fields})
    assert response.status_code == 201, response.text
    note_id: str = response.json()["id"]
    return note_id


def fill(team: Team) -> str:
    """Notes of the team, and two that only Ben may see; the id of one of the team."""
    for number in range(12):
        save(team, "aki", f"nginx の接続 {number} は上限に達した。 kestrel timeout case {number}", tags=["nginx"])
    save(team, "aki", "the merger was announced, 合併を発表した", tags=["news"])
    save(team, "ben", "my own notes about the kestrel project", private=True, tags=["mine"])
    save(team, "ben", "接続の上限は個人的に 100 にした", private=True)
    return save(team, "ben", "how to reset a password, パスワードの再設定")


def answers(team: Team, who: str, note_id: str) -> dict[str, Any]:
    """Everything that the user can ask for, byte by byte."""
    found: dict[str, Any] = {}
    for query in QUERIES:
        found[f"search {query}"] = team.call(who, "GET", "/api/knowledge/search", params={"q": query}).content
        tagged = {"q": query, "tags": ["nginx"]}
        found[f"search tagged {query}"] = team.call(who, "GET", "/api/knowledge/search", params=tagged).content
        found[f"tool {query}"] = team.tool(who, "knowledge", "search_knowledge", query=query, limit=50)
    for path in ("", "/tags", "/map", f"/{note_id}", f"/{note_id}/related"):
        found[path] = team.call(who, "GET", f"/api/knowledge{path}").content
    found["health"] = team.call(who, "GET", "/health").content
    found["list"] = team.tool(who, "knowledge", "list_knowledge", limit=100)
    found["resources"] = team.ask(who, "knowledge", "resources/list")
    for reference, name in (
        ({"type": "ref/prompt", "name": QUERY_PROMPT}, "tag"),
        ({"type": "ref/resource", "uri": NOTE_URI}, "id"),
    ):
        completion = team.ask(
            who, "knowledge", "completion/complete", ref=reference, argument={"name": name, "value": ""}
        )
        found[f"complete {name}"] = completion
    return found


def assert_unchanged(before: dict[str, Any], after: dict[str, Any]) -> None:
    for asked, answer in before.items():
        assert after[asked] == answer, asked


@pytest.mark.parametrize("reader", ["ben", "root"])
def test_hidden_note_changes_no_byte(team: Team, store: NoteStore, embedder: FailableEmbedder, reader: str) -> None:
    note_id = fill(team)
    store.finish_background_work()
    answers(team, reader, note_id)  # which counts as a use of the notes that it finds
    before = answers(team, reader, note_id)
    assert b"kestrel" in before["search kestrel"]
    hidden = [
        save(team, "aki", "the codename of the merger is kestrel. " * 60, private=True, tags=["nginx", "kestrel"]),
        save(team, "aki", "合併の暗号名は kestrel で、接続の上限は 10。", private=True, tags=["秘密"]),
    ]
    assert_unchanged(before, answers(team, reader, note_id))
    changed = team.call("aki", "PATCH", f"/api/knowledge/{hidden[0]}", json={"content": "zanzibar の password " * 30})
    assert changed.status_code == 200, changed.text
    assert_unchanged(before, answers(team, reader, note_id))
    embedder.failing = True  # its passages have no vectors yet, which a notice would count
    hidden.append(save(team, "aki", "kestrel nginx timeout 接続", private=True))
    embedder.failing = False
    assert_unchanged(before, answers(team, reader, note_id))
    for one in hidden:
        assert team.call("aki", "DELETE", f"/api/knowledge/{one}").status_code in (200, 204)
    assert_unchanged(before, answers(team, reader, note_id))


def test_hidden_passages_are_searchable_for_their_owner(team: Team, store: NoteStore) -> None:
    """The owner's scores do count the owner's private notes."""
    note_id = fill(team)
    store.finish_background_work()
    before = answers(team, "aki", note_id)
    mine = save(team, "aki", "合併の暗号名は kestrel", private=True)
    found = team.tool("aki", "knowledge", "search_knowledge", query="合併の暗号名 kestrel")["structuredContent"]["hits"]
    assert found[0]["id"] == mine
    assert answers(team, "aki", note_id)["health"] != before["health"]


@pytest.mark.req("MT-6")
@pytest.mark.parametrize("reader", ["ben", "ben in hr"])
def test_note_in_an_unreadable_space_changes_no_byte(
    team: Team, store: NoteStore, embedder: FailableEmbedder, reader: str
) -> None:
    store.spaces.save(Space(name="vault", grants={"aki": "write"}))
    store.spaces.save(Space(name="hr", grants={"ben": "write"}))
    team.tokens["ben in hr"] = UserFile(load(AccessSettings).users_path).add_token("ben", spaces={"hr": "write"})
    note_id = fill(team)
    for text in ("kestrel merger in hr, 人事", "接続の上限は 20"):
        save(team, "ben", text, space="hr", tags=["nginx"])
    store.finish_background_work()
    answers(team, reader, note_id)  # which counts as a use of the notes that it finds
    before = answers(team, reader, note_id)
    hidden = save(team, "aki", "the codename of the merger is kestrel. " * 60, space="vault", tags=["nginx", "kestrel"])
    save(team, "aki", "合併の暗号名は kestrel で、接続の上限は 10。", space="vault", tags=["秘密"])
    assert_unchanged(before, answers(team, reader, note_id))
    embedder.failing = True  # its passages have no vectors yet, which a notice would count
    save(team, "aki", "kestrel nginx timeout 接続", space="vault")
    embedder.failing = False
    assert_unchanged(before, answers(team, reader, note_id))
    assert team.call("aki", "DELETE", f"/api/knowledge/{hidden}").status_code in (200, 204)
    assert_unchanged(before, answers(team, reader, note_id))
