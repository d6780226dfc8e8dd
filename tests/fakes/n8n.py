"""A fake n8n on loopback with the contract of 1.100 and 2.41: what they accept, reject and report."""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from tests.fakes.n8n_contract import QUERY, Generation
from tests.fakes.n8n_mcp import MCP_PATH, FakeMcpServer
from tests.fakes.n8n_runner import Runner
from tests.fakes.n8n_store import RejectedError, Store

KEY = "n8n-test-key-0123456789"


@dataclass
class Failure:
    """A planned response to one request; with `stored`, the request is executed first."""

    method: str
    path: str
    status: int
    text: str = '{"message": "Internal server error"}'
    kind: str = "application/json"
    stored: bool = False
    times: int = 1
    after: int = 0
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Seen:
    method: str
    path: str
    query: dict[str, str]
    body: Any
    headers: dict[str, str] = field(default_factory=dict)


class FakeN8n(Store):
    def __init__(self, generation: Generation = 2, *, certificate: Path | None = None) -> None:
        super().__init__(generation)
        self._certificate = certificate
        self._server: uvicorn.Server | None = None
        self.seen: list[Seen] = []
        self.failures: list[Failure] = []
        self._start_mcp()

    def reset(self) -> Self:
        """Clear all state, which is faster than a new server for every test."""
        Store.__init__(self, self.generation)
        self.seen, self.failures = [], []
        self._start_mcp()
        return self

    def _start_mcp(self) -> None:
        self.mcp, self.runner = FakeMcpServer(), Runner(self)
        self.mcp.tools["test_workflow"] = self.runner.test_workflow

    def __enter__(self) -> Self:
        config = uvicorn.Config(
            self._app(),
            port=0,
            log_config=None,
            access_log=False,
            lifespan="off",
            ssl_certfile=self._certificate,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        while not self._server.started:
            time.sleep(0.005)
        port = self._server.servers[0].sockets[0].getsockname()[1]
        self.url = f"{'https' if self._certificate else 'http'}://127.0.0.1:{port}"
        return self

    def __exit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.should_exit = True
        self._thread.join()

    def fail(self, method: str, path: str, status: int, message: str = "", **rest: Any) -> None:
        """Plan the response to the next request with this method and this end of the path."""
        text = rest.pop("text", json.dumps({"message": message} if message else {}))
        self.failures.append(Failure(method, path, status, text, **rest))

    def _app(self) -> Starlette:
        routes: list[tuple[str, list[str], Callable[..., Any]]] = [
            ("/workflows", ["GET"], self.list_workflows),
            ("/workflows", ["POST"], self.create),
            ("/workflows/{id}", ["GET"], self.get),
            ("/workflows/{id}", ["PUT"], self.put),
            ("/workflows/{id}", ["DELETE"], self.delete),
            ("/workflows/{id}/tags", ["PUT"], self.put_tags),
            ("/workflows/{id}/activate", ["POST"], self.publish),
            ("/workflows/{id}/deactivate", ["POST"], self.unpublish),
            ("/executions", ["GET"], self.list_executions),
            ("/executions/{id}", ["GET"], self.get_execution),
            ("/executions/{id}/retry", ["POST"], self.retry),
            ("/tags", ["GET"], self.list_tags),
            ("/tags", ["POST"], self.create_tag),
        ]
        if self.generation == 2:
            routes += [
                ("/workflows/{id}/publish", ["POST"], self.publish),
                ("/workflows/{id}/unpublish", ["POST"], self.unpublish),
                ("/discover", ["GET"], self.discover),
                ("/workflows/{id}/history", ["GET"], self.list_versions),
                ("/workflows/{id}/versions/{version}", ["GET"], self.get_version),
                ("/credentials", ["GET"], self.list_credentials),
            ]
        api = [Route(f"/api/v1{path}", self._handler(do, path), methods=methods) for path, methods, do in routes]
        return Starlette(
            routes=[
                Route("/healthz", lambda _: JSONResponse({"status": "ok"})),
                *api,
                Route(MCP_PATH, self._handle_mcp, methods=["POST"]),
                Route("/api/{rest:path}", _no_such_path, methods=["GET", "POST", "PUT", "DELETE"]),
                Route("/{rest:path}", lambda _: HTMLResponse("<!DOCTYPE html><title>n8n.io</title>")),
            ]
        )

    async def _handle_mcp(self, request: Request) -> Response:
        return await self.mcp.handle(request)

    def _handler(self, do: Callable[..., Any], pattern: str) -> Callable[[Request], Any]:
        async def handle(request: Request) -> Response:
            raw = await request.body()
            body = json.loads(raw) if raw else None
            path = request.url.path.removeprefix("/api/v1")
            query = dict(request.query_params)
            self.seen.append(Seen(request.method, path, query, body, dict(request.headers)))
            failure = self._planned(request.method, path)
            if failure and not failure.stored:
                return _planned_response(failure)
            response = self._respond(do, request, pattern, query, body)
            return _planned_response(failure) if failure else response

        return handle

    def _respond(
        self, do: Callable[..., Any], request: Request, pattern: str, query: dict[str, str], body: Any
    ) -> Response:
        try:
            self._check_request(request, pattern, query, body)
            status = 201 if do == self.create_tag else 200
            return JSONResponse(do(body=body, query=query, **request.path_params), status_code=status)
        except RejectedError as rejected:
            return JSONResponse({"message": rejected.message}, status_code=rejected.status)

    def _check_request(self, request: Request, pattern: str, query: dict[str, str], body: Any) -> None:
        if request.headers.get("X-N8N-API-KEY") != KEY:
            raise RejectedError(401, "Unauthorized")
        if request.method in ("POST", "PUT") and body is None:
            raise RejectedError(415, "unsupported media type undefined")
        if self.generation == 1 and (unknown := set(query) - QUERY.get(pattern, {"includeData"})):
            raise RejectedError(400, f"Unknown query parameter '{min(unknown)}'")

    def _planned(self, method: str, path: str) -> Failure | None:
        for failure in self.failures:
            if failure.method == method and path.endswith(failure.path):
                failure.after -= 1
                if failure.after >= 0:
                    return None
                failure.times -= 1
                if failure.times == 0:
                    self.failures.remove(failure)
                return failure
        return None


def _no_such_path(_: Request) -> Response:
    return JSONResponse({"message": "not found"}, status_code=404)


def _planned_response(failure: Failure) -> Response:
    return Response(failure.text, failure.status, failure.headers, failure.kind)
