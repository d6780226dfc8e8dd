"""n8n's own MCP server as 2.41.1 has it: stateless, one event per response, 100 requests in five minutes."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from tests.fakes.n8n_nodes import get_node_types, parameter_errors, search_results

MCP_PATH = "/mcp-server/http"
TOKEN = "n8n-mcp-token-0123456789"
NOT_FOUND = "Workflow not found or you don't have permission to access it."

Json = dict[str, Any]
Tool = Callable[[Json], Json]


class McpToolError(Exception):
    """The tool answers with `isError` and this sentence."""


class FakeMcpServer:
    """`tools` maps names to functions of the arguments that return the structured content."""

    def __init__(self) -> None:
        self.tools: dict[str, Tool] = {
            "search_nodes": _search_nodes,
            "get_node_types": get_node_types,
            "validate_node_config": _validate_node_config,
            "list_credentials": lambda _: {"data": [], "count": 0},
        }
        self.enabled = True
        self.remaining = 100
        self.planned: list[Response] = []
        self.calls: list[tuple[str, Json]] = []
        self.headers: list[dict[str, str]] = []

    async def handle(self, request: Request) -> Response:
        body = json.loads(await request.body())
        self.headers.append(dict(request.headers))
        if self.planned:
            return self.planned.pop(0)
        if rejected := self._rejected(request):
            return rejected
        self.remaining -= 1
        if body["method"] == "ping":
            return _event({"result": {}, "jsonrpc": "2.0", "id": body["id"]})
        return await asyncio.to_thread(self._call, body)  # a test run may wait for the test

    def _rejected(self, request: Request) -> Response | None:
        if self.remaining <= 0:
            return JSONResponse({"message": "Too many requests"}, 429, {"retry-after": "100"})
        if not self.enabled:
            return JSONResponse({"message": "MCP access is disabled"}, 404)
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            return JSONResponse({"message": "Unauthorized"}, 401)
        if "text/event-stream" not in request.headers.get("accept", ""):
            return JSONResponse({"jsonrpc": "2.0", "error": {"code": -32000, "message": "Not Acceptable"}}, 406)
        return None

    def _call(self, body: Json) -> Response:
        name, arguments = body["params"]["name"], body["params"]["arguments"]
        self.calls.append((name, arguments))
        if name not in self.tools:
            error = {"code": -32602, "message": f"Tool {name} not found"}
            return _event({"jsonrpc": "2.0", "id": body["id"], "error": error})
        try:
            content = self.tools[name](arguments)
            result: Json = {"content": [_text(json.dumps(content))], "structuredContent": content}
        except McpToolError as failed:
            content = {"error": str(failed)}
            result = {"content": [_text(json.dumps(content))], "structuredContent": content, "isError": True}
        except KeyError as missing:
            text = f"Input validation error: Invalid arguments for tool {name}: {missing.args[0]}: Required"
            result = {"content": [_text(text)], "isError": True}
        return _event({"result": result, "jsonrpc": "2.0", "id": body["id"]})


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _event(message: Json) -> Response:
    return Response(
        f"event: message\ndata: {json.dumps(message, ensure_ascii=False)}\n\n", media_type="text/event-stream"
    )


def _search_nodes(arguments: Json) -> Json:
    return {"results": "\n\n".join(search_results(query) for query in arguments["queries"])}


def _validate_node_config(arguments: Json) -> Json:
    results = []
    for index, node in enumerate(arguments["nodes"]):
        row: Json = {"index": index, "type": node["type"], "valid": True}
        row |= {"name": node["name"]} if "name" in node else {}
        if errors := list(parameter_errors(node)):
            row |= {"valid": False, "errors": errors}
        results.append(row)
    return {"valid": all(row["valid"] for row in results), "results": results}
