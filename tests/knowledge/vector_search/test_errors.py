"""What only a service can get wrong."""

import logging
from dataclasses import replace
from threading import Thread

import pytest
from tests.contract.note_store import a_note
from tests.fakes.vector_search import FakeVectorSearch
from tests.fakes.vector_search_data import Code

from chie.errors import AuthenticationError, ChieError, ConflictError, ForbiddenError, StorageError
from chie.knowledge.store.vector_search.client import VectorSearchClient
from chie.knowledge.store.vector_search.config import CollectionConfig
from chie.knowledge.store.vector_search.store import VectorSearchStore


class TestFaults:
    """Each failure says what to do, in bounded time; a retry never writes twice nor denies what it wrote."""

    @pytest.mark.parametrize(
        ("code", "kind", "advice"),
        [
            (Code.UNAUTHENTICATED, AuthenticationError, "gcloud auth application-default login"),
            (Code.PERMISSION_DENIED, ForbiddenError, "roles/vectorsearch.dataObjectWriter"),
            (Code.NOT_FOUND, StorageError, "chie knowledge init-collection"),
            (Code.INVALID_ARGUMENT, StorageError, "Compare it with `chie knowledge init-collection`"),
            (Code.FAILED_PRECONDITION, StorageError, "Compare it with `chie knowledge init-collection`"),
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
            (None, "did not respond in time"),
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
        with pytest.raises(AuthenticationError, match="No valid Google Cloud credentials"):
            store.check()

    def test_without_credentials_it_says_how_to_get_some(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere/key.json")
        store = VectorSearchStore(CollectionConfig(project="p", location="l", collection="c"))
        with pytest.raises(AuthenticationError, match="gcloud auth application-default login"):
            store.check()

    def test_a_service_that_is_not_there_at_all(self) -> None:
        config = CollectionConfig(project="p", location="l", collection="c", emulator="127.0.0.1:9")
        with pytest.raises(StorageError, match="cannot be reached"):
            VectorSearchStore(config, client=VectorSearchClient(config, timeout=0.5)).check()

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
        with pytest.raises(ConflictError, match="already exists"):
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
                told.append(error.code)

        threads = [Thread(target=change, args=(content,)) for content in ("two", "three")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert told == ["knowledge.note_changed"]

    def test_the_services_own_words_go_to_the_log(
        self, service: FakeVectorSearch, store: VectorSearchStore, caplog: pytest.LogCaptureFixture
    ) -> None:
        service.fail("aggregate_data_objects", Code.INTERNAL, message="the disk caught fire")
        with caplog.at_level(logging.WARNING), pytest.raises(StorageError):
            store.check()
        assert "the disk caught fire" in caplog.text
