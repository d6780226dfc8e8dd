"""Views: HTML pages that an MCP host shows with a tool's result (MCP Apps, `io.modelcontextprotocol/ui`).

A view is one self-contained HTML page. It gets its data from the host by postMessage. Its Content-Security-Policy
forbids network access and building markup from strings, whatever the host allows.
"""

import re
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
_IMPORT = re.compile(r'^import .* from "\./(\w+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=const|function)", re.MULTILINE)
_COMMENT = re.compile(r"^ *(?:/\*\*(?:(?!\*/).)*\*/|//[^\n]*)?\n", re.MULTILINE | re.DOTALL)
_INDENT = re.compile(r"^ +", re.MULTILINE)


def shown_by(uri: str | None) -> dict[str, Any] | None:
    """A tool's `_meta`, from which a host learns the URI of its view."""
    return {"ui": {"resourceUri": uri}} if uri else None


def add_view(
    server: "FastMCP[None]", uri: str, *, title: str, description: str, folder: "Traversable", script: str
) -> None:
    """Register the view that `script` in `folder` draws. The page is built when a host reads the resource."""

    def view() -> str:
        return page(title, bundle(folder, script))

    server.resource(
        uri,
        name=uri.removeprefix("ui://"),
        title=title,
        description=description,
        mime_type=MIME,
        meta={"ui": {"prefersBorder": True}},
    )(view)


def bundle(folder: "Traversable", script: str) -> str:
    """The script after the files that it imports from the same folder, minified and without module syntax."""
    text = folder.joinpath(script).read_text(encoding="utf-8")
    imported = [bundle(folder, name) for name in _IMPORT.findall(text)]
    return "".join([*imported, _minified(_EXPORT.sub("", _IMPORT.sub("", text)))])


def _minified(script: str) -> str:
    """Without comments and indentation. A script must not have template literals of several lines."""
    return _INDENT.sub("", _COMMENT.sub("", script))


def page(title: str, script: str) -> str:
    kit = files("chie.mcp_kit")
    style = kit.joinpath("view.css").read_text(encoding="utf-8")
    script = f"{bundle(kit, 'view.js')}\n{script}"
    return _PAGE.format(title=escape(title), style=style, script=script, policy=_policy(style, script))


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "require-trusted-types-for 'script'; trusted-types 'none'; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
