"""The only module that calls Google. Every call has a timeout, retries where that helps, and translated errors."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from chie.knowledge.store.vector_search.config import CollectionConfig
from chie.knowledge.store.vector_search.errors import SERVING_ROLES, is_missing_token, translate

if TYPE_CHECKING:
    from google.api_core.retry import Retry
    from google.cloud import vectorsearch_v1 as vs

MAX_PAGE_SIZE = 1000  # the service's limit
MAX_BATCH_CREATE = 200  # objects in one write; the service embeds at most 250 texts at a time
CALL_TIMEOUT_SECONDS = 20.0  # of all attempts together
ATTEMPT_TIMEOUT_SECONDS = 10.0

Data = dict[str, Any]
Filter = Mapping[str, Any]


class StoredObject(NamedTuple):
    """`etag` identifies the version."""

    data: Data
    etag: str


class SearchResult(NamedTuple):
    data: Data
    distance: float | None


class VectorSearchClient:
    """Thread-safe. Google's library is imported, and credentials are resolved, on the first call."""

    def __init__(
        self,
        config: CollectionConfig,
        *,
        timeout: float = CALL_TIMEOUT_SECONDS,
        roles: tuple[str, ...] = SERVING_ROLES,
    ) -> None:
        """`roles` are named in the error if a permission is missing."""
        self.config = config
        self._timeout = timeout
        self._roles = roles
        self._connecting = Lock()
        self._connected: _Connection | None = None

    def create(self, object_id: str, data: Data) -> bool:
        """False if the id is taken, possibly by this call if the response to an earlier attempt was lost."""
        from google.api_core.exceptions import AlreadyExists

        try:
            self._call("objects", "create_data_object", self._new(object_id, data), AlreadyExists)
        except AlreadyExists:
            return False
        return True

    def create_all(self, objects: Mapping[str, Data]) -> None:
        """Ids are derived from the content, so an object whose id is taken has been written already."""
        from google.api_core.exceptions import AlreadyExists

        for part in _parts(list(objects.items()), MAX_BATCH_CREATE):
            request = {"parent": self.config.name, "requests": [self._new(*one) for one in part]}
            try:
                self._call("objects", "batch_create_data_objects", request, AlreadyExists)
            except AlreadyExists:
                for one in part:
                    self.create(*one)

    def get(self, object_id: str) -> StoredObject | None:
        from google.api_core.exceptions import NotFound

        try:
            found = self._call("objects", "get_data_object", {"name": self._name(object_id)}, NotFound)
        except NotFound:
            return None
        return StoredObject(_data(found), found.etag)

    def update(self, object_id: str, data: Data, etag: str) -> bool:
        """False if the object has another version or was deleted."""
        from google.api_core.exceptions import Aborted, NotFound

        request = {"data_object": {"name": self._name(object_id), "data": data, "etag": etag}}
        try:
            self._call("objects", "update_data_object", request, Aborted, NotFound)
        except (Aborted, NotFound):
            return False
        return True

    def delete(self, object_id: str, etag: str = "") -> bool:
        """False if the object has another version than that of the `etag`. A missing object was deleted by another
        caller, or by this call if its first response was lost."""
        from google.api_core.exceptions import Aborted, NotFound

        request = {"name": self._name(object_id), "etag": etag}
        try:
            self._call("objects", "delete_data_object", request, Aborted, NotFound)
        except NotFound:
            return True
        except Aborted:
            return False
        return True

    def delete_all(self, object_ids: Sequence[str]) -> None:
        from google.api_core.exceptions import NotFound

        for part in _parts(object_ids, MAX_PAGE_SIZE):
            request = {"parent": self.config.name, "requests": [{"name": self._name(one)} for one in part]}
            try:
                self._call("objects", "batch_delete_data_objects", request, NotFound)
            except NotFound:
                for one in part:
                    self.delete(one)

    def page(self, where: Filter, fields: Sequence[str], token: str = "") -> tuple[list[Data], str]:
        """Up to MAX_PAGE_SIZE objects in arbitrary order, and the token of the next page."""
        objects, following = self._page(where, {"data_fields": list(fields)}, token)
        return [_data(one) for one in objects], following

    def every(self, where: Filter, fields: Sequence[str], token: str = "") -> Iterator[Data]:
        """All objects from the page of the token to the last."""
        while True:
            objects, token = self.page(where, fields, token)
            yield from objects
            if not token:
                return

    def vectors(self, where: Filter, fields: Sequence[str], field: str) -> Iterator[tuple[Data, Sequence[float]]]:
        """At most one page."""
        objects, _ = self._page(where, {"data_fields": list(fields), "vector_fields": [field]}, "")
        yield from ((_data(one), one.vectors[field].dense.values) for one in objects if field in one.vectors)

    def count(self, where: Filter) -> int:
        request = {"parent": self.config.name, "filter": where, "aggregate": "COUNT"}
        found = self._call("searches", "aggregate_data_objects", request)
        return int(found.aggregate_results[0]["count"])

    def search(self, semantic: Data) -> list[SearchResult]:
        request = {"parent": self.config.name, "semantic_search": semantic}
        return _scored(_current_page(self._call("searches", "search_data_objects", request)).results)

    def fuse(self, searches: Sequence[Data], *, top_k: int, fields: Sequence[str]) -> list[SearchResult]:
        """Run several searches whose ranks the service fuses with equal weights."""
        combine = {
            "ranker": {"rrf": {"weights": [1.0] * len(searches)}},
            "top_k": top_k,
            "output_fields": {"data_fields": list(fields)},
        }
        request = {"parent": self.config.name, "searches": list(searches), "combine": combine}
        found = self._call("searches", "batch_search_data_objects", request)
        return _scored(found.results[0].results) if found.results else []

    def administer(self, method: str, request: Data, *expected: type[Exception]) -> Any:  # noqa: ANN401
        """Call an administrative method; `expected` errors are raised untranslated."""
        return self._call("admin", method, request, *expected)

    @contextmanager
    def translated_errors(self, *expected: type[Exception]) -> Iterator[None]:
        from google.api_core.exceptions import GoogleAPIError
        from google.auth.exceptions import GoogleAuthError

        try:
            yield
        except (GoogleAPIError, GoogleAuthError) as error:
            if isinstance(error, expected):
                raise
            raise translate(error, self.config.name, self._roles) from error

    def close(self) -> None:
        if self._connected is not None:
            self._connected.close()

    def _page(self, where: Filter, output: Data, token: str) -> tuple[Sequence[Any], str]:
        request = {
            "parent": self.config.name,
            "filter": where,
            "output_fields": output,
            "page_size": MAX_PAGE_SIZE,
            "page_token": token,
        }
        found = _current_page(self._call("searches", "query_data_objects", request))
        return found.data_objects, found.next_page_token

    def _call(self, service: str, method: str, request: Data, *expected: type[Exception]) -> Any:  # noqa: ANN401
        """The library's `timeout` limits one attempt; `retry` has its own limit, minutes by default."""
        with self.translated_errors(*expected):
            act = getattr(getattr(self._connection(), service), method)
            timeout = min(ATTEMPT_TIMEOUT_SECONDS, self._timeout)
            return act(request=request, retry=retry_policy(self._timeout), timeout=timeout)

    def _connection(self) -> "_Connection":
        with self._connecting:
            if self._connected is None:
                self._connected = _Connection(self.config.emulator)
            return self._connected

    def _new(self, object_id: str, data: Data) -> Data:
        return {"parent": self.config.name, "data_object_id": object_id, "data_object": {"data": data}}

    def _name(self, object_id: str) -> str:
        return f"{self.config.name}/dataObjects/{object_id}"


class _Connection:
    """The clients of the three services."""

    def __init__(self, emulator: str | None) -> None:
        from google.cloud import vectorsearch_v1 as vs

        self._library = vs
        self._emulator = emulator
        self.objects = vs.DataObjectServiceClient(transport=self._transport(vs.DataObjectServiceClient))
        self.searches = vs.DataObjectSearchServiceClient(transport=self._transport(vs.DataObjectSearchServiceClient))

    @cached_property
    def admin(self) -> "vs.VectorSearchServiceClient":
        kind = self._library.VectorSearchServiceClient
        return kind(transport=self._transport(kind))

    @cached_property
    def _channel(self) -> Any:  # noqa: ANN401
        import grpc

        return grpc.insecure_channel(self._emulator)

    def _transport(self, client: Any) -> Any:  # noqa: ANN401
        """None makes Google's client use TLS and the credentials of the environment."""
        return client.get_transport_class("grpc")(channel=self._channel) if self._emulator else None

    def close(self) -> None:
        for client in (self.objects, self.searches):
            client.transport.close()  # type: ignore[no-untyped-call]


def retry_policy(seconds: float) -> "Retry":
    from google.api_core import exceptions as google
    from google.api_core.retry import Retry

    def is_temporary(error: BaseException) -> bool:
        temporary = isinstance(error, google.ServiceUnavailable | google.TooManyRequests)
        return temporary and not is_missing_token(error)

    return Retry(predicate=is_temporary, initial=0.2, maximum=4.0, multiplier=2.0, timeout=seconds)


def _data(found: Any) -> Data:  # noqa: ANN401
    """All numbers are floats, whatever was written."""
    from google.protobuf.json_format import MessageToDict

    data: Data = MessageToDict(type(found).pb(found).data)
    return data


def _current_page(pager: Any) -> Any:  # noqa: ANN401
    """The page that the call has fetched; iterating the pager itself would fetch them all."""
    return next(iter(pager.pages))


def _scored(results: Any) -> list[SearchResult]:  # noqa: ANN401
    return [SearchResult(_data(one.data_object), one.distance if "distance" in one else None) for one in results]


def _parts(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
