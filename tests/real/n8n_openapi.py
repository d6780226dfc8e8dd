"""Validates every request against the OpenAPI document of n8n."""

import json
import re
from typing import Any

import httpx2
import jsonschema_rs
import yaml

Json = dict[str, Any]
BASE = "/api/v1"


class Inspector(httpx2.AsyncBaseTransport):
    """Forwards requests to n8n and records violations of its document."""

    def __init__(self, document: str) -> None:
        self._document: Json = yaml.safe_load(document)
        self._inner = httpx2.AsyncHTTPTransport()
        self.operations: set[str] = set()
        self.violations: list[str] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.url.path.startswith(f"{BASE}/"):
            await request.aread()
            self.violations += self._violations(request)
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        """Stay usable: one inspector serves many clients in turn."""
        inner, self._inner = self._inner, httpx2.AsyncHTTPTransport()
        await inner.aclose()

    def _violations(self, request: httpx2.Request) -> list[str]:
        path = request.url.path.removeprefix(BASE)
        for pattern, item in self._document["paths"].items():
            if _matches(pattern, path) and request.method.lower() in item:
                label = f"{request.method} {pattern}"
                self.operations.add(label)
                operation = item[request.method.lower()]
                return self._query_violations(label, request, operation) + self._body_violations(
                    label, request, operation
                )
        return [f"{request.method} {path} is not in the document"]

    def _query_violations(self, label: str, request: httpx2.Request, operation: Json) -> list[str]:
        known = {self._resolved(own)["name"] for own in operation.get("parameters", [])}
        return [f"{label}: query {name}" for name in request.url.params if name not in known]

    def _body_violations(self, label: str, request: httpx2.Request, operation: Json) -> list[str]:
        if not request.content:
            return []
        content = self._resolved(operation.get("requestBody", {})).get("content")
        if not content:
            # Some operations take no body, but return 415 without one; an empty object is accepted.
            return [] if request.content == b"{}" else [f"{label}: a body, and none is defined"]
        schema = {**_translated(content["application/json"]["schema"]), "components": _translated(self._components)}
        validator = jsonschema_rs.validator_for(schema)
        return [f"{label}: {error.message}" for error in validator.iter_errors(json.loads(request.content))]

    @property
    def _components(self) -> Json:
        components: Json = self._document["components"]
        return components

    def _resolved(self, part: Json) -> Json:
        if "$ref" not in part:
            return part
        found: Any = self._document
        for step in part["$ref"].removeprefix("#/").split("/"):
            found = found[step]
        return self._resolved(found)


def _matches(pattern: str, path: str) -> bool:
    return re.fullmatch(re.sub(r"\{[^}]+\}", "[^/]+", pattern), path) is not None


def _translated(schema: Any) -> Any:
    """OpenAPI 3.0 as JSON Schema: `nullable` becomes a type, and read-only properties are forbidden."""
    if isinstance(schema, list):
        return [_translated(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("readOnly") is True and "type" in schema:
        return False
    result = {key: _translated(value) for key, value in schema.items() if key not in ("example", "nullable")}
    if schema.get("nullable") and isinstance(result.get("type"), str):
        result["type"] = [result["type"], "null"]
        if "enum" in result:
            result["enum"] = [*result["enum"], None]
    return result
