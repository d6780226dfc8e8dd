"""BaseTool and RawTool: whatever happens inside, an answer of one shape comes out."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field, SecretStr

from chie.logging import JsonLines
from chie.n8n.arguments import Arguments, RawArguments
from chie.n8n.client import N8nApiClient
from chie.n8n.context import ToolContext
from chie.n8n.errors import (
    ApiError,
    ApiErrorContext,
    NotFoundError,
    NotFoundErrorContext,
    ValidationError,
    ValidationErrorContext,
)
from chie.n8n.http import Address, Wire
from chie.n8n.registry import ToolRegistry
from chie.n8n.server import create_context
from chie.n8n.settings import N8nSettings
from chie.n8n.tool import READ, BaseTool, RawTool

SECRET = "hunter2-very-private"


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    settings = N8nSettings(backup_dir=tmp_path, max_chars=2_000)
    return create_context(settings, N8nApiClient(Wire(Address("http://127.0.0.1:1", SecretStr("key"), {}))))


class EchoArguments(Arguments):
    """Text in, text out."""

    some_text: str = Field(description="What to say.", max_length=20)
    times: int = 1


class EchoTool(BaseTool[EchoArguments]):
    name = "echo"
    description = "Says it again."
    arguments = EchoArguments
    error: Exception | None = None

    async def execute(self, args: EchoArguments) -> Any:
        if self.error:
            raise self.error
        return {"said": args.some_text * args.times}


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
async def test_a_tool_has_a_name_a_description_a_schema_and_a_handler(context: ToolContext) -> None:
    definition = EchoTool(context).to_definition()
    assert (definition.name, definition.description) == ("echo", "Says it again.")
    assert definition.annotations == READ
    assert definition.input_schema == {
        "type": "object",
        "description": "Text in, text out.",
        "additionalProperties": False,
        "properties": {
            "someText": {"type": "string", "description": "What to say.", "maxLength": 20},
            "times": {"type": "integer", "default": 1},
        },
        "required": ["someText"],
    }
    response = await definition.handler({"someText": "やあ", "times": "2"})
    assert response == {"content": [{"type": "text", "text": '{"said":"やあやあ"}'}]}


NOT_FOUND = NotFoundError(
    "Workflow 'abc123' not found",
    NotFoundErrorContext(operation="update workflow", resource_type="Workflow", resource_id="abc123"),
)
API = ApiError(
    "Failed to update workflow",
    400,
    ApiErrorContext(
        operation="update workflow",
        resource_type="Workflow",
        resource_id="abc123",
        status_code=400,
        error_details="Field 'settings' is required",
    ),
)
WRONG = ValidationError(
    "Workflow ID is required",
    ValidationErrorContext(field="id", expected_type="string", received_type="null", constraint="not blank"),
)


@pytest.mark.req("NW-2", "NW-7")
@pytest.mark.parametrize(
    ("error", "kind", "shown"),
    [
        (
            NOT_FOUND,
            "NotFoundError",
            {"operation": "update workflow", "resource_type": "Workflow", "resource_id": "abc123"},
        ),
        (
            API,
            "ApiError",
            {
                "operation": "update workflow",
                "resource_type": "Workflow",
                "resource_id": "abc123",
                "status_code": 400,
                "error_details": "Field 'settings' is required",
            },
        ),
        (
            WRONG,
            "ValidationError",
            {"field": "id", "expected_type": "string", "received_type": "null", "constraint": "not blank"},
        ),
        (ApiError("Failed to update workflow"), "ApiError", None),
    ],
)
async def test_an_error_becomes_its_message_its_type_and_its_context(
    context: ToolContext, error: Any, kind: str, shown: dict[str, Any] | None
) -> None:
    tool = EchoTool(context)
    tool.error = error
    response = await tool.handler({"someText": "x"})
    assert response["content"] == [{"type": "text", "text": error.message}]
    assert response["isError"] is True
    details = {"error": True, "error_type": kind, "message": error.message}
    assert response["structuredContent"] == details | ({"context": shown} if shown else {})


@pytest.mark.req("NW-2", "NW-8")
async def test_what_nobody_expected_is_one_sentence_and_its_stack_is_in_the_log_alone(
    context: ToolContext, caplog: pytest.LogCaptureFixture
) -> None:
    tool = EchoTool(context)
    tool.error = RuntimeError(f"broken with {SECRET}")
    response = await tool.handler({"someText": "x"})
    text = response["content"][0]["text"]
    assert text.startswith("echo failed inside Chie.")
    assert SECRET not in json.dumps(response)
    assert "Traceback" not in json.dumps(response)
    (record,) = caplog.records
    assert (record.getMessage(), record.levelno) == ("[echo] Error", logging.ERROR)
    assert "Traceback" in json.loads(JsonLines().format(record))["stack"]


@pytest.mark.req("NW-2")
async def test_an_expected_error_is_logged_with_the_tools_name(
    context: ToolContext, caplog: pytest.LogCaptureFixture
) -> None:
    tool = EchoTool(context)
    tool.error = NOT_FOUND
    await tool.handler({"someText": "x"})
    (record,) = caplog.records
    assert json.loads(JsonLines().format(record))["message"] == "[echo] Error: Workflow 'abc123' not found"


@pytest.mark.req("NW-8")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "someText is required"),
        ({"someText": SECRET * 2}, "someText must be at most 20 long"),
        ({"someText": "x", "times": SECRET}, "times must be a whole number"),
        ({"someText": "x", SECRET: 1}, "unknown argument: look at the tool's schema for the names it takes"),
    ],
)
async def test_wrong_arguments_are_named_without_their_values(
    context: ToolContext, arguments: dict[str, Any], message: str
) -> None:
    response = await EchoTool(context).handler(arguments)
    assert response["content"][0]["text"] == message
    assert response["isError"] is True
    assert SECRET not in json.dumps(response)


@pytest.mark.req("NW-3")
async def test_a_raw_tool_has_a_small_answer_and_a_whole_one(context: ToolContext) -> None:
    tool = FruitTool(context)
    assert (await tool.handler({}))["content"][0]["text"] == '{"name":"りんご"}'
    whole = (await tool.handler({"raw": "true"}))["content"][0]["text"]
    assert json.loads(whole) == {"name": "りんご", "weight": 200, "origin": "青森"}


async def test_an_answer_over_the_limit_says_what_was_cut_and_how_to_get_it(context: ToolContext) -> None:
    class LongTool(EchoTool):
        async def execute(self, args: EchoArguments) -> Any:
            return {"said": args.some_text * 1_000}

    text = (await LongTool(context).handler({"someText": "長い話"}))["content"][0]["text"]
    assert len(text) <= 2_000
    answer = json.loads(text)
    assert answer["truncated"].startswith("3,011 characters, and the limit is 2,000")
    assert answer["said"].endswith("⟦cut 2,400 of 3,000 characters⟧")
    assert "N8N_MAX_CHARS" in answer["truncated"]


@pytest.mark.req("NW-4")
def test_a_registry_holds_tools_by_name_and_refuses_a_second_of_the_same(context: ToolContext) -> None:
    registry = ToolRegistry()
    registry.register(EchoTool(context))
    registry.register(FruitTool(context))
    assert [tool.name for tool in registry] == ["echo", "fruit"]
    assert [definition.name for definition in registry.definitions()] == ["echo", "fruit"]
    assert isinstance(registry.get("echo"), EchoTool)
    assert ("echo" in registry, "nobody" in registry, len(registry)) == (True, False, 2)
    with pytest.raises(ValueError, match="echo"):
        registry.register(EchoTool(context))
