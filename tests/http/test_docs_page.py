"""`/docs`: the OpenAPI document as a page."""

import re

from starlette.testclient import TestClient

from chie.app import create_app
from chie.http.docs_page import render

THING = {"$ref": "#/components/schemas/a__b__Thing"}
DOCUMENT = {
    "info": {"version": "1.0"},
    "paths": {
        "/things/{id}": {
            "put": {
                "description": "Puts a `thing` <there>.",
                "parameters": [
                    {"name": "id", "in": "path", "required": True, "schema": {"type": "string", "maxLength": 1000}},
                    {"name": "at", "in": "query", "schema": {"type": "integer", "minimum": 1, "default": 7}},
                ],
                "requestBody": {
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/a__b__Thing"}}}
                },
                "responses": {
                    "200": {
                        "description": "Successful Response",
                        "content": {"application/json": {"schema": {"type": "array", "items": {"type": "string"}}}},
                    },
                    "404": {"description": "No such thing."},
                },
            }
        }
    },
    "components": {
        "schemas": {
            "a__b__Thing": {
                "required": ["kind"],
                "properties": {
                    "kind": {"enum": ["<one>", "two"]},
                    "more": {"anyOf": [{"additionalProperties": {"type": "number"}}, {"type": "null"}]},
                },
            }
        }
    },
}


def words(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def test_operation_has_parameters_body_and_responses() -> None:
    text = words(render(DOCUMENT))
    assert "PUT /things/{id} Puts a thing &lt;there&gt;." in text
    assert "id string path; ≤ 1,000 characters" in text
    assert "at? integer query; ≥ 1, default 7" in text
    assert "body Thing of b application/json" in text
    assert "200 application/json string[] 404 No such thing." in text


def test_schema_is_shown_once_and_linked() -> None:
    page = render(DOCUMENT)
    assert page.count('id="a__b__Thing"') == 1
    assert 'href="#a__b__Thing"' in page
    assert 'kind "&lt;one&gt;" | "two"' in words(page)
    assert "more? { [name]: number } | null" in words(page)


def test_page_lists_every_route_and_loads_nothing() -> None:
    with TestClient(create_app({}), base_url="http://127.0.0.1:8080") as client:
        answer = client.get("/docs")
        paths = client.get("/openapi.json").json()["paths"]
    for path in paths:
        assert f"<code>{path}</code>" in answer.text
    assert re.findall(r"<script|https?://|src=|url\(", answer.text) == []
    assert "script-src" not in answer.headers["content-security-policy"]
    assert set(re.findall(r'href="#([^"]+)"', answer.text)) <= set(re.findall(r'id="([^"]+)"', answer.text))
