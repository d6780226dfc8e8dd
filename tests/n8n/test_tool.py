"""BaseTool and RawTool: every result and every error is a response of one shape."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from pydantic import Field, SecretStr

from chie.logging import JsonLines, OneLine, stamp
from chie.mcp_kit.server import Server
from chie.messages.catalogue import Message
from chie.n8n.arguments import Arguments, ExecutionId, RawArguments, WorkflowId
from chie.n8n.client import N8nApiClient
from chie.n8n.errors import (
    ApiError,
    ApiErrorContext,
    NotFoundError,
    NotFoundErrorContext,
    ValidationError,
    ValidationErrorContext,
)
from chie.n8n.http import Endpoint, HttpClient
from chie.n8n.registry import ToolRegistry
from chie.n8n.server import create_context, setup_tool_handlers
from chie.n8n.settings import N8nSettings
from chie.n8n.tool import READ, BaseTool, RawTool, ToolContext
from chie.n8n.tools.changes import PatchWorkflowTool, UpdateWorkflowTool
from chie.n8n.tools.executions import RehearseChangeTool

SECRET = "hunter2-very-private"
N8N_KEY = "a key from an env file"


def stamped(record: logging.LogRecord) -> logging.LogRecord:
    stamp(record)
    return record


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    settings = N8nSettings(backup_dir=tmp_path, max_chars=2_000)
    return create_context(settings, N8nApiClient(HttpClient(Endpoint("http://127.0.0.1:1", SecretStr(N8N_KEY), {}))))


class EchoArguments(Arguments):
    """Text in, text out."""

    some_text: str = Field(description="What to say.", max_length=20)
    times: int = 1


class EchoTool(BaseTool[EchoArguments]):
    name = "echo"
    description = "Repeats it."
    arguments = EchoArguments
    error: Exception | None = None

    async def execute(self, args: EchoArguments) -> Any:
        if self.error:
            raise self.error
        return {"echo": args.some_text * args.times}


class FruitTool(RawTool[RawArguments]):
    name = "fruit"
    description = "Fruit."
    arguments = RawArguments

    async def execute_core(self, args: RawArguments) -> Any:
        assert args is not None
        return {"name": "りんご", "weight": 200, "origin": "青森"}

    def format_response(self, data: Any, *, raw: bool) -> Any:
        return data if raw else {"name": data["name"]}


@pytest.mark.req("NW-1")
async def test_tool_definition(context: ToolContext) -> None:
    definition = EchoTool(context).to_definition()
    assert (definition.name, definition.description) == ("echo", "Repeats it.")
    assert definition.annotations == READ
    assert definition.input_schema == {
        "type": "object",
        "properties": {
            "someText": {"type": "string", "description": "What to say."},
            "times": {"type": "integer", "default": 1},
        },
        "required": ["someText"],
    }
    response = await definition.handler({"someText": "やあ", "times": "2"})
    assert response == {"content": [{"type": "text", "text": '{"echo":"やあやあ"}'}]}


NOT_FOUND = NotFoundError(
    Message("n8n.workflow_not_found", id="abc123", reason=""),
    NotFoundErrorContext(operation="update workflow", resource_type="Workflow", resource_id="abc123"),
)
API = ApiError(
    Message("n8n.bad_request", operation=Message("n8n.operation_update_workflow"), status=400, reason=""),
    400,
    ApiErrorContext(
        operation="update workflow",
        resource_type="Workflow",
        resource_id="abc123",
        status_code=400,
        error_details="Field 'settings' is required",
    ),
)
INVALID = ValidationError(
    "n8n.workflow_or_id_required",
    ValidationErrorContext(field="id", expected_type="string", received_type="null", constraint="not blank"),
)


@pytest.mark.req("NW-2", "NW-7")
@pytest.mark.parametrize(
    ("error", "kind", "shown"),
    [
        (
            NOT_FOUND,
            "NotFoundError",
            {"operation": "echo", "resource_type": "Workflow", "resource_id": "abc123"},
        ),
        (
            API,
            "ApiError",
            {
                "operation": "echo",
                "resource_type": "Workflow",
                "resource_id": "abc123",
                "status_code": 400,
                "error_details": "Field 'settings' is required",
            },
        ),
        (
            INVALID,
            "ValidationError",
            {"field": "id", "expected_type": "string", "received_type": "null", "constraint": "not blank"},
        ),
        (ApiError("n8n.response_not_list"), "ApiError", {"operation": "echo"}),
    ],
)
async def test_error_response_has_message_code_type_and_context(
    context: ToolContext, error: Any, kind: str, shown: dict[str, Any] | None
) -> None:
    tool = EchoTool(context)
    tool.error = error
    response = await tool.handler({"someText": "x"})
    assert response["content"] == [{"type": "text", "text": error.message}]
    assert response["isError"] is True
    details = {
        "error": True,
        "error_type": kind,
        "message": error.message,
        "code": error.code,
        "params": error.reason.json_params(),
    }
    assert response["structuredContent"] == details | ({"context": shown} if shown else {})


class UnprintableError(Exception):
    def __str__(self) -> str:
        raise ZeroDivisionError


def pydantic_error() -> Exception:
    try:
        EchoArguments.model_validate({"someText": SECRET * 2})
    except ValueError as error:
        return error
    raise AssertionError


@pytest.mark.req("NW-2", "NW-2-2")
@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (KeyError("nodes"), "KeyError: 'nodes'"),
        (RuntimeError("two\n  lines"), "RuntimeError: two lines"),
        (ZeroDivisionError(), "ZeroDivisionError"),
        (UnprintableError(), "UnprintableError"),
        (RuntimeError("the token is password=hunter2 and Bearer abc.def"), "the token is password=*** and Bearer ***"),
        (RuntimeError(f"n8n at http://x?key={N8N_KEY} said no"), "n8n at http://x?key=*** said no"),
        (
            RuntimeError("exited with 1: Traceback (most recent call last):\n  File x.py"),
            "RuntimeError: exited with 1:)",
        ),
        (RuntimeError("x" * 50_000), "x" * 500 + "…)"),
        (ValueError("invalid literal: 'given by hand'"), "ValueError: invalid literal: '***'"),
        (pydantic_error(), "ValidationError: someText: String should have at most 20 characters"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
async def test_unexpected_error_reaches_the_assistant_with_type_and_text(
    context: ToolContext, error: Exception, shown: str
) -> None:
    tool = EchoTool(context)
    tool.error = error
    response = await tool.handler({"someText": "given by hand"})
    [text] = (block["text"] for block in response["content"])
    assert text.startswith("echo failed unexpectedly (")
    assert shown in text
    assert response["structuredContent"]["code"] == "n8n.tool_failed"
    for hidden in (SECRET, N8N_KEY, "given by hand", "Traceback", 'File "'):
        assert hidden not in json.dumps(response)


@pytest.mark.req("NW-2", "NW-8")
async def test_stack_of_an_unexpected_error_is_only_in_the_log(
    context: ToolContext, caplog: pytest.LogCaptureFixture
) -> None:
    tool = EchoTool(context)
    tool.error = RuntimeError("broken")
    response = await tool.handler({"someText": "x"})
    assert "Traceback" not in json.dumps(response)
    (record,) = caplog.records
    assert (record.getMessage(), record.levelno) == ("[echo] Error", logging.ERROR)
    assert "Traceback" in json.loads(JsonLines().format(record))["stack"]


@pytest.mark.req("NW-2", "NW-8")
async def test_expected_error_is_logged_with_the_name_of_the_tool_and_its_stack(
    context: ToolContext, caplog: pytest.LogCaptureFixture
) -> None:
    tool = EchoTool(context)
    tool.error = NOT_FOUND
    response = await tool.handler({"someText": "x"})
    (record,) = caplog.records
    line = json.loads(JsonLines().format(record))
    assert line["message"].startswith("[echo] Error: Workflow 'abc123' not found.")
    assert "Traceback" in line["stack"]
    assert "in execute" in line["stack"]
    assert "Traceback" not in json.dumps(response)
    assert "Traceback" not in OneLine().format(stamped(record))


async def test_stack_of_invalid_arguments_has_no_value(context: ToolContext, caplog: pytest.LogCaptureFixture) -> None:
    await EchoTool(context).handler({"someText": "x", "times": SECRET})
    (record,) = caplog.records
    line = JsonLines().format(record)
    assert "Traceback" in json.loads(line)["stack"]
    assert SECRET not in line


class NamedArguments(Arguments):
    id: WorkflowId
    execution_id: ExecutionId | None = None


class NamedTool(BaseTool[NamedArguments]):
    name = "named_tool"
    description = "Takes ids."
    arguments = NamedArguments

    async def execute(self, args: NamedArguments) -> Any:
        return args.id


@pytest.mark.req("NW-7")
@pytest.mark.parametrize(
    ("arguments", "message", "shown"),
    [
        ({}, "Workflow ID is required", {"field": "id", "constraint": "required"}),
        ({"id": None}, "Workflow ID is required", {"field": "id", "constraint": "required"}),
        (
            {"id": "1", "executionId": " "},
            "Execution ID is required",
            {"field": "executionId", "constraint": "required"},
        ),
        (
            {"id": ["1"]},
            "id must be a string",
            {"field": "id", "expected_type": "string", "received_type": "array", "constraint": "not_string"},
        ),
        (
            {"id": "1", "other": 1},
            "unknown argument: see the tool's schema for valid names",
            {"field": "arguments", "constraint": "unknown"},
        ),
    ],
)
async def test_call_that_the_schema_refused_has_the_context_of_the_field(
    context: ToolContext, arguments: dict[str, Any], message: str, shown: dict[str, str]
) -> None:
    response = await NamedTool(context).handler(arguments)
    assert response["content"][0]["text"] == message
    assert response["structuredContent"]["context"] == shown


@pytest.mark.req("NW-8")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "someText is required"),
        ({"someText": SECRET * 2}, "someText must be at most 20 long"),
        ({"someText": "x", "times": SECRET}, "times must be a whole number"),
        ({"someText": "x", SECRET: 1}, "unknown argument: see the tool's schema for valid names"),
    ],
)
async def test_invalid_arguments_are_named_without_their_values(
    context: ToolContext, arguments: dict[str, Any], message: str
) -> None:
    response = await EchoTool(context).handler(arguments)
    assert response["content"][0]["text"] == message
    assert response["isError"] is True
    assert SECRET not in json.dumps(response)


OPERATIONS: list[dict[str, Any]] = [
    {"op": "addNode", "node": json.dumps({"name": "新", "type": "n8n-nodes-base.set", "parameters": {"memo": None}})},
    {"op": "updateNode", "name": "A", "changes": {"notes": None}},
    {"op": "renameNode", "name": "A", "new_name": "B"},
    {"op": "connect", "source": "A", "to": "B", "output": "1"},
    {"op": "disconnect", "from": "A", "target": "B"},
    {"op": "setField", "path": "settings.timezone", "value": None},
    {"op": "removeNode", "name": 7},
]
CALLS: list[tuple[type[BaseTool[Any]], dict[str, Any]]] = [
    (PatchWorkflowTool, {"id": " w1 ", "operations": json.dumps(OPERATIONS), "version_id": 3}),
    (RehearseChangeTool, {"id": "w1", "patch": OPERATIONS, "runForReal": '["A"]', "execution": 12}),
    (UpdateWorkflowTool, {"id": "w1", "pin_data": '{"A": null}', "tags": "a, b", "active": "no", "別": [None]}),
]


@pytest.mark.parametrize(("kind", "arguments"), CALLS)
def test_normalized_arguments_are_read_as_the_given_ones(
    context: ToolContext, kind: type[BaseTool[Any]], arguments: dict[str, Any]
) -> None:
    found = kind(context).normalized(arguments)
    assert kind.arguments.model_validate(found) == kind.arguments.model_validate(arguments)
    assert json.loads(json.dumps(found)) == found
    assert kind(context).normalized(found) == found
    assert set(found) - {"別"} <= set(kind(context).get_input_schema()["properties"])


@pytest.mark.req("NW-3")
async def test_raw_tool_has_a_summary_and_the_complete_data(context: ToolContext) -> None:
    tool = FruitTool(context)
    assert (await tool.handler({}))["content"][0]["text"] == '{"name":"りんご"}'
    whole = (await tool.handler({"raw": "true"}))["content"][0]["text"]
    assert json.loads(whole) == {"name": "りんご", "weight": 200, "origin": "青森"}


async def test_result_over_the_limit_is_truncated_with_advice(context: ToolContext) -> None:
    class LongTool(EchoTool):
        async def execute(self, args: EchoArguments) -> Any:
            return {"echo": args.some_text * 1_000}

    text = (await LongTool(context).handler({"someText": "長い話"}))["content"][0]["text"]
    assert len(text) <= 2_000
    answer = json.loads(text)
    assert answer["truncated"].startswith("The result has 3,011 characters, and the limit is 2,000.")
    assert answer["echo"].endswith("⟦cut 2,400 of 3,000 characters⟧")
    assert "N8N_MAX_CHARS" in answer["truncated"]


@pytest.mark.req("NW-4-2")
async def test_setup_tool_handlers_offers_what_the_registry_has(context: ToolContext) -> None:
    registry = ToolRegistry()
    for tool in (EchoTool(context), FruitTool(context)):
        registry.register(tool)
    server = Server("n8n", "", check=dict, close=lambda: None)
    setup_tool_handlers(server, registry)
    async with Client(server) as client:
        assert [tool.name for tool in await client.list_tools()] == ["echo", "fruit"]
        said = await client.call_tool("echo", {"some_text": "届いた", "times": 2})
        assert "届いた届いた" in str(said.content)


@pytest.mark.req("NW-4")
def test_registry_rejects_duplicates(context: ToolContext) -> None:
    registry = ToolRegistry()
    registry.register(EchoTool(context))
    registry.register(FruitTool(context))
    assert [tool.name for tool in registry] == ["echo", "fruit"]
    assert [definition.name for definition in registry.definitions()] == ["echo", "fruit"]
    assert isinstance(registry.get("echo"), EchoTool)
    assert ("echo" in registry, "missing" in registry, len(registry)) == (True, False, 2)
    with pytest.raises(ValueError, match="echo"):
        registry.register(EchoTool(context))
