"""The store in Vector Search 2.0: the contract, through Google's own client, and what only a service can get wrong."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import count
from threading import Thread

import pytest
from fastmcp import Client
from tests.contract.note_store import MOMENT, NoteStoreContract, a_note
from tests.fakes.vector_search import FakeVectorSearch, vector_search
from tests.fakes.vector_search_data import Code
from tests.house.test_architecture import modules_after

from chie.errors import AuthenticationError, ChieError, ConflictError, ForbiddenError, StorageError
from chie.knowledge.server import create_server
from chie.knowledge.store.vector_search import objects
from chie.knowledge.store.vector_search.client import VectorSearchClient
from chie.knowledge.store.vector_search.config import CollectionConfig
from chie.knowledge.store.vector_search.founding import Founder
from chie.knowledge.store.vector_search.store import VectorSearchStore

NUMBERS = count()
LONG = "\n\n".join(f"chapter {n}: redis evicts sessions. " + "filler " * 60 for n in range(5))


@pytest.fixture(scope="module")
def running() -> Iterator[FakeVectorSearch]:
    with vector_search() as service:
        yield service


@pytest.fixture
def service(running: FakeVectorSearch) -> Iterator[FakeVectorSearch]:
    yield running
    running.faults.clear()
    running.page = 1000


@pytest.fixture
def fresh_store(service: FakeVectorSearch) -> Callable[[], VectorSearchStore]:
    """Each with a Collection of its own."""

    def make() -> VectorSearchStore:
        config = CollectionConfig(
            project="p", location="us-central1", collection=f"notes-{next(NUMBERS)}", emulator=service.address
        )
        Founder(config=config).found()
        return VectorSearchStore(config)

    return make


@pytest.fixture
def store(fresh_store: Callable[[], VectorSearchStore]) -> Iterator[VectorSearchStore]:
    store = fresh_store()
    yield store
    store.close()


@pytest.fixture
def hurried(store: VectorSearchStore) -> VectorSearchStore:
    """The same, with little patience."""
    config = store._client.config
    return VectorSearchStore(config, client=VectorSearchClient(config, patience=1))


@pytest.fixture
def kept(service: FakeVectorSearch, store: VectorSearchStore) -> dict[str, object]:
    """What the service holds of this store, by object id."""
    return service.data.objects[store._client.config.name]  # type: ignore[return-value]


@pytest.mark.req("KG-9")
class TestContract(NoteStoreContract):
    pass


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


def test_building_a_server_asks_nobody_and_loads_no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_KNOWLEDGE_STORE", "vector-search")
    for name in ("GOOGLE_CLOUD_PROJECT", "VECTOR_SEARCH_LOCATION", "VECTOR_SEARCH_COLLECTION"):
        monkeypatch.setenv(name, "somewhere")
    loaded = modules_after("from chie.knowledge.server import create_server\ncreate_server()")
    assert "chie.knowledge.store.vector_search.store" in loaded
    assert not any(name.partition(".")[0] in ("google", "grpc", "numpy", "proto") for name in loaded)


class TestFaults:
    """Each failure says what to do, in bounded time; a retry never writes twice nor denies what it wrote."""

    @pytest.mark.parametrize(
        ("code", "kind", "advice"),
        [
            (Code.UNAUTHENTICATED, AuthenticationError, "gcloud auth application-default login"),
            (Code.PERMISSION_DENIED, ForbiddenError, "roles/vectorsearch.dataObjectWriter"),
            (Code.NOT_FOUND, StorageError, "chie knowledge init-collection"),
            (Code.INVALID_ARGUMENT, StorageError, "compares it with what Chie needs"),
            (Code.FAILED_PRECONDITION, StorageError, "compares it with what Chie needs"),
            (Code.INTERNAL, StorageError, "Try again"),
        ],
        ids=lambda value: getattr(value, "name", None),
    )
    def test_what_is_refused_is_told_at_once(
        self, service: FakeVectorSearch, store: VectorSearchStore, code: Code, kind: type[ChieError], advice: str
    ) -> None:
        service.fail("aggregate_data_objects", code, message="a secret value")
        before = service.calls["aggregate_data_objects"]
        with pytest.raises(kind, match=advice) as caught:
            store.check()
        assert "a secret value" not in caught.value.message
        assert service.calls["aggregate_data_objects"] == before + 1

    @pytest.mark.parametrize("code", [Code.UNAVAILABLE, Code.RESOURCE_EXHAUSTED], ids=lambda code: code.name)
    def test_what_passes_is_tried_again(self, service: FakeVectorSearch, store: VectorSearchStore, code: Code) -> None:
        service.fail("aggregate_data_objects", code, times=2)
        assert store.check().notes == 0

    @pytest.mark.parametrize(
        ("code", "advice"),
        [
            (Code.UNAVAILABLE, "cannot be reached"),
            (Code.RESOURCE_EXHAUSTED, "Quotas page"),
            (None, "did not answer in time"),
        ],
    )
    def test_what_does_not_pass_is_given_up_in_bounded_time(
        self, service: FakeVectorSearch, hurried: VectorSearchStore, code: Code, advice: str
    ) -> None:
        service.fail("aggregate_data_objects", code, times=20)
        with pytest.raises(StorageError, match=advice):
            hurried.check()

    def test_a_token_that_cannot_be_had_is_no_outage(self, service: FakeVectorSearch, store: VectorSearchStore) -> None:
        words = "Getting metadata from plugin failed with error: Reauthentication is needed."
        service.fail("aggregate_data_objects", Code.UNAVAILABLE, message=words)
        with pytest.raises(AuthenticationError, match="no valid credentials"):
            store.check()

    def test_without_credentials_it_says_how_to_get_some(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere/key.json")
        store = VectorSearchStore(CollectionConfig(project="p", location="l", collection="c"))
        with pytest.raises(AuthenticationError, match="gcloud auth application-default login"):
            store.check()

    def test_a_service_that_is_not_there_at_all(self) -> None:
        config = CollectionConfig(project="p", location="l", collection="c", emulator="127.0.0.1:9")
        with pytest.raises(StorageError, match="cannot be reached"):
            VectorSearchStore(config, client=VectorSearchClient(config, patience=0.5)).check()

    def test_a_missing_collection_names_itself_and_the_command(self, service: FakeVectorSearch) -> None:
        config = CollectionConfig(project="p", location="l", collection="nowhere", emulator=service.address)
        store = VectorSearchStore(config)
        for look in (
            store.check,
            store.tags,
            lambda: store.search("x", limit=1, tags=()),
            lambda: store.save(a_note()),
        ):
            with pytest.raises(
                StorageError, match=r"no Collection projects/p/locations/l/collections/nowhere .*init-col"
            ):
                look()

    def test_a_create_whose_answer_was_lost_succeeds(self, service: FakeVectorSearch, store: VectorSearchStore) -> None:
        note = a_note()
        service.fail("create_data_object", Code.UNAVAILABLE, late=True)
        assert store.save(note) is None
        assert store.get(note.id) == note

    def test_a_create_over_another_note_is_still_a_conflict_after_a_lost_answer(
        self, service: FakeVectorSearch, store: VectorSearchStore
    ) -> None:
        note = a_note()
        store.save(note)
        service.fail("create_data_object", Code.UNAVAILABLE)
        with pytest.raises(ConflictError, match="exists already"):
            store.save(replace(note, content="another"))

    def test_an_update_whose_answer_was_lost_succeeds(
        self, service: FakeVectorSearch, store: VectorSearchStore
    ) -> None:
        """The retry is refused, because the version it names is gone: our own first attempt replaced it."""
        old = a_note("one")
        new = replace(old, content="two")
        store.save(old)
        service.fail("update_data_object", Code.UNAVAILABLE, late=True)
        store.save(new, replacing=old)
        assert store.get(old.id) == new

    def test_a_delete_whose_answer_was_lost_succeeds(self, service: FakeVectorSearch, store: VectorSearchStore) -> None:
        note = a_note()
        store.save(note)
        service.fail("delete_data_object", Code.UNAVAILABLE, late=True)
        assert store.delete(note.id) is True

    def test_of_two_who_change_the_same_version_one_is_told(self, store: VectorSearchStore) -> None:
        old = a_note("one")
        store.save(old)
        told: list[str] = []

        def change(content: str) -> None:
            try:
                store.save(replace(old, content=content), replacing=old)
            except ConflictError as error:
                told.append(error.message)

        threads = [Thread(target=change, args=(content,)) for content in ("two", "three")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(told) == 1
        assert "changed by somebody else" in told[0]

    def test_the_services_own_words_go_to_the_log(
        self, service: FakeVectorSearch, store: VectorSearchStore, caplog: pytest.LogCaptureFixture
    ) -> None:
        service.fail("aggregate_data_objects", Code.INTERNAL, message="the disk caught fire")
        with caplog.at_level(logging.WARNING), pytest.raises(StorageError):
            store.check()
        assert "the disk caught fire" in caplog.text


class TestLongNotes:
    """A long note is several objects, and none of them outlives it or speaks for a version that is gone."""

    def test_its_passages_come_and_go_with_it(self, store: VectorSearchStore, kept: dict[str, object]) -> None:
        long = a_note(LONG)
        short = replace(long, content="redis evicts sessions, in short")
        store.save(long)
        assert len(kept) == 5
        store.save(short, replacing=long)
        assert len(kept) == 1
        store.save(long, replacing=short)
        store.delete(long.id)
        assert kept == {}

    def test_it_is_saved_even_where_its_later_parts_could_not_be_written(
        self, service: FakeVectorSearch, store: VectorSearchStore
    ) -> None:
        long = a_note(LONG)
        service.fail("batch_create_data_objects", Code.INTERNAL)
        notice = store.save(long)
        assert "only the beginning of this long note is found" in (notice or "")
        assert store.get(long.id) == long
        assert store.save(long, replacing=long) is None
        assert any("chapter 4" in hit.content for hit in store.search("chapter 4", limit=1, tags=()).hits)

    def test_passages_that_a_crash_left_behind_are_never_shown(
        self, store: VectorSearchStore, kept: dict[str, object]
    ) -> None:
        long = a_note(LONG)
        store.save(long)
        left = {name: data for name, data in kept.items() if name.startswith("p-")}
        changed = replace(long, content="a different matter", title="different")
        store.save(changed, replacing=long)
        kept.update(left)
        assert all("chapter" not in hit.content for hit in store.search("redis evicts", limit=5, tags=()).hits)
        store.delete(long.id)
        assert kept == {}  # they go at last with their note
        kept.update(left)
        assert store.search("redis evicts", limit=5, tags=()).hits == []

    def test_parts_that_an_unanswered_batch_had_written_are_not_missed(
        self, service: FakeVectorSearch, store: VectorSearchStore, kept: dict[str, object]
    ) -> None:
        long = a_note(LONG)
        service.fail("batch_create_data_objects", Code.UNAVAILABLE, late=True)
        assert store.save(long) is None
        assert set(kept) == {long.id, *objects.passages(long)}
        service.fail("batch_delete_data_objects", Code.UNAVAILABLE, late=True)
        assert store.delete(long.id) is True
        assert kept == {}

    def test_a_very_long_note_is_written_in_batches_that_the_service_can_read(self, store: VectorSearchStore) -> None:
        huge = a_note("\n\n".join(f"section {n}\n" + "x" * 400 for n in range(260)))
        assert store.save(huge) is None
        assert store.get(huge.id) == huge


class TestOrder:
    """The service cannot sort: the range is narrowed until a page holds it, and nothing is lost on the way."""

    @pytest.mark.parametrize("page", [7, 20, 1000])
    @pytest.mark.parametrize("shuffled", [False, True])
    def test_pages_are_whole_and_in_order_however_many_notes_there_are(
        self, service: FakeVectorSearch, store: VectorSearchStore, page: int, *, shuffled: bool
    ) -> None:
        numbers = [(n * 37) % 60 for n in range(60)] if shuffled else list(range(60))
        for number in numbers:
            store.save(a_note(f"note {number}", created_at=MOMENT + timedelta(minutes=number // 2)))
        service.page = page
        seen, cursor = list[str](), None
        while True:
            part = store.browse(tag=None, limit=5, cursor=cursor)
            seen += [note.title for note in part.notes]
            cursor = part.next_cursor
            if cursor is None:
                break
        moments = [int(title.split()[1]) // 2 for title in seen]
        assert sorted(seen) == sorted({f"note {n}" for n in range(60)})
        assert moments == sorted(moments, reverse=True)

    def test_a_first_page_of_many_notes_takes_few_calls(
        self, service: FakeVectorSearch, store: VectorSearchStore
    ) -> None:
        for number in range(120):
            store.save(a_note(f"note {number}", created_at=MOMENT + timedelta(minutes=(number * 37) % 120)))
        service.page = 20
        before = service.calls["query_data_objects"]
        assert len(store.browse(tag=None, limit=3, cursor=None).notes) == 3
        assert service.calls["query_data_objects"] - before <= 4  # of six pages in all

    def test_a_walk_passes_ids_of_every_kind(self, service: FakeVectorSearch, store: VectorSearchStore) -> None:
        names = ["k-00ff", "My Note", "my-note", "知恵", "k-00ffaa", "a" * 200, "k-00ff-x", "p-1"]
        for name in names:
            store.save(a_note(f"about {name}", id=name))
        service.page = 3
        met, after = list[str](), None
        while part := store.walk(after=after, limit=2):
            met += [note.id for note in part]
            after = part[-1].id
        assert met == sorted(names)
        assert all(store.get(name) is not None for name in names)


def test_scores_never_contradict_the_order_of_the_service(store: VectorSearchStore) -> None:
    """`ERR_42` is in one note alone, whose other words make it unlike the query: it comes first all the same."""
    exact = a_note("ERR_42 " + "appears in the long tail of an unrelated report about printers and toner")
    near = [a_note(f"the gateway answers with error number {n}") for n in range(3)]
    for note in (exact, *near):
        store.save(note)
    hits = store.search("ERR_42", limit=4, tags=()).hits
    assert hits[0].id == exact.id
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_a_question_without_an_answer_has_none(store: VectorSearchStore) -> None:
    store.save(a_note("redis evicts sessions"))
    assert store.search("zebra", limit=5, tags=()).hits == []
