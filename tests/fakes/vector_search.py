"""A fake Vector Search 2.0 on loopback: a gRPC server with the library's types that enforces the documented rules.

Vectors come from `HashingEmbedder`, so texts with common words are close. `fail` makes single calls fail.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Any

import grpc
from google.cloud import vectorsearch_v1 as vs
from google.longrunning import operations_pb2
from google.protobuf import empty_pb2, struct_pb2
from tests.fakes.vector_search_data import (
    ID,
    MAX_BATCH,
    MAX_EMBEDDED_TEXTS,
    MAX_PAGE,
    Code,
    Collections,
    Found,
    Kept,
    RefusedError,
    expect,
    fuse,
    plain,
)

PACKAGE = "google.cloud.vectorsearch.v1"


@dataclass
class InjectedError:
    """One call of `method` fails: before anything is done, or, with `late`, after it: then only the answer is lost.

    Without a code it does not answer at all; one with a `barrier` is no failure, it waits until that is opened.
    """

    method: str
    code: Any
    late: bool = False
    message: str = "as the test asked"
    barrier: Event | None = None
    reached: Event = field(default_factory=Event)


@dataclass
class FakeVectorSearch:
    """`pending` is how often an operation is polled before it is done; `page` is the maximum page size."""

    address: str = ""
    pending: int = 0
    page: int = MAX_PAGE
    injected: list[InjectedError] = field(default_factory=list)
    calls: Counter[str] = field(default_factory=Counter)
    data: Collections = field(default_factory=Collections)

    def __post_init__(self) -> None:
        self._lock = Lock()
        self._operations: dict[str, tuple[int, operations_pb2.Operation]] = {}

    def fail(self, method: str, code: Any, times: int = 1, **how: Any) -> None:
        self.injected += [InjectedError(method, code, **how) for _ in range(times)]

    def create_collection(self, request: Any) -> operations_pb2.Operation:
        expect(ID.fullmatch(request.collection_id), "collection_id")
        made = self.data.found(
            f"{request.parent}/collections/{request.collection_id}", vs.Collection(request.collection)
        )
        return self._operation(request.parent, made)

    def get_collection(self, request: Any) -> vs.Collection:
        return self.data.collection(request.name)

    def update_collection(self, request: Any) -> operations_pb2.Operation:
        """Adds fields, the only change that is always allowed."""
        collection = self.data.collection(request.collection.name)
        given = plain(request.collection.data_schema)["properties"]
        schema = plain(vs.Collection.pb(collection).data_schema)
        for path in request.update_mask.paths:
            expect(path.startswith("data_schema.properties."), "update_mask")
            name = path.rpartition(".")[2]
            schema["properties"][name] = given[name]
        collection.data_schema = schema
        self.data.keep(collection)
        return self._operation(request.collection.name, collection)

    def get_operation(self, request: Any) -> operations_pb2.Operation:
        left, done = self._operations[request.name]
        self._operations[request.name] = (left - 1, done)
        return done if left <= 1 else operations_pb2.Operation(name=request.name)

    def create_data_object(self, request: Any) -> vs.DataObject:
        return self._create([request])[0].shown()

    def batch_create_data_objects(self, request: Any) -> vs.BatchCreateDataObjectsResponse:
        expect(0 < len(request.requests) <= MAX_EMBEDDED_TEXTS, "requests")
        made = self._create(request.requests)
        return vs.BatchCreateDataObjectsResponse(data_objects=[kept.shown() for kept in made])

    def get_data_object(self, request: Any) -> vs.DataObject:
        return self.data.get(request.name).shown()

    def update_data_object(self, request: Any) -> vs.DataObject:
        kept = self.data.get(request.data_object.name)
        parent, _, object_id = kept.name.rpartition("/dataObjects/")
        self.data.check_data(parent, plain(request.data_object.data))
        if request.data_object.etag not in ("", kept.etag):
            raise RefusedError(Code.ABORTED, "etag")
        return self.data.put(parent, object_id, plain(request.data_object.data)).shown()

    def delete_data_object(self, request: Any) -> empty_pb2.Empty:
        kept = self.data.get(request.name)
        if request.etag not in ("", kept.etag):
            raise RefusedError(Code.ABORTED, "etag")
        self.data.drop(kept.name)
        return empty_pb2.Empty()

    def batch_delete_data_objects(self, request: Any) -> empty_pb2.Empty:
        expect(0 < len(request.requests) <= MAX_BATCH, "requests")
        for name in [self.data.get(one.name).name for one in request.requests]:
            self.data.drop(name)
        return empty_pb2.Empty()

    def query_data_objects(self, request: Any) -> vs.QueryDataObjectsResponse:
        found = self.data.matching(request.parent, request.filter)
        start = int(request.page_token or 0)
        end = start + min(request.page_size or 100, self.page)
        output = request.output_fields
        shown = [kept.shown(output.data_fields, output.vector_fields) for kept in found[start:end]]
        return vs.QueryDataObjectsResponse(data_objects=shown, next_page_token=str(end) if end < len(found) else "")

    def aggregate_data_objects(self, request: Any) -> vs.AggregateDataObjectsResponse:
        expect(request.aggregate == vs.AggregationMethod.COUNT, "aggregate")
        counted = struct_pb2.Struct()
        counted.update({"count": len(self.data.matching(request.parent, request.filter))})
        answer = vs.AggregateDataObjectsResponse()
        vs.AggregateDataObjectsResponse.pb(answer).aggregate_results.append(counted)
        return answer

    def search_data_objects(self, request: Any) -> vs.SearchDataObjectsResponse:
        output = getattr(request, request.WhichOneof("search_type")).output_fields
        return _results(self.data.search(request.parent, request), output)

    def batch_search_data_objects(self, request: Any) -> vs.BatchSearchDataObjectsResponse:
        expect(request.HasField("combine"), "combine")
        lists = [self.data.search(request.parent, search) for search in request.searches]
        fused = fuse(lists, request.combine.ranker.rrf.weights, request.combine.top_k)
        return vs.BatchSearchDataObjectsResponse(results=[_results(fused, request.combine.output_fields)])

    def _create(self, requests: Sequence[Any]) -> list[Kept]:
        """All or none."""
        new = [(one.parent, one.data_object_id, plain(one.data_object.data)) for one in requests]
        for one in new:
            self.data.check_new(*one)
        return [self.data.put(*one) for one in new]

    def _operation(self, parent: str, result: vs.Collection) -> operations_pb2.Operation:
        name = f"{parent}/operations/{len(self._operations) + 1}"
        done = operations_pb2.Operation(name=name, done=True)
        done.response.Pack(vs.Collection.pb(result))
        self._operations[name] = (self.pending, done)
        return done if self.pending == 0 else operations_pb2.Operation(name=name)

    def answer(self, method: str, request: Any, context: Any) -> Any:
        with self._lock:
            self.calls[method] += 1
            error = next((error for error in self.injected if error.method == method), None)
            if error:
                self.injected.remove(error)
        if error and not error.late:
            _break(error, context)
        try:
            with self._lock:
                answer = getattr(self, method)(request)
        except RefusedError as refused:
            context.abort(refused.code, refused.message)
        if error:
            _break(error, context)
        return answer


def _break(error: InjectedError, context: Any) -> None:
    error.reached.set()
    if error.barrier is not None:
        error.barrier.wait(30)
        return
    if error.code is not None:
        context.abort(error.code, error.message)
    gone = Event()
    context.add_callback(gone.set)
    gone.wait(30)


SERVICES: dict[str, dict[str, Any]] = {
    f"{PACKAGE}.VectorSearchService": {
        "CreateCollection": vs.CreateCollectionRequest,
        "GetCollection": vs.GetCollectionRequest,
        "UpdateCollection": vs.UpdateCollectionRequest,
    },
    f"{PACKAGE}.DataObjectService": {
        "CreateDataObject": vs.CreateDataObjectRequest,
        "BatchCreateDataObjects": vs.BatchCreateDataObjectsRequest,
        "GetDataObject": vs.GetDataObjectRequest,
        "UpdateDataObject": vs.UpdateDataObjectRequest,
        "DeleteDataObject": vs.DeleteDataObjectRequest,
        "BatchDeleteDataObjects": vs.BatchDeleteDataObjectsRequest,
    },
    f"{PACKAGE}.DataObjectSearchService": {
        "QueryDataObjects": vs.QueryDataObjectsRequest,
        "AggregateDataObjects": vs.AggregateDataObjectsRequest,
        "SearchDataObjects": vs.SearchDataObjectsRequest,
        "BatchSearchDataObjects": vs.BatchSearchDataObjectsRequest,
    },
    "google.longrunning.Operations": {"GetOperation": operations_pb2.GetOperationRequest},
}


@contextmanager
def vector_search() -> Iterator[FakeVectorSearch]:
    fake = FakeVectorSearch()
    server = grpc.server(futures.ThreadPoolExecutor(8))
    for service, methods in SERVICES.items():
        handlers = {method: _handler(fake, method, kind) for method, kind in methods.items()}
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, handlers),))
    fake.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    try:
        yield fake
    finally:
        server.stop(0).wait()


def _handler(fake: FakeVectorSearch, method: str, kind: Any) -> Any:
    """Raw messages in; raw or wrapped ones out."""
    own = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in method).lstrip("_")
    raw = kind.pb() if hasattr(kind, "pb") else kind
    return grpc.unary_unary_rpc_method_handler(
        lambda request, context: fake.answer(own, request, context),
        request_deserializer=raw.FromString,
        response_serializer=lambda answer: (
            type(answer).serialize(answer) if hasattr(type(answer), "serialize") else answer.SerializeToString()
        ),
    )


def _results(found: Sequence[Found], output: Any) -> vs.SearchDataObjectsResponse:
    shown = [
        vs.SearchResult(data_object=one.kept.shown(output.data_fields, output.vector_fields), distance=one.score)
        for one in found
    ]
    return vs.SearchDataObjectsResponse(results=shown)
