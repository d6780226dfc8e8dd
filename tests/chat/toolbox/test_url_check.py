"""URLs in calls to the operator's servers."""

from typing import Any

import pytest

from chie.chat.toolbox.tool import Outcome, Tool, Toolset
from chie.chat.toolbox.url_check import CheckedUrls
from chie.web_fetch.url_policy import UrlPolicy

INSIDE = "http://127.0.0.1:8080/api/sessions"
SCHEMA = {"type": "object", "properties": {"page": {"type": "string", "format": "uri"}, "body": {"type": "string"}}}


class Recorded(Toolset):
    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []

    def tools(self) -> list[Tool]:
        return []

    async def call(self, tool: Tool, arguments: dict[str, Any]) -> Outcome:  # noqa: ARG002
        self.calls.append(arguments)
        return Outcome("ran")


async def outcome(arguments: dict[str, Any], server: str = "theirs") -> Outcome:
    tool = Tool(name="t", server=server, original="t", description="", schema=SCHEMA, read_only=True, destructive=False)
    recorded = Recorded()
    result = await CheckedUrls(recorded, UrlPolicy(), {"theirs"}).call(tool, arguments)
    assert bool(recorded.calls) is not result.is_error
    return result


@pytest.mark.parametrize(
    "arguments",
    [
        {"url": INSIDE}, {"URL": INSIDE}, {"page_url": INSIDE}, {"pageUrl": INSIDE},
        {"urls": ["http://[::1]/", INSIDE]},         {"uri": INSIDE}, {"link": INSIDE}, {"page": INSIDE},
        {"requests": [{"url": INSIDE}]},
        {"url": " HTTP://127.0.0.1"}, {"url": "127.0.0.1:8080/x"}, {"url": "localhost:8080"}, {"url": "[::1]/x"},
        {"url": "http:127.0.0.1"},
        {"url": "file:///etc/passwd"},
    ],
)  # fmt: skip
async def test_url_of_this_machine_is_refused(arguments: dict[str, Any]) -> None:
    assert (await outcome(arguments)).is_error
    assert not (await outcome(arguments, server="ours")).is_error


@pytest.mark.parametrize(
    "arguments",
    [
        {"uri": "note://1"}, {"url": "/relative/path"}, {"body": f"see {INSIDE}"}, {"query": INSIDE}, {"url": 7},
        {"url": None}, {"curl": "x"}, {"url": "https://93.184.215.14/"}, {},
    ],
)  # fmt: skip
async def test_other_arguments_pass(arguments: dict[str, Any]) -> None:
    assert (await outcome(arguments)).content == "ran"
