"""Where the Collection is, and the command that makes it: the one part that needs admin rights."""

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
    code, said = init()
    assert code == 0
    assert f"Created {NAME}" in said
    assert "gemini-embedding-001 in 3072 dimensions" in said
    vector = service.data.collections[NAME].vector_schema["embedding"].dense_vector
    assert (vector.dimensions, vector.vertex_embedding_config.task_type.name) == (3072, "RETRIEVAL_DOCUMENT")
    assert vector.vertex_embedding_config.text_template == "{title}\n{text}"
    assert set(service.data.schemas[NAME]) == set(objects.SCHEMA)


def test_running_it_again_changes_nothing_and_says_so(service: FakeVectorSearch) -> None:
    init()
    code, said = init()
    assert (code, "Exists and matches" in said) == (0, True)
    assert service.calls["create_collection"] == 1
    assert service.calls["update_collection"] == 0


def test_notes_go_there_from_the_command_line_once_the_setting_says_so(
    service: FakeVectorSearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    init()
    monkeypatch.setenv("CHIE_KNOWLEDGE_STORE", "vector-search")
    assert "Saved k-" in CliRunner().invoke(main, ["notes", "save", "nginx answers 413"]).output
    assert "nginx answers 413" in CliRunner().invoke(main, ["notes", "search", "413"]).output
    assert len(service.data.objects[NAME]) == 1


def test_progress_is_told_while_google_works(service: FakeVectorSearch) -> None:
    service.pending = 3
    told: list[None] = []
    founded = CollectionProvisioner(
        config=load_config(), waiting=lambda: told.append(None), poll_seconds=0.01
    ).provision()
    assert founded.outcome == "created"
    assert len(told) == 2  # at the third look it is done


def test_a_create_whose_answer_was_lost_is_a_collection_that_exists(service: FakeVectorSearch) -> None:
    service.fail("create_collection", Code.UNAVAILABLE, late=True)
    code, said = init()
    assert (code, "Exists and matches" in said) == (0, True)


def test_fields_that_an_older_collection_lacks_are_added(service: FakeVectorSearch) -> None:
    init()
    collection = service.data.collections[NAME]
    schema = {name: kind for name, kind in objects.SCHEMA.items() if name not in ("place", "length")}
    collection.data_schema = {"type": "object", "properties": schema}
    service.data.keep(collection)
    code, said = init()
    assert (code, "added missing fields: length, place" in said) == (0, True)
    assert set(service.data.schemas[NAME]) == set(objects.SCHEMA)


def test_a_collection_of_another_make_is_left_alone(service: FakeVectorSearch) -> None:
    init("--model", "text-multilingual-embedding-002", "--dimensions", "768")
    code, said = init()
    assert code == 1
    assert "it embeds with the model text-multilingual-embedding-002 in 768 dimensions. Nothing was changed." in said
    assert init("--model", "text-multilingual-embedding-002", "--dimensions", "768")[0] == 0
    assert service.calls["update_collection"] == 0


def test_without_the_right_the_role_is_named(service: FakeVectorSearch) -> None:
    service.fail("get_collection", Code.PERMISSION_DENIED)
    code, said = init()
    assert (code, "Grant it roles/vectorsearch.admin" in said) == (1, True)


@pytest.mark.usefixtures("service")
@pytest.mark.parametrize(
    "missing",
    [["VECTOR_SEARCH_COLLECTION"], ["GOOGLE_CLOUD_PROJECT", "VECTOR_SEARCH_LOCATION", "VECTOR_SEARCH_COLLECTION"]],
)
def test_what_is_not_configured_is_named(missing: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in missing:
        monkeypatch.setenv(name, "  ")
    with pytest.raises(ConfigurationError) as caught:
        create_store(KnowledgeSettings(knowledge_store="vector-search"))
    assert caught.value.reason == Message("vector_search.not_configured", names=missing)


@pytest.mark.usefixtures("service")
@pytest.mark.parametrize("name", ["Notes", "my_notes", "1notes", "notes-", "n" * 64])
def test_an_id_that_the_service_would_refuse_is_refused_at_the_start(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VECTOR_SEARCH_COLLECTION", name)
    with pytest.raises(ConfigurationError) as caught:
        load_config()
    assert caught.value.code == "vector_search.collection_id_invalid"


@pytest.mark.usefixtures("service")
@pytest.mark.parametrize("address", ["10.0.0.1:8080", "vectorsearch.googleapis.com:443", "http://127.0.0.1:1"])
def test_nothing_elsewhere_is_spoken_to_without_encryption(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_VECTOR_SEARCH_EMULATOR", address)
    with pytest.raises(ConfigurationError) as caught:
        load_config()
    assert caught.value.code == "vector_search.emulator_invalid"
