"""Every failed tool call is a result of one shape, whatever caused it."""

from typing import Annotated, Any, Literal

import pytest
from fastmcp import Client
from fastmcp.exceptions import ToolError
from mcp_types import TextContent
from pydantic import BaseModel, Field

from chie.errors import NotFoundError
from chie.mcp_kit.server import Server

SECRET = "hunter2-very-private"


class Inner(BaseModel):
    name: str


def failing_server() -> Server:
    server = Server("failing", "", check=dict, close=lambda: None)

    @server.tool
    def fail(kind: str) -> str:
        """Fail as requested."""
        if kind == "ours":
            raise NotFoundError("access.user_not_found", name="aki")
        if kind == "meant":
            raise ToolError("a text for the caller")
        raise RuntimeError(f"database password is {SECRET}")

    @server.tool
    def take(
        text: Annotated[str, Field(max_length=5)],
        number: Annotated[int, Field(ge=1, le=9)] = 1,
        choice: Literal["a", "b"] = "a",
        flag: bool = False,
        ratio: float = 0.5,
        inner: Inner | None = None,
        items: Annotated[list[int], Field(max_length=2)] = [],  # noqa: B006
    ) -> str:
        """Take arguments of all kinds."""
        return f"{text}{number}{choice}{flag}{ratio}{inner}{items}"

    return server


async def failure(mode: Any, tool: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    async with Client(failing_server(), mode=mode) as client:
        result = await client.call_tool(tool, arguments, raise_on_error=False)
    assert result.is_error
    assert isinstance(result.content[0], TextContent)
    return result.content[0].text, result.structured_content or {}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_chie_errors_keep_their_text_code_and_type(mode: str) -> None:
    error = NotFoundError("access.user_not_found", name="aki")
    assert await failure(mode, "fail", kind="ours") == (error.message, error.details())
    assert error.details() == {
        "error": True,
        "error_type": "NotFoundError",
        "message": "There is no user aki. `chie users list` shows all users.",
        "code": "access.user_not_found",
        "params": {"name": "aki"},
    }


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_unexpected_errors_name_the_request_and_nothing_else(mode: str) -> None:
    text, details = await failure(mode, "fail", kind="unexpected")
    assert text.startswith("fail failed inside Chie.")
    assert "the server's log has the reason under request" in text
    assert SECRET not in text + str(details)


async def test_text_of_a_tool_error_is_kept() -> None:
    text, _ = await failure("auto", "fail", kind="meant")
    assert text == "a text for the caller"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "text is required"),
        ({"text": None}, "text is required"),
        ({"text": 5}, "text must be a string"),
        ({"text": SECRET}, "text must be at most 5 long"),
        ({"text": "x", "number": SECRET}, "number must be a whole number"),
        ({"text": "x", "number": 0}, "number must be at least 1"),
        ({"text": "x", "number": 10}, "number must be at most 9"),
        ({"text": "x", "choice": SECRET}, "choice must be one of 'a' or 'b'"),
        ({"text": "x", "flag": SECRET}, "flag must be true or false"),
        ({"text": "x", "ratio": SECRET}, "ratio must be a number"),
        ({"text": "x", "inner": SECRET}, "inner must be an object"),
        ({"text": "x", "inner": {}}, "inner.name is required"),
        ({"text": "x", "items": SECRET}, "items must be a list"),
        ({"text": "x", "items": [1, SECRET]}, "items[1] must be a whole number"),
        ({"text": "x", "items": [1, 2, 3]}, "items must be at most 2 long"),
        ({"text": "x", SECRET: None}, "unknown argument: see the tool's schema for valid names"),
        ({"text": "x", SECRET: 1}, "unknown argument: see the tool's schema for valid names"),
        ({"number": 0, "ratio": "y"}, "text is required; number must be at least 1; ratio must be a number"),
    ],
)
async def test_wrong_arguments_are_described_without_their_values(
    mode: str, arguments: dict[str, Any], message: str
) -> None:
    text, details = await failure(mode, "take", **arguments)
    assert text == message
    assert details["error_type"] == "ValidationError"
    assert details["code"].startswith("argument.")
    assert SECRET not in text + str(details)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_null_of_an_optional_argument_is_dropped(mode: str) -> None:
    nothing = dict.fromkeys(["number", "choice", "flag", "ratio", "inner", "items"])
    async with Client(failing_server(), mode=mode) as client:
        assert (await client.call_tool("take", {"text": "x", **nothing})).data == "x1aFalse0.5None[]"
