"""The API as a page to read."""

import re

from tests.fakes.chat import ChatClient

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


def test_an_operation_is_told_with_its_parameters_its_body_and_its_answers() -> None:
    told = words(render(DOCUMENT))
    assert "PUT /things/{id} Puts a thing &lt;there&gt;." in told
    assert "id string path; ≤ 1,000 characters" in told
    assert "at? integer query; ≥ 1, default 7" in told
    assert "body Thing of b application/json" in told
    assert "200 application/json string[] 404 No such thing." in told


def test_a_shape_is_told_once_and_linked() -> None:
    page = render(DOCUMENT)
    assert page.count('id="a__b__Thing"') == 1
    assert 'href="#a__b__Thing"' in page
    assert 'kind "&lt;one&gt;" | "two"' in words(page)
    assert "more? { [name]: number } | null" in words(page)


async def test_every_route_is_on_the_page_and_nothing_comes_from_elsewhere(chat: ChatClient) -> None:
    answer = await chat.client.get("/docs")
    for path in (await chat.client.get("/openapi.json")).json()["paths"]:
        assert f"<code>{path}</code>" in answer.text
    assert re.findall(r"<script|https?://|src=|url\(", answer.text) == []
    assert "script-src" not in answer.headers["content-security-policy"]
    assert set(re.findall(r'href="#([^"]+)"', answer.text)) <= set(re.findall(r'id="([^"]+)"', answer.text))
