"""Routes that are imported and built with their first request."""

import asyncio
from collections.abc import AsyncIterator

import httpx2
import pytest
from fastapi import FastAPI, Request
from pydantic import BaseModel

from chie.http.docs_page import install_openapi
from chie.http.routing import DeferredRoute, LazyRoutes, Router, all_routes, routes_of


class Word(BaseModel):
    text: str


def notes() -> Router:
    router = Router(tags=["words"])

    @router.get("/{name}")
    async def get(name: str, request: Request, times: int = 1) -> Word:
        return Word(text=f"{name * times} at {request.scope['route'].path}")

    @router.post("", status_code=201)
    async def add(word: Word) -> Word:
        return word

    return router


class Loaded:
    """An app with lazy routes below `/api/notes`, and how often they were loaded."""

    def __init__(self) -> None:
        self.count = 0
        self.app = FastAPI()
        install_openapi(self.app)
        self.app.router.routes.append(LazyRoutes(self.app, "/api/notes", self._load))
        self.client = httpx2.AsyncClient(transport=httpx2.ASGITransport(self.app), base_url="http://chie")

    def _load(self) -> list[DeferredRoute]:
        self.count += 1
        return routes_of(notes(), prefix="/api/notes", tags=["notes"])

    @property
    def built(self) -> list[str]:
        return [route.name for route in self.app.routes if isinstance(route, DeferredRoute) and "app" in vars(route)]


@pytest.fixture
async def loaded() -> AsyncIterator[Loaded]:
    loaded = Loaded()
    async with loaded.client:
        yield loaded


async def test_routes_are_loaded_and_built_with_their_first_request(loaded: Loaded) -> None:
    assert (await loaded.client.get("/api/notesheet")).status_code == 404
    assert loaded.count == 0
    found = await loaded.client.get("/api/notes/知恵", params={"times": 2})
    assert (found.status_code, found.json()) == (200, {"text": "知恵知恵 at /api/notes/{name}"})
    assert (loaded.count, loaded.built) == (1, ["get"])
    added = await loaded.client.post("/api/notes", json={"text": "two"})
    assert (added.status_code, added.json(), loaded.built) == (201, {"text": "two"}, ["get", "add"])


async def test_first_requests_at_once_load_the_routes_once(loaded: Loaded) -> None:
    answers = await asyncio.gather(*(loaded.client.get(f"/api/notes/{number}") for number in range(8)))
    assert [answer.status_code for answer in answers] == [200] * 8
    assert loaded.count == 1


async def test_errors_are_those_of_any_route(loaded: Loaded) -> None:
    assert (await loaded.client.delete("/api/notes/one")).status_code == 405
    assert (await loaded.client.get("/api/notes/one/two")).status_code == 404
    assert (await loaded.client.get("/api/notes/one", params={"times": "x"})).status_code == 422


async def test_document_has_routes_that_nobody_has_called(loaded: Loaded) -> None:
    document = loaded.app.openapi()
    assert set(document["paths"]) == {"/api/notes", "/api/notes/{name}"}
    assert document["paths"]["/api/notes"]["post"]["tags"] == ["notes", "words"]
    assert len([route for route in all_routes(loaded.app) if isinstance(route, DeferredRoute)]) == 2


def test_route_of_another_kind_is_refused() -> None:
    app = FastAPI()
    with pytest.raises(TypeError):
        routes_of(app.router)
