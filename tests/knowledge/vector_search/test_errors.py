"""Errors of the service."""

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


class TestErrors:
    """Errors are translated within the timeout, and retries are idempotent."""

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
    def test_permanent_errors_are_not_retried(
        self, service: FakeVectorSearch, store: VectorSearchStore, code: Code, kind: type[ChieError], advice: str
    ) -> None:
        service.fail("aggregate_data_objects", code, message="a secret value")
        before = service.calls["aggregate_data_objects"]
        with pytest.raises(kind, match=advice) as caught:
            store.check()
        assert "a secret value" not in caught.value.message
        assert service.calls["aggregate_data_objects"] == before + 1

    @pytest.mark.parametrize("code", [Code.UNAVAILABLE, Code.RESOURCE_EXHAUSTED], ids=lambda code: code.name)
    def test_retries_temporary_errors(self, service: FakeVectorSearch, store: VectorSearchStore, code: Code) -> None:
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
    def test_permanent_errors_time_out(
        self, service: FakeVectorSearch, impatient_store: VectorSearchStore, code: Code, advice: str
    ) -> None:
        service.fail("aggregate_data_objects", code, times=20)
        with pytest.raises(StorageError, match=advice):
            impatient_store.check()

    def test_missing_token_is_no_outage(self, service: FakeVectorSearch, store: VectorSearchStore) -> None:
        words = "Getting metadata from plugin failed with error: Reauthentication is needed."
        service.fail("aggregate_data_objects", Code.UNAVAILABLE, message=words)
        with pytest.raises(AuthenticationError, match="No valid Google Cloud credentials"):
            store.check()

    def test_missing_credentials_are_reported_with_advice(self, monkeypatch: pytest.MonkeyPatch) -> None:
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

    def test_create_with_a_lost_response_succeeds(self, service: FakeVectorSearch, store: VectorSearchStore) -> None:
        note = a_note()
        service.fail("create_data_object", Code.UNAVAILABLE, late=True)
        assert store.save(note) is None
        assert store.get(note.id) == note

    def test_create_with_a_taken_id_is_a_conflict_even_after_a_retry(
        self, service: FakeVectorSearch, store: VectorSearchStore
    ) -> None:
        note = a_note()
        store.save(note)
        service.fail("create_data_object", Code.UNAVAILABLE)
        with pytest.raises(ConflictError, match="already exists"):
            store.save(replace(note, content="another"))

    def test_update_with_a_lost_response_succeeds(self, service: FakeVectorSearch, store: VectorSearchStore) -> None:
        """The retry is refused, because the version it names is gone: our own first attempt replaced it."""
        old = a_note("one")
        new = replace(old, content="two")
        store.save(old)
        service.fail("update_data_object", Code.UNAVAILABLE, late=True)
        store.save(new, replacing=old)
        assert store.get(old.id) == new

    def test_delete_with_a_lost_response_succeeds(self, service: FakeVectorSearch, store: VectorSearchStore) -> None:
        note = a_note()
        store.save(note)
        service.fail("delete_data_object", Code.UNAVAILABLE, late=True)
        assert store.delete(note.id) is True

    def test_one_of_two_concurrent_updates_is_a_conflict(self, store: VectorSearchStore) -> None:
        old = a_note("one")
        store.save(old)
        reported: list[str] = []

        def change(content: str) -> None:
            try:
                store.save(replace(old, content=content), replacing=old)
            except ConflictError as error:
                reported.append(error.code)

        threads = [Thread(target=change, args=(content,)) for content in ("two", "three")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert reported == ["knowledge.note_changed"]

    def test_service_message_is_logged(
        self, service: FakeVectorSearch, store: VectorSearchStore, caplog: pytest.LogCaptureFixture
    ) -> None:
        service.fail("aggregate_data_objects", Code.INTERNAL, message="the disk caught fire")
        with caplog.at_level(logging.WARNING), pytest.raises(StorageError):
            store.check()
        assert "the disk caught fire" in caplog.text
