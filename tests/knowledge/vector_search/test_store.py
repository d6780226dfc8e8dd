"""The contract of stores and the tools, on Vector Search 2.0 through Google's client."""

from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from fastmcp import Client
from tests.app.test_architecture import modules_after
from tests.contract.note_anchors import AnchorRoundTripContract
from tests.contract.note_filters import NoteFilterContract
from tests.contract.note_recall import ProposalContract
from tests.contract.note_records import NoteRecordsContract
from tests.contract.note_store import NoteStoreContract, a_note
from tests.contract.note_versions import NoVersionContract
from tests.fakes.embedders import HashingEmbedder

from chie.cli import main
from chie.errors import ConfigurationError
from chie.knowledge.server import create_server
from chie.knowledge.spaces.space import Space
from chie.knowledge.store.sqlite.store import SqliteStore
from chie.knowledge.store.vector_search.store import VectorSearchStore
from chie.knowledge.viewer import Viewer


@pytest.mark.req("KG-9")
class TestContract(
    NoteStoreContract,
    NoteFilterContract,
    ProposalContract,
    NoteRecordsContract,
    NoVersionContract,
    AnchorRoundTripContract,
):
    ORDERS = 8  # the orders are the rules', not the store's: SQLite's suite tries many more


@pytest.mark.req("KG-9")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_tools_work_on_it(store: VectorSearchStore, mode: str) -> None:
    async with Client(create_server(store=store), mode=mode) as client:
        saved = (await client.call_tool("save_knowledge", {"content": "検索の結果が空になる"})).structured_content
        assert saved is not None
        found = (await client.call_tool("search_knowledge", {"query": "検索の結果"})).structured_content
        assert found is not None
        assert [hit["id"] for hit in found["hits"]] == [saved["id"]]
        await client.call_tool("delete_knowledge", {"id": saved["id"]})
        listed = (await client.call_tool("list_knowledge", {})).structured_content
        assert listed is not None
        assert listed["notes"] == []


def test_building_a_server_makes_no_calls_and_imports_no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_KNOWLEDGE_STORE", "vector-search")
    for name in ("GOOGLE_CLOUD_PROJECT", "VECTOR_SEARCH_LOCATION", "VECTOR_SEARCH_COLLECTION"):
        monkeypatch.setenv(name, "somewhere")
    loaded = modules_after("from chie.knowledge.server import create_server\ncreate_server()")
    assert "chie.knowledge.store.vector_search.store" in loaded
    assert not any(name.partition(".")[0] in ("google", "grpc", "numpy", "proto") for name in loaded)


def test_a_migration_begins_where_the_notes_are(
    store: VectorSearchStore, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = store._client.config
    for name, value in {
        "CHIE_KNOWLEDGE_STORE": "vector-search",
        "GOOGLE_CLOUD_PROJECT": config.project,
        "VECTOR_SEARCH_LOCATION": config.location,
        "VECTOR_SEARCH_COLLECTION": config.collection,
        "CHIE_VECTOR_SEARCH_EMULATOR": config.emulator or "",
    }.items():
        monkeypatch.setenv(name, value)
    notes = [a_note("検索の結果が空になる"), a_note("the index was rebuilt", id="own id", private=True)]
    store.put_copies(notes)
    out = CliRunner().invoke(main, ["notes", "migrate", "--to", str(home / "chie.db")])
    assert "2 notes copied, 0 deleted; 2 are equal in both stores." in out.output
    assert f"set CHIE_DATABASE_URL to sqlite:///{home / 'chie.db'}, unset CHIE_KNOWLEDGE_STORE" in out.output
    with closing(SqliteStore(home / "chie.db", HashingEmbedder())) as target:
        assert sorted(target.walk(after=None, limit=9), key=str) == sorted(notes, key=str)


@pytest.mark.req("MT-6")
def test_there_is_only_the_space_of_the_team(store: VectorSearchStore) -> None:
    store.save(a_note("redis evicts sessions", user_id="aki"))
    store.save(a_note("redis", user_id="aki", proposal=True))
    assert [space.name for space in store.spaces.all()] == ["team"]
    with pytest.raises(ConfigurationError):
        store.spaces.save(Space(name="ops"))
    nowhere = Viewer("aki", frozenset({"ops"}))
    assert store.search("redis evicts", limit=3, viewer=nowhere).hits == []
    assert store.browse(tag=None, limit=3, cursor=None, viewer=nowhere).notes == []
    assert (store.count(viewer=nowhere), store.proposals(viewer=nowhere, limit=3)) == (0, [])
    assert store.count_proposals(viewer=nowhere) == 0
