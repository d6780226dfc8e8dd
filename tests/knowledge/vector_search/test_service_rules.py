"""The fake rejects what the service's documentation forbids, so that passing tests mean something."""

from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from google.api_core import exceptions as google
from google.cloud import vectorsearch_v1 as vs
from tests.contract.note_store import a_note
from tests.fakes.vector_search import vector_search

from chie.knowledge.store.vector_search.config import CollectionConfig
from chie.knowledge.store.vector_search.objects import head
from chie.knowledge.store.vector_search.provision import CollectionProvisioner

CONFIG = CollectionConfig(project="p", location="l", collection="c")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with vector_search() as service:
        CollectionProvisioner(
            config=CollectionConfig(project="p", location="l", collection="c", emulator=service.address)
        ).provision()
        yield service.address


def client(kind: Any, address: str) -> Any:
    return kind(transport=kind.get_transport_class("grpc")(channel=grpc.insecure_channel(address)))


def new(object_id: str = "k-1", **changes: Any) -> dict[str, Any]:
    data = head(a_note()) | changes
    return {"parent": CONFIG.name, "data_object_id": object_id, "data_object": {"data": data}}


@pytest.mark.parametrize("object_id", ["K-1", "1k", "k_1", "k-", "k" * 64, "", "知恵"])
def test_id_that_is_not_a_dns_label(object_id: str, address: str) -> None:
    with pytest.raises(google.InvalidArgument):
        client(vs.DataObjectServiceClient, address).create_data_object(request=new(object_id))


@pytest.mark.parametrize("changes", [{"undeclared": "x"}, {"title": 3}, {"created": "yesterday"}, {"source": None}])
def test_data_that_the_schema_does_not_declare(changes: dict[str, Any], address: str) -> None:
    with pytest.raises(google.InvalidArgument):
        client(vs.DataObjectServiceClient, address).create_data_object(request=new(**changes))


def test_more_texts_than_can_be_embedded_at_once(address: str) -> None:
    requests = [new(f"k-{number}") for number in range(251)]
    with pytest.raises(google.InvalidArgument):
        client(vs.DataObjectServiceClient, address).batch_create_data_objects(
            request={"parent": CONFIG.name, "requests": requests}
        )


LEAF = {"part": {"$eq": 0}}


@pytest.mark.parametrize(
    "filter_",
    [
        {"$and": [{"$or": [{"$and": [LEAF, LEAF]}, LEAF]}, LEAF]},
        {"created_at": {"$gt": "2026"}},
        {"part": {"$in": [1]}},
        {"labels": {"$eq": "a"}},
        {"title": {"$all": ["a"]}},
        {"title": {"$regex": "a"}},
        {"undeclared": {"$eq": "a"}},
        {"part": {"$gte": 0, "$lt": 3}},
        {"part": {"$eq": 0}, "note": {"$eq": "k-1"}},
    ],
)
def test_a_filter_that_the_language_does_not_have(filter_: dict[str, Any], address: str) -> None:
    request = vs.AggregateDataObjectsRequest(parent=CONFIG.name, aggregate="COUNT", filter=filter_)
    with pytest.raises(google.InvalidArgument):
        client(vs.DataObjectSearchServiceClient, address).aggregate_data_objects(request=request)


@pytest.mark.parametrize(
    "search",
    [
        {"semantic_search": {"search_text": "x", "search_field": "embedding", "top_k": 5}},
        {
            "semantic_search": {
                "search_text": "x",
                "search_field": "nowhere",
                "top_k": 5,
                "task_type": "RETRIEVAL_QUERY",
            }
        },
        {"text_search": {"search_text": "x", "top_k": 5}},
        {"text_search": {"search_text": "x", "top_k": 5, "data_field_names": ["part"]}},
        {"text_search": {"search_text": "x", "top_k": 1001, "data_field_names": ["words"]}},
    ],
)
def test_incomplete_search_request_is_rejected(search: dict[str, Any], address: str) -> None:
    with pytest.raises(google.InvalidArgument):
        client(vs.DataObjectSearchServiceClient, address).search_data_objects(request={"parent": CONFIG.name, **search})


def test_an_old_version_is_not_overwritten(address: str) -> None:
    objects = client(vs.DataObjectServiceClient, address)
    made = objects.create_data_object(request=new("k-2"))
    change = {"data_object": {"name": made.name, "data": head(a_note("two")), "etag": made.etag}}
    objects.update_data_object(request=change)
    with pytest.raises(google.Aborted):
        objects.update_data_object(request=change)


def test_numbers_are_floats_and_only_requested_fields_are_returned(address: str) -> None:
    client(vs.DataObjectServiceClient, address).create_data_object(request=new("k-3"))
    request = {"parent": CONFIG.name, "output_fields": {"data_fields": ["part"]}}
    found = next(iter(client(vs.DataObjectSearchServiceClient, address).query_data_objects(request=request)))
    assert dict(found.data) == {"part": 0.0}
    assert isinstance(found.data["part"], float)
    assert not found.vectors
