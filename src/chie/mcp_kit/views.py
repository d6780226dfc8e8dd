"""Views: pages that a host shows with a tool's result (MCP Apps, `io.modelcontextprotocol/ui`).

A view is a self-contained HTML document that receives its data from the host by postMessage. Its own content security
policy forbids network access and turning text into markup, whatever the host allows.
"""

from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from fastmcp import FastMCP

MIME = "text/html;profile=mcp-app"

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>{style}</style>
<main id="view" aria-live="polite"></main>
<script>{script}</script>
</html>
"""


def shown_by(uri: str | None) -> dict[str, Any] | None:
    """A tool's `_meta` that names its view."""
    return {"ui": {"resourceUri": uri}} if uri else None


def add_view(server: "FastMCP[None]", uri: str, *, title: str, description: str, script: "Traversable") -> None:
    """Add a view as a resource. The server brings the script; the page around it is built on request."""

    def view() -> str:
        return page(title, script.read_text(encoding="utf-8"))

    server.resource(
        uri,
        name=uri.removeprefix("ui://"),
        title=title,
        description=description,
        mime_type=MIME,
        meta={"ui": {"prefersBorder": True}},
    )(view)


def page(title: str, script: str) -> str:
    kit = files("chie.mcp_kit")
    shared = kit.joinpath("view.js").read_text(encoding="utf-8")
    style = kit.joinpath("view.css").read_text(encoding="utf-8")
    script = f"{shared}\n{script}"
    return _PAGE.format(title=escape(title), style=style, script=script, policy=_policy(style, script))


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "require-trusted-types-for 'script'; trusted-types 'none'; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
