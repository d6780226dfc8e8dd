"""Routes that are imported and built with their first request, which keeps the start short and the memory small."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import Any, Self

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from starlette._utils import get_route_path
from starlette.routing import BaseRoute, Match, compile_path, get_name
from starlette.types import Receive, Scope, Send


class DeferredRoute(APIRoute):
    """FastAPI builds the validators of a route when it is declared; most routes are never called by a process.

    What matching needs is known at once. Any other attribute builds the rest, so that the OpenAPI document is whole.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:  # noqa: ANN401
        self._declared = options
        self.path = path
        self.endpoint = endpoint
        self.name = options.get("name") or get_name(endpoint)
        self.methods = {method.upper() for method in options.get("methods") or ["GET"]}
        self.path_regex, self.path_format, self.param_convertors = compile_path(path)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        """Only called for attributes that are missing."""
        if name.startswith("__") or "app" in self.__dict__:
            raise AttributeError(name)
        super().__init__(self.path, self.endpoint, **self._declared)
        return getattr(self, name)

    def under(self, prefix: str, tags: Sequence[str]) -> Self:
        """The same route below another path, with more tags."""
        options = self._declared | {"tags": [*tags, *(self._declared.get("tags") or ())]}
        return type(self)(f"{prefix}{self.path}", self.endpoint, **options)


class Router(APIRouter):
    def __init__(self, *, route_class: type[DeferredRoute] = DeferredRoute, **options: Any) -> None:  # noqa: ANN401
        super().__init__(route_class=route_class, **options)


class LazyRoutes(BaseRoute):
    """The routes below a path, imported with the first request to one of them."""

    def __init__(self, app: FastAPI, prefix: str, load: Callable[[], Iterable[DeferredRoute]]) -> None:
        self._app = app
        self._prefix = f"{prefix}/"
        self._load = load
        self._loading = Lock()

    def load(self) -> None:
        """Puts the routes in this one's place."""
        with self._loading:
            routes = self._app.router.routes
            if self in routes:
                loaded = list(self._load())
                position = routes.index(self)
                routes[position : position + 1] = loaded

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        is_below = scope["type"] == "http" and f"{get_route_path(scope)}/".startswith(self._prefix)
        return (Match.FULL if is_below else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.to_thread(self.load)  # other requests do not wait for the import
        await self._app.router(scope, receive, send)


def routes_of(router: APIRouter, *, prefix: str = "", tags: Sequence[str] = ()) -> list[DeferredRoute]:
    """`include_router` would build each route a second time, and all of them with the first request."""
    found = [route for route in router.routes if isinstance(route, DeferredRoute)]
    if len(found) != len(router.routes):
        raise TypeError(router.routes)
    return [route.under(prefix, tags) for route in found]


def all_routes(app: FastAPI) -> list[BaseRoute]:
    """With those that are loaded on first use."""
    for route in list(app.routes):
        if isinstance(route, LazyRoutes):
            route.load()
    return app.routes
