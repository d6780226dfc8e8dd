"""Vector Search 2.0 on loopback: a gRPC server of the library's own types that holds callers to the documented rules.

Vectors come from `HashingEmbedder`, so what shares words is near. Faults are put into `faults`, one for each call that
shall fail.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Any

import grpc
import numpy as np
from google.cloud import vectorsearch_v1 as vs
from google.longrunning import operations_pb2
from google.protobuf import empty_pb2, struct_pb2
from google.protobuf.json_format import MessageToDict
from tests.fakes.embedders import HashingEmbedder
from tests.fakes.vector_search_filters import BadFilterError, matcher

PACKAGE = "google.cloud.vectorsearch.v1"
ID = re.compile(r"[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?")
KINDS: dict[str, tuple[type, ...]] = {"string": (str,), "number": (float,), "boolean": (bool,), "array": (list,)}
LARGEST_PAGE = 1000
LARGEST_BATCH = 1000
LARGEST_READING = 250  # texts that one batch may have embedded
RRF = 60

Code = grpc.StatusCode


@dataclass
class Fault:
    """One call of `method` fails: before anything is done, or, with `late`, after it: then only the answer is lost.

    Without a code it does not answer at all.
    """

    method: str
    code: Code | None
    late: bool = False
    message: str = "as the test asked"


@dataclass
class FakeVectorSearch:
    """`pending` is how often an operation is looked at before it is done; `page` what a page holds at the most."""

    faults: list[Fault] = field(default_factory=list)
    calls: Counter[str] = field(default_factory=Counter)
    pending: int = 0
    page: int = LARGEST_PAGE
    address: str = ""
    collections: dict[str, vs.Collection] = field(default_factory=dict)
    objects: dict[str, dict[str, vs.DataObject]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._embedder = HashingEmbedder()
        self._lock = Lock()
        self._versions = 0
        self._operations: dict[str, tuple[int, operations_pb2.Operation]] = {}
        self.stopping = Event()

    def fail(self, method: str, code: Code | None, times: int = 1, **how: Any) -> None:
        self.faults += [Fault(method, code, **how) for _ in range(times)]

    def CreateCollection(self, request: Any, context: Any) -> operations_pb2.Operation:  # noqa: N802
        name = f"{request.parent}/collections/{request.collection_id}"
        _expect(context, ID.fullmatch(request.collection_id), "collection_id")
        if name in self.collections:
            context.abort(Code.ALREADY_EXISTS, name)
        for vector in request.collection.vector_schema.values():
            config = vector.dense_vector.vertex_embedding_config
            _expect(context, config.model_id and config.text_template and config.task_type, "vertex_embedding_config")
        collection = vs.Collection(request.collection)
        collection.name = name
        self.collections[name], self.objects[name] = collection, {}
        return self._operation(request.parent, collection)

    def GetCollection(self, request: Any, context: Any) -> vs.Collection:  # noqa: N802
        return self._collection(request.name, context)

    def UpdateCollection(self, request: Any, context: Any) -> operations_pb2.Operation:  # noqa: N802
        collection = self._collection(request.collection.name, context)
        changed = MessageToDict(vs.Collection.pb(request.collection).data_schema)["properties"]
        schema = MessageToDict(vs.Collection.pb(collection).data_schema)
        for path in request.update_mask.paths:
            _expect(context, path.startswith("data_schema.properties."), "update_mask")
            name = path.rpartition(".")[2]
            schema["properties"][name] = changed[name]
        collection.data_schema = schema
        return self._operation(request.collection.name, collection)

    def GetOperation(self, request: Any, context: Any) -> operations_pb2.Operation:  # noqa: N802
        if request.name not in self._operations:
            context.abort(Code.NOT_FOUND, request.name)
        left, done = self._operations[request.name]
        self._operations[request.name] = (left - 1, done)
        return done if left <= 1 else operations_pb2.Operation(name=request.name)

    def CreateDataObject(self, request: Any, context: Any) -> vs.DataObject:  # noqa: N802
        self._check_new(request, context)
        return self._put(request.parent, request.data_object_id, request.data_object.data)

    def BatchCreateDataObjects(self, request: Any, context: Any) -> vs.BatchCreateDataObjectsResponse:  # noqa: N802
        _expect(context, 0 < len(request.requests) <= LARGEST_READING, "requests")
        for one in request.requests:
            self._check_new(one, context)
        made = [self._put(one.parent, one.data_object_id, one.data_object.data) for one in request.requests]
        return vs.BatchCreateDataObjectsResponse(data_objects=made)

    def GetDataObject(self, request: Any, context: Any) -> vs.DataObject:  # noqa: N802
        return self._object(request.name, context)

    def UpdateDataObject(self, request: Any, context: Any) -> vs.DataObject:  # noqa: N802
        stored = self._object(request.data_object.name, context)
        parent, _, object_id = stored.name.rpartition("/dataObjects/")
        self._check_data(parent, request.data_object.data, context)
        if request.data_object.etag and request.data_object.etag != stored.etag:
            context.abort(Code.ABORTED, "etag")
        return self._put(parent, object_id, request.data_object.data)

    def DeleteDataObject(self, request: Any, context: Any) -> empty_pb2.Empty:  # noqa: N802
        self._object(request.name, context)
        parent, _, object_id = request.name.rpartition("/dataObjects/")
        del self.objects[parent][object_id]
        return empty_pb2.Empty()

    def BatchDeleteDataObjects(self, request: Any, context: Any) -> empty_pb2.Empty:  # noqa: N802
        _expect(context, 0 < len(request.requests) <= LARGEST_BATCH, "requests")
        for one in request.requests:
            self._object(one.name, context)
        for one in request.requests:
            self.DeleteDataObject(one, context)
        return empty_pb2.Empty()

    def QueryDataObjects(self, request: Any, context: Any) -> vs.QueryDataObjectsResponse:  # noqa: N802
        found = self._matching(request.parent, request.filter, context)
        start = int(request.page_token or 0)
        end = start + min(request.page_size or 100, self.page)
        shown = [_shown(one, request.output_fields) for one in found[start:end]]
        return vs.QueryDataObjectsResponse(data_objects=shown, next_page_token=str(end) if end < len(found) else "")

    def AggregateDataObjects(self, request: Any, context: Any) -> vs.AggregateDataObjectsResponse:  # noqa: N802
        _expect(context, request.aggregate == vs.AggregationMethod.COUNT, "aggregate")
        counted = struct_pb2.Struct()
        counted.update({"count": len(self._matching(request.parent, request.filter, context))})
        answer = vs.AggregateDataObjectsResponse()
        vs.AggregateDataObjectsResponse.pb(answer).aggregate_results.append(counted)
        return answer

    def SearchDataObjects(self, request: Any, context: Any) -> vs.SearchDataObjectsResponse:  # noqa: N802
        return _results(self._search(request, request.parent, context))

    def BatchSearchDataObjects(self, request: Any, context: Any) -> vs.BatchSearchDataObjectsResponse:  # noqa: N802
        lists = [self._search(search, request.parent, context) for search in request.searches]
        if "combine" not in request:
            return vs.BatchSearchDataObjectsResponse(results=[_results(found) for found in lists])
        weights = request.combine.ranker.rrf.weights
        _expect(context, len(weights) == len(lists), "weights")
        fused: Counter[str] = Counter()
        for weight, found in zip(weights, lists, strict=True):
            for rank, (one, _) in enumerate(found):
                fused[one.name] += weight / (RRF + rank + 1)
        by_name = {one.name: one for found in lists for one, _ in found}
        best = [(by_name[name], score) for name, score in fused.most_common(request.combine.top_k or 10)]
        return vs.BatchSearchDataObjectsResponse(results=[_results(best)])

    def _search(self, search: Any, parent: str, context: Any) -> list[tuple[vs.DataObject, float]]:
        if "semantic_search" in search:
            found = self._semantic(search.semantic_search, parent, context)
            asked = search.semantic_search
        else:
            found = self._words(search.text_search, parent, context)
            asked = search.text_search
        _expect(context, 0 < asked.top_k <= LARGEST_PAGE, "top_k")
        found.sort(key=lambda pair: -pair[1])
        return [(_shown(one, asked.output_fields), score) for one, score in found[: asked.top_k]]

    def _semantic(self, asked: Any, parent: str, context: Any) -> list[tuple[vs.DataObject, float]]:
        _expect(context, asked.search_text and asked.task_type, "task_type")
        _expect(context, asked.search_field in self._collection(parent, context).vector_schema, "search_field")
        vector = self._embedder.embed([asked.search_text])[0]
        found = self._matching(parent, asked.filter, context)
        if not found:
            return []
        rows = np.array([one.vectors[asked.search_field].dense.values for one in found], np.float32)
        return list(zip(found, map(float, rows @ vector), strict=True))

    def _words(self, asked: Any, parent: str, context: Any) -> list[tuple[vs.DataObject, float]]:
        """All of the words, anywhere in the fields; those that have them more often first."""
        _expect(context, asked.search_text and asked.data_field_names, "data_field_names")
        schema = self._schema(parent, context)
        _expect(context, all(schema.get(name, {}).get("type") == "string" for name in asked.data_field_names), "text")
        words, found = asked.search_text.lower().split(), []
        for one in self._matching(parent, asked.filter, context):
            had = Counter(" ".join(str(one.data.get(name, "")) for name in asked.data_field_names).lower().split())
            if all(had[word] for word in words):
                found.append((one, sum(had[word] for word in words) / had.total()))
        return found

    def _matching(self, parent: str, filter_: Any, context: Any) -> list[vs.DataObject]:
        schema = self._schema(parent, context)
        asked = _plain(filter_)
        try:
            fits = matcher(asked, schema)
        except BadFilterError as error:
            context.abort(Code.INVALID_ARGUMENT, str(error))
        return [one for one in list(self.objects[parent].values()) if fits(one.data)]

    def _check_new(self, request: Any, context: Any) -> None:
        self._collection(request.parent, context)
        _expect(context, ID.fullmatch(request.data_object_id), "data_object_id")
        self._check_data(request.parent, request.data_object.data, context)
        if request.data_object_id in self.objects[request.parent]:
            context.abort(Code.ALREADY_EXISTS, request.data_object_id)

    def _check_data(self, parent: str, data: Any, context: Any) -> None:
        schema = self._schema(parent, context)
        for name, value in _plain(data).items():
            _expect(context, name in schema, f"{name} is not declared")
            _expect(context, isinstance(value, KINDS[schema[name]["type"]]), f"{name} has another type")

    def _put(self, parent: str, object_id: str, data: Any) -> vs.DataObject:
        plain = _plain(data)
        stored = vs.DataObject(name=f"{parent}/dataObjects/{object_id}", data_object_id=object_id, data=plain)
        for name, vector in self.collections[parent].vector_schema.items():
            text = vector.dense_vector.vertex_embedding_config.text_template.format(**plain)
            stored.vectors[name] = vs.Vector(dense={"values": self._embedder.embed([text])[0].tolist()})
        self._versions += 1
        stored.etag = f"v{self._versions}"
        self.objects[parent][object_id] = stored
        return stored

    def _collection(self, name: str, context: Any) -> vs.Collection:
        if name not in self.collections:
            context.abort(Code.NOT_FOUND, name)
        return self.collections[name]

    def _object(self, name: str, context: Any) -> vs.DataObject:
        parent, _, object_id = name.rpartition("/dataObjects/")
        self._collection(parent, context)
        if object_id not in self.objects[parent]:
            context.abort(Code.NOT_FOUND, name)
        return self.objects[parent][object_id]

    def _schema(self, parent: str, context: Any) -> Mapping[str, Any]:
        schema: dict[str, Any] = _plain(self._collection(parent, context).data_schema)["properties"]
        return schema

    def _operation(self, parent: str, result: vs.Collection) -> operations_pb2.Operation:
        name = f"{parent}/operations/{len(self._operations) + 1}"
        done = operations_pb2.Operation(name=name, done=True)
        done.response.Pack(vs.Collection.pb(result))
        self._operations[name] = (self.pending, done)
        return done if self.pending == 0 else operations_pb2.Operation(name=name)

    def answer(self, method: str, request: Any, context: Any) -> Any:
        fault = self._fault(method)
        if fault and not fault.late:
            self._break(fault, context)
        with self._lock:
            answer = getattr(self, method)(request, context)
        if fault:
            self._break(fault, context)
        return answer

    def _fault(self, method: str) -> Fault | None:
        with self._lock:
            self.calls[method] += 1
            fault = next((fault for fault in self.faults if fault.method == method), None)
            if fault:
                self.faults.remove(fault)
            return fault

    def _break(self, fault: Fault, context: Any) -> None:
        if fault.code is not None:
            context.abort(fault.code, fault.message)
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
    read: Callable[[bytes], Any] = kind.deserialize if hasattr(kind, "deserialize") else kind.FromString
    return grpc.unary_unary_rpc_method_handler(
        lambda request, context: fake.answer(method, request, context),
        request_deserializer=read,
        response_serializer=lambda answer: (
            type(answer).serialize(answer) if hasattr(type(answer), "serialize") else answer.SerializeToString()
        ),
    )


def _expect(context: Any, fits: object, what: str) -> None:
    if not fits:
        context.abort(Code.INVALID_ARGUMENT, f"invalid: {what}")


def _plain(struct: Any) -> dict[str, Any]:
    """Of a Struct, however the library hands it out; numbers are floats."""
    message = struct_pb2.Struct()
    message.update(_unwrapped(struct))
    plain: dict[str, Any] = MessageToDict(message)
    return plain


def _unwrapped(value: Any) -> Any:
    if isinstance(value, struct_pb2.Struct):
        return MessageToDict(value)
    if isinstance(value, Mapping):
        return {name: _unwrapped(one) for name, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_unwrapped(one) for one in value]
    return value


def _shown(stored: vs.DataObject, output: Any) -> vs.DataObject:
    """Only what was asked for."""
    wanted = set(output.data_fields)
    data = {name: value for name, value in _plain(stored.data).items() if name in wanted or "*" in wanted}
    vectors = {name: vector for name, vector in stored.vectors.items() if name in output.vector_fields}
    return vs.DataObject(name=stored.name, data=data, vectors=vectors)


def _results(found: Sequence[tuple[vs.DataObject, float]]) -> vs.SearchDataObjectsResponse:
    return vs.SearchDataObjectsResponse(
        results=[vs.SearchResult(data_object=one, distance=score) for one, score in found]
    )
