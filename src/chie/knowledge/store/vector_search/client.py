"""The only file that calls Google: every call is bounded in time, tried again where that helps, fails in our words."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from chie.knowledge.store.vector_search.config import CollectionConfig
from chie.knowledge.store.vector_search.errors import SERVING, has_no_token, translate

if TYPE_CHECKING:
    from google.api_core.retry import Retry
    from google.cloud import vectorsearch_v1 as vs

PAGE = 1000  # objects; the service gives no more at once
EMBEDDED = 200  # objects in one write: the service reads at most 250 texts at a time
PATIENCE = 20.0  # seconds that a call may take, with all its attempts
ATTEMPT = 10.0

Data = dict[str, Any]
Filter = Mapping[str, Any]


class Stored(NamedTuple):
    """An object as it was read; `etag` names that version of it."""

    data: Data
    etag: str


class Scored(NamedTuple):
    data: Data
    distance: float | None


class VectorSearchClient:
    """Safe in threads. Google's library is loaded, and credentials are looked up, with the first call."""

    def __init__(self, config: CollectionConfig, *, patience: float = PATIENCE, roles: str = SERVING) -> None:
        self.config = config
        self._patience = patience
        self._roles = roles
        self._connecting = Lock()
        self._connected: _Connection | None = None

    def create(self, object_id: str, data: Data) -> bool:
        """False where the id is taken, be it by an answer to this very call that was lost on its way."""
        from google.api_core.exceptions import AlreadyExists

        try:
            self._call("objects", "create_data_object", self._new(object_id, data), AlreadyExists)
        except AlreadyExists:
            return False
        return True

    def create_all(self, objects: Mapping[str, Data]) -> None:
        """Ids come from the content, so one that is taken has been written already."""
        from google.api_core.exceptions import AlreadyExists

        for part in _parts(list(objects.items()), EMBEDDED):
            request = {"parent": self.config.name, "requests": [self._new(*one) for one in part]}
            try:
                self._call("objects", "batch_create_data_objects", request, AlreadyExists)
            except AlreadyExists:
                for one in part:
                    self.create(*one)

    def get(self, object_id: str) -> Stored | None:
        from google.api_core.exceptions import NotFound

        try:
            found = self._call("objects", "get_data_object", {"name": self._name(object_id)}, NotFound)
        except NotFound:
            return None
        return Stored(_data(found), found.etag)

    def update(self, object_id: str, data: Data, etag: str) -> bool:
        """False where the object is no longer of that version, or gone."""
        from google.api_core.exceptions import Aborted, NotFound

        request = {"data_object": {"name": self._name(object_id), "data": data, "etag": etag}}
        try:
            self._call("objects", "update_data_object", request, Aborted, NotFound)
        except (Aborted, NotFound):
            return False
        return True

    def delete(self, object_id: str) -> None:
        """One that is gone already was deleted by somebody else, or by this call before its answer was lost."""
        from google.api_core.exceptions import NotFound

        with suppress(NotFound):
            self._call("objects", "delete_data_object", {"name": self._name(object_id)}, NotFound)

    def delete_all(self, object_ids: Sequence[str]) -> None:
        from google.api_core.exceptions import NotFound

        for part in _parts(object_ids, PAGE):
            request = {"parent": self.config.name, "requests": [{"name": self._name(one)} for one in part]}
            try:
                self._call("objects", "batch_delete_data_objects", request, NotFound)
            except NotFound:
                for one in part:
                    self.delete(one)

    def page(self, where: Filter, fields: Sequence[str], place: str = "") -> tuple[list[Data], str]:
        """Up to a thousand objects in no order that means anything, and the place of the next page."""
        objects, following = self._page(where, {"data_fields": list(fields)}, place)
        return [_data(one) for one in objects], following

    def every(self, where: Filter, fields: Sequence[str], place: str = "") -> Iterator[Data]:
        """From the page at `place` on, to the last."""
        while True:
            objects, place = self.page(where, fields, place)
            yield from objects
            if not place:
                return

    def vectors(self, where: Filter, fields: Sequence[str], field: str) -> Iterator[tuple[Data, Sequence[float]]]:
        """Of one page at the most."""
        objects, _ = self._page(where, {"data_fields": list(fields), "vector_fields": [field]}, "")
        yield from ((_data(one), one.vectors[field].dense.values) for one in objects if field in one.vectors)

    def count(self, where: Filter) -> int:
        request = {"parent": self.config.name, "filter": where, "aggregate": "COUNT"}
        found = self._call("searches", "aggregate_data_objects", request)
        return int(found.aggregate_results[0]["count"])

    def search(self, semantic: Data) -> list[Scored]:
        request = {"parent": self.config.name, "semantic_search": semantic}
        return _scored(_first_page(self._call("searches", "search_data_objects", request)).results)

    def fuse(self, searches: Sequence[Data], *, top_k: int, fields: Sequence[str]) -> list[Scored]:
        """Several searches whose ranks the service fuses, each with the same weight."""
        combine = {
            "ranker": {"rrf": {"weights": [1.0] * len(searches)}},
            "top_k": top_k,
            "output_fields": {"data_fields": list(fields)},
        }
        request = {"parent": self.config.name, "searches": list(searches), "combine": combine}
        found = self._call("searches", "batch_search_data_objects", request)
        return _scored(found.results[0].results) if found.results else []

    def administer(self, method: str, request: Data, *expected: type[Exception]) -> Any:  # noqa: ANN401
        """Something done to the Collection itself; `expected` failures are the caller's to handle."""
        return self._call("admin", method, request, *expected)

    @contextmanager
    def our_errors(self, *expected: type[Exception]) -> Iterator[None]:
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
            "page_size": PAGE,
            "page_token": token,
        }
        found = _first_page(self._call("searches", "query_data_objects", request))
        return found.data_objects, found.next_page_token

    def _call(self, service: str, method: str, request: Data, *expected: type[Exception]) -> Any:  # noqa: ANN401
        """Bounded twice: the library's `timeout` bounds an attempt, and `retry` goes on for minutes unless told."""
        with self.our_errors(*expected):
            act = getattr(getattr(self._connection(), service), method)
            return act(request=request, retry=patient(self._patience), timeout=min(ATTEMPT, self._patience))

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
    """One channel for the three services."""

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
        """None lets Google's client make its own, with TLS and the credentials of the environment."""
        return client.get_transport_class("grpc")(channel=self._channel) if self._emulator else None

    def close(self) -> None:
        for client in (self.objects, self.searches):
            client.transport.close()  # type: ignore[no-untyped-call]


def patient(seconds: float) -> "Retry":
    from google.api_core import exceptions as google
    from google.api_core.retry import Retry

    def may_help(error: BaseException) -> bool:
        passing = isinstance(error, google.ServiceUnavailable | google.TooManyRequests)
        return passing and not has_no_token(error)

    return Retry(predicate=may_help, initial=0.2, maximum=4.0, multiplier=2.0, timeout=seconds)


def _data(found: Any) -> Data:  # noqa: ANN401
    """Numbers come back as floats, whatever they were."""
    from google.protobuf.json_format import MessageToDict

    data: Data = MessageToDict(type(found).pb(found).data)
    return data


def _first_page(pager: Any) -> Any:  # noqa: ANN401
    """The call has fetched it; a pager would go on by itself."""
    return next(iter(pager.pages))


def _scored(results: Any) -> list[Scored]:  # noqa: ANN401
    return [Scored(_data(one.data_object), one.distance if "distance" in one else None) for one in results]


def _parts(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
