"""`/docs`: the OpenAPI document as one self-contained page, which works offline too."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from html import escape
from importlib import resources
from itertools import groupby
from string import Template
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from chie.http.routing import all_routes
from chie.http.security_headers import STYLES_ONLY_POLICY

Schema = Mapping[str, Any]


async def show(request: Request) -> Response:
    return HTMLResponse(render(request.app.openapi()), headers={"Content-Security-Policy": STYLES_ONLY_POLICY})


def install_openapi(app: FastAPI) -> None:
    """Replaces FastAPI's document, which lists a 422 response that this app never sends."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _without_422(get_openapi(title=app.title, version=app.version, routes=all_routes(app)))
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _without_422(document: dict[str, Any]) -> dict[str, Any]:
    for path in document["paths"].values():
        for operation in path.values():
            operation["responses"].pop("422", None)
    for name in ("HTTPValidationError", "ValidationError"):
        document["components"]["schemas"].pop(name, None)
    return document


def render(document: Schema) -> str:
    schemas: Schema = document.get("components", {}).get("schemas", {})
    found = [
        (operation["tags"][0] if operation.get("tags") else "app", method, path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    parts = [
        f"<h2>{escape(tag)}</h2>\n{''.join(_operation(*one) for _, *one in group)}"
        for tag, group in groupby(sorted(found, key=lambda one: one[0]), key=lambda one: one[0])
    ]
    shapes = "".join(_definition(name, schema) for name, schema in schemas.items())
    version = escape(document["info"]["version"])
    return _template().substitute(version=version, operations="\n".join(parts), shapes=shapes)


@cache
def _template() -> Template:
    return Template(resources.files(__package__).joinpath("docs_page.html").read_text(encoding="utf-8"))


def _operation(method: str, path: str, operation: Schema) -> str:
    head = f"<summary><b>{method.upper()}</b> <code>{escape(path)}</code></summary>"
    rows = [*_parameters(operation), *_body(operation)]
    table = f"<table>{''.join(rows)}</table>" if rows else ""
    return f"<details>{head}<p>{_prose(operation.get('description', ''))}</p>{table}{_responses(operation)}</details>\n"


def _parameters(operation: Schema) -> Iterator[str]:
    for one in operation.get("parameters", ()):
        yield _row(one["name"], one.get("schema", {}), required=one.get("required", False), source=one["in"])


def _body(operation: Schema) -> Iterator[str]:
    for media, content in operation.get("requestBody", {}).get("content", {}).items():
        yield _row("body", content.get("schema", {}), required=True, source=media)


def _responses(operation: Schema) -> str:
    return f"<ul>{''.join(_response(*one) for one in operation['responses'].items())}</ul>"


def _response(status: str, response: Schema) -> str:
    """The shape of errors is described once, at the top of the page."""
    text = "" if response["description"] == "Successful Response" else _prose(response["description"])
    contents = response.get("content", {}).items() if status.startswith("2") else ()
    shapes = " ".join(f"{escape(media)} {_shape(one.get('schema', {}))}" for media, one in contents)
    return f"<li><b>{status}</b> {text} {shapes}</li>"


def _definition(name: str, schema: Schema) -> str:
    required = schema.get("required", ())
    rows = [_row(key, one, required=key in required) for key, one in schema.get("properties", {}).items()]
    inside = f"<table>{''.join(rows)}</table>" if rows else f"<p>{_shape(schema)}</p>"
    about = f"<p>{_prose(schema['description'])}</p>" if "description" in schema else ""
    return f'<h3 id="{escape(name)}">{escape(_short(name))}</h3>{about}{inside}\n'


def _row(name: str, schema: Schema, *, required: bool, source: str = "") -> str:
    about = [source, _limits(schema), _prose(schema.get("description", ""))]
    mark = "" if required else "?"
    text = "; ".join(filter(None, about))
    return f"<tr><td><code>{escape(name)}{mark}</code></td><td>{_shape(schema)}</td><td>{text}</td></tr>"


def _limits(schema: Schema) -> str:
    """The limits of a schema; for a union, those of the part that is not `null`."""
    parts = [schema, *schema.get("anyOf", ())]
    names = {"minimum": "≥ {}", "maximum": "≤ {}", "minLength": "≥ {} characters", "maxLength": "≤ {} characters"}
    found = [text.format(f"{one[name]:,}") for one in parts for name, text in names.items() if name in one]
    return ", ".join([*found, *([f"default {schema['default']}"] if schema.get("default") is not None else [])])


def _shape(schema: Schema) -> str:
    """The type in TypeScript's notation."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f'<a href="#{escape(name)}">{escape(_short(name))}</a>'
    if union := schema.get("anyOf") or schema.get("oneOf"):
        return " | ".join(map(_shape, union))
    if values := schema.get("enum") or ([schema["const"]] if "const" in schema else []):
        return " | ".join(f"<code>{escape(json.dumps(one), quote=False)}</code>" for one in values)
    return _structure(schema)


def _structure(schema: Schema) -> str:
    if schema.get("type") == "array":
        return f"{_shape(schema.get('items', {}))}[]"
    if "properties" in schema:
        return "{ " + ", ".join(f"{escape(key)}: {_shape(one)}" for key, one in schema["properties"].items()) + " }"
    if isinstance(schema.get("additionalProperties"), Mapping):
        return f"{{ [name]: {_shape(schema['additionalProperties'])} }}"
    return escape(str(schema.get("type", "any")))


def _short(name: str) -> str:
    """FastAPI prefixes the module if two of them have a model of the same name."""
    *module, last = name.split("__")
    return f"{last} of {module[1]}" if len(module) > 1 else last


def _prose(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))
