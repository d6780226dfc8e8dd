"""The data of the fake Vector Search 2.0, and the rules that it enforces."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import grpc
import numpy as np
from google.cloud import vectorsearch_v1 as vs
from google.protobuf.json_format import MessageToDict
from tests.fakes.embedders import HashingEmbedder
from tests.fakes.vector_search_filters import BadFilterError, matcher

ID = re.compile(r"[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?")
KINDS: dict[str, tuple[type, ...]] = {"string": (str,), "number": (float,), "boolean": (bool,), "array": (list,)}
MAX_PAGE = 1000
MAX_BATCH = 1000
MAX_EMBEDDED_TEXTS = 250  # in one batch
RRF = 60

Data = dict[str, Any]
Code = grpc.StatusCode


class RefusedError(Exception):
    def __init__(self, code: Any, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def expect(fits: object, what: str) -> None:
    if not fits:
        raise RefusedError(Code.INVALID_ARGUMENT, f"invalid: {what}")


@dataclass(frozen=True)
class Kept:
    name: str
    data: Data
    vectors: dict[str, Any]
    etag: str

    def shown(self, fields: Sequence[str] = ("*",), vectors: Sequence[str] = ("*",)) -> vs.DataObject:
        """With the requested fields only."""
        data = self.data if "*" in fields else {name: self.data[name] for name in fields if name in self.data}
        given = self.vectors if "*" in vectors else {name: self.vectors[name] for name in vectors}
        dense = {name: vs.Vector(dense={"values": vector.tolist()}) for name, vector in given.items()}
        return vs.DataObject(name=self.name, data=data, vectors=dense, etag=self.etag)


class Found(NamedTuple):
    kept: Kept
    score: float


class Collections:
    def __init__(self) -> None:
        self._embedder = HashingEmbedder()
        self._versions = 0
        self.collections: dict[str, vs.Collection] = {}
        self.schemas: dict[str, Mapping[str, Any]] = {}
        self.objects: dict[str, dict[str, Kept]] = {}

    def found(self, name: str, collection: vs.Collection) -> vs.Collection:
        if name in self.collections:
            raise RefusedError(Code.ALREADY_EXISTS, name)
        for vector in collection.vector_schema.values():
            config = vector.dense_vector.vertex_embedding_config
            expect(config.model_id and config.text_template and config.task_type, "vertex_embedding_config")
        made = vs.Collection(collection)
        made.name = name
        self.objects[name] = {}
        self.keep(made)
        return made

    def keep(self, collection: vs.Collection) -> None:
        self.collections[collection.name] = collection
        self.schemas[collection.name] = plain(vs.Collection.pb(collection).data_schema)["properties"]

    def collection(self, name: str) -> vs.Collection:
        if name not in self.collections:
            raise RefusedError(Code.NOT_FOUND, name)
        return self.collections[name]

    def get(self, name: str) -> Kept:
        parent, _, object_id = name.rpartition("/dataObjects/")
        self.collection(parent)
        if object_id not in self.objects[parent]:
            raise RefusedError(Code.NOT_FOUND, name)
        return self.objects[parent][object_id]

    def check_new(self, parent: str, object_id: str, data: Data) -> None:
        self.collection(parent)
        expect(ID.fullmatch(object_id), "data_object_id")
        self.check_data(parent, data)
        if object_id in self.objects[parent]:
            raise RefusedError(Code.ALREADY_EXISTS, object_id)

    def check_data(self, parent: str, data: Data) -> None:
        schema = self.schemas[parent]
        for name, value in data.items():
            expect(name in schema, f"{name} is not declared")
            expect(isinstance(value, KINDS[schema[name]["type"]]), f"{name} has another type")

    def put(self, parent: str, object_id: str, data: Data) -> Kept:
        self._versions += 1
        vectors = {}
        for name, vector in self.collections[parent].vector_schema.items():
            text = vector.dense_vector.vertex_embedding_config.text_template.format(**data)
            vectors[name] = self._embedder.embed([text])[0]
        kept = Kept(f"{parent}/dataObjects/{object_id}", data, vectors, f"v{self._versions}")
        self.objects[parent][object_id] = kept
        return kept

    def drop(self, name: str) -> None:
        parent, _, object_id = name.rpartition("/dataObjects/")
        del self.objects[parent][object_id]

    def matching(self, parent: str, filter_: Any) -> list[Kept]:
        self.collection(parent)
        try:
            fits: Callable[[Data], bool] = matcher(plain(filter_), self.schemas[parent])
        except BadFilterError as error:
            raise RefusedError(Code.INVALID_ARGUMENT, str(error)) from error
        return [kept for kept in self.objects[parent].values() if fits(kept.data)]

    def search(self, parent: str, search: Any) -> list[Found]:
        """`search` is a raw message with one of the kinds of search."""
        kind = search.WhichOneof("search_type")
        asked = getattr(search, kind)
        expect(0 < asked.top_k <= MAX_PAGE, "top_k")
        found = self._meaning(parent, asked) if kind == "semantic_search" else self._words(parent, asked)
        return sorted(found, key=lambda one: -one.score)[: asked.top_k]

    def _meaning(self, parent: str, asked: Any) -> list[Found]:
        expect(asked.search_text and asked.task_type, "task_type")
        expect(asked.search_field in self.collection(parent).vector_schema, "search_field")
        found = self.matching(parent, asked.filter)
        if not found:
            return []
        rows = np.array([kept.vectors[asked.search_field] for kept in found])
        scores = rows @ self._embedder.embed([asked.search_text])[0]
        return [Found(kept, float(score)) for kept, score in zip(found, scores, strict=True)]

    def _words(self, parent: str, asked: Any) -> list[Found]:
        """Objects with all of the words in any field, most occurrences first."""
        schema = self.schemas[parent]
        expect(asked.search_text and asked.data_field_names, "data_field_names")
        expect(all(schema.get(name, {}).get("type") == "string" for name in asked.data_field_names), "no text field")
        words, found = asked.search_text.lower().split(), []
        for kept in self.matching(parent, asked.filter):
            had = Counter(" ".join(kept.data.get(name, "") for name in asked.data_field_names).lower().split())
            if all(had[word] for word in words):
                found.append(Found(kept, sum(had[word] for word in words) / had.total()))
        return found


def fuse(lists: Sequence[Sequence[Found]], weights: Sequence[float], top_k: int) -> list[Found]:
    expect(len(weights) == len(lists), "weights")
    fused: Counter[str] = Counter()
    for weight, found in zip(weights, lists, strict=True):
        for rank, one in enumerate(found):
            fused[one.kept.name] += weight / (RRF + rank + 1)  # type: ignore[assignment]
    by_name = {one.kept.name: one.kept for found in lists for one in found}
    return [Found(by_name[name], score) for name, score in fused.most_common(top_k or 10)]


def plain(struct: Any) -> Data:
    """Of a raw Struct; all numbers are floats."""
    read: Data = MessageToDict(struct)
    return read
