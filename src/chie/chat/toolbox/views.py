"""Views of MCP Apps: HTML that a server gives for a tool's result, and the policy under which a browser runs it."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import mcp_types

from chie.errors import NotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from chie.chat.toolbox.client import Client

SCHEME = "ui://"
MIME = "text/html;profile=mcp-app"
MAX_SOURCES = 20
NONE = "'none'"

_SOURCE = re.compile(r"https://(?:\*\.)?[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)+(?::\d{1,5})?")


@dataclass(frozen=True)
class View:
    """A page without an origin: it has no cookies, no storage, no parent, and no network but what it declares."""

    html: str
    policy: str


async def read_view(client: "Client", uri: str) -> View:
    """NotFoundError if the resource is not a view."""
    if not uri.startswith(SCHEME):
        raise NotFoundError("toolbox.view_not_found")
    for content in (await client.read_resource(uri)).contents:
        if isinstance(content, mcp_types.TextResourceContents) and _is_view(content.mime_type):
            return View(content.text, content_policy((content.meta or {}).get("ui")))
    raise NotFoundError("toolbox.view_not_found")


def content_policy(ui: object) -> str:
    declared = ui.get("csp") if isinstance(ui, dict) else None
    csp = declared if isinstance(declared, dict) else {}
    resources, connections = (" ".join(_sources(csp.get(name))) for name in ("resourceDomains", "connectDomains"))
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'unsafe-inline' {resources}".strip(),
            f"style-src 'unsafe-inline' {resources}".strip(),
            f"img-src data: {resources}".strip(),
            f"font-src data: {resources}".strip(),
            f"media-src data: {resources}".strip(),
            f"connect-src {connections or NONE}",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-src 'none'",
            "frame-ancestors 'self'",
            "sandbox allow-scripts",
        )
    )


def _sources(given: object) -> "Iterable[str]":
    """Only hosts over HTTPS. Anything else could close the directive, or name every host."""
    hosts = given if isinstance(given, list) else []
    return [host for host in hosts[:MAX_SOURCES] if isinstance(host, str) and _SOURCE.fullmatch(host)]


def _is_view(mime: str | None) -> bool:
    return (mime or "").replace(" ", "").lower() == MIME
