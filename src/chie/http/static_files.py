"""Serves the web page, which `make` builds from `web/` into `chie/static`."""

import gzip
import mimetypes
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

STATIC = Path(__file__).parents[1] / "static"
INDEX = "index.html"
# The parts of the page (`web/src/pages/registry.ts`), for those who type `/review` instead of `/#/review`.
PAGES = (
    "chat",
    "knowledge",
    "review",
    "projects",
    "shared",
    "workflows",
    "prompts",
    "servers",
    "settings",
    "archive",
    "usage",
    "setup",
)

# Scripts and styles are separate files, and Trusted Types keep strings from becoming HTML or code.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; manifest-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "Vary": "Accept-Encoding",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
# Diagrams are drawn by third-party code in a frame without an origin, which runs one script and has no network.
FRAME = "diagram.html"
FRAME_POLICY = (
    "default-src 'none'; script-src '{script}'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'; sandbox allow-scripts"
)
CACHE_IMMUTABLE = "public, max-age=31536000, immutable"  # the names of built assets contain a hash
CACHE_REVALIDATE = "no-cache"


@dataclass(frozen=True)
class File:
    path: Path
    media_type: str
    cache_control: str
    is_frame: bool = False

    @cached_property
    def content(self) -> bytes:
        return self.path.read_bytes()

    @cached_property
    def etag(self) -> str:
        return f'"{sha256(self.content).hexdigest()[:20]}"'

    @cached_property
    def compressed(self) -> bytes:
        return gzip.compress(self.content, 9, mtime=0)

    @cached_property
    def frame_headers(self) -> dict[str, str]:
        """Headers of the diagram frame: our page may embed it, and only its built-in script runs."""
        if not self.is_frame:
            return {}
        script = self.content.partition(b"<script>")[2].partition(b"</script>")[0]
        name = f"sha256-{b64encode(sha256(script).digest()).decode()}"
        return {"Content-Security-Policy": FRAME_POLICY.format(script=name), "X-Frame-Options": "SAMEORIGIN"}

    def respond(self, request: Request) -> Response:
        headers = HEADERS | self.frame_headers | {"Cache-Control": self.cache_control, "ETag": self.etag}
        if request.headers.get("if-none-match") == self.etag:
            return Response(status_code=304, headers=headers)
        content = self.content
        if "gzip" in request.headers.get("accept-encoding", ""):
            content, headers = self.compressed, headers | {"Content-Encoding": "gzip"}
        return Response(content, media_type=self.media_type, headers=headers)


def page_routes(folder: Path = STATIC) -> list[Route]:
    """One route per built file, so that no request can name another file; none if the page was not built."""
    files = [_route(name, file) for name, file in _files(folder).items()]
    return [*files, *(Route(f"/{page}", _redirect) for page in PAGES)] if files else []


async def _redirect(request: Request) -> Response:
    """Relative, because a proxy may serve us below a path of its own."""
    query = f"?{request.url.query}" if request.url.query else ""
    return Response(status_code=307, headers=HEADERS | {"Location": f"./#{request.url.path}{query}"})


def _files(folder: Path) -> Mapping[str, File]:
    if not (folder / INDEX).is_file():
        return {}
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
    return {path.relative_to(folder).as_posix(): _read(path, folder) for path in found}


def _read(path: Path, folder: Path) -> File:
    media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    is_hashed = path.relative_to(folder).parts[0] == "assets"
    cache_control = CACHE_IMMUTABLE if is_hashed else CACHE_REVALIDATE
    file = File(path, media_type, cache_control, is_frame=path == folder / FRAME)
    if not file.is_frame:  # that is larger than all the others together, and few conversations have a diagram
        _ = file.content  # read now, so that all files are of one build
    return file


def _route(name: str, file: File) -> Route:
    async def respond(request: Request) -> Response:
        return file.respond(request)

    return Route("/" if name == INDEX else f"/{name}", respond)
