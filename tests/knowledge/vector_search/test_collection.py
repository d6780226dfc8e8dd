"""Settings of the Collection, and the command that creates it."""

from collections.abc import Iterator

import pytest
from click.testing import CliRunner
from tests.fakes.vector_search import FakeVectorSearch, vector_search
from tests.fakes.vector_search_data import Code

from chie.cli import main
from chie.errors import ConfigurationError
from chie.knowledge.settings import KnowledgeSettings, create_store
from chie.knowledge.store.vector_search import objects
from chie.knowledge.store.vector_search.config import load_config
from chie.knowledge.store.vector_search.provision import CollectionProvisioner
from chie.messages.catalogue import Message

NAME = "projects/acme/locations/us-central1/collections/notes"

pytestmark = pytest.mark.req("KG-9")


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeVectorSearch]:
    with vector_search() as service:
        monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "acme")
        monkeypatch.setenv("VECTOR_SEARCH_LOCATION", "us-central1")
        monkeypatch.setenv("VECTOR_SEARCH_COLLECTION", "notes")
        monkeypatch.setenv("CHIE_VECTOR_SEARCH_EMULATOR", service.address)
        yield service


def init(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["knowledge", "init-collection", *arguments])
    return done.exit_code, done.output


def test_it_declares_every_field_and_has_the_service_make_the_vectors(service: FakeVectorSearch) -> None:
    code, output = init()
    assert code == 0
    assert f"Created {NAME}" in output
    assert "gemini-embedding-001 in 3072 dimensions" in output
    vector = service.data.collections[NAME].vector_schema["embedding"].dense_vector
    assert (vector.dimensions, vector.vertex_embedding_config.task_type.name) == (3072, "RETRIEVAL_DOCUMENT")
    assert vector.vertex_embedding_config.text_template == "{title}\n{text}"
    assert set(service.data.schemas[NAME]) == set(objects.SCHEMA)


def test_provisioning_is_idempotent(service: FakeVectorSearch) -> None:
    init()
    code, output = init()
    assert (code, "Exists and matches" in output) == (0, True)
    assert service.calls["create_collection"] == 1
    assert service.calls["update_collection"] == 0


def test_command_line_uses_the_configured_store(service: FakeVectorSearch, monkeypatch: pytest.MonkeyPatch) -> None:
    init()
    monkeypatch.setenv("CHIE_KNOWLEDGE_STORE", "vector-search")
    assert "Saved k-" in CliRunner().invoke(main, ["notes", "save", "nginx answers 413"]).output
    assert "nginx answers 413" in CliRunner().invoke(main, ["notes", "search", "413"]).output
    assert len(service.data.objects[NAME]) == 1


def test_provisioning_reports_progress(service: FakeVectorSearch) -> None:
    service.pending = 3
    reported: list[None] = []
    founded = CollectionProvisioner(
        config=load_config(), waiting=lambda: reported.append(None), poll_seconds=0.01
    ).provision()
    assert founded.outcome == "created"
    assert len(reported) == 2  # at the third look it is done


def test_create_collection_with_a_lost_response_succeeds(service: FakeVectorSearch) -> None:
    service.fail("create_collection", Code.UNAVAILABLE, late=True)
    code, output = init()
    assert (code, "Exists and matches" in output) == (0, True)


def test_fields_that_an_older_collection_lacks_are_added(service: FakeVectorSearch) -> None:
    init()
    collection = service.data.collections[NAME]
    schema = {name: kind for name, kind in objects.SCHEMA.items() if name not in ("place", "length")}
    collection.data_schema = {"type": "object", "properties": schema}
    service.data.keep(collection)
    code, output = init()
    assert (code, "added missing fields: length, place" in output) == (0, True)
    assert set(service.data.schemas[NAME]) == set(objects.SCHEMA)


def test_mismatched_collection_is_not_changed(service: FakeVectorSearch) -> None:
    init("--model", "text-multilingual-embedding-002", "--dimensions", "768")
    code, output = init()
    assert code == 1
    assert "it embeds with the model text-multilingual-embedding-002 in 768 dimensions. Nothing was changed." in output
    assert init("--model", "text-multilingual-embedding-002", "--dimensions", "768")[0] == 0
    assert service.calls["update_collection"] == 0


def test_without_the_right_the_role_is_named(service: FakeVectorSearch) -> None:
    service.fail("get_collection", Code.PERMISSION_DENIED)
    code, output = init()
    assert (code, "Grant it roles/vectorsearch.admin" in output) == (1, True)


@pytest.mark.usefixtures("service")
@pytest.mark.parametrize(
    "missing",
    [["VECTOR_SEARCH_COLLECTION"], ["GOOGLE_CLOUD_PROJECT", "VECTOR_SEARCH_LOCATION", "VECTOR_SEARCH_COLLECTION"]],
)
def test_missing_settings_are_named(missing: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in missing:
        monkeypatch.setenv(name, "  ")
    with pytest.raises(ConfigurationError) as caught:
        create_store(KnowledgeSettings(knowledge_store="vector-search"))
    assert caught.value.reason == Message("vector_search.not_configured", names=missing)


@pytest.mark.usefixtures("service")
@pytest.mark.parametrize("name", ["Notes", "my_notes", "1notes", "notes-", "n" * 64])
def test_invalid_collection_id_is_rejected_at_startup(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VECTOR_SEARCH_COLLECTION", name)
    with pytest.raises(ConfigurationError) as caught:
        load_config()
    assert caught.value.code == "vector_search.collection_id_invalid"


@pytest.mark.usefixtures("service")
@pytest.mark.parametrize("address", ["10.0.0.1:8080", "vectorsearch.googleapis.com:443", "http://127.0.0.1:1"])
def test_remote_emulator_is_rejected(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_VECTOR_SEARCH_EMULATOR", address)
    with pytest.raises(ConfigurationError) as caught:
        load_config()
    assert caught.value.code == "vector_search.emulator_invalid"
