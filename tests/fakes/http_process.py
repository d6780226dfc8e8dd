"""A small app behind `run_http`, as a program: `python -m tests.fakes.http_process HOST OPEN_FILES HEADER_SECONDS`."""

import asyncio
import resource
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from chie.access.authentication import load_authenticator
from chie.access.middleware import protect
from chie.http import connections
from chie.http.server import run_http


def highest_open_file() -> int:
    return max(int(file.name) for file in Path("/proc/self/fd").iterdir())


def create_app() -> Starlette:
    released = asyncio.Event()

    async def hello(_: Request) -> Response:
        return PlainTextResponse("hello")

    async def wait(_: Request) -> Response:
        async def parts() -> AsyncIterator[str]:
            yield "waiting, "
            await released.wait()
            yield "released"

        return StreamingResponse(parts())

    async def release(_: Request) -> Response:
        released.set()
        return PlainTextResponse("done")

    async def limit_files(request: Request) -> Response:
        """The number of files that may be open; without a number, only those that are."""
        number = int(request.query_params.get("number") or highest_open_file())
        resource.setrlimit(resource.RLIMIT_NOFILE, (number, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        return PlainTextResponse("done")

    paths = {"/": hello, "/wait": wait, "/release": release, "/limit-files": limit_files}
    return Starlette(routes=[Route(path, endpoint) for path, endpoint in paths.items()])


def main(host: str, open_files: str, header_seconds: str) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (int(open_files), int(open_files)))
    connections.HEADER_SECONDS = float(header_seconds)
    authenticator = load_authenticator()
    run_http(
        protect(create_app(), authenticator),
        host=host,
        port=0,
        announce=lambda *urls: print(*urls, flush=True),  # noqa: T201
        allow_remote=authenticator.allows_remote,
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
