"""Ten tools and three kinds of error, through an MCP client."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.n8n import FakeN8n
from tests.n8n.caller import Caller, Era, order_flow

from chie.n8n.registry import TOOLS as ALL_TOOLS
from chie.n8n.status_errors import OPERATIONS

FLOW: dict[str, Any] = order_flow()
TOOLS = [
    "list_workflows",
    "get_workflow",
    "get_workflow_connections",
    "create_workflow",
    "create_workflow_from_file",
    "update_workflow",
    "replace_workflow_from_file",
    "delete_workflow",
    "list_executions",
    "get_execution",
]

# Valid arguments, then those that make them invalid and the resulting text.
VALID: dict[str, dict[str, Any]] = {
    "list_workflows": {},
    "get_workflow": {"id": "missing1"},
    "get_workflow_connections": {"id": "missing1"},
    "create_workflow": {"name": "n", "nodes": FLOW["nodes"], "connections": FLOW["connections"]},
    "create_workflow_from_file": {"filePath": "flow.json"},
    "update_workflow": {"id": "missing1", "name": "n"},
    "replace_workflow_from_file": {"id": "missing1", "filePath": "flow.json"},
    "delete_workflow": {"id": "missing1"},
    "list_executions": {},
    "get_execution": {"id": "999"},
}
INVALID: dict[str, tuple[dict[str, Any], str]] = {
    "list_workflows": ({"limit": 0}, "limit must be at least 1"),
    "get_workflow": ({"id": " "}, "Workflow ID is required"),
    "get_workflow_connections": ({"id": "../etc"}, "id must match the pattern"),
    "create_workflow": ({"nodes": [{"name": "A"}]}, "nodes[0].type must be a string"),
    "create_workflow_from_file": ({"filePath": "nowhere.json"}, "filePath: file not found"),
    "update_workflow": ({"nodes": "not json"}, "nodes must be a list"),
    "replace_workflow_from_file": ({"filePath": "/etc/passwd"}, "filePath: the file is outside the allowed folders"),
    "delete_workflow": ({"id": None}, "Workflow ID is required"),
    "list_executions": ({"status": "broken"}, "status must be one of"),
    "get_execution": ({"id": "abc"}, "id must match the pattern"),
}
INVALID_CONTEXT = {
    "list_workflows": {"field": "limit", "constraint": "too_small"},
    "get_workflow": {"field": "id", "constraint": "required"},
    "get_workflow_connections": {"field": "id", "constraint": "wrong_form"},
    "create_workflow": {"field": "nodes, connections", "constraint": "structure"},
    "create_workflow_from_file": {"field": "filePath"},
    "update_workflow": {
        "field": "nodes",
        "expected_type": "array",
        "received_type": "string",
        "constraint": "not_list",
    },
    "replace_workflow_from_file": {"field": "filePath"},
    "delete_workflow": {"field": "id", "constraint": "required"},
    "list_executions": {"field": "status", "constraint": "not_one_of"},
    "get_execution": {"field": "id", "constraint": "wrong_form"},
}
# A 404 for a list is not about a resource, so it is an ApiError.
MISSING = {
    "list_workflows": ("GET", "/workflows"),
    "create_workflow": ("POST", "/workflows"),
    "create_workflow_from_file": ("POST", "/workflows"),
    "list_executions": ("GET", "/executions"),
}
FIRST_REQUEST = {
    "list_workflows": ("GET", "/workflows"),
    "create_workflow": ("POST", "/workflows"),
    "create_workflow_from_file": ("POST", "/workflows"),
    "list_executions": ("GET", "/executions"),
    "get_execution": ("GET", "/executions/999"),
}


def request_context(tool: str) -> dict[str, Any]:
    """What every error about that request says of it."""
    operation = {"operation": tool.replace("_", " ")}  # the tool's own, whichever of its requests failed
    if tool in MISSING:
        return operation
    if tool == "get_execution":
        return {**operation, "resource_type": "Execution", "resource_id": "999"}
    return {**operation, "resource_type": "Workflow", "resource_id": "missing1"}


@pytest.fixture(params=["auto", "legacy"])
def era(request: pytest.FixtureRequest) -> Era:
    era: Era = request.param
    return era


@pytest.fixture(autouse=True)
def flow_file(tmp_path: Path) -> None:
    (tmp_path / "flow.json").write_text(json.dumps(FLOW), encoding="utf-8")


@pytest.mark.req("NW-12", "NW-5", "NW-7")
@pytest.mark.parametrize("tool", TOOLS)
async def test_not_found(tool: str, call: Caller, fake: FakeN8n) -> None:
    if tool in MISSING:
        fake.fail(*MISSING[tool], 404, "Project not found")
    answer = await call(tool, **VALID[tool])
    assert answer.details is not None
    if tool in MISSING:
        assert "n8n returned 404: Project not found" in answer.error
        assert answer.details["error_type"] == "ApiError"
        reported = {"status_code": 404, "error_details": "Project not found"}
        assert answer.details["context"] == {**request_context(tool), **reported}
    else:
        kind = "Execution '999'" if tool == "get_execution" else "Workflow 'missing1'"
        assert answer.error.startswith(f"{kind} not found.")
        assert answer.details["error_type"] == "NotFoundError"
        assert answer.details["context"] == request_context(tool)


@pytest.mark.req("NW-12", "NW-5", "NW-7")
@pytest.mark.parametrize("tool", TOOLS)
async def test_validation(tool: str, call: Caller, fake: FakeN8n) -> None:
    change, message = INVALID[tool]
    answer = await call(tool, **{**VALID[tool], **change})
    assert message in answer.error
    assert answer.details is not None
    assert answer.details["error_type"] == "ValidationError"
    assert answer.details["context"] == INVALID_CONTEXT[tool]
    assert [seen.method for seen in fake.seen if seen.method != "GET"] == []


@pytest.mark.req("NW-12", "NW-5", "NW-6", "NW-7")
@pytest.mark.parametrize("tool", TOOLS)
async def test_api(tool: str, call: Caller, fake: FakeN8n) -> None:
    method, path = FIRST_REQUEST.get(tool, ("GET", "/workflows/missing1"))
    fake.fail(method, path, 403, "Your license does not allow for it")
    answer = await call(tool, **VALID[tool])
    assert "n8n returned 403: Your license does not allow for it. The API key lacks the scope" in answer.error
    assert answer.details is not None
    assert answer.details["error_type"] == "ApiError"
    reported = {"status_code": 403, "error_details": "Your license does not allow for it"}
    assert answer.details["context"] == {**request_context(tool), **reported}


@pytest.mark.req("NW-7")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    {**VALID, "patch_workflow": {"id": "missing1", "operations": [{"op": "removeNode", "name": "A"}]}}.items(),
)
async def test_text_and_context_name_the_operation_of_the_tool(
    tool: str, arguments: dict[str, Any], call: Caller, fake: FakeN8n
) -> None:
    """Also if a read that precedes the tool's own request fails; the text says which."""
    method, path = FIRST_REQUEST.get(tool, ("GET", "/workflows/missing1"))
    fake.fail(method, path, 403, "Forbidden")
    answer = await call(tool, **arguments)
    assert answer.details is not None
    operation = tool.replace("_", " ")
    assert answer.details["context"]["operation"] == operation
    assert answer.text.startswith(f"Failed to {operation}")
    reads_first = tool.startswith(("update", "replace", "patch", "delete")) or tool == "get_workflow_connections"
    assert ("(step: get workflow)" in answer.text) is reads_first


def test_every_tool_has_a_name_for_its_operation() -> None:
    assert {tool.name.replace("_", " ") for tool in ALL_TOOLS} <= set(OPERATIONS)
